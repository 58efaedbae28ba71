package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"svc/internal/disk"
)

// replacingFile is in the work folder of a salvage while the databases change places. It has the name under which the damaged one is kept. As long as
// it is there, the database in the data directory may be missing, or have the log of the other one.
const replacingFile = "replacing"

// ErrSalvageUnfinished is returned by CheckSalvageFinished.
var ErrSalvageUnfinished = errors.New(`"svc db salvage" was interrupted while it replaced the database: run it again`)

// CheckSalvageFinished returns an error if a salvage in a data directory was interrupted while it replaced the database.
func CheckSalvageFinished(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, salvageDir, replacingFile)); err == nil {
		return fmt.Errorf("%w (%s)", ErrSalvageUnfinished, dir)
	}
	return nil
}

// replace puts the new database in the place of the damaged one, which is kept. It can be finished after an interruption.
func (s *salvage) replace() error {
	s.result.Damaged = filepath.Join(s.Dir, File+".damaged-"+s.now().UTC().Format("20060102T150405Z"))
	for _, path := range []string{newDatabase(s.Dir), filepath.Dir(newDatabase(s.Dir))} { // SQLite wrote it without synchronisations
		if err := disk.SyncPath(path); err != nil {
			return err
		}
	}
	if err := disk.ReplaceText(filepath.Join(s.work, replacingFile), filepath.Base(s.result.Damaged)); err != nil {
		return err
	}
	return finishReplacing(s.Dir, s.result.Damaged)
}

// newDatabase is where a salvage writes the new database.
func newDatabase(dir string) string { return filepath.Join(dir, salvageDir, "new", File) }

// continueSalvage finishes a salvage that was interrupted while it replaced the database. It returns nil if there is none.
func continueSalvage(dir string) (*Salvaged, error) {
	name, err := os.ReadFile(filepath.Join(dir, salvageDir, replacingFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && (filepath.Base(string(name)) != string(name) || !strings.HasPrefix(string(name), File+".damaged-")) {
		err = fmt.Errorf("%q is not the name of a damaged database", name)
	}
	if err != nil {
		return nil, err
	}
	s := &Salvaged{Continued: true, Damaged: filepath.Join(dir, string(name))}
	return s, finishReplacing(dir, s.Damaged)
}

// finishReplacing moves the damaged database to its new name with its log, and the new one to its place, unless that is done.
func finishReplacing(dir, damaged string) error {
	fresh := newDatabase(dir)
	if _, err := os.Lstat(fresh); err == nil {
		for _, end := range []string{"-wal", "-shm", ""} {
			if err := disk.Rename(filepath.Join(dir, File+end), damaged+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if err := disk.SyncPath(dir); err != nil { // or the new name could be on disk before the old one is
			return err
		}
		if err := disk.Rename(fresh, filepath.Join(dir, File)); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return disk.SyncPath(dir)
}
