package admin

import (
	"context"

	"svc/social"
)

// RecountData is Recount of package social: it corrects a part of the counters and search indexes.
func (s *Service) RecountData(ctx context.Context, c social.Recount) (*social.Recounted, error) {
	return s.social.Recount(ctx, c)
}

// Findings returns the findings for what a part of a recount has corrected.
func Findings(r *social.Recounted) []*Finding {
	var list []*Finding
	for _, m := range r.Corrected {
		list = append(list, counterFinding(m, true))
	}
	return list
}
