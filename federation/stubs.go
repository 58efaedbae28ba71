package federation

import (
	"context"

	"svc/internal/activity"
)

func (s *Service) learnKey(ctx context.Context, id string) error                    { panic("discovery") }
func (s *Service) gone(ctx context.Context, verb string, doc activity.Object) error { panic("posts") }
func (s *Service) passedOn(ctx context.Context, in *incoming) error                 { panic("posts") }
