package federation

import (
	"context"

	"svc/internal/activity"
)

func (s *Service) gone(ctx context.Context, verb string, doc activity.Object) error { panic("posts") }
func (s *Service) passedOn(ctx context.Context, in *incoming) error                 { panic("posts") }
