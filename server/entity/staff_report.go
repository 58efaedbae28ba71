package entity

import (
	"context"
	"html"
	"strings"

	"svc/store"
)

// listedStatuses is how many statuses of a report are shown in lists of reports.
const listedStatuses = 20

// StaffReport is a report for staff (spec 2.17).
type StaffReport struct {
	ID        store.ReportID    `json:"id"`
	State     store.ReportState `json:"state"`
	Content   string            `json:"content"` // HTML
	CreatedAt store.Time        `json:"created_at"`
	Account   Account           `json:"account"` // the reported account
	Actor     Account           `json:"actor"`   // the account that reports
	Statuses  List[*Status]     `json:"statuses"`
	Notes     []*StaffNote      `json:"notes"`
	Rules     []StaffRule       `json:"rules"` // that the reporter named

	Collections []ReportedCollection `json:"collections"`
}

// ReportedCollection is a collection of accounts as it was when it was reported.
type ReportedCollection struct {
	ID          store.CollectionID `json:"id"`
	URI         string             `json:"uri"`
	URL         string             `json:"url"`
	Name        string             `json:"name"`
	Description string             `json:"description"` // text
}

func newReportedCollection(c store.ReportedCollection) ReportedCollection {
	return ReportedCollection(c)
}

// StaffRule is a rule of the server with its place.
type StaffRule struct {
	Rule
	Priority int `json:"priority"`
}

// StaffNote is a note of the staff on a report.
type StaffNote struct {
	ID        int64      `json:"id"`
	Content   string     `json:"content"`
	User      Account    `json:"user"` // {}: the command line, or an account that was deleted
	CreatedAt store.Time `json:"created_at"`
}

// reportParts are the rows that belong to a page of reports.
type reportParts struct {
	rows     []*store.Report
	accounts map[store.AccountID]Account
	reported []*store.ReportedStatus
	statuses map[store.ReportID]List[*Status] // as reported
	notes    map[store.ReportID][]*StaffNote
	rules    map[store.RuleID]*store.Rule
}

// loadReportParts loads what belongs to reports, and at most so many statuses of each.
func (b *Builder) loadReportParts(ctx context.Context, viewer *store.Account, ids []store.ReportID, each int) (*reportParts, error) {
	p := &reportParts{notes: make(map[store.ReportID][]*StaffNote, len(ids))}
	var err error
	if p.rows, err = b.db.Reports(ctx, ids); err != nil {
		return nil, err
	}
	notes, err := b.db.ReportNotes(ctx, ids)
	if err != nil {
		return nil, err
	}
	var accountIDs []store.AccountID
	var ruleIDs []store.RuleID
	for _, row := range p.rows {
		ruleIDs = append(ruleIDs, row.Rules.V...)
		accountIDs = append(accountIDs, row.AccountID, row.TargetID)
		for _, id := range []*store.AccountID{row.AssignedID, row.DecidedByID} {
			if id != nil {
				accountIDs = append(accountIDs, *id)
			}
		}
	}
	for _, n := range notes {
		if n.AccountID != nil {
			accountIDs = append(accountIDs, *n.AccountID)
		}
	}
	rules, err := b.db.RulesByID(ctx, unique(ruleIDs))
	if err != nil {
		return nil, err
	}
	p.rules = byID(rules, func(r *store.Rule) store.RuleID { return r.ID })
	if p.accounts, err = b.StaffAccounts(ctx, viewer, accountIDs); err != nil {
		return nil, err
	}
	for _, n := range notes {
		note := &StaffNote{ID: int64(n.ID), Content: n.Content, CreatedAt: store.At(n.ID.Time())}
		if n.AccountID != nil {
			note.User = p.accounts[*n.AccountID]
		}
		p.notes[n.ReportID] = append(p.notes[n.ReportID], note)
	}
	if p.reported, err = b.db.ReportedStatuses(ctx, ids, each); err != nil {
		return nil, err
	}
	p.statuses, err = b.reportedStatuses(ctx, viewer, p)
	return p, err
}

