package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// ErrInUse is returned by Open when another process has the data directory.
var ErrInUse = errors.New("the data directory is in use by another svc process")

// Lock takes the data directory for this process, as Open does, until what it returns is closed. It is for work on the files
// themselves that must not meet an open database.
func Lock(dir string) (io.Closer, error) {
	f, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// lockDir takes the data directory for this process. The lock is a file of its own: locks on the database file itself would
// vanish as soon as anything in the process closed it.
func lockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s", ErrInUse, dir)
		}
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	return f, nil
}
