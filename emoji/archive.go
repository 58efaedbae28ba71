package emoji

import (
	"context"
	"io"

	"svc/internal/unzip"
)

// Limits bound reading an untrusted archive or folder.
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

// Archive checks an untrusted zip archive and unpacks its emoji into a temporary folder: the files that its pack.json lists, else all
// pictures. A single folder around everything is removed from the names.
//
// The archive is refused as a whole, and nothing is left, if any entry could write outside of the pack, is not a plain file, clashes
// with another, expands too much, or is not the picture that its name claims. The error is an errs.Error that names the entry.
func (u *Unpacker) Archive(ctx context.Context, r io.ReaderAt, size int64) (*IncomingPack, error) {
	return u.ArchiveFiles(ctx, r, size, nil)
}

// ArchiveFiles is like Archive, but unpacks the files of the argument, paths by shortcode. The archive may contain anything else, such
// as a whole repository.
func (u *Unpacker) ArchiveFiles(ctx context.Context, r io.ReaderAt, size int64, files map[string]string) (*IncomingPack, error) {
	entries, err := unzip.Read(r, size, u.Limits.ArchiveBytes, u.Limits.Entries)
	if err != nil {
		return nil, err
	}
	return u.unpack(ctx, entries, files)
}

func (p *Packs) unpacker() *Unpacker {
	return &Unpacker{Dir: p.dir, Inspect: p.Inspect, Limits: DefaultLimits}
}
