package emoji

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/internal/errs"
)

// NewFile is a file that staff add to a pack: a picture or a zip archive of pictures.
type NewFile struct {
	Content   io.ReaderAt
	Size      int64
	Name      string // of the file, as it was uploaded; untrusted
	Shortcode string // "": the base name of the file
	Filename  string // in the pack; "": Name
}

const zipMark = "PK\x03\x04"

// AddFile adds a picture to a pack. Of a zip archive it adds each picture whose shortcode is free, under its name in the archive.
func (p *Packs) AddFile(ctx context.Context, pack string, f NewFile) (*Pack, error) {
	head := make([]byte, len(zipMark))
	if n, err := f.Content.ReadAt(head, 0); n == len(head) && string(head) == zipMark {
		return p.addArchive(ctx, pack, f)
	} else if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	content, err := readAll(f.Content, f.Size)
	if err != nil {
		return nil, err
	}
	e := WithContent(f.Shortcode, content)
	e.File = f.Filename
	if e.File == "" {
		e.File = p.defaultFile(pack, f, content)
	}
	e.Shortcode = cmp.Or(e.Shortcode, strings.TrimSuffix(path.Base(e.File), path.Ext(e.File)))
	if e.File == "" || e.Shortcode == "" {
		return nil, errs.Invalid("pack name, shortcode or filename cannot be empty")
	}
	return p.Add(ctx, pack, []NewEmoji{e}, AddOptions{})
}

// readAll reads a picture, if it is not too large.
func readAll(content io.ReaderAt, size int64) ([]byte, error) {
	if size > DefaultLimits.FileBytes {
		return nil, errs.TooLarge("The picture has more than %d bytes", DefaultLimits.FileBytes)
	}
	return io.ReadAll(io.NewSectionReader(content, 0, size))
}

// defaultFile returns the name of a file for which none was given: that of the upload, with the extension of its type, or the shortcode if
// another emoji has that file.
func (p *Packs) defaultFile(name string, f NewFile, content []byte) string {
	base := path.Base(strings.ReplaceAll(f.Name, `\`, "/"))
	extension := path.Ext(base)
	if kind, _, _, err := p.Inspect(f.Content, int64(len(content))); err == nil && pictureType(base) != kind {
		base, extension = strings.TrimSuffix(base, extension)+extensionByType[kind], extensionByType[kind]
	}
	pack, err := p.Pack(strings.TrimSpace(name))
	if err != nil || f.Shortcode == "" {
		return base
	}
	taken := slices.ContainsFunc(slices.Collect(maps.Values(pack.Files)), func(file string) bool { return strings.EqualFold(file, base) })
	if taken || base == "." || base == "/" {
		return f.Shortcode + extension
	}
	return base
}

// addArchive adds the pictures of an archive.
func (p *Packs) addArchive(ctx context.Context, pack string, f NewFile) (*Pack, error) {
	in, err := p.unpacker().Archive(ctx, f.Content, f.Size)
	if err != nil {
		return nil, err
	}
	defer in.Discard()
	var list []NewEmoji
	for _, code := range slices.Sorted(maps.Keys(in.Files)) {
		list = append(list, NewEmoji{Shortcode: code, File: in.Files[code], Read: func() ([]byte, error) {
			file, err := in.Open(in.Files[code])
			if err != nil {
				return nil, err
			}
			defer file.Close()
			return io.ReadAll(file)
		}})
	}
	return p.Add(ctx, pack, list, AddOptions{SkipTaken: true})
}
