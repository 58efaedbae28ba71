package main

import (
	"context"
	"log/slog"
	"time"

	"svc/internal/config"
	"svc/store"
)

const (
	firstHousekeeping    = time.Minute // after the start, when those who came first have been served
	housekeepingInterval = time.Hour
	dailyRounds          = 24 // rounds
)

// runHousekeeping does until ctx ends what the data need from time to time.
func runHousekeeping(ctx context.Context, db *store.DB, c *config.Config, log *slog.Logger) {
	wait := time.NewTimer(firstHousekeeping)
	defer wait.Stop()
	for round := 0; ; round++ {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		for _, duty := range []struct {
			what string
			due  bool
			do   func(context.Context) error
		}{
			{"trimming timelines", true, func(ctx context.Context) error { return db.TrimTimelines(ctx, c.Timelines.HomeLength) }},
			{"looking at the tables", round%dailyRounds == 0, db.Optimize},
			{"releasing space", true, db.ReleaseSpace},
			{"checkpoint", true, db.Checkpoint},
		} {
			if !duty.due {
				continue
			}
			if err := duty.do(ctx); err != nil && ctx.Err() == nil {
				log.Error("housekeeping failed", "at", duty.what, "err", err)
			}
		}
		wait.Reset(housekeepingInterval)
	}
}
