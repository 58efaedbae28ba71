package admin

import (
	"context"
	"time"

	"svc/store"
)

// readingWindow is how long a repeated reading of the same by the same account makes no further entry.
const readingWindow = time.Hour

// recordReading adds an entry about what an account of the staff read, which only few may see. Commands need none: who runs them owns the
// data.
func (s *Service) recordReading(ctx context.Context, action, what string) error {
	if s.actor == nil {
		return nil
	}
	entry := store.NewLogEntry(s.actor, action, what, nil)
	recent, err := s.db.ModerationLog(ctx, store.LogFilter{Actor: s.actor.ID, From: s.db.Now().Add(-readingWindow), Search: entry.Message, Limit: 1})
	if err != nil || len(recent) > 0 {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.AddLogEntry(ctx, entry) })
}
