package entity

import (
	"strconv"

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
	RuleIDs       []string             `json:"rule_ids"`
	CollectionIDs []store.CollectionID `json:"collection_ids"`
	TargetAccount Account              `json:"target_account"`
}

// NewReport renders a report for the account that made it.
func NewReport(row *store.Report, about []store.StatusID, target Account) Report {
	return Report{
		ID: row.ID, ActionTaken: row.State != store.ReportOpen, ActionTakenAt: row.StateAt, Category: row.Category, Comment: row.Comment,
		Forwarded: row.Forwarded, CreatedAt: store.At(row.ID.Time()), StatusIDs: orEmpty(about), RuleIDs: Map(row.Rules.V, ruleText), TargetAccount: target,
		CollectionIDs: Map(row.Collections.V, func(c store.ReportedCollection) store.CollectionID { return c.ID }),
	}
}

func ruleText(id store.RuleID) string { return strconv.FormatInt(int64(id), 10) }
