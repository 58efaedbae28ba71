package entity

import (
	"context"
	"html"
	"strings"

	"svc/store"
)

// Report is a report for the account that made it.
type Report struct {
	ID            store.ReportID       `json:"id"`
	ActionTaken   bool                 `json:"action_taken"`
	ActionTakenAt *store.Time          `json:"action_taken_at"`
	Category      store.ReportCategory `json:"category"`
	Comment       string               `json:"comment"`
	Forwarded     bool                 `json:"forwarded"`
	CreatedAt     store.Time           `json:"created_at"`
	StatusIDs     []store.StatusID     `json:"status_ids"`
	RuleIDs       []string             `json:"rule_ids"` // always empty: the server has no rules
	TargetAccount Account              `json:"target_account"`
}

// NewReport renders a report for the account that made it.
func NewReport(row *store.Report, about []store.StatusID, target Account) Report {
	return Report{
		ID: row.ID, ActionTaken: row.State != store.ReportOpen, ActionTakenAt: row.StateAt, Category: row.Category, Comment: row.Comment,
		Forwarded: row.Forwarded, CreatedAt: store.At(row.ID.Time()), StatusIDs: orEmpty(about), RuleIDs: []string{}, TargetAccount: target,
	}
}

// StaffReport is a report for staff (spec 2.17).
type StaffReport struct {
	ID        store.ReportID    `json:"id"`
	State     store.ReportState `json:"state"`
	Content   string            `json:"content"` // HTML
	CreatedAt store.Time        `json:"created_at"`
	Account   Account           `json:"account"` // the reported account
	Actor     Account           `json:"actor"`   // the account that reports
	Statuses  List[*Status]     `json:"statuses"`
}

// StaffReports returns the reports of the ids that exist, by id. Deleted statuses are left out.
func (b *Builder) StaffReports(ctx context.Context, reader *store.Account, ids []store.ReportID) (map[store.ReportID]*StaffReport, error) {
	rows, err := b.db.Reports(ctx, ids)
	if err != nil {
		return nil, err
	}
	reported, err := b.db.ReportedStatuses(ctx, ids)
	if err != nil {
		return nil, err
	}
	var accountIDs []store.AccountID
	for _, row := range rows {
		accountIDs = append(accountIDs, row.AccountID, row.TargetID)
	}
	accounts, err := b.loadAccounts(ctx, unique(accountIDs))
	if err != nil {
		return nil, err
	}
	var about []store.StatusID
	for _, st := range reported {
		if st.StatusID != nil {
			about = append(about, *st.StatusID)
		}
	}
	statuses, err := b.Statuses(ctx, reader, unique(about))
	if err != nil {
		return nil, err
	}
	statusOf := byID(statuses, (*Status).ID)
	reports := make(map[store.ReportID]*StaffReport, len(rows))
	for _, row := range rows {
		reports[row.ID] = &StaffReport{
			ID: row.ID, State: row.State, Content: strings.ReplaceAll(html.EscapeString(row.Comment), "\n", "<br/>"),
			CreatedAt: store.At(row.ID.Time()), Account: accounts[row.TargetID].ForStaff(),
			Actor: accounts[row.AccountID].ForStaff(), Statuses: List[*Status]{},
		}
	}
	for _, st := range reported {
		if s := statusOf[st.OriginalStatusID]; s != nil {
			reports[st.ReportID].Statuses = append(reports[st.ReportID].Statuses, s)
		}
	}
	return reports, nil
}
