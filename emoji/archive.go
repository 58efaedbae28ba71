package emoji

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

// Limits bound what is read from an untrusted archive or folder.
type Limits struct {
	ArchiveBytes int64 // of the archive itself
	Entries      int   // of the archive or folder, also those that are not unpacked
	Emoji        int
	FileBytes    int64 // of one picture
	TotalBytes   int64 // of all pictures
	Side         int   // of a picture, in pixels
}

// DefaultLimits are the limits for packs from other servers and from commands.
var DefaultLimits = Limits{
	ArchiveBytes: 128 << 20,
	Entries:      10_000,
	Emoji:        maxEntries,
	FileBytes:    256 << 10,
	TotalBytes:   64 << 20,
	Side:         2048,
}

// An entry that is compressed better than this is taken for a zip bomb. Pictures are compressed already; small ones may be mostly header.
const (
	maxRatio       = 100
	ratioFreeBytes = 16 << 10
)

// refuse returns the error for an archive that is refused because of one entry.
func refuse(entry, reason string, args ...any) error {
	return errs.Invalid("%q: %s", entry, fmt.Sprintf(reason, args...))
}

// ReadArchive checks an untrusted zip archive and unpacks its emoji into a temporary folder. With a pack.json, these are the files that
// it lists, else all pictures. A single folder around everything is removed from the names.
//
// The archive is refused as a whole, and nothing is left, if any entry could write outside of the pack, is not a plain file, clashes
// with another, expands too much, or is not the picture that its name claims. The error is an errs.Error that names the entry.
func (p *Packs) ReadArchive(r io.ReaderAt, size int64, limits Limits) (*IncomingPack, error) {
	entries, err := readZip(r, size, limits)
	if err != nil {
		return nil, err
	}
	return p.unpack(entries, nil, limits)
}

// ReadArchiveFiles is like ReadArchive, but unpacks the files of the argument, paths by shortcode. The archive may contain anything
// else, such as a whole repository.
func (p *Packs) ReadArchiveFiles(r io.ReaderAt, size int64, files map[string]string, limits Limits) (*IncomingPack, error) {
	entries, err := readZip(r, size, limits)
	if err != nil {
		return nil, err
	}
	return p.unpack(entries, files, limits)
}

// readZip returns the entries of a zip archive. None is read yet.
func readZip(r io.ReaderAt, size int64, limits Limits) ([]entry, error) {
	if size > limits.ArchiveBytes {
		return nil, errs.Invalid("the archive has %d bytes, more than %d", size, limits.ArchiveBytes)
	}
	if err := checkZipDirectory(r, size, limits.Entries); err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, errs.Invalid("the archive is damaged: %v", err)
	}
	var entries []entry
	for _, f := range archive.File {
		if err := checkZipEntry(f); err != nil {
			return nil, err
		}
		entries = append(entries, entry{
			name: f.Name,
			mode: f.Mode(),
			size: int64(f.UncompressedSize64),
			open: f.Open,
		})
	}
	return entries, checkOverlap(archive.File)
}

// checkZipEntry checks what only the header of a zip entry says.
func checkZipEntry(f *zip.File) error {
	const encrypted, strongEncryption, encryptedDirectory = 1, 1 << 6, 1 << 13
	const unixType, unixFile, unixFolder = 0xf000, 0x8000, 0x4000
	switch kind := f.ExternalAttrs >> 16 & unixType; {
	case f.Flags&(encrypted|strongEncryption|encryptedDirectory) != 0:
		return refuse(f.Name, "the entry is encrypted")
	case kind != 0 && kind != unixFile && kind != unixFolder: // whatever system the header names
		return refuse(f.Name, "links and devices are not accepted")
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return refuse(f.Name, "compression method %d is not supported", f.Method)
	case f.UncompressedSize64 > ratioFreeBytes && f.UncompressedSize64/maxRatio > f.CompressedSize64:
		return refuse(f.Name, "it expands from %d to %d bytes", f.CompressedSize64, f.UncompressedSize64)
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
			return refuse(f.Name, "the entry is damaged: %v", err)
		}
		spans = append(spans, span{f.Name, from, from + int64(f.CompressedSize64)})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(spans); i++ {
		if spans[i-1].to > spans[i].from-localHeader {
			return refuse(spans[i].name, "its data overlaps that of %q", spans[i-1].name)
		}
	}
	return nil
}

// readError returns the error for an entry that cannot be read.
func readError(name string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrFormat) {
		return refuse(name, "size or checksum of the entry are wrong")
	}
	if path := new(fs.PathError); errors.As(err, &path) {
		return fmt.Errorf("read %q: %w", name, err)
	}
	return refuse(name, "the entry is damaged: %v", err)
}
