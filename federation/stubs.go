package federation

import (
	"context"

	"svc/internal/activity"
	"svc/store"
)

func (s *Service) learnKey(ctx context.Context, id string) error                    { panic("discovery") }
func (s *Service) gone(ctx context.Context, verb string, doc activity.Object) error { panic("posts") }
func (s *Service) passedOn(ctx context.Context, in *incoming) error                 { panic("posts") }
func (s *Service) fetchActor(ctx context.Context, uri string) (*store.Account, error) {
	_, err := s.document(ctx, uri)
	return nil, err
}
func (s *Service) actorGone(ctx context.Context, a *store.Account) error { return nil }
