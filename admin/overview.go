package admin

import (
	"context"

	"svc/policy"
	"svc/store"
)

// Overview is what staff see before they act on an account, beside its profile.
type Overview struct {
	LastActiveAt *store.Time    `json:"last_active_at"` // in days; nil: a remote account, or never
	Sessions     int            `json:"sessions"`       // tokens of apps and browsers
	Posts        int            `json:"statuses_count"`
	Followers    int            `json:"followers_count"`
	Following    int            `json:"following_count"`
	Tags         []string       `json:"tags"`    // of policies
	Reports      *ReportCounts  `json:"reports"` // nil: they are not for the viewer
	Server       *ServerOfStaff `json:"server"`  // of a remote account
}

// ReportCounts counts the reports that an account has to do with.
type ReportCounts struct {
	Open    int `json:"open"`    // about the account
	Against int `json:"against"` // those and the decided ones
	By      int `json:"by"`
}

// ServerOfStaff is the server of a remote account, and how the settings limit it.
type ServerOfStaff struct {
	Domain        string `json:"domain"`
	Rejected      bool   `json:"rejected"`
	Unlisted      bool   `json:"unlisted"`
	FollowersOnly bool   `json:"followers_only"`
	MediaRemoved  bool   `json:"media_removed"`
	Sensitive     bool   `json:"sensitive"`
}

// Overview returns what staff see of an account. withReports: they may manage reports.
func (s *Service) Overview(ctx context.Context, name string, withReports bool) (*Overview, error) {
	a, err := s.findAccount(ctx, s.db, name)
	if err != nil {
		return nil, err
	}
	o := &Overview{Posts: a.StatusesCount, Followers: a.FollowersCount, Following: a.FollowingCount, Tags: append([]string{}, a.Tags.V...)}
	if a.Local() {
		err = s.overviewOfUser(ctx, a.ID, o)
	} else {
		o.Server = newServerOfStaff(a.Domain, s.social.Policies.Restrictions(a.Domain, a.URI))
	}
	if err == nil && withReports {
		o.Reports, err = s.reportCounts(ctx, a.ID)
	}
	return o, err
}

func (s *Service) overviewOfUser(ctx context.Context, id store.AccountID, o *Overview) error {
	user, err := s.db.User(ctx, id)
	if err != nil {
		return err
	}
	if user.LastActiveAt != 0 {
		o.LastActiveAt = &user.LastActiveAt
	}
	tokens, err := s.db.TokensOf(ctx, id)
	o.Sessions = len(tokens)
	return err
}

func (s *Service) reportCounts(ctx context.Context, id store.AccountID) (*ReportCounts, error) {
	c := new(ReportCounts)
	for _, count := range []struct {
		to *int
		of store.ReportFilter
	}{
		{&c.Open, store.ReportFilter{Target: id, State: store.ReportOpen}}, {&c.Against, store.ReportFilter{Target: id}}, {&c.By, store.ReportFilter{Account: id}},
	} {
		n, err := s.db.CountStaffReports(ctx, count.of)
		if err != nil {
			return nil, err
		}
		*count.to = n
	}
	return c, nil
}

func newServerOfStaff(domain string, r policy.Restrictions) *ServerOfStaff {
	return &ServerOfStaff{domain, r.Reject, r.Unlist, r.FollowersOnly, r.RemoveMedia, r.Sensitive}
}
