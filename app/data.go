package app

import (
	"context"
	"fmt"
	"path/filepath"

	"svc/admin"
	"svc/emoji"
	"svc/internal/config"
	"svc/internal/disk"
	"svc/internal/frontend"
	"svc/media"
	"svc/store"
)

// dataDirs are the subdirectories of the data directory. All are created at start, so that operators find them.
var dataDirs = []string{"media", "emoji", "cache", "frontends", "static", "imports", "backups", "mail", "keys", "packs"}

// openData opens the database, keys, emoji and media in the data directory, and creates what does not exist.
func (s *Server) openData(ctx context.Context, o Options) (err error) {
	c := s.Settings
	if !o.takeover {
		if err := admin.CheckDataComplete(c.Data.Dir); err != nil {
			return err
		}
	}
	if err := checkNoStandby(c); err != nil {
		return err
	}
	if err := s.checkDatabasePresent(); err != nil {
		return err
	}
	s.DB, err = store.Open(ctx, store.Options{
		Dir:               c.Data.Dir,
		Schema:            o.Schema,
		Readers:           c.Data.Readers,
		ReaderCache:       int(c.Data.ReaderCache / 1000),
		WriterCache:       int(c.Data.WriterCache / 1000),
		Ballast:           func() int64 { return ballastSize(s.Live.Load()) },
		LogLimit:          func() int64 { return logLimit(s.Live.Load()) },
		Replicated:        c.Replica.Enabled,
		Admit:             s.admit(o),
		NewestBackup:      func() string { return newestBackup(s.Live.Load()) },
		SynchronousNormal: c.Data.Synchronous == config.SyncNormal,
		BlockersVisible:   func() bool { return s.Live.Load().Accounts.BlockersVisible },
		Federated:         func() bool { return s.Live.Load().Federation.Enabled },
		Now:               o.Now,
		Log:               s.log,
	})
	if err != nil {
		return dataDirError(c.Data.Dir, err)
	}
	if !o.setup { // from now on the data are in use
		if err := endSetup(c.Data.Dir); err != nil {
			return dataDirError(c.Data.Dir, err)
		}
	}
	if err := s.loadSettings(ctx); err != nil {
		return err
	}
	c = s.Settings
	if o.renew != nil {
		if err := s.renewKeys(ctx, o.renew); err != nil {
			return err
		}
	}
	if err := s.openKeys(ctx); err != nil {
		return err
	}
	for _, dir := range dataDirs {
		if err := disk.MakeFolder(s.dataPath(dir)); err != nil {
			return fmt.Errorf("data directory: %w", err)
		}
	}
	if s.Emojis, err = emoji.Open(s.dataPath("emoji"), emoji.Options{
		Inspect:  media.InspectPicture,
		Settings: s.Live,
		Archives: s.dataPath("packs"),
		Log:      s.log,
		Reserve:  s.reserveEmoji,
		Bans:     s.DB,
	}); err != nil {
		return err
	}
	if s.Media, err = media.Open(s.dataPath("media"), media.Limits{Pixels: c.Media.MaxPixels, Frames: c.Media.MaxFrames}, s.Keys.Secret("media names")); err != nil {
		return err
	}
	s.Media.ObserveBans(s.DB)
	if s.Archives, err = media.OpenArchives(filepath.Join(s.dataPath("backups"), "accounts")); err != nil {
		return err
	}
	if s.bucket, err = media.OpenBucket(ctx, c, s.log); err != nil {
		return err
	}
	s.Media.UseBucket(s.bucket, c.Media.Storage == config.MediaInBucket)
	s.Archives.UseBucket(s.bucket, c.Media.Storage == config.MediaInBucket)
	s.frontendDir, err = frontend.Open(s.dataPath("frontends"))
	return err
}

// ballastFraction is the part of storage.limit that the ballast has at most. It is inside the reserve of the database.
const ballastFraction = 32

func ballastSize(c *config.Config) int64 {
	if c.Storage.Limit > 0 {
		return min(c.Storage.Ballast, c.Storage.Limit/ballastFraction)
	}
	return c.Storage.Ballast
}

// logFraction is the part of storage.limit from which on the write-ahead log is emptied.
const logFraction = 32

func logLimit(c *config.Config) int64 {
	if c.Replica.Enabled {
		return store.MaxReplicatedLog
	}
	if c.Storage.Limit > 0 {
		return min(c.Storage.Limit/logFraction, store.MaxLogLimit)
	}
	return store.MaxLogLimit
}

// reserveEmoji reserves room for the files of emoji packs.
func (s *Server) reserveEmoji(ctx context.Context, n int64) (done func(kept bool), err error) {
	room := s.Budget.Reserve(media.EmojiPacks)
	if err := room.Grow(ctx, n); err != nil {
		return nil, err
	}
	return func(kept bool) {
		if kept {
			room.Commit()
		}
		room.Release()
	}, nil
}

// loadSettings overlays the settings of the file with those in the database, if they may be there. Rows that are not valid any more,
// because the file or this program has changed, are ignored, so that the server starts.
func (s *Server) loadSettings(ctx context.Context) error {
	s.stored = admin.NewSettings(s.Settings, s.Live, s.restart, s.settingsChanged)
	invalid, err := s.stored.Load(ctx, s.DB)
	if invalid != nil {
		s.log.Error("a setting in the database is not valid and has no effect: correct it, or remove it with svc config unset", "err", invalid)
	}
	s.Settings = s.Live.Load()
	if s.level != nil {
		s.level.Set(logLevel(s.Settings.Log.Level))
	}
	return err
}

func (s *Server) dataPath(name string) string { return dataPath(s.Settings, name) }

func dataPath(c *config.Config, name string) string { return filepath.Join(c.Data.Dir, name) }
