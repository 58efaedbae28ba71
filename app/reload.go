package app

import (
	"context"
	"strings"

	"svc/internal/config"
)

// Reload makes settings take effect that were read from the file again, and logs which have changed. What needs a restart is named, and stays as it is.
func (s *Server) Reload(ctx context.Context, c *config.Config) {
	done := s.manager.reloading()
	defer done()
	changed, restart, err := s.Admin.ReloadSettings(ctx, c)
	if err != nil {
		s.log.Error("the settings file was not read again: the previous settings are still in effect", "err", err)
		return
	}
	s.log.Info("the settings file was read again", "changed", strings.Join(changed, ", "))
	if len(restart) > 0 {
		s.log.Warn("changed settings take effect after a restart", "settings", strings.Join(restart, ", "))
	}
}
