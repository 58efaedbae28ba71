package server

import (
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// reportRoutes are how people complain. What the staff does about it is in the admin API.
func (s *Server) reportRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/reports": {rest.User("write:reports").Limit("reports"), s.createReport},
	}
}

// createReport tells the staff of an account, and of statuses of it.
func (s *Server) createReport(r *rest.Request) (any, error) {
	var p struct {
		AccountID store.AccountID      `param:"account_id,required"`
		StatusIDs []store.StatusID     `param:"status_ids"`
		Comment   string               `param:"comment"`
		Forward   bool                 `param:"forward"`
		Category  store.ReportCategory `param:"category"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	report, about, err := s.social.Report(r.Context(), r.Viewer, social.ReportDraft{
		Target: p.AccountID, Statuses: p.StatusIDs, Comment: p.Comment, Category: p.Category, Forward: p.Forward,
	})
	if err != nil {
		return nil, err
	}
	target, err := s.entities.Account(r.Context(), report.TargetID)
	if err != nil {
		return nil, err
	}
	return entity.NewReport(report, about, target), nil
}
