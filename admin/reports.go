package admin

import (
	"context"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/store"
)

const (
	maxReportPage    = 200
	maxReportUpdates = 100 // in one operation
	maxGrouped       = 100 // newest reports that are grouped
)

// ReportQuery selects a page of the list of reports. All conditions must hold.
type ReportQuery struct {
	State   string `json:"state"`   // open, closed or resolved; "": any
	Decided *bool  `json:"decided"` // false: open ones, true: closed and resolved ones; nil: any

	Reporter     string  `json:"reporter"`      // a nickname or an id; "": any
	Target       string  `json:"target"`        // likewise, the reported account
	TargetDomain *string `json:"target_domain"` // of the reported account; nil: any

	Page   store.Page `json:"page"`
	Offset int        `json:"offset"`

	Rule int64 `json:"rule"` // the id of a rule that is broken; 0: any
}

// ReportPage is a page of reports, newest first, and how many there are on all pages.
type ReportPage struct {
	IDs   []store.ReportID
	Total int // up to 20 000
}

// ListReports returns a page of reports.
func (s *Service) ListReports(ctx context.Context, q ReportQuery) (*ReportPage, error) {
	page := new(ReportPage)
	f, err := s.reportFilter(ctx, q)
	if errs.IsNotFound(err) {
		return page, nil
	}
	if err != nil {
		return nil, err
	}
	if page.Total, err = s.db.CountStaffReports(ctx, *f); err != nil {
		return nil, err
	}
	q.Page.Limit = min(max(q.Page.Limit, 1), maxReportPage)
	page.IDs, err = s.db.StaffReports(ctx, *f, q.Page, max(q.Offset, 0))
	return page, err
}

// reportFilter returns the conditions of a query.
func (s *Service) reportFilter(ctx context.Context, q ReportQuery) (*store.ReportFilter, error) {
	f := &store.ReportFilter{State: store.ReportState(q.State), Decided: q.Decided, Rule: store.RuleID(q.Rule)}
	if q.State != "" && !f.State.Valid() {
		return nil, errs.BadRequest("%s - Invalid value for enum.", q.State)
	}
	if f.State == "" && q.Decided != nil && !*q.Decided {
		f.State = store.ReportOpen
	}
	if q.TargetDomain != nil {
		f.TargetDomain = new(s.domainOf(*q.TargetDomain))
	}
	for name, id := range map[string]*store.AccountID{q.Reporter: &f.Account, q.Target: &f.Target} {
		if name == "" {
			continue
		}
		account, err := s.findAccount(ctx, s.db, name)
		if err != nil {
			return nil, err
		}
		*id = account.ID
	}
	return f, nil
}

// GroupedReports returns the newest reports that are about posts.
func (s *Service) GroupedReports(ctx context.Context) ([]store.ReportID, error) {
	return s.db.ReportsWithStatuses(ctx, maxGrouped)
}

// Report is a report for commands.
type Report struct {
	ID        string         `json:"id"`
	State     string         `json:"state"`
	Category  string         `json:"category"`
	Comment   string         `json:"comment"`
	CreatedAt time.Time      `json:"created_at"`
	DecidedAt *time.Time     `json:"decided_at"`
	DecidedBy string         `json:"decided_by"` // "": nobody, or the command line
	Assigned  string         `json:"assigned"`   // "": nobody
	Account   string         `json:"account"`    // the reported account
	Actor     string         `json:"actor"`      // the account that reports
	Forwarded bool           `json:"forwarded"`
	Rules     []string       `json:"rules"` // their texts
	Statuses  []ReportedPost `json:"statuses"`
	Notes     []ReportNote   `json:"notes"`
}

// ReportedPost is a post as it was when it was reported.
type ReportedPost struct {
	ID      string `json:"id"`
	URI     string `json:"uri"`
	Content string `json:"content"` // HTML
	Deleted bool   `json:"deleted"`
}

