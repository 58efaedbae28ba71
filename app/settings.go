package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"svc/admin"
	"svc/internal/config"
	"svc/internal/disk"
	"svc/store"
)

// defaultSettingsFile is used if no file is named and it exists in the current folder.
const defaultSettingsFile = "config.toml"

// SettingsFile returns the path of the settings file: the one of the flag --config, else of $SVC_CONFIG, else config.toml in the
// current folder. A named file must exist, the default need not.
func SettingsFile(flag string) (path string, named bool) {
	if flag != "" {
		return flag, true
	}
	if path := os.Getenv("SVC_CONFIG"); path != "" {
		return path, true
	}
	return defaultSettingsFile, false
}

// LoadSettings returns the settings and their file. Without a file it returns the defaults and "".
func LoadSettings(flag string) (c *config.Config, file string, err error) {
	path, named := SettingsFile(flag)
	if !named {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return config.Default(), "", nil
		}
	}
	c, err = config.Load(path)
	return c, path, err
}

// EffectiveSettings overlays the settings of the file with those in the database, if they may be there. It only reads the database. Without one it
// returns the settings of the file.
func EffectiveSettings(ctx context.Context, c *config.Config) (*config.Config, error) {
	path := filepath.Join(c.Data.Dir, store.File)
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return c, nil
	}
	s, err := store.OpenSnapshot(ctx, path, false)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	live := config.NewLive(c)
	if _, err := admin.NewSettings(c, live, nil, nil).Load(ctx, s); err != nil { // the server logs invalid ones
		return nil, err
	}
	return live.Load(), nil
}

// WithSettingsFlag adds the flag that names a settings file to a command line, unless file is "" or the default.
func WithSettingsFlag(command, file string) string {
	if file == "" || file == defaultSettingsFile {
		return command
	}
	return command + " --config " + file
}

// WriteSettings writes a settings file that only its owner can read. An existing file stays as path.old. At any time there is either the
// old or the new file, whole.
func WriteSettings(path, text string) error {
	if err := disk.MakeFolder(filepath.Dir(path)); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	old, err := os.ReadFile(path)
	if err == nil {
		err = disk.ReplaceText(path+".old", string(old))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the old settings file: %w", err)
	}
	if err := disk.ReplaceText(path, text); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return nil
}
