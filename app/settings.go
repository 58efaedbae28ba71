package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"svc/internal/config"
)

// defaultSettingsFile is used if no file is named and it exists.
const defaultSettingsFile = "config.toml"

// SettingsFile returns which settings file counts: the one that the flag --config names, else $SVC_CONFIG, else config.toml in the
// current folder. A file that is named must exist; the last need not.
func SettingsFile(flag string) (path string, named bool) {
	if flag != "" {
		return flag, true
	}
	if path := os.Getenv("SVC_CONFIG"); path != "" {
		return path, true
	}
	return defaultSettingsFile, false
}

// LoadSettings returns the settings and the file that they are from, "" if there is none and all have their defaults.
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

// WithSettingsFlag adds the flag that names a settings file to a command line, unless file is "" or the default.
func WithSettingsFlag(command, file string) string {
	if file == "" || file == defaultSettingsFile {
		return command
	}
	return command + " --config " + file
}

// WriteSettings writes a settings file that only its owner can read. A file that exists is kept as path.old.
func WriteSettings(path, text string) error {
	if err := os.Rename(path, path+".old"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("keep the old settings: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return nil
}
