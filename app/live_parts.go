package app

import (
	"context"
	"reflect"

	"svc/internal/config"
	"svc/internal/translate"
	"svc/server/web/mail"
)

// settingsChanged makes changed settings take effect that are not read at each use: the level of the log, and the rules for emoji in folders
// without a pack.json.
func (s *Server) settingsChanged(before, now *config.Config) {
	if s.level != nil && before.Log.Level != now.Log.Level {
		s.level.Set(logLevel(now.Log.Level))
		s.log.Info("log level changed", "level", now.Log.Level)
	}
	if !reflect.DeepEqual(before.Emoji, now.Emoji) {
		if err := s.Emojis.Reload(); err != nil {
			s.log.Error("emoji packs could not be read again", "err", err)
		}
	}
}

// testMail sends a test mail with the settings of the server, those in the database included. It returns what the mail server answered.
func (s *Server) testMail(ctx context.Context, address string) (string, error) {
	return mail.SendTest(ctx, s.Live.Load(), s.log, address)
}

// translators returns what translates by the settings of the moment; it returns nil while posts are not translated. Changes of other
// settings keep its cache.
func (s *Server) translators() func() *translate.Service {
	var last *translate.Service
	view := config.NewView(s.Live, func(c *config.Config) *translate.Service { // runs once at a time
		if c.Translation.URL == "" {
			last = nil
			return nil
		}
		if last != nil && last.URL == c.Translation.URL && last.APIKey == c.Translation.APIKey {
			return last
		}
		t, err := translate.New(translate.Config{URL: c.Translation.URL, APIKey: c.Translation.APIKey, UserAgent: s.userAgent(), Now: s.DB.Now})
		if err != nil {
			s.log.Error("posts are not translated", "err", err)
		}
		last = t
		return t
	})
	return func() *translate.Service { return *view.Load() }
}
