package server

import (
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// scheduled serves scheduled statuses. They are created like other statuses.
type scheduled struct{ *parts }

func (h *scheduled) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/scheduled_statuses":        {rest.User("read:statuses").Answers("[]ScheduledStatus"), h.listScheduled},
		"GET /api/v1/scheduled_statuses/:id":    {rest.User("read:statuses").Answers("ScheduledStatus"), h.showScheduled},
		"PUT /api/v1/scheduled_statuses/:id":    {rest.User("write:statuses").Answers("ScheduledStatus"), h.reschedule},
		"DELETE /api/v1/scheduled_statuses/:id": {rest.User("write:statuses").Answers("ScheduledStatus"), h.cancelScheduled},
	}
}

// listScheduled lists the viewer's scheduled statuses, the newest first.
func (h *scheduled) listScheduled(r *rest.Request) (any, error) {
	page := r.Page(20)
	rows, err := h.DB.ScheduledStatuses(r.Context(), r.Viewer.ID, page.Page)
	if err != nil {
		return nil, err
	}
	show := func(rows []*store.ScheduledStatus) ([]*entity.ScheduledStatus, error) {
		return h.Entities.ScheduledStatuses(r.Context(), rows)
	}
	return rest.List(r, page, rows, func(i int) string { return rows[i].ID.String() }, "", show)
}

func scheduledParam(r *rest.Request) store.ScheduledID {
	return store.ParseID[store.ScheduledID](r.Param("id"))
}

// showScheduled returns one of the viewer's scheduled statuses.
func (h *scheduled) showScheduled(r *rest.Request) (any, error) {
	row, err := h.DB.OwnScheduledStatus(r.Context(), r.Viewer.ID, scheduledParam(r))
	if err != nil {
		return nil, err
	}
	return h.Entities.ScheduledStatus(r.Context(), row)
}

// reschedule changes the time of a scheduled status. Nothing else can be changed.
func (h *scheduled) reschedule(r *rest.Request) (any, error) {
	var p struct {
		ScheduledAt string `param:"scheduled_at,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	at, err := parseSchedule(p.ScheduledAt)
	if err != nil {
		return nil, err
	}
	row, err := h.Social.Reschedule(r.Context(), r.Viewer, scheduledParam(r), at)
	if err != nil {
		return nil, err
	}
	return h.Entities.ScheduledStatus(r.Context(), row)
}

// cancelScheduled deletes a scheduled status and returns it.
func (h *scheduled) cancelScheduled(r *rest.Request) (any, error) {
	before, err := h.showScheduled(r)
	if err != nil {
		return nil, err
	}
	return before, h.Social.CancelScheduled(r.Context(), r.Viewer, scheduledParam(r))
}
