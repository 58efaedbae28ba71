package emoji

import (
	"bytes"
	"context"
	"maps"
	"path"
	"strconv"
	"strings"

	"svc/internal/errs"
)

// NewEmoji is an emoji that is added to a pack.
type NewEmoji struct {
	Shortcode string
	File      string                 // below the folder of the pack; "": the shortcode and the extension of the type
	Read      func() ([]byte, error) // returns the picture
}

// WithContent returns a new emoji with a picture that is in memory.
func WithContent(shortcode string, picture []byte) NewEmoji {
	return NewEmoji{Shortcode: shortcode, Read: func() ([]byte, error) { return picture, nil }}
}

// AddOptions say how emoji are added.
type AddOptions struct {
	Create    bool            // the pack, if there is none
	SkipTaken bool            // leave out emoji whose shortcode exists, instead of failing
	Progress  func(files int) // called after each file; may be nil
}

// Add adds emoji to a pack: all, or none if one of them is refused. It returns the pack as it is then. Each picture is checked by its
// content.
func (p *Packs) Add(ctx context.Context, name string, list []NewEmoji, o AddOptions) (*Pack, error) {
	if name = strings.TrimSpace(name); name == "" {
		return nil, errs.Invalid("pack name, shortcode or filename cannot be empty")
	}
	err := p.edit("Unexpected error occurred while adding file to pack.", func(root folder) error {
		pack, err := p.editable(root, name)
		create := errs.IsNotFound(err) && o.Create
		if create {
			if err := p.checkNewName(root, name, false); err != nil {
				return err
			}
			pack, err = &Pack{Name: name, Files: make(map[string]string), Metadata: make(Metadata)}, nil
		}
		if err != nil {
			return err
		}
		temp, err := root.temp()
		if err != nil {
			return err
		}
		defer root.RemoveAll(temp)
		a := adding{Packs: p, root: root, temp: temp, pack: pack, files: maps.Clone(pack.Files), options: o}
		if err := a.stage(ctx, list); err != nil {
			return err
		}
		if len(a.staged) == 0 {
			return nil
		}
		done, err := p.reserve(ctx, a.added)
		if err != nil {
			return err
		}
		defer func() { done(err == nil) }()
		if create {
			if err = p.create(root, pack); err != nil {
				return err
			}
		}
		err = a.finish()
		return err
	})
	if err != nil {
		return nil, err
	}
	return p.Pack(name)
}

// reserve makes room on the disk for n bytes.
func (p *Packs) reserve(ctx context.Context, n int64) (done func(kept bool), err error) {
	if p.Reserve == nil {
		return func(bool) {}, nil
	}
	return p.Reserve(ctx, n)
}

// adding is one call of Add.
type adding struct {
	*Packs
	root    folder
	temp    string // folder of the pictures until all are checked
	pack    *Pack
	files   map[string]string // of the pack when it is finished
	used    map[string]string // shortcodes by file name in lower case: some file systems ignore case
	staged  []string          // names in the pack, in the order of their names in temp
	bytes   int64             // of the pack
	added   int64             // of them
	options AddOptions
}

// stage checks the pictures and writes them into the temporary folder.
func (a *adding) stage(ctx context.Context, list []NewEmoji) error {
	a.measure()
	for _, e := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if a.Has(e.Shortcode) || a.files[e.Shortcode] != "" {
			if !a.options.SkipTaken {
				return errs.Conflict("An emoji with the %q shortcode already exists", e.Shortcode)
			}
			continue
		}
		if len(a.files) >= maxEntries {
			return errs.Invalid("A pack has at most %d emoji", maxEntries)
		}
		if err := a.stageOne(e); err != nil {
			return err
		}
		if a.options.Progress != nil {
			a.options.Progress(len(a.staged))
		}
	}
	return nil
}

// measure reads the names and sizes of the files that the pack has.
func (a *adding) measure() {
	a.used = make(map[string]string, len(a.files))
	for code, file := range a.files {
		a.used[strings.ToLower(file)] = code
		if info, err := a.root.Lstat(path.Join(a.pack.Name, file)); err == nil {
			a.bytes += info.Size()
		}
	}
}

func (a *adding) stageOne(e NewEmoji) error {
	content, err := e.Read()
	if err != nil {
		return err
	}
	limits := DefaultLimits
	if int64(len(content)) > limits.FileBytes {
		return errs.TooLarge("The picture has more than %d bytes", limits.FileBytes)
	}
	picture := bytes.NewReader(content)
	kind, _, _, err := a.Inspect(picture, picture.Size())
	if err != nil {
		return err
	}
	file := e.File
	if file == "" {
		file = e.Shortcode + extensionByType[kind]
	}
	if err := checkNewEmoji(e.Shortcode, file); err != nil {
		return err
	}
	if err := checkPicture(file, picture, picture.Size(), a.Inspect, limits); err != nil {
		return err
	}
	if code, used := a.used[strings.ToLower(file)]; used {
		return errs.Conflict("The file %q is already used by the emoji %q", file, code)
	}
	a.added += int64(len(content))
	if a.bytes += int64(len(content)); a.bytes > limits.TotalBytes {
		return errs.TooLarge("The pack would have more than %d bytes", limits.TotalBytes)
	}
	if err := a.root.write(path.Join(a.temp, strconv.Itoa(len(a.staged))), content); err != nil {
		return err
	}
	a.files[e.Shortcode], a.used[strings.ToLower(file)] = file, e.Shortcode
	a.staged = append(a.staged, file)
	return nil
}

// finish moves the pictures into the pack and lists them.
func (a *adding) finish() error {
	for i, file := range a.staged {
		err := a.root.move(path.Join(a.temp, strconv.Itoa(i)), a.pack.Name, file)
		if err != nil {
			for _, moved := range a.staged[:i] {
				a.root.removeFile(a.pack.Name, moved)
			}
			return err
		}
	}
	if err := a.root.syncFolders(a.pack.Name, a.staged...); err != nil {
		return err
	}
	return a.update(a.root, a.pack, a.files)
}

// extensionByType are the file extensions of pictures that can be emoji.
var extensionByType = map[string]string{"image/png": ".png", "image/gif": ".gif", "image/webp": ".webp", "image/jpeg": ".jpg"}
