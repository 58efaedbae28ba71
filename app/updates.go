package app

import (
	"context"
	"path/filepath"

	"svc/internal/config"
	"svc/internal/control"
	"svc/internal/update"
	"svc/store"
)

// UpdateOptions returns the options of an update of this program: releases, data and the running server of the settings.
func UpdateOptions(c *config.Config, settingsFile string) update.Options {
	return update.Options{
		SettingsFile: settingsFile, DataDir: c.Data.Dir, Database: filepath.Join(c.Data.Dir, store.File),
		URL: c.Updates.URL, Key: c.Updates.PublicKey, Version: Version, Schema: store.SchemaVersion(),
		Running: func(ctx context.Context) (version string, err error) {
			err = control.Call(ctx, c.Data.Dir, showVersion.name, struct{}{}, &version)
			return version, err
		},
	}
}
