package ltx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	format "github.com/superfly/ltx"

	"svc/internal/objects"
)

const (
	snapshots = 9         // the level with all pages in each file
	maxFiles  = 1_000_000 // in a plan; each needs 40 bytes
)

// place is where Litestream writes one database.
type place struct {
	store  objects.Store
	prefix string
	folder string // of the level with the number that it formats
}

// file is one LTX file.
type file struct {
	level    int
	min, max uint64 // transactions
	size     int64  // in bytes
}

// layouts are the names of the folders of levels: in folders and on SFTP servers, and on S3.
var layouts = []string{"ltx/%d/", "%04x/"}

// openPlace finds out how the files are named. The error is ErrNone if there are none.
func openPlace(ctx context.Context, store objects.Store, prefix string) (*place, error) {
	for _, layout := range layouts {
		p := &place{store: store, prefix: prefix, folder: prefix + layout}
		for _, level := range []int{0, snapshots} {
			page, err := store.List(ctx, p.dir(level), "", 1)
			if err != nil {
				return nil, err
			}
			if len(page) > 0 {
				return p, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: %q has no files of Litestream", ErrNone, prefix)
}

// dir returns the beginning of the names of a level.
func (p *place) dir(level int) string { return fmt.Sprintf(p.folder, level) }

// name returns the name of the object of a file.
func (p *place) name(f file) string {
	return p.dir(f.level) + format.FormatFilename(format.TXID(f.min), format.TXID(f.max))
}

// list returns the files of a level that end after a transaction. Those that begin before `from` are left out without reading their names. Names that
// are not those of LTX files are skipped.
func (p *place) list(ctx context.Context, level int, from, after uint64) ([]file, error) {
	var files []file
	dir := p.dir(level)
	for last := dir + format.TXID(from).String(); ; {
		page, err := p.store.List(ctx, dir, last, objects.MaxPage)
		if err != nil {
			return nil, err
		}
		for _, o := range page {
			low, high, err := format.ParseFilename(path.Base(o.Name))
			if err != nil || path.Dir(o.Name)+"/" != dir || low == 0 || low > high || uint64(high) <= after {
				continue
			}
			if len(files) == maxFiles {
				return nil, fmt.Errorf("%s has more than %d files", dir, maxFiles)
			}
			files = append(files, file{level, uint64(low), uint64(high), o.Size})
		}
		if len(page) < objects.MaxPage {
			return files, nil
		}
		last = page[len(page)-1].Name
	}
}

// time returns the time in the header of a file.
func (p *place) time(ctx context.Context, f file) (time.Time, error) {
	body, _, err := p.store.Get(ctx, p.name(f), 0, format.HeaderSize)
	if err != nil {
		return time.Time{}, err
	}
	defer body.Close()
	header, err := readHeader(body, f)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", p.name(f), err)
	}
	return headerTime(header), nil
}

func headerTime(h format.Header) time.Time { return time.UnixMilli(h.Timestamp).UTC() }

// open opens a file for reading from its beginning.
func (p *place) open(ctx context.Context, f file) (*body, error) {
	b := &body{ctx: ctx, store: p.store, name: p.name(f)}
	return b, b.reopen()
}

// apply applies a file to a database.
func (p *place) apply(ctx context.Context, f file, to *image) (Position, error) {
	b, err := p.open(ctx, f)
	if err != nil {
		return Position{}, err
	}
	defer b.Close()
	r, err := newReader(b, f)
	if err == nil {
		err = to.apply(r)
	}
	if err != nil {
		return Position{}, fmt.Errorf("%s: %w", b.name, err)
	}
	return Position{TXID: f.max, Time: headerTime(r.header)}, nil
}

// body reads an object, and goes on where it was when the connection was lost.
type body struct {
	ctx    context.Context
	store  objects.Store
	name   string
	object objects.Object
	offset int64
	open   io.ReadCloser
	failed int // attempts since the last byte
}

// resumes is how often a body is opened again without a byte of progress.
const resumes = 3

func (b *body) reopen() error {
	open, object, err := b.store.Get(b.ctx, b.name, b.offset, -1)
	if err != nil {
		return err
	}
	if b.offset > 0 && (object.Size != b.object.Size || object.ETag != b.object.ETag || !object.Modified.Equal(b.object.Modified)) {
		open.Close()
		return fmt.Errorf("%w: it was changed while it was read", ErrDamaged)
	}
	b.open, b.object = open, object
	return nil
}

func (b *body) Read(buffer []byte) (int, error) {
	for {
		n, err := b.open.Read(buffer)
		b.offset += int64(n)
		if n > 0 {
			b.failed = 0
		}
		if n > 0 || !errors.Is(err, objects.ErrUnreachable) || b.failed == resumes {
			if n > 0 && err != io.EOF {
				err = nil // the next list has it again, or is right by then
			}
			return n, err
		}
		b.failed++
		b.open.Close()
		if err := b.reopen(); err != nil {
			b.open = failedBody{err}
			return 0, err
		}
	}
}

func (b *body) Close() error { return b.open.Close() }

// failedBody is a body that could not be opened again.
type failedBody struct{ err error }

func (f failedBody) Read([]byte) (int, error) { return 0, f.err }
func (f failedBody) Close() error             { return nil }

// gone returns true if a file was removed after it was listed.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
