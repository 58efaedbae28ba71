package objects

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"svc/internal/disk"
)

// folderStore keeps an object as a file of its name.
type folderStore struct {
	root *disk.Root
}

// copyBuffer is how many bytes of a body are copied at once.
const copyBuffer = 256 << 10

func openFolder(l Location, o Options) (Store, error) {
	if !o.NoCreate {
		if err := disk.MakeFolder(l.Path); err != nil {
			return nil, folderError(err)
		}
	}
	root, err := disk.OpenRoot(l.Path)
	if err != nil {
		return nil, folderError(err)
	}
	f := &folderStore{root: root}
	if o.NoCreate {
		return f, nil
	}
	if err := f.makeDir(tempDir); err != nil {
		root.Close()
		return nil, folderError(err)
	}
	return f, nil
}

func (f *folderStore) Close() error { return f.root.Close() }

func (f *folderStore) Put(ctx context.Context, name string, body io.Reader, size int64, o PutOptions) (Object, error) {
	if err := checkName(name); err != nil {
		return Object{}, failed("put", name, err)
	}
	temp, err := f.write(ctx, body, size, o)
	if err != nil {
		return Object{}, failed("put", name, folderError(err))
	}
	defer f.root.Remove(temp) // gone after a rename
	if err := f.makeDir(path.Dir(name)); err != nil {
		return Object{}, failed("put", name, folderError(err))
	}
	object, err := f.commit(ctx, temp, name, o)
	if err == nil {
		err = f.root.Sync(path.Dir(name))
	}
	if errors.Is(err, syscall.ENOTDIR) {
		err = as(ErrName, err) // a part of the name is an object
	}
	if err != nil {
		return Object{}, failed("put", name, folderError(err))
	}
	return object, nil
}

// write writes a body into a temporary file, syncs it and returns its path.
func (f *folderStore) write(ctx context.Context, body io.Reader, size int64, o PutOptions) (_ string, err error) {
	if o.conditional() {
		body = &limited{body: body, left: MaxConditional}
	}
	temp := path.Join(tempDir, rand.Text())
	file, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			f.root.Remove(temp) // on failure, Sweep removes it
		}
	}()
	if _, err = io.CopyBuffer(struct{ io.Writer }{file}, newSized(ctx, body, size), make([]byte, copyBuffer)); err != nil {
		return "", err
	}
	if err = f.root.Chtimes(temp, time.Time{}, uniqueTime()); err != nil {
		return "", err
	}
	return temp, file.Sync()
}

// uniqueTime returns the present second with random nanoseconds: clocks of file systems are too coarse for an ETag.
func uniqueTime() time.Time {
	var b [4]byte
	rand.Read(b[:])
	return time.Unix(time.Now().Unix(), int64(binary.LittleEndian.Uint32(b[:])%uint32(time.Second)))
}

// commit gives a temporary file its name, if the condition is met.
func (f *folderStore) commit(ctx context.Context, temp, name string, o PutOptions) (Object, error) {
	unlock, err := f.lock(ctx, o.IfMatch != "")
	if err != nil {
		return Object{}, err
	}
	defer unlock()
	info, err := f.root.Lstat(temp)
	if err != nil {
		return Object{}, err
	}
	switch {
	case o.IfNone:
		err = f.link(temp, name)
	case o.IfMatch != "":
		var now fs.FileInfo
		now, err = f.root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return Object{}, fmt.Errorf("%w: there is no object", ErrCondition)
		case err != nil:
			return Object{}, err
		case etagOf(now) != o.IfMatch:
			return Object{}, fmt.Errorf("%w: it was changed", ErrCondition)
		}
		err = f.root.Rename(temp, name)
	default:
		err = f.root.Rename(temp, name)
	}
	return objectOf(name, info), err
}

// link gives a file a further name that must not exist.
func (f *folderStore) link(temp, name string) error {
	err := f.root.Link(temp, name)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS) {
		err = f.root.RenameNew(temp, name) // no hard links, as on exFAT
	}
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: there is one", ErrCondition)
	}
	return err
}