// reportedStatuses renders the statuses of reports. A status that was deleted is shown as it was when it was reported.
func (b *Builder) reportedStatuses(ctx context.Context, viewer *store.Account, p *reportParts) (map[store.ReportID]List[*Status], error) {
	var about []store.StatusID
	for _, st := range p.reported {
		if st.StatusID != nil {
			about = append(about, *st.StatusID)
		}
	}
	statuses, err := b.StaffStatuses(ctx, viewer, unique(about))
	if err != nil {
		return nil, err
	}
	statusOf := byID(statuses, (*Status).ID)
	reportOf := byID(p.rows, func(r *store.Report) store.ReportID { return r.ID })
	of := make(map[store.ReportID]List[*Status], len(p.rows))
	for _, st := range p.reported {
		s := statusOf[st.OriginalStatusID]
		if report := reportOf[st.ReportID]; s == nil && report != nil {
			if s, err = b.reportedCopy(st, report.TargetID, p.accounts[report.TargetID]); err != nil {
				return nil, err
			}
		}
		of[st.ReportID] = append(of[st.ReportID], s)
	}
	return of, nil
}

// reportedCopy renders the copy of a deleted status.
func (b *Builder) reportedCopy(st *store.ReportedStatus, authorID store.AccountID, author Account) (*Status, error) {
	row := &store.Status{AccountID: authorID, URI: st.URI, SpoilerText: st.SpoilerText, Content: st.Content, CreatedAt: st.CreatedAt}
	if author.staff != nil {
		_, row.Domain, _ = strings.Cut(author.staff.Nickname, "@")
	}
	cached, err := b.renderStatus(row, newStatusParts([]*store.Status{row}))
	return &Status{cachedStatus: cached, builder: b, account: author}, err
}

// StaffReports returns the reports of the ids that exist, by id, with at most so many statuses of each.
func (b *Builder) StaffReports(ctx context.Context, viewer *store.Account, ids []store.ReportID, each int) (map[store.ReportID]*StaffReport, error) {
	p, err := b.loadReportParts(ctx, viewer, ids, each)
	if err != nil {
		return nil, err
	}
	return p.render(), nil
}

func (p *reportParts) render() map[store.ReportID]*StaffReport {
	reports := make(map[store.ReportID]*StaffReport, len(p.rows))
	for _, row := range p.rows {
		reports[row.ID] = &StaffReport{
			ID: row.ID, State: row.State, Content: strings.ReplaceAll(html.EscapeString(row.Comment), "\n", "<br/>"),
			CreatedAt: store.At(row.ID.Time()), Account: p.accounts[row.TargetID], Actor: p.accounts[row.AccountID],
			Statuses: p.statuses[row.ID], Notes: orEmpty(p.notes[row.ID]), Rules: p.rulesOf(row),
			Collections: Map(row.Collections.V, newReportedCollection),
		}
	}
	return reports
}

// rulesOf returns the rules of a report that still exist.
func (p *reportParts) rulesOf(row *store.Report) []StaffRule {
	list := []StaffRule{}
	for _, id := range row.Rules.V {
		if r := p.rules[id]; r != nil {
			list = append(list, StaffRule{newRule(r), r.Priority})
		}
	}
	return list
}

// StaffReport returns one report with all its statuses.
func (b *Builder) StaffReport(ctx context.Context, viewer *store.Account, id store.ReportID) (*StaffReport, error) {
	reports, err := b.StaffReports(ctx, viewer, []store.ReportID{id}, store.MaxReportStatuses)
	if err != nil {
		return nil, err
	}
	if reports[id] == nil {
		return nil, notFound
	}
	return reports[id], nil
}

// StaffReportList returns the reports of the ids that exist, in the order of the ids, with the first statuses of each.
func (b *Builder) StaffReportList(ctx context.Context, viewer *store.Account, ids []store.ReportID) ([]*StaffReport, error) {
	reports, err := b.StaffReports(ctx, viewer, ids, listedStatuses)
	if err != nil {
		return nil, err
	}
	list := make([]*StaffReport, 0, len(ids))
	for _, id := range ids {
		if r := reports[id]; r != nil {
			list = append(list, r)
		}
	}
	return list, nil
}
