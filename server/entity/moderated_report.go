package entity

import (
	"context"

	"svc/store"
)

// ModeratedReport is a report as the admin endpoints of the reference API show it.
type ModeratedReport struct {
	ID            store.ReportID       `json:"id"`
	ActionTaken   bool                 `json:"action_taken"`
	ActionTakenAt *store.Time          `json:"action_taken_at"`
	Category      store.ReportCategory `json:"category"`
	Comment       string               `json:"comment"`
	Forwarded     bool                 `json:"forwarded"`
	CreatedAt     store.Time           `json:"created_at"`
	UpdatedAt     store.Time           `json:"updated_at"`
	Account       *ModeratedAccount    `json:"account"`        // the account that reports
	TargetAccount *ModeratedAccount    `json:"target_account"` // the reported account
	Assigned      *ModeratedAccount    `json:"assigned_account"`
	DecidedBy     *ModeratedAccount    `json:"action_taken_by_account"`
	Statuses      List[*Status]        `json:"statuses"`
	Rules         []StaffRule          `json:"rules"`
	Collections   []ReportedCollection `json:"collections"`
}

// ModeratedReports returns the reports of the ids that exist, in the order of the ids, with the first statuses of each.
func (b *Builder) ModeratedReports(ctx context.Context, viewer *store.Account, ids []store.ReportID) ([]*ModeratedReport, error) {
	return b.moderatedReports(ctx, viewer, ids, listedStatuses)
}

// ModeratedReport returns one report with all its statuses.
func (b *Builder) ModeratedReport(ctx context.Context, viewer *store.Account, id store.ReportID) (*ModeratedReport, error) {
	list, err := b.moderatedReports(ctx, viewer, []store.ReportID{id}, store.MaxReportStatuses)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, notFound
	}
	return list[0], nil
}

func (b *Builder) moderatedReports(ctx context.Context, viewer *store.Account, ids []store.ReportID, each int) ([]*ModeratedReport, error) {
	p, err := b.loadReportParts(ctx, viewer, ids, each)
	if err != nil {
		return nil, err
	}
	var accountIDs []store.AccountID
	for id := range p.accounts {
		accountIDs = append(accountIDs, id)
	}
	accounts, err := b.moderatedAccounts(ctx, viewer, accountIDs)
	if err != nil {
		return nil, err
	}
	accountOf := func(id *store.AccountID) *ModeratedAccount {
		if id == nil {
			return nil
		}
		return accounts[*id]
	}
	rowOf := byID(p.rows, func(r *store.Report) store.ReportID { return r.ID })
	list := make([]*ModeratedReport, 0, len(ids))
	for _, id := range ids {
		row := rowOf[id]
		if row == nil {
			continue
		}
		r := &ModeratedReport{
			ID: id, ActionTaken: row.State != store.ReportOpen, ActionTakenAt: row.StateAt, Category: row.Category, Comment: row.Comment,
			Forwarded: row.Forwarded, CreatedAt: store.At(id.Time()), UpdatedAt: store.At(id.Time()), Account: accounts[row.AccountID],
			TargetAccount: accounts[row.TargetID], Assigned: accountOf(row.AssignedID), DecidedBy: accountOf(row.DecidedByID),
			Statuses: p.statuses[id], Rules: p.rulesOf(row), Collections: Map(row.Collections.V, newReportedCollection),
		}
		if row.StateAt != nil {
			r.UpdatedAt = *row.StateAt
		}
		list = append(list, r)
	}
	return list, nil
}
