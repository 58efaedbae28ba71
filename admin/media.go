package admin

import (
	"context"

	"svc/social"
	"svc/store"
)

// PruneMedia removes uploads that are attached to nothing for a day, and files that nothing refers to. With dryRun it only counts them.
func (s *Service) PruneMedia(ctx context.Context, dryRun bool) (*social.PrunedMedia, error) {
	return s.social.PruneMedia(ctx, dryRun)
}

// StartMediaPrune makes the daily job of PruneMedia due now.
func (s *Service) StartMediaPrune(ctx context.Context) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if err := tx.RunRecurringNow(ctx, store.SweepMedia{}); err != nil {
			return err
		}
		return s.record(ctx, tx, "media_prune", "started the removal of unused files", nil)
	})
}

// CheckMedia checks a part of the uploads and their files.
func (s *Service) CheckMedia(ctx context.Context, c social.MediaCheck) (*social.MediaChecked, error) {
	return s.social.CheckMedia(ctx, c)
}
