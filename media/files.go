// Package media stores uploaded files: pictures, video, sound. It detects the type by content, removes metadata, makes thumbnails,
// writes the files to disk and serves them. It does not know what refers to a file. Proxy serves files of other
// servers through a cache. Archives keeps backups of accounts.
//
// Files and archives are on disk or in a bucket of S3 (bucket.go); unfinished files and the cache of the proxy are always on disk.
//
// Rules: the name of a file is a keyed hash of its owner and its content, so files never change, equal content of an owner is stored once, and
// a name does not reveal whether an account has a file. Names from before were the plain SHA-256; they stay, as do names that were made with
// other keys. A file appears under its name only when it is complete and on disk. A file is decoded only after its header has shown the
// cost, and one at a time.
//
// Limits: 50 million pixels, 1000 frames, 80 MiB of memory to decode; the proxy fetches 24 files at a time, 6 of one registered domain, 12 of domains
// that it does not know, and 12 slow ones. 256 files of the bucket are read at a time, 32 of one network; writing to it needs 32 MiB of memory.
package media

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"svc/internal/disk"
	"svc/internal/errs"
	"svc/store"
)

// Limits bound the cost of one picture. Fields that are 0 have a default.
type Limits struct {
	Pixels       int64 // larger pictures are rejected; default 50 million
	Frames       int   // longer animations are rejected; default 1000
	DecodeMemory int64 // bytes; pictures that need more are stored without a thumbnail; default 80 MiB
}

const (
	defaultPixels       = 50_000_000
	defaultFrames       = 1000
	defaultDecodeMemory = 80 << 20
)

const blockSize = 4 << 10 // of file systems

// diskUsage returns the bytes that a file of a size takes on disk.
func diskUsage(size int64) int64 { return (size + blockSize - 1) / blockSize * blockSize }

// tempDir contains files that are being written. It cannot clash with a stored name, which begins with two hexadecimal digits.
const tempDir = "tmp"

// Files is a directory of stored files, and the bucket if there is one (UseBucket). It is safe for concurrent use.
type Files struct {
	root       *disk.Root
	limits     Limits
	key        []byte           // of names
	decoding   chan struct{}    // held while a picture is decoded
	syncedDirs [256]atomic.Bool // by first byte of the name: the directory exists on disk
	mu         sync.Mutex       // held to rename, remove and count files
	claims     map[string]int   // files that will get a reference soon; guarded by mu
	usage      filesUsage
	budget     atomic.Pointer[Budget]   // nil: no limits
	bans       atomic.Pointer[store.DB] // nil: nothing is banned
	bucket     *inBucket                // nil: all files are on disk
}

// Entry is a stored file in Walk.
type Entry struct {
	Name     string
	Size     int64
	ModTime  time.Time // when the content was last stored, possibly not for the first time; by the clock of the bucket for files that are there
	InBucket bool
}

// Open opens the store in dir, which it creates if necessary, and removes incomplete files of an interrupted process. Only one process
// may open a directory. The key is that of names of new files; another one changes nothing about those that are there.
func Open(dir string, limits Limits, key []byte) (*Files, error) {
	if limits.Pixels <= 0 {
		limits.Pixels = defaultPixels
	}
	if limits.Frames <= 0 {
		limits.Frames = defaultFrames
	}
	if limits.DecodeMemory <= 0 {
		limits.DecodeMemory = defaultDecodeMemory
	}
	root, err := openDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open media: %w", err)
	}
	return &Files{root: root, limits: limits, key: key, decoding: make(chan struct{}, 1), claims: make(map[string]int)}, nil
}

// openDir opens a directory, which it creates if necessary, and removes incomplete files of an interrupted process.
func openDir(dir string) (*disk.Root, error) {
	if err := disk.MakeFolder(dir); err != nil {
		return nil, err
	}
	root, err := disk.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err = root.RemoveAll(tempDir); err == nil {
		err = root.Mkdir(tempDir, 0o700)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// Close closes the directory. Open files stay readable.
func (f *Files) Close() error { return f.root.Close() }

// OpenFile opens a stored file to read all of it. The error is fs.ErrNotExist if there is none. Reading from a bucket ends with ctx.
func (f *Files) OpenFile(ctx context.Context, name string) (*Content, error) {
	if !validName(name) {
		return nil, fs.ErrNotExist
	}
	file, err := f.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) && f.bucket != nil {
		return f.openBucket(ctx, netip.Addr{}, name, true)
	}
	if err != nil {
		return nil, err
	}
	return onDisk(file)
}

// RemoveOlder removes a file that nobody has claimed and that was not stored again since a time. It returns whether it did. The caller
// must know that no row referred to the file at some time after it. So a file that is about to get a reference, or has just got one, is
// kept, even if its content has been there unused for long. In a bucket it removes the file if no row refers to it now.
func (f *Files) RemoveOlder(ctx context.Context, name string, than time.Time) (bool, error) {
	if !validName(name) {
		return false, nil
	}
	if f.bucket == nil {
		removed, _, err := f.removeFromDisk(name, than)
		return removed, err
	}
	release, err := f.bucket.names.Take(ctx, name)
	if err != nil {
		return false, busy(ctx, err)
	}
	defer release()
	removed, kept, err := f.removeFromDisk(name, than)
	if kept || err != nil {
		return removed, err
	}
	removedThere, err := f.removeFromBucket(ctx, name)
	return removed || removedThere, err
}

// removeFromDisk is RemoveOlder for the disk. kept: the file is there and stays.
func (f *Files) removeFromDisk(name string, than time.Time) (removed, kept bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.claims[name] > 0 {
		return false, true, nil
	}
	info, err := f.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, false, nil
	case err != nil:
		return false, false, fmt.Errorf("stat stored file: %w", err)
	case info.ModTime().After(than):
		return false, true, nil
	}
	err = f.remove(name)
	return err == nil, false, err
}

