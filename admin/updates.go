package admin

import (
	"context"
	"sync"
	"time"

	"svc/internal/release"
	"svc/internal/update"
	"svc/store"
)

// updateCheckEvery is the time between two checks for a new version, a bit less than the day in which housekeeping comes by once an hour.
const updateCheckEvery = 24*time.Hour - 30*time.Minute

// UpdateState is the result of the last check for a new version of this program.
type UpdateState struct {
	Version   string      `json:"version"`    // of this server
	Check     bool        `json:"check"`      // it looks for new ones
	Available *string     `json:"available"`  // the newest version; nil: none that is newer is known
	CheckedAt *store.Time `json:"checked_at"` // the last attempt since the start; nil: none
	Error     *string     `json:"error"`      // of that attempt
}

// updateCheck is the result of the last check for a new version. It is known until the server ends, because another check follows the start.
type updateCheck struct {
	mu        sync.Mutex
	checkedAt time.Time
	newest    string
	err       error
}

// CheckForUpdate looks for a new version, if updates.check is set and the last check is a day old. A failure is logged
// and part of UpdateState.
func (s *Service) CheckForUpdate(ctx context.Context) error {
	u := s.updates
	now := s.db.Now()
	u.mu.Lock()
	due := s.storage.Settings.Load().Updates.Check && (u.checkedAt.IsZero() || now.Sub(u.checkedAt).Abs() >= updateCheckEvery)
	u.mu.Unlock()
	if !due {
		return nil
	}
	newest, err := s.newestVersion(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.log.Warn("could not look for a new version of svc", "err", err)
	} else if s.isNewer(newest) {
		s.log.Info("a new version of svc is available", "version", newest, "see", "svc update --check")
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.checkedAt, u.err = now, err; err == nil {
		u.newest = newest
	}
	return nil
}

func (s *Service) newestVersion(ctx context.Context) (string, error) {
	c := s.storage.Settings.Load().Updates
	folder, err := update.Open(c.URL)
	if err != nil {
		return "", err
	}
	m, err := folder.Manifest(ctx, c.PublicKey)
	if err != nil {
		return "", err
	}
	return m.Version, nil
}

func (s *Service) isNewer(version string) bool {
	return release.Compare(version, s.storage.Version) > 0
}

// UpdateState returns the result of the last check. While updates.check is off, it has no result.
func (s *Service) UpdateState() *UpdateState {
	state := &UpdateState{Version: s.storage.Version, Check: s.storage.Settings.Load().Updates.Check}
	u := s.updates
	u.mu.Lock()
	defer u.mu.Unlock()
	if !state.Check || u.checkedAt.IsZero() {
		return state
	}
	at := store.At(u.checkedAt)
	state.CheckedAt = &at
	if u.newest != "" && s.isNewer(u.newest) {
		newest := u.newest
		state.Available = &newest
	}
	if u.err != nil {
		text := u.err.Error()
		state.Error = &text
	}
	return state
}
