package staff

import (
	"context"

	"svc/admin"
	"svc/internal/config"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// referenceReportRoutes are the reports of the reference API, for apps of moderators.
func (h *Handlers) referenceReportRoutes() rest.Routes {
	read := rest.Privileged(config.ReportsManage, "admin:read:reports")
	write := rest.Privileged(config.ReportsManage, "admin:write:reports")
	trends := rest.Staff("admin:read")
	return rest.Routes{
		"GET /api/v1/admin/reports":                     {read.Answers("[]ModeratedReport"), h.listModeratedReports},
		"GET /api/v1/admin/reports/:id":                 {read.Answers("ModeratedReport"), h.showModeratedReport},
		"PUT /api/v1/admin/reports/:id":                 {write.Answers("ModeratedReport"), h.updateModeratedReport},
		"POST /api/v1/admin/reports/:id/assign_to_self": {write.Answers("ModeratedReport"), h.reportAfter((*admin.Service).TakeReport)},
		"POST /api/v1/admin/reports/:id/unassign":       {write.Deletes().Answers("ModeratedReport"), h.reportAfter((*admin.Service).ReleaseReport)},
		"POST /api/v1/admin/reports/:id/resolve":        {write.Answers("ModeratedReport"), h.reportAfter(decide(store.ReportResolved))},
		"POST /api/v1/admin/reports/:id/reopen":         {write.Answers("ModeratedReport"), h.reportAfter(decide(store.ReportOpen))},

		"GET /api/v1/admin/trends/tags":             {trends.Answers("[]null"), h.listNoTrends},
		"GET /api/v1/admin/trends/statuses":         {trends.Answers("[]null"), h.listNoTrends},
		"GET /api/v1/admin/trends/links":            {trends.Answers("[]null"), h.listNoTrends},
		"GET /api/v1/admin/trends/links/publishers": {trends.Answers("[]null"), h.listNoTrends},
	}
}

// listNoTrends lists nothing: trends are not reviewed before they are shown.
func (h *Handlers) listNoTrends(*rest.Request) (any, error) { return []any{}, nil }

// listModeratedReports lists reports, newest first: open ones, or with resolved the others.
func (h *Handlers) listModeratedReports(r *rest.Request) (any, error) {
	var p struct {
		Resolved       bool    `param:"resolved"`
		AccountID      string  `param:"account_id,word"`
		TargetID       string  `param:"target_account_id,word"`
		ByTargetDomain *string `param:"by_target_domain"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	page := r.Page(100, 200)
	q := admin.ReportQuery{Decided: &p.Resolved, Reporter: p.AccountID, Target: p.TargetID, Page: page.Page}
	if p.ByTargetDomain != nil && *p.ByTargetDomain != "" {
		q.TargetDomain = p.ByTargetDomain
	}
	found, err := h.Admin.ListReports(r.Context(), q)
	if err != nil {
		return nil, err
	}
	show := func(ids []store.ReportID) ([]*entity.ModeratedReport, error) {
		return h.Entities.ModeratedReports(r.Context(), r.Viewer, ids)
	}
	return rest.List(r, page, found.IDs, func(i int) string { return found.IDs[i].String() }, "", show)
}

// showModeratedReport returns a report with both accounts and its statuses.
func (h *Handlers) showModeratedReport(r *rest.Request) (any, error) {
	return h.Entities.ModeratedReport(r.Context(), r.Viewer, store.ParseID[store.ReportID](r.Param("id")))
}

// updateModeratedReport changes the category of a report and the rules that it names.
func (h *Handlers) updateModeratedReport(r *rest.Request) (any, error) {
	var p struct {
		Category string  `param:"category,word"`
		RuleIDs  []int64 `param:"rule_ids"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	reason := admin.ReportReason{Category: p.Category}
	if p.RuleIDs != nil {
		reason.Rules = entity.Map(p.RuleIDs, func(n int64) store.RuleID { return store.RuleID(n) })
	}
	return h.reportAfter(func(s *admin.Service, ctx context.Context, id string) (store.ReportID, error) {
		return s.SetReportReason(ctx, id, reason)
	})(r)
}

// reportOperation is an operation of admin.Service on one report.
type reportOperation = func(*admin.Service, context.Context, string) (store.ReportID, error)

func decide(state store.ReportState) reportOperation {
	return func(s *admin.Service, ctx context.Context, id string) (store.ReportID, error) {
		_, err := s.SetReportState(ctx, admin.ReportUpdate{ID: id, State: string(state)})
		return store.ParseID[store.ReportID](id), err
	}
}

// reportAfter returns a handler that runs an operation and answers with the report as it is then.
func (h *Handlers) reportAfter(run reportOperation) rest.Handler {
	return func(r *rest.Request) (any, error) {
		id, err := run(h.as(r), r.Context(), r.Param("id"))
		if err != nil {
			return nil, recordNotFound(err)
		}
		return h.Entities.ModeratedReport(r.Context(), r.Viewer, id)
	}
}
