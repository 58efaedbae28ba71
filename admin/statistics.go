package admin

import (
	"context"

	"svc/store"
)

// VisibilityCounts are how many posts are stored, by visibility, without boosts. Posts for local accounts only and for lists are not counted.
type VisibilityCounts struct {
	Direct   int `json:"direct"`
	Private  int `json:"private"`
	Public   int `json:"public"`
	Unlisted int `json:"unlisted"`
}

// CountVisibilities counts the posts of an instance, "" for all.
func (s *Service) CountVisibilities(ctx context.Context, instance string) (*VisibilityCounts, error) {
	domain := "*"
	if instance != "" {
		domain = s.domainOf(instance)
	}
	rows, err := s.db.StatusCounts(ctx, domain)
	if err != nil {
		return nil, err
	}
	c := new(VisibilityCounts)
	for _, row := range rows {
		switch row.Visibility {
		case store.Direct:
			c.Direct = row.Count
		case store.Private:
			c.Private = row.Count
		case store.Public:
			c.Public = row.Count
		case store.Unlisted:
			c.Unlisted = row.Count
		}
	}
	return c, nil
}
