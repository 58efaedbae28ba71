package server

import (
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// reports serves reports. What staff do about them is in the admin API.
type reports struct{ *parts }

func (h *reports) routes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/reports": {rest.User("write:reports").Limit("reports").Written().Answers("Report"), h.createReport},
	}
}

// createReport reports an account and some of its statuses to staff.
func (h *reports) createReport(r *rest.Request) (any, error) {
	var p struct {
		AccountID store.AccountID      `param:"account_id,required"`
		StatusIDs []store.StatusID     `param:"status_ids"`
		Comment   string               `param:"comment"`
		Forward   bool                 `param:"forward"`
		Category  store.ReportCategory `param:"category"`
		RuleIDs   []int64              `param:"rule_ids"`

		CollectionIDs []store.CollectionID `param:"collection_ids"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	report, about, err := h.Social.Report(r.Context(), r.Viewer, social.ReportDraft{
		Target: p.AccountID, Statuses: p.StatusIDs, Comment: p.Comment, Category: p.Category, Forward: p.Forward,
		Rules: ruleIDs(p.RuleIDs), Collections: p.CollectionIDs,
	})
	if err != nil {
		return nil, err
	}
	target, err := h.Entities.Account(r.Context(), report.TargetID)
	if err != nil {
		return nil, err
	}
	return entity.NewReport(report, about, target), nil
}

func ruleIDs(numbers []int64) []store.RuleID {
	return entity.Map(numbers, func(n int64) store.RuleID { return store.RuleID(n) })
}
