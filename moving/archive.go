// Package moving reads archives of persons from other servers, and imports the posts in them into local accounts; makes the database of a server of other
// software that of this one (takeover.go); and writes a whole server in a plain form (server_export.go).
//
// An archive is a zip, a tar.gz, a folder or a single file, which nobody vouches for. It is refused as a whole if a name in it could lead out of it, if it
// has links or devices, or if it expands too much. Its files are never unpacked under their own names. Posts are read one at a time, so that
// memory does not depend on the size of the archive.
//
// Limits: 250 000 files, 1 MiB an entry of the outbox, 1 000 000 entries, 16 attachments and 100 hashtags a post, accounts.archive_size_limit bytes
// packed and unpacked, and five times as much for administrators.
package moving

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"svc/internal/errs"
	"svc/internal/unzip"
)

const (
	maxFiles = 250_000
	maxDepth = 16
)

// Archive is an opened archive.
type Archive struct {
	files  map[string]file // by path, without a folder around everything
	bases  map[string]string
	closer io.Closer
}

// file is a file of an archive.
type file struct {
	size int64
	open func() (io.ReadCloser, error)
}

// Reserve reserves room on the disk for so many bytes.
type Reserve func(ctx context.Context, bytes int64) error

// Open opens an archive of at most maxBytes, packed and unpacked. A tar.gz is unpacked into the folder work first, which stays for the next time; reserve is called
// before so many bytes are written, and its error ends that. An archive that is refused is an errs.Error.
func Open(ctx context.Context, name, work string, maxBytes int64, reserve Reserve) (*Archive, error) {
	limits := unzip.LargeLimits{Bytes: maxBytes, Entries: maxFiles, Depth: maxDepth}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errs.Invalid("There is no archive %q", path.Base(name))
	case errors.Is(err, fs.ErrPermission):
		return nil, errs.Invalid("The server may not read %q: let it, or put the archive into the folder imports of the data directory", name)
	case err != nil:
		return nil, err
	case info.IsDir():
		return openFolder(name, limits)
	case !info.Mode().IsRegular():
		return nil, errs.Invalid("%q is neither a file nor a folder", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, errs.Invalid("The server cannot read the archive: %v", err)
	}
	head := make([]byte, 4)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, f.Close())
	}
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte("PK")):
		return openZip(f, info.Size(), limits)
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		defer f.Close()
		return openTar(ctx, f, work, limits, reserve)
	case bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \r\n\t"), []byte("[")): // a list of notes, which is not packed
		return newArchive(map[string]file{notesName: {info.Size(), func() (io.ReadCloser, error) { return os.Open(name) }}}, f), nil
	}
	return nil, errors.Join(errs.Invalid("The file is not an archive: it must be a zip, a tar.gz, or the notes.json of Misskey"), f.Close())
}

func openZip(f *os.File, size int64, l unzip.LargeLimits) (*Archive, error) {
	entries, err := unzip.ReadLarge(f, size, l)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	files := make(map[string]file, len(entries))
	for name, e := range entries {
		files[name] = zipFile(e)
	}
	return newArchive(files, f), nil
}

func zipFile(e *zip.File) file { return file{int64(e.UncompressedSize64), e.Open} }

// openFolder lists the files of a folder. Links in it are refused, and none is followed.
func openFolder(name string, l unzip.LargeLimits) (*Archive, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, errs.Invalid("The server cannot read the folder: %v", err)
	}
	files := make(map[string]file)
	left := l.Bytes
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return unzip.Refuse(name, "links and devices are not accepted")
		}
		if reason := unzip.RefuseDeepName(name, l.Depth); reason != "" {
			return unzip.Refuse(name, "%s", reason)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if left -= info.Size(); left < 0 || len(files) == l.Entries {
			return tooLarge(l)
		}
		files[name] = file{info.Size(), func() (io.ReadCloser, error) { return root.Open(name) }}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return newArchive(files, root), nil
}

func tooLarge(l unzip.LargeLimits) error {
	return errs.Invalid("The archive has more than %d files or %d bytes", l.Entries, l.Bytes)
}

// newArchive removes a single folder around all files.
func newArchive(files map[string]file, closer io.Closer) *Archive {
	prefix := ""
	for name := range files {
		first, _, nested := strings.Cut(name, "/")
		if unzip.IsLitter(name) {
			continue
		}
		if !nested || prefix != "" && prefix != first+"/" {
			prefix = ""
			break
		}
		prefix = first + "/"
	}
	if prefix != "" {
		inner := make(map[string]file, len(files))
		for name, f := range files {
			inner[strings.TrimPrefix(name, prefix)] = f
		}
		files = inner
	}
	return &Archive{files: files, closer: closer}
}

// Close closes the archive.
func (a *Archive) Close() error { return a.closer.Close() }

// Has returns true if the archive has a file.
func (a *Archive) Has(name string) bool {
	_, ok := a.files[name]
	return ok
}

// Open opens a file, of which no more is read than the archive says. A file that cannot be unpacked is an errs.Error of its reader.
func (a *Archive) Open(name string) (io.ReadCloser, error) {
	f, ok := a.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	r, err := f.open()
	if err != nil {
		return nil, fmt.Errorf("open %q in the archive: %w", name, err)
	}
	return limitedFile{name, io.LimitReader(r, f.size), r}, nil
}

type limitedFile struct {
	name   string
	source io.Reader
	io.Closer
}

// Read reads from the file. Damage is a refusal, because another attempt would find it again.
func (f limitedFile) Read(b []byte) (int, error) {
	n, err := f.source.Read(b)
	if err != nil && err != io.EOF {
		err = unzip.ReadError(f.name, err)
	}
	return n, err
}

// readAll returns the content of a small file.
func (a *Archive) readAll(name string, maxBytes int64) ([]byte, error) {
	r, err := a.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > maxBytes {
		return nil, unzip.Refuse(name, "the file has more than %d bytes", maxBytes)
	}
	return b, nil
}

// find returns the file for the address or path of an attachment, "" if the archive has none: the file with that path, or else the only one with
// that base name.
func (a *Archive) find(address string) string {
	_, rest, absolute := strings.Cut(address, "://")
	if absolute {
		_, rest, _ = strings.Cut(rest, "/")
	} else {
		rest = strings.TrimLeft(address, "/")
	}
	rest, _, _ = strings.Cut(rest, "?")
	if a.Has(rest) {
		return rest
	}
	if a.bases == nil {
		a.bases = make(map[string]string, len(a.files))
		for _, name := range slices.Sorted(maps.Keys(a.files)) {
			base := path.Base(name)
			if _, several := a.bases[base]; several {
				name = ""
			}
			a.bases[base] = name
		}
	}
	return a.bases[path.Base(rest)]
}

// isGzip returns true if a file is compressed as a whole.
func isGzip(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, nil // Open says why
	}
	defer f.Close()
	head := make([]byte, 2)
	if _, err := f.ReadAt(head, 0); err != nil {
		return false, nil
	}
	return head[0] == 0x1f && head[1] == 0x8b, nil
}
