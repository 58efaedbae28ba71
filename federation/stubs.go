package federation

import (
	"context"

	"svc/internal/activity"
	"svc/store"
)

func (s *Service) vote(ctx context.Context, in *incoming, o activity.Object) error {
	panic("relations")
}
func (s *Service) chatMessage(ctx context.Context, in *incoming, o activity.Object) error {
	panic("relations")
}
func (s *Service) retractMessage(ctx context.Context, a *store.Account, uri string) (bool, error) {
	panic("relations")
}
func isVote(o activity.Object) bool { return false }
