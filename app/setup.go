package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"svc/admin"
	"svc/internal/config"
	"svc/internal/disk"
	"svc/internal/text"
	"svc/store"
)

// unfinishedSetup is a file in the data directory from the beginning of a setup to its end. The data beside it were never used.
const unfinishedSetup = "setup.unfinished"

// SetupUnfinished returns true if a setup of a new server in a data directory was cut off. It can be repeated.
func SetupUnfinished(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, unfinishedSetup))
	return err == nil
}

// Setup creates the data directory, the keys, the database and, if first has a nickname, the first account, an administrator. It
// writes the settings file last. A setup that was cut off begins anew. The result is nil if no account was created.
func Setup(ctx context.Context, c *config.Config, o Options, file string, first admin.NewUser) (*admin.CreatedUser, error) {
	if err := disk.MakeFolder(c.Data.Dir); err != nil {
		return nil, dataDirError(c.Data.Dir, err)
	}
	isNew, err := beginSetup(c.Data.Dir)
	if err != nil {
		return nil, err
	}
	o.setup = isNew
	s, err := New(ctx, c, o)
	if err != nil {
		return nil, err
	}
	var created *admin.CreatedUser
	if first.Nickname != "" {
		first.Admin = true
		created, err = s.Admin.CreateUser(ctx, first)
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	if err := WriteSettings(file, config.File(c)); err != nil {
		return nil, err
	}
	return created, endSetup(c.Data.Dir)
}

// CheckFirstNickname returns an error if the first account of a new server cannot have a nickname. apiName is the setting api.name.
func CheckFirstNickname(apiName, nick string) error {
	c := config.Default()
	switch {
	case text.IsReserved(nick, append(text.ReservedNicknames(), append(c.Accounts.RestrictedNicknames, apiName)...)):
		return fmt.Errorf("%s is reserved for the server itself: choose another nickname", nick)
	case !text.ValidNickname(nick, c.Accounts.ExtendedNicknameFormat):
		return fmt.Errorf("%s is no nickname: it has letters, digits, _ and -, at most %d of them, and not only digits", nick, text.MaxNickname)
	}
	return nil
}

// beginSetup marks a new data directory as unfinished, and removes what a setup that was cut off has left there. isNew is false if the
// directory has the data of a server.
func beginSetup(dir string) (isNew bool, err error) {
	lock, err := store.Lock(dir)
	if err != nil {
		return false, err
	}
	defer lock.Close()
	mark := filepath.Join(dir, unfinishedSetup)
	if SetupUnfinished(dir) {
		for _, name := range []string{store.File, store.File + "-wal", store.File + "-shm", "keys"} {
			if err := disk.RemoveAll(filepath.Join(dir, name)); err != nil {
				return false, fmt.Errorf("setup: %w", err)
			}
		}
		return true, nil
	}
	if _, err := os.Lstat(filepath.Join(dir, store.File)); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	file, err := disk.Create(mark) // on disk before anything of the database: SQLite synchronises the folder for its first log
	if err == nil {
		_, err = file.WriteString("A setup of svc has not ended. Run svc setup again.\n")
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return false, dataDirError(dir, err)
	}
	return true, nil
}

// endSetup removes the mark of an unfinished setup, because the data are complete or in use.
func endSetup(dir string) error {
	err := disk.Remove(filepath.Join(dir, unfinishedSetup))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = disk.SyncPath(dir)
	}
	return err
}

// dataDirError returns err, or one that says that the data directory cannot be written if that is the cause.
func dataDirError(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("the data directory %s cannot be written: %w; give it to the user that runs svc, and mount its disk for writing", dir, err)
	}
	return err
}
