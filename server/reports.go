package server

import (
	"svc/server/entity"
	"svc/social"
	"svc/store"
)

// reportRoutes are how people complain. What the staff does about it is in the admin API.
var reportRoutes = routes{
	"POST /api/v1/reports": {user("write:reports").limit("reports"), (*Server).createReport},
}

// createReport tells the staff of an account, and of statuses of it.
func (s *Server) createReport(r *Request) (any, error) {
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
