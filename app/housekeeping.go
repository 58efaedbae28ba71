package app

import (
	"context"
	"time"
)

const (
	firstHousekeeping    = time.Minute // after the start, so that it does not delay the first requests
	housekeepingInterval = time.Hour
	optimizeEvery        = 24 // runs
)

// runHousekeeping maintains the database and looks for new versions every housekeepingInterval until ctx ends.
func (s *Server) runHousekeeping(ctx context.Context) {
	timer := time.NewTimer(firstHousekeeping)
	defer timer.Stop()
	for round := 0; ; round++ {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		for _, task := range []struct {
			name string
			due  bool
			run  func(context.Context) error
		}{
			{"trim timelines", true, func(ctx context.Context) error {
				return s.DB.TrimTimelines(ctx, s.Live.Load().Timelines.HomeLength)
			}},
			{"analyze tables", round%optimizeEvery == 0, s.DB.Optimize},
			{"merge search index", true, s.DB.MergeSearchIndex},
			{"release space", true, s.DB.ReleaseSpace},
			{"checkpoint", true, s.DB.Checkpoint},
			{"check for an update", true, s.Admin.CheckForUpdate},
		} {
			if !task.due {
				continue
			}
			if err := task.run(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("housekeeping failed", "task", task.name, "err", err)
			}
		}
		timer.Reset(housekeepingInterval)
	}
}
