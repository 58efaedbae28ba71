// Package media keeps the files that people upload: pictures, video, sound. It takes them in (type by content, metadata
// removed, thumbnail made), keeps them on disk and serves them. Who owns a file and what refers to it is known elsewhere. Files of
// other servers it shows too, through a cache (Proxy).
//
// Its rules: a file's name is the hash of its content, so it never changes and identical content is stored once; nothing
// is visible under such a name before it is whole and on disk; what a stranger sends is decoded only after its header has
// told what that will cost, and then one picture at a time.
package media

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"svc/internal/errs"
)

// Limits bound what a single picture may cost. A zero field takes its default.
type Limits struct {
	Pixels       int64 // larger pictures are refused; default 50 million
	DecodeMemory int64 // pictures that need more bytes to decode are kept, but get no thumbnail; default 128 MiB
}

const (
	defaultPixels       = 50_000_000
	defaultDecodeMemory = 128 << 20
)

// tempDir holds what is being written. No stored name can clash with it: those begin with two hexadecimal digits.
const tempDir = "tmp"

// Files is a directory of stored files. Its methods may be used from any number of goroutines.
type Files struct {
	root       *os.Root
	limits     Limits
	decoding   chan struct{}    // holds a token while a picture is decoded
	syncedDirs [256]atomic.Bool // by first byte of the hash: the directory exists, and so on disk
	renaming   sync.RWMutex     // held while a file gets its name, exclusively while old ones are removed
}

// Entry is one stored file as Walk finds it.
type Entry struct {
	Name    string
	Size    int64
	ModTime time.Time // when the content was last stored, be it for the second time
}

// Open returns the store in dir, which it creates if need be, and removes what an interrupted process left half-written.
// Only one process may have a directory open.
func Open(dir string, limits Limits) (*Files, error) {
	if limits.Pixels <= 0 {
		limits.Pixels = defaultPixels
	}
	if limits.DecodeMemory <= 0 {
		limits.DecodeMemory = defaultDecodeMemory
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open media: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open media: %w", err)
	}
	err = root.RemoveAll(tempDir)
	if err == nil {
		err = root.Mkdir(tempDir, 0o700)
	}
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("open media: %w", err)
	}
	return &Files{root: root, limits: limits, decoding: make(chan struct{}, 1)}, nil
}

// Close releases the directory. Files that are being served stay readable.
func (f *Files) Close() error { return f.root.Close() }

// Exists tells whether a file of that name is stored. A name that no stored file could have is not an error.
func (f *Files) Exists(name string) (bool, error) {
	if !validName(name) {
		return false, nil
	}
	_, err := f.root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for stored file: %w", err)
	}
	return true, nil
}

// Remove deletes a stored file; one that is not there is no error. The caller has to know that nothing refers to the
// content, and should leave files alone that were stored a moment ago: what will refer to them may not be written yet.
func (f *Files) Remove(name string) error {
	if !validName(name) {
		return nil
	}
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove stored file: %w", err)
	}
	return nil
}

// RemoveOlder is Remove for a file that has not been stored since a time, and tells whether it was one. So a file that somebody is
// about to refer to is left alone, even if its like has been here, unused, for long.
func (f *Files) RemoveOlder(name string, than time.Time) (bool, error) {
	if !validName(name) {
		return false, nil
	}
	f.renaming.Lock()
	defer f.renaming.Unlock()
	info, err := f.root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for stored file: %w", err)
	}
	if info.ModTime().After(than) {
		return false, nil
	}
	return true, f.Remove(name)
}

// Walk calls fn for every stored file, in no order, until fn fails or ctx ends. Files may come and go meanwhile.
func (f *Files) Walk(ctx context.Context, fn func(Entry) error) error {
	for i := range 256 {
		if err := f.walkDir(ctx, fmt.Sprintf("%02x", i), fn); err != nil {
			return err
		}
	}
	return nil
}

func (f *Files) walkDir(ctx context.Context, dir string, fn func(Entry) error) error {
	d, err := f.root.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list stored files: %w", err)
	}
	defer d.Close()
	for {
		entries, err := d.ReadDir(256)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list stored files: %w", err)
		}
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			name := path.Join(dir, e.Name())
			if !validName(name) {
				continue
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return fmt.Errorf("list stored files: %w", err)
			}
			if err := fn(Entry{Name: name, Size: info.Size(), ModTime: info.ModTime()}); err != nil {
				return err
			}
		}
	}
}

// temp is a file being written. It is either kept under its final name or, by discard, gone without a trace.
type temp struct {
	*os.File
	files  *Files
	path   string
	stored bool
}

func (f *Files) newTemp() (*temp, error) {
	p := path.Join(tempDir, rand.Text())
	file, err := f.root.OpenFile(p, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, writeError(err)
	}
	return &temp{File: file, files: f, path: p}, nil
}

// store makes the content durable under its name. Content that is stored already is replaced by its equal: that costs no
// more than looking, and it renews the time by which clean-up tells new files from old.
func (t *temp) store(name string) error {
	if err := t.Sync(); err != nil {
		return writeError(err)
	}
	dir := path.Dir(name)
	if err := t.files.ensureDir(dir); err != nil {
		return writeError(err)
	}
	t.files.renaming.RLock()
	err := t.files.root.Rename(t.path, name)
	t.files.renaming.RUnlock()
	if err != nil {
		return writeError(err)
	}
	t.stored = true
	if err := t.files.syncDir(dir); err != nil {
		return writeError(err)
	}
	return nil
}

// discard closes the file and removes it unless it was kept.
func (t *temp) discard() {
	t.Close()
	if !t.stored {
		t.files.root.Remove(t.path) // a leftover that cannot be removed now goes at the next Open
	}
}

// ensureDir creates one of the 256 directories. It returns only once the directory is on disk, even if another
// goroutine is the one that created it.
func (f *Files) ensureDir(dir string) error {
	i, err := strconv.ParseUint(dir, 16, 8)
	if err != nil {
		return err
	}
	if f.syncedDirs[i].Load() {
		return nil
	}
	if err := f.root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := f.syncDir("."); err != nil {
		return err
	}
	f.syncedDirs[i].Store(true)
	return nil
}

func (f *Files) syncDir(dir string) error {
	d, err := f.root.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// storedName is the name under which content with that SHA-256 is stored.
func storedName(sum []byte, ext string) string {
	h := hex.EncodeToString(sum)
	return h[:2] + "/" + h + "." + ext
}

// validName tells whether name is one that storedName makes. Every name from outside passes here before it meets the disk.
func validName(name string) bool {
	const hexDigits = "0123456789abcdef"
	dir, file, _ := strings.Cut(name, "/")
	hash, ext, _ := strings.Cut(file, ".")
	return len(dir) == 2 && len(hash) == 64 && strings.HasPrefix(hash, dir) &&
		strings.Trim(hash, hexDigits) == "" && mimeByExt[ext] != ""
}

// writeError tells a full disk, which the client may be told about, from other faults of the machine.
func writeError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return &errs.Error{Status: 507, Message: "The server has no room left for files", Err: err}
	}
	return fmt.Errorf("store file: %w", err)
}
