package admin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"svc/internal/disk"
)

// Prefixes of the folders of unfinished work beside backups.
const (
	backupWork = ".svc-backup-"
	verifyWork = ".svc-verify-"
)

const (
	workLock    = "lock"      // locked as long as the process runs
	workLockAge = time.Minute // a folder without lock is younger while it is being made
)

// workFolder is a folder for unfinished files.
type workFolder struct {
	dir  string
	lock *disk.File
}

// newWorkFolder makes a work folder in dir. It first removes those that killed processes have left there.
func newWorkFolder(dir, prefix string) (*workFolder, error) {
	if err := RemoveUnfinished(dir); err != nil {
		return nil, err
	}
	work, err := disk.MkdirTemp(dir, prefix)
	if err != nil {
		return nil, err
	}
	w := &workFolder{dir: work}
	if w.lock, err = disk.OpenFile(filepath.Join(work, workLock), os.O_CREATE|os.O_RDWR, 0o600); err == nil {
		err = syscall.Flock(int(w.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		w.remove()
		return nil, err
	}
	return w, nil
}

func (w *workFolder) path(name string) string { return filepath.Join(w.dir, name) }

func (w *workFolder) remove() {
	disk.RemoveAll(w.dir) // what stays is removed by the next one
	if w.lock != nil {
		w.lock.Close()
	}
}

// RemoveUnfinished removes the work folders in dir that no process uses any more. It is no error if there is no dir.
func RemoveUnfinished(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("unfinished backups: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), backupWork) && !strings.HasPrefix(e.Name(), verifyWork) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if isAbandoned(path) {
			if err := disk.RemoveAll(path); err != nil {
				return fmt.Errorf("unfinished backups: %w", err)
			}
		}
	}
	return nil
}

// isAbandoned returns true if no process works in a work folder.
func isAbandoned(work string) bool {
	lock, err := disk.OpenFile(filepath.Join(work, workLock), os.O_RDWR, 0)
	if err != nil {
		info, err := os.Stat(work)
		return err == nil && time.Since(info.ModTime()) > workLockAge
	}
	defer lock.Close()
	return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
