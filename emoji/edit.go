package emoji

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
)

// edit runs a change of files under the lock. what begins the message to the client if files cannot be changed.
func (p *Packs) edit(what string, change func(folder) error) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	root, err := p.openFolder()
	if err == nil {
		defer root.Close()
		err = change(root)
	}
	if err != nil {
		return fileError(what, err)
	}
	return nil
}

// checkNewName returns an error if no pack can be created with a name.
func (p *Packs) checkNewName(root folder, name string, replace bool) error {
	if !validPackName(name) {
		return errs.BadRequest("%q is not a valid pack name", name)
	}
	info, err := root.Lstat(name)
	switch {
	case err == nil && !(replace && info.IsDir()):
		return errs.Conflict("A pack named %q already exists", name)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if len(p.current.Load().packs) >= maxPacks {
		return errs.Invalid("There are %d packs already", maxPacks)
	}
	return nil
}

var errNoPackName = errs.BadRequest("pack name cannot be empty")

// Create creates an empty pack. The error is a 409 if there is a folder with the name.
func (p *Packs) Create(name string) error {
	name = strings.TrimSpace(name)
	if name == "" {
		return errNoPackName
	}
	return p.edit("Unexpected error occurred while creating pack.", func(root folder) error {
		if err := p.checkNewName(root, name, false); err != nil {
			return err
		}
		return p.create(root, &Pack{Name: name, Files: make(map[string]string), Metadata: make(Metadata)})
	})
}

// create makes the folder of a pack with its pack.json.
func (p *Packs) create(root folder, pack *Pack) error {
	temp, err := root.temp()
	if err != nil {
		return err
	}
	defer root.RemoveAll(temp)
	return p.install(root, temp, pack)
}

// Delete deletes a pack with all its files.
func (p *Packs) Delete(name string) error {
	name = strings.TrimSpace(name)
	if name == "" {
		return errNoPackName
	}
	return p.edit(fmt.Sprintf("Couldn't delete the `%s` pack", name), func(root folder) error {
		if pack := p.current.Load().pack(name); pack == nil || pack.Loose {
			return errs.NotFound("Pack %s does not exist", name)
		}
		temp, err := root.temp()
		if err != nil {
			return err
		}
		defer root.RemoveAll(temp)
		err = root.Rename(name, path.Join(temp, "pack"))
		if errors.Is(err, fs.ErrNotExist) {
			err = errs.NotFound("Pack %s does not exist", name)
		} else if err != nil {
			return err
		}
		p.replace(name, nil)
		if err != nil {
			return err
		}
		return root.Sync(".")
	})
}

// SetMetadata replaces the metadata of a pack. They must be Clean.
func (p *Packs) SetMetadata(name string, m Metadata) error {
	return p.edit("Unexpected error occurred while updating pack metadata.", func(root folder) error {
		pack, err := p.editable(root, name)
		if errs.IsNotFound(err) {
			err = errs.NotFound("Pack %s does not exist", name)
		}
		if err != nil {
			return err
		}
		changed := pack.with(pack.Files)
		changed.Metadata = m.stored()
		if err := root.writePackFile(changed); err != nil {
			return err
		}
		p.replace(name, changed)
		return nil
	})
}

// update changes the files of a pack: it writes the pack.json, then removes the files that are not listed any more.
func (p *Packs) update(root folder, pack *Pack, files map[string]string) error {
	changed := pack.with(files)
	if err := root.writePackFile(changed); err != nil {
		return err
	}
	p.replace(pack.Name, changed)
	listed := make(map[string]bool, len(files))
	for file := range maps.Values(files) {
		listed[file] = true
	}
	for _, file := range pack.Files {
		if !listed[file] {
			root.removeFile(pack.Name, file)
		}
	}
	return nil
}

// editable reads a pack whose files are to be changed. The operator may have edited its pack.json since the last reload.
func (p *Packs) editable(root folder, name string) (*Pack, error) {
	name = strings.TrimSpace(name)
	if !validPackName(name) {
		return nil, errs.NotFound("pack %q is not found", name)
	}
	pack := readPack(root.Root, name)
	if pack.Loose {
		return nil, errs.NotFound("pack %q is not found", name)
	}
	return pack, pack.err
}

// Remove removes emoji from a pack, and their files. It returns the pack as it is then.
func (p *Packs) Remove(name string, shortcodes ...string) (*Pack, error) {
	err := p.edit("Unexpected error occurred while deleting emoji file.", func(root folder) error {
		pack, err := p.editable(root, name)
		if err != nil {
			return err
		}
		files := maps.Clone(pack.Files)
		for _, code := range shortcodes {
			if code == "" {
				return errs.Invalid("pack name or shortcode cannot be empty")
			}
			if files[code] == "" {
				return errs.BadRequest("Emoji %q does not exist", code)
			}
			delete(files, code)
		}
		return p.update(root, pack, files)
	})
	if err != nil {
		return nil, err
	}
	return p.Pack(strings.TrimSpace(name))
}

// Rename is a new shortcode and file name for an emoji of a pack.
type Rename struct {
	Shortcode    string
	NewShortcode string
	NewFile      string
	Force        bool // the emoji of the pack that has NewShortcode is overwritten
}

// Rename renames an emoji of a pack and moves its file. It returns the pack as it is then.
func (p *Packs) Rename(name string, r Rename) (*Pack, error) {
	err := p.edit("Unexpected error occurred while updating.", func(root folder) error {
		pack, err := p.editable(root, name)
		if err != nil {
			return err
		}
		if err := p.checkRename(pack, r); err != nil {
			return err
		}
		old := pack.Files[r.Shortcode]
		if r.NewFile != old {
			if err := copyFile(root, pack.Name, old, r.NewFile); err != nil {
				return err
			}
		}
		files := maps.Clone(pack.Files)
		delete(files, r.Shortcode)
		files[r.NewShortcode] = r.NewFile
		return p.update(root, pack, files)
	})
	if err != nil {
		return nil, err
	}
	return p.Pack(strings.TrimSpace(name))
}

func (p *Packs) checkRename(pack *Pack, r Rename) error {
	old := pack.Files[r.Shortcode]
	switch {
	case r.Shortcode != "" && old == "":
		return errs.BadRequest("Emoji %q does not exist", r.Shortcode)
	case r.Shortcode == "" || r.NewShortcode == "" || r.NewFile == "":
		return errs.Invalid("new_shortcode or new_filename cannot be empty")
	case !r.Force && p.Has(r.NewShortcode), !r.Force && pack.Files[r.NewShortcode] != "":
		return errs.Conflict("New shortcode %q is already used. If you want to override emoji use 'force' option", r.NewShortcode)
	}
	if err := checkNewEmoji(r.NewShortcode, r.NewFile); err != nil {
		return err
	}
	if pictureType(r.NewFile) != pictureType(old) {
		return errs.Invalid("The new file name must have the extension %s, because the file is a picture of that type", path.Ext(old))
	}
	for code, file := range pack.Files {
		if strings.EqualFold(file, r.NewFile) && code != r.Shortcode && code != r.NewShortcode {
			return errs.Conflict("The file %q is already used by the emoji %q", r.NewFile, code)
		}
	}
	return nil
}

// copyFile copies a file of a pack. The old one stays until no pack.json lists it.
func copyFile(root folder, pack, from, to string) error {
	content, err := root.ReadFile(path.Join(pack, from))
	if err != nil {
		return err
	}
	temp := tempPrefix + rand.Text()
	err = root.write(temp, content)
	if err == nil {
		err = root.move(temp, pack, to)
	}
	if err != nil {
		return errors.Join(err, root.RemoveAll(temp))
	}
	return root.syncFolders(pack, to)
}

// checkNewEmoji checks the shortcode and the file name of a new emoji.
func checkNewEmoji(shortcode, file string) error {
	if !text.ValidShortcode(shortcode) {
		return errs.Invalid("%q is not a valid shortcode: it consists of letters, digits, _, - and +", shortcode)
	}
	if imageTypes[strings.ToLower(path.Ext(file))] == "" {
		return errs.Invalid("%q is not a valid file name: it must end in .png, .gif, .webp or .jpg", file)
	}
	if !validPath(file) {
		return errs.Invalid("%q is not a valid file name", file)
	}
	return nil
}

// pictureType returns the content type that a file name claims.
func pictureType(file string) string {
	kind := imageTypes[strings.ToLower(path.Ext(file))]
	if kind == "image/apng" {
		return "image/png"
	}
	return kind
}
