package staff

import (
	"errors"
	"net/http"

	"svc/admin"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// reportRoutes list reports, decide about them, and add notes.
func (h *Handlers) reportRoutes() rest.Routes {
	read := rest.Privileged(config.ReportsManage, "admin:read:reports")
	write := rest.Privileged(config.ReportsManage, "admin:write:reports")
	return rest.Routes{
		"GET /api/v1/svc/admin/reports":                         {read.Answers("StaffReports"), h.listReports},
		"GET /api/v1/svc/admin/grouped_reports":                 {read.Answers("GroupedReports"), h.listGroupedReports},
		"GET /api/v1/svc/admin/reports/:id":                     {read.Answers("StaffReport"), h.showReport},
		"PATCH /api/v1/svc/admin/reports":                       {write.Answers("204 nothing"), h.updateReports},
		"POST /api/v1/svc/admin/reports/:id/notes":              {write.Answers("204 nothing"), h.addReportNote},
		"DELETE /api/v1/svc/admin/reports/:report_id/notes/:id": {write.Answers("204 nothing"), h.deleteReportNote},
	}
}

// maxReportPage bounds the pages of reports.
const maxReportPage = 100

// reportPage is a page of reports.
type reportPage struct {
	Total   int                   `json:"total"`
	Reports []*entity.StaffReport `json:"reports"`
}

// listReports lists reports, newest first.
func (h *Handlers) listReports(r *rest.Request) (any, error) {
	page := pageOf(r, 50)
	page.size = min(page.size, maxReportPage)
	q := admin.ReportQuery{State: r.Query("state"), Page: store.Page{Limit: page.size}, Offset: page.offset()}
	if id := r.Query("rule_id"); id != "" {
		if q.Rule = store.ParseDecimal(id); q.Rule == 0 {
			return reportPage{0, []*entity.StaffReport{}}, nil // there is no such rule
		}
	}
	found, err := h.Admin.ListReports(r.Context(), q)
	if err != nil {
		return nil, err
	}
	reports, _, err := rest.Fit(r, found.IDs, false, func(ids []store.ReportID) ([]*entity.StaffReport, error) {
		return h.Entities.StaffReportList(r.Context(), r.Viewer, ids)
	})
	return reportPage{found.Total, reports}, err
}

// listGroupedReports lists the statuses that the newest reports are about.
func (h *Handlers) listGroupedReports(r *rest.Request) (any, error) {
	ids, err := h.Admin.GroupedReports(r.Context())
	if err != nil {
		return nil, err
	}
	groups, err := rest.Halved(r, len(ids), func(n int) ([]*entity.GroupedReport, error) {
		return h.Entities.GroupedReports(r.Context(), r.Viewer, ids[:min(n, len(ids))])
	})
	return map[string]any{"reports": groups}, err
}

// showReport returns a report with its statuses and notes.
func (h *Handlers) showReport(r *rest.Request) (any, error) {
	report, err := h.Entities.StaffReport(r.Context(), r.Viewer, store.ParseID[store.ReportID](r.Param("id")))
	return report, notFound(err)
}

// updateReports changes the states of reports. If some cannot be changed, it answers with their errors; the others are changed.
func (h *Handlers) updateReports(r *rest.Request) (any, error) {
	var p struct {
		Reports []struct {
			ID    string `param:"id,required"`
			State string `param:"state,required"`
		} `param:"reports,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	updates := make([]admin.ReportUpdate, len(p.Reports))
	for i, u := range p.Reports {
		updates[i] = admin.ReportUpdate{ID: u.ID, State: u.State}
	}
	faults, err := h.as(r).UpdateReports(r.Context(), updates)
	switch {
	case err != nil:
		return nil, err
	case len(faults) > 0:
		r.SetStatus(http.StatusBadRequest)
		return faults, nil
	}
	return rest.NoContent, nil
}

// addReportNote adds a note of the staff to a report.
func (h *Handlers) addReportNote(r *rest.Request) (any, error) {
	var p struct {
		Content string `param:"content"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	_, err := h.as(r).AddReportNote(r.Context(), admin.NewReportNote{Report: r.Param("id"), Content: p.Content})
	return noteResult(r, err)
}

// noteResult answers a change of notes: a refusal is its text as a JSON string.
func noteResult(r *rest.Request, err error) (any, error) {
	var e *errs.Error
	switch {
	case err == nil:
		return rest.NoContent, nil
	case errors.As(err, &e) && e.Status == http.StatusBadRequest:
		r.SetStatus(e.Status)
		return e.Message, nil
	}
	return nil, err
}

// deleteReportNote deletes a note of a report.
func (h *Handlers) deleteReportNote(r *rest.Request) (any, error) {
	_, err := h.as(r).DeleteReportNote(r.Context(), admin.ReportNoteKey{Report: r.Param("report_id"), ID: r.Param("id")})
	return noteResult(r, err)
}
