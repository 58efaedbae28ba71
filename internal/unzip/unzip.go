// Package unzip reads zip archives that nobody vouches for: emoji packs and web front ends. It refuses, as a whole, an archive with an
// entry that could write outside of its folder, is not a plain file, clashes with another, or expands too much. It unpacks nothing: the
// caller writes the entries and bounds the bytes.
//
// Errors for an archive that is refused are of package errs, status 422, and name the entry.
package unzip

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"svc/internal/errs"
)

// An entry that is compressed better than this is taken for a zip bomb, unless it is small: then it may be mostly header.
const (
	maxRatio       = 100
	ratioFreeBytes = 16 << 10
)

// Entry is a file or folder of an archive, or of a folder on disk that is checked like one.
type Entry struct {
	Name string // as given
	Path string // Name in Unicode normalization form C, without a folder that is around everything
	Mode fs.FileMode
	Size int64 // as declared; the content can be longer
	Open func() (io.ReadCloser, error)
}

// Refuse returns the error for an archive that is refused because of one entry.
func Refuse(entry, reason string, args ...any) error {
	return errs.Invalid("%q: %s", entry, fmt.Sprintf(reason, args...))
}

// Read returns the checked entries of an archive of at most maxBytes and maxEntries. No content is read yet.
func Read(r io.ReaderAt, size, maxBytes int64, maxEntries int) ([]Entry, error) {
	if size > maxBytes {
		return nil, errs.Invalid("the archive has %d bytes, more than %d", size, maxBytes)
	}
	if err := checkDirectory(r, size, maxEntries, false); err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, errs.Invalid("the archive is damaged: %v", err)
	}
	var entries []Entry
	for _, f := range archive.File {
		if err := checkHeader(f); err != nil {
			return nil, err
		}
		entries = append(entries, Entry{Name: f.Name, Mode: f.Mode(), Size: int64(f.UncompressedSize64), Open: f.Open})
	}
	if err := checkOverlap(archive.File); err != nil {
		return nil, err
	}
	return entries, Check(entries)
}

// LargeLimits bound an archive that ReadLarge reads.
type LargeLimits struct {
	Bytes   int64 // of the archive, and of all files in it
	Entries int
	Depth   int // of folders
}

// ReadLarge returns the checked files of a large archive by name, also of zip64. It takes about 400 bytes of memory an entry. Unlike Read it allows
// names that are the same on some file systems, because the files are read, and not unpacked by their names.
func ReadLarge(r io.ReaderAt, size int64, l LargeLimits) (map[string]*zip.File, error) {
	if size > l.Bytes {
		return nil, errs.Invalid("the archive has %d bytes, more than %d", size, l.Bytes)
	}
	if err := checkDirectory(r, size, l.Entries, true); err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, errs.Invalid("the archive is damaged: %v", err)
	}
	files := make(map[string]*zip.File, len(archive.File))
	left := l.Bytes
	for _, f := range archive.File {
		if err := checkHeader(f); err != nil {
			return nil, err
		}
		if reason := RefuseDeepName(f.Name, l.Depth); reason != "" {
			return nil, Refuse(f.Name, "%s", reason)
		}
		if f.UncompressedSize64 > uint64(left) {
			return nil, errs.Invalid("the files of the archive have more than %d bytes", l.Bytes)
		}
		left -= int64(f.UncompressedSize64)
		if f.Mode().IsDir() {
			continue
		}
		if files[f.Name] != nil {
			return nil, Refuse(f.Name, "two entries have this name")
		}
		files[f.Name] = f
	}
	return files, checkOverlap(archive.File)
}

// Check refuses links, devices and unsafe names, and sets the paths of the entries.
func Check(entries []Entry) error {
	for _, e := range entries {
		if e.Mode.Type() != 0 && !e.Mode.IsDir() {
			return Refuse(e.Name, "links and devices are not accepted")
		}
	}
	if err := checkNames(entries); err != nil {
		return err
	}
	removeFolder(entries)
	return nil
}

// Files returns the entries that are files, by path.
func Files(entries []Entry) map[string]*Entry {
	files := make(map[string]*Entry, len(entries))
	for i := range entries {
		if !entries[i].Mode.IsDir() {
			files[entries[i].Path] = &entries[i]
		}
	}
	return files
}

// checkHeader checks what only the header of a zip entry says.
func checkHeader(f *zip.File) error {
	const encrypted, strongEncryption, encryptedDirectory = 1, 1 << 6, 1 << 13
	const unixType, unixFile, unixFolder = 0xf000, 0x8000, 0x4000
	switch kind := f.ExternalAttrs >> 16 & unixType; {
	case f.Flags&(encrypted|strongEncryption|encryptedDirectory) != 0:
		return Refuse(f.Name, "the entry is encrypted")
	case kind != 0 && kind != unixFile && kind != unixFolder: // whatever system the header names
		return Refuse(f.Name, "links and devices are not accepted")
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return Refuse(f.Name, "compression method %d is not supported", f.Method)
	case f.UncompressedSize64 > ratioFreeBytes && f.UncompressedSize64/maxRatio > f.CompressedSize64:
		return Refuse(f.Name, "it expands from %d to %d bytes", f.CompressedSize64, f.UncompressedSize64)
	}
	return nil
}

// checkOverlap refuses entries that share data, with which a small archive can expand to petabytes.
func checkOverlap(files []*zip.File) error {
	const localHeader = 30
	type span struct {
		name     string
		from, to int64
	}
	spans := make([]span, 0, len(files))
	for _, f := range files {
		from, err := f.DataOffset()
		if err != nil {
			return Refuse(f.Name, "the entry is damaged: %v", err)
		}
		spans = append(spans, span{f.Name, from, from + int64(f.CompressedSize64)})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(spans); i++ {
		if spans[i-1].to > spans[i].from-localHeader {
			return Refuse(spans[i].name, "its data overlaps that of %q", spans[i-1].name)
		}
	}
	return nil
}

// ReadError returns the error for an entry that cannot be read.
func ReadError(name string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrFormat) {
		return Refuse(name, "size or checksum of the entry are wrong")
	}
	if path := new(fs.PathError); errors.As(err, &path) {
		return fmt.Errorf("read %q: %w", name, err)
	}
	return Refuse(name, "the entry is damaged: %v", err)
}
