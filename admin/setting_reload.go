package admin

import (
	"context"

	"svc/internal/config"
	"svc/store"
)

// ReloadSettings replaces the settings of the file by those that were read again, which are valid. It returns the names of those that have changed
// and are in effect, and of those that take effect after a restart. Settings in the database stay above those of the file.
func (s *Service) ReloadSettings(ctx context.Context, c *config.Config) (changed, restart []string, err error) {
	st := s.stored
	st.mu.Lock()
	defer st.mu.Unlock()
	before, later, live := st.file(), st.later, st.live.Load()
	now, restart := before.Reload(c)
	st.inFile.Store(now)
	st.later = restart
	nothing := func(context.Context, *store.Tx, *settingUpdate) error { return nil }
	if _, err := s.changeSettings(ctx, func(*store.Tx, *settingUpdate) error { return nil }, nothing); err != nil {
		st.inFile.Store(before)
		st.later = later
		return nil, nil, err
	}
	return config.Differences(live, st.live.Load()), restart, nil
}