// ReportNote is a note of the staff on a report.
type ReportNote struct {
	ID        int64     `json:"id"`
	Author    string    `json:"author"` // "": the command line, or an account that was removed
	Content   string    `json:"content"`
	CreatedAt time.Time `json:"created_at"`
}

// Reports is ListReports for commands.
func (s *Service) Reports(ctx context.Context, q ReportQuery) ([]*Report, error) {
	page, err := s.ListReports(ctx, q)
	if err != nil {
		return nil, err
	}
	return s.describeReports(ctx, page.IDs)
}

// ShowReport returns one report.
func (s *Service) ShowReport(ctx context.Context, id string) (*Report, error) {
	report, err := s.report(ctx, s.db, id)
	if err != nil {
		return nil, err
	}
	return only(s.describeReports(ctx, []store.ReportID{report.ID}))
}

// describeReports returns reports in the order of the ids.
func (s *Service) describeReports(ctx context.Context, ids []store.ReportID) ([]*Report, error) {
	rows, err := s.db.Reports(ctx, ids)
	if err != nil {
		return nil, err
	}
	statuses, err := s.db.ReportedStatuses(ctx, ids, store.MaxReportStatuses)
	if err != nil {
		return nil, err
	}
	notes, err := s.db.ReportNotes(ctx, ids)
	if err != nil {
		return nil, err
	}
	acct, err := s.accountNames(ctx, rows, notes)
	if err != nil {
		return nil, err
	}
	rules, err := s.db.Rules(ctx)
	if err != nil {
		return nil, err
	}
	of := make(map[store.ReportID]*Report, len(rows))
	for _, r := range rows {
		of[r.ID] = &Report{
			ID: r.ID.String(), State: string(r.State), Category: string(r.Category), Comment: r.Comment, CreatedAt: r.ID.Time(), DecidedAt: timePointer(r.StateAt),
			DecidedBy: acct(r.DecidedByID), Assigned: acct(r.AssignedID), Account: acct(&r.TargetID), Actor: acct(&r.AccountID),
			Forwarded: r.Forwarded, Rules: []string{}, Statuses: []ReportedPost{}, Notes: []ReportNote{},
		}
		for _, rule := range rules {
			if slices.Contains(r.Rules.V, rule.ID) {
				of[r.ID].Rules = append(of[r.ID].Rules, rule.Text)
			}
		}
	}
	for _, st := range statuses {
		if r := of[st.ReportID]; r != nil {
			r.Statuses = append(r.Statuses, ReportedPost{st.OriginalStatusID.String(), st.URI, st.Content, st.StatusID == nil})
		}
	}
	for _, n := range notes {
		if r := of[n.ReportID]; r != nil {
			r.Notes = append(r.Notes, ReportNote{int64(n.ID), acct(n.AccountID), n.Content, n.ID.Time()})
		}
	}
	list := make([]*Report, 0, len(ids))
	for _, id := range ids {
		if r := of[id]; r != nil {
			list = append(list, r)
		}
	}
	return list, nil
}

// accountNames loads the accounts of reports and notes, and returns a function for their names.
func (s *Service) accountNames(ctx context.Context, reports []*store.Report, notes []*store.ReportNote) (func(*store.AccountID) string, error) {
	var ids []store.AccountID
	for _, r := range reports {
		ids = append(ids, r.AccountID, r.TargetID)
		for _, id := range []*store.AccountID{r.DecidedByID, r.AssignedID} {
			if id != nil {
				ids = append(ids, *id)
			}
		}
	}
	for _, n := range notes {
		if n.AccountID != nil {
			ids = append(ids, *n.AccountID)
		}
	}
	slices.Sort(ids)
	accounts, err := s.db.Accounts(ctx, slices.Compact(ids))
	names := make(map[store.AccountID]string, len(accounts))
	for _, a := range accounts {
		names[a.ID] = a.Acct()
	}
	return func(id *store.AccountID) string {
		if id == nil {
			return ""
		}
		return names[*id]
	}, err
}