func (f *folderStore) Get(ctx context.Context, name string, offset, length int64) (io.ReadCloser, Object, error) {
	if err := checkName(name); err != nil {
		return nil, Object{}, failed("get", name, err)
	}
	if err := checkOffset(ctx, offset); err != nil {
		return nil, Object{}, failed("get", name, err)
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, Object{}, failed("get", name, folderError(err))
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		file.Close()
		return nil, Object{}, failed("get", name, folderError(err))
	}
	n := max(info.Size()-offset, 0)
	if length >= 0 {
		n = min(n, length)
	}
	return &fileBody{newSized(ctx, io.NewSectionReader(file, offset, n), -1), file}, objectOf(name, info), nil
}

// checkOffset returns the error of a range or of the context.
func checkOffset(ctx context.Context, offset int64) error {
	if offset < 0 {
		return fmt.Errorf("offset %d is negative", offset)
	}
	return ctx.Err()
}

type fileBody struct {
	io.Reader
	io.Closer
}

func (f *folderStore) Stat(ctx context.Context, name string) (Object, error) {
	if err := checkName(name); err != nil {
		return Object{}, failed("stat", name, err)
	}
	info, err := f.root.Stat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = fs.ErrNotExist
	case err == nil:
		err = ctx.Err()
	}
	if err != nil {
		return Object{}, failed("stat", name, folderError(err))
	}
	return objectOf(name, info), nil
}

func (f *folderStore) List(ctx context.Context, prefix, after string, limit int) ([]Object, error) {
	if err := checkList(prefix, after, limit); err != nil {
		return nil, failed("list", prefix, err)
	}
	l := &lister{prefix: prefix, after: after, limit: limit, describe: f.describe}
	l.read = func(folder string) ([]entry, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return f.readDir(folder)
	}
	page, err := l.list()
	return page, failed("list", prefix, folderError(err))
}

func (f *folderStore) readDir(folder string) ([]entry, error) {
	dir, err := f.root.Open(path.Join(".", folder))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	files, err := dir.ReadDir(-1)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	entries := make([]entry, 0, len(files))
	for _, e := range files {
		if e.IsDir() || e.Type().IsRegular() {
			entries = append(entries, entry{name: e.Name(), folder: e.IsDir()})
		}
	}
	sortEntries(entries)
	return entries, err
}

func sortEntries(entries []entry) {
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key(), b.key()) })
}

func (f *folderStore) describe(name string, _ entry) (Object, bool, error) {
	info, err := f.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Object{}, false, nil // deleted meanwhile
	}
	if err != nil {
		return Object{}, false, err
	}
	return objectOf(name, info), info.Mode().IsRegular(), nil
}

func (f *folderStore) Delete(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return failed("delete", name, err)
	}
	if err := ctx.Err(); err != nil {
		return failed("delete", name, err)
	}
	unlock, err := f.lock(ctx, false)
	if err != nil {
		return failed("delete", name, folderError(err))
	}
	defer unlock()
	info, err := f.root.Lstat(name)
	if err == nil && info.IsDir() {
		return nil // no object
	}
	if err == nil {
		err = f.root.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err == nil {
		err = f.root.Sync(path.Dir(name))
	}
	return failed("delete", name, folderError(err))
}

func (f *folderStore) Sweep(ctx context.Context, age time.Duration) (int, error) {
	entries, err := f.readDir(tempDir)
	n := 0
	for _, e := range entries {
		name := path.Join(tempDir, e.name)
		info, err := f.root.Lstat(name)
		if err != nil || e.name == lockFile || time.Since(info.ModTime()) < age {
			continue
		}
		if err := errors.Join(ctx.Err(), f.root.Remove(name)); err != nil {
			return n, failed("sweep", name, folderError(err))
		}
		n++
	}
	return n, failed("sweep", tempDir, folderError(err))
}

// objectOf describes a file.
func objectOf(name string, info fs.FileInfo) Object {
	return Object{Name: name, Size: info.Size(), Modified: info.ModTime(), ETag: etagOf(info)}
}

// etagOf returns an ETag that another Put does not have: its time is random, and while a file is there, another has another inode.
func etagOf(info fs.FileInfo) string {
	var inode uint64
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = uint64(s.Ino)
	}
	return fmt.Sprintf("%x-%x-%x", info.ModTime().UnixNano(), info.Size(), inode)
}

// limited returns ErrSize for a body that has more than left bytes.
type limited struct {
	body io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.body.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("%w: an object with a condition has at most %d bytes", ErrSize, MaxConditional)
	}
	return n, err
}
