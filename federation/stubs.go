package federation

import (
	"context"

	"svc/internal/activity"
	"svc/store"
)

func (s *Service) gone(ctx context.Context, verb string, doc activity.Object) error { panic("posts") }
func (s *Service) passedOn(ctx context.Context, in *incoming) error                 { panic("posts") }
func (s *Service) Status(ctx context.Context, uri string) (*store.Status, error) {
	return s.db.StatusByURI(ctx, uri)
}
