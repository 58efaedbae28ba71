package objects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile excludes Puts with IfMatch from other changes. It is never removed.
const lockFile = "lock"

// lockPoll is the interval of attempts at a lock that is held. flock cannot wait with a context.
const lockPoll = 5 * time.Millisecond

// lock takes the lock of the folder, which ends with the process. Without exclusive it is shared, and a file system that has no locks is no error.
func (f *folderStore) lock(ctx context.Context, exclusive bool) (unlock func(), err error) {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	file, err := f.root.OpenFile(path.Join(tempDir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		if exclusive {
			return nil, err
		}
		return func() {}, ctx.Err()
	}
	for {
		err := unix.Flock(int(file.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { file.Close() }, nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			select {
			case <-ctx.Done():
				file.Close()
				return nil, ctx.Err()
			case <-time.After(lockPoll):
			}
		case exclusive:
			file.Close()
			return nil, as(errors.ErrUnsupported, fmt.Errorf("lock: %w", err))
		default:
			file.Close()
			return func() {}, ctx.Err()
		}
	}
}

// makeDir makes a folder and those above it, whose names are on disk then.
func (f *folderStore) makeDir(dir string) error {
	if dir == "." {
		return nil
	}
	err := f.root.Mkdir(dir, 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil // or a file: then the rename fails
	case errors.Is(err, fs.ErrNotExist):
		if err := f.makeDir(path.Dir(dir)); err != nil {
			return err
		}
		if err = f.root.Mkdir(dir, 0o700); errors.Is(err, fs.ErrExist) {
			return nil
		}
	}
	if err != nil {
		return err
	}
	return f.root.Sync(path.Dir(dir))
}

// folderError returns an error of a file system as one of this package.
func folderError(err error) error {
	if errors.Is(err, ErrName) {
		return err
	}
	for kind, numbers := range map[error][]syscall.Errno{
		ErrFull:        {syscall.ENOSPC, syscall.EDQUOT},
		ErrRefused:     {syscall.EACCES, syscall.EPERM, syscall.EROFS},
		ErrUnreachable: {syscall.EIO, syscall.ESTALE, syscall.ETIMEDOUT, syscall.ENOTCONN, syscall.EHOSTDOWN},
		ErrName:        {syscall.EISDIR, syscall.ENAMETOOLONG},
		fs.ErrNotExist: {syscall.ENOTDIR},
	} {
		for _, n := range numbers {
			if errors.Is(err, n) {
				return as(kind, err)
			}
		}
	}
	return err
}
