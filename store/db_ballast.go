package store

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"svc/internal/disk"
)

// BallastFile is the name of the ballast in the data directory: a file without a use, which is removed when the disk is full, so that there is
// room to delete something. It is made again once there is room.
const BallastFile = "ballast"

const (
	ballastRoom  = 8 << 20 // free bytes beside the ballast, from which on it is made and a full disk counts as free again
	startRoom    = 1 << 20 // free bytes below which Open removes the ballast: the log and its index need some
	ballastChunk = 1 << 20
)

// BallastSize returns what the ballast takes now.
func (db *DB) BallastSize() int64 { return db.ballast.has() }

// ballast keeps the file at its size.
type ballast struct {
	path string
	size func() int64 // 0: none
	free func() (int64, error)
	mu   sync.Mutex
}

func newBallast(o Options) *ballast {
	return &ballast{path: filepath.Join(o.Dir, BallastFile), size: o.Ballast, free: func() (int64, error) { return FreeSpace(o.Dir) }}
}

// has returns the size of the file, 0 if there is none.
func (b *ballast) has() int64 {
	info, err := os.Stat(b.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// release removes the file and returns its size.
func (b *ballast) release() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.has()
	if n == 0 || disk.Remove(b.path) != nil {
		return 0
	}
	return n
}

// restore makes the file if there is room for it and ballastRoom. It returns whether that much room is free.
func (b *ballast) restore() (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.has()
	free, err := b.free()
	size := b.size()
	if err != nil || free < ballastRoom+max(0, size-now) {
		return false, err
	}
	if now == size {
		return true, nil
	}
	if err := disk.Remove(b.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if size == 0 {
		return true, nil
	}
	if err := b.write(size); err != nil {
		return false, errors.Join(err, disk.Remove(b.path))
	}
	return true, nil
}

// write makes the file. Where the file system cannot allocate, it writes random bytes, which no file system stores in less space.
func (b *ballast) write(size int64) (err error) {
	f, err := disk.OpenFile(b.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if allocate(f.File, size) == nil {
		return nil
	}
	random := rand.NewChaCha8([32]byte{})
	chunk := make([]byte, ballastChunk)
	for left := size; left > 0; left -= int64(len(chunk)) {
		chunk = chunk[:min(left, ballastChunk)]
		random.Read(chunk)
		if _, err := f.Write(chunk); err != nil {
			return err
		}
	}
	return f.Sync()
}