// remove removes a file. f.mu is held.
func (f *Files) remove(name string) error {
	n, err := f.sizeOnDisk(name)
	if err == nil {
		err = f.root.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove stored file: %w", err)
	}
	f.usage.add(name, -n)
	return nil
}

// release ends claims on files.
func (f *Files) release(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range names {
		if f.claims[name]--; f.claims[name] <= 0 {
			delete(f.claims, name)
		}
	}
}

// Walk calls fn for each stored file, in no order, until fn fails or ctx ends. Files may be added and removed meanwhile.
func (f *Files) Walk(ctx context.Context, fn func(Entry) error) error {
	if err := f.walkDisk(ctx, fn); err != nil {
		return err
	}
	return f.walkBucket(ctx, "", fn)
}

func (f *Files) walkDisk(ctx context.Context, fn func(Entry) error) error {
	return walkFolders(ctx, f.root, func(name string, info fs.FileInfo) error {
		if !validName(name) {
			return nil
		}
		return fn(Entry{Name: name, Size: info.Size(), ModTime: info.ModTime()})
	})
}

// walkFolders calls fn for each file in the 256 folders of a directory, in no order. Files may be added and removed meanwhile.
func walkFolders(ctx context.Context, root *disk.Root, fn func(name string, info fs.FileInfo) error) error {
	for i := range 256 {
		if err := walkFolder(ctx, root, fmt.Sprintf("%02x", i), fn); err != nil {
			return err
		}
	}
	return nil
}

func walkFolder(ctx context.Context, root *disk.Root, folder string, fn func(name string, info fs.FileInfo) error) error {
	d, err := root.Open(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list files: %w", err)
	}
	defer d.Close()
	for {
		entries, err := d.ReadDir(256)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list files: %w", err)
		}
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return fmt.Errorf("list files: %w", err)
			}
			if err := fn(path.Join(folder, e.Name()), info); err != nil {
				return err
			}
		}
	}
}

// temp is a file being written. store gives it its name, discard removes it.
type temp struct {
	*disk.File
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

// store makes the content durable under its name, and claims it: until its release, no clean-up removes it. It replaces equal content,
// which renews the modification time by which clean-up finds unused files.
func (t *temp) store(ctx context.Context, name string) error {
	if t.files.bucket != nil && t.files.bucket.newFiles {
		return t.upload(ctx, name)
	}
	if err := t.Sync(); err != nil {
		return writeError(err)
	}
	dir := path.Dir(name)
	if err := t.files.ensureDir(dir); err != nil {
		return writeError(err)
	}
	if err := t.rename(name); err != nil {
		return writeError(err)
	}
	t.stored = true
	if err := t.files.root.Sync(dir); err != nil {
		t.files.release(name)
		return writeError(err)
	}
	return nil
}

// rename gives the file its name and claims it, and counts it unless it replaces equal content.
func (t *temp) rename(name string) error {
	info, err := t.Stat()
	if err != nil {
		return err
	}
	t.files.mu.Lock()
	defer t.files.mu.Unlock()
	before, err := t.files.sizeOnDisk(name)
	if err != nil {
		return err
	}
	if err := t.files.root.Rename(t.path, name); err != nil {
		return err
	}
	t.files.claims[name]++
	t.files.usage.add(name, diskUsage(info.Size())-before)
	return nil
}

// discard closes the file and removes it unless it was stored.
func (t *temp) discard() {
	t.Close()
	if !t.stored {
		t.files.root.Remove(t.path) // on failure, the next Open removes it
	}
}

// ensureDir creates one of the 256 directories. It returns when the directory is on disk, even if another goroutine created it.
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
	if err := f.root.Sync("."); err != nil {
		return err
	}
	f.syncedDirs[i].Store(true)
	return nil
}

// storedName returns the name of content by its owner and its SHA-256. The owner is in it, because otherwise an upload would show whether
// another account has the same file: after its deletion it would still be there.
func (f *Files) storedName(owner store.AccountID, sum [sha256.Size]byte, ext string) string {
	mac := hmac.New(sha256.New, f.key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(owner)))
	mac.Write(sum[:])
	h := hex.EncodeToString(mac.Sum(nil)[:keyedNameSize])
	return h[:2] + "/" + h + "." + ext
}

// keyedNameSize is how many bytes of the keyed hash are in a name. It is not that of a SHA-256, so that older names can be distinguished.
const keyedNameSize = 20

// validName returns whether a file can have a name: one of storedName, or the SHA-256 of its content. Every name from a request is checked here before it is used as a path.
func validName(name string) bool {
	const hexDigits = "0123456789abcdef"
	dir, file, _ := strings.Cut(name, "/")
	hash, ext, _ := strings.Cut(file, ".")
	return len(dir) == 2 && (len(hash) == 2*keyedNameSize || len(hash) == 2*sha256.Size) && strings.HasPrefix(hash, dir) &&
		strings.Trim(hash, hexDigits) == "" && mimeByExt[ext] != ""
}

// writeError returns a client error for a full disk, and an internal error otherwise.
func writeError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return &errs.Error{Status: 507, Message: "The disk of the server is full", Err: err}
	}
	return fmt.Errorf("store file: %w", err)
}
