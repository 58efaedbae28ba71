package admin

import (
	"context"

	"svc/social"
)

// PruneMedia removes uploads that are attached to nothing for a day, and files that nothing refers to. With dryRun it only counts them.
func (s *Service) PruneMedia(ctx context.Context, dryRun bool) (*social.PrunedMedia, error) {
	return s.social.PruneMedia(ctx, dryRun)
}

// CheckMedia checks a part of the uploads and their files.
func (s *Service) CheckMedia(ctx context.Context, c social.MediaCheck) (*social.MediaChecked, error) {
	return s.social.CheckMedia(ctx, c)
}
