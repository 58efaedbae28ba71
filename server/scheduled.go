package server

import (
	"svc/server/rest"
	"svc/store"
)

// scheduledRoutes are the posts for later. They are made like those for now (createStatus).
func (s *Server) scheduledRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/scheduled_statuses":        {rest.User("read:statuses"), s.listScheduled},
		"GET /api/v1/scheduled_statuses/:id":    {rest.User("read:statuses"), s.showScheduled},
		"PUT /api/v1/scheduled_statuses/:id":    {rest.User("write:statuses"), s.reschedule},
		"DELETE /api/v1/scheduled_statuses/:id": {rest.User("write:statuses"), s.cancelScheduled},
	}
}

// listScheduled returns the viewer's posts for later, the latest made first.
func (s *Server) listScheduled(r *rest.Request) (any, error) {
	page := r.Page(20)
	rows, err := s.db.ScheduledStatuses(r.Context(), r.Viewer.ID, page.Page)
	if err != nil {
		return nil, err
	}
	r.LinkPage(page, len(rows), func(i int) string { return rows[i].ID.String() })
	return s.entities.ScheduledStatuses(r.Context(), rows)
}

// ownScheduled returns the post for later of the path, which has to be the viewer's.
func (s *Server) ownScheduled(r *rest.Request) (*store.ScheduledStatus, error) {
	return s.db.OwnScheduledStatus(r.Context(), r.Viewer.ID, scheduledParam(r))
}

func scheduledParam(r *rest.Request) store.ScheduledID {
	var id store.ScheduledID
	id.UnmarshalText([]byte(r.Param("id")))
	return id
}

// showScheduled returns one post for later.
func (s *Server) showScheduled(r *rest.Request) (any, error) {
	row, err := s.ownScheduled(r)
	if err != nil {
		return nil, err
	}
	return s.entities.ScheduledStatus(r.Context(), row)
}

// reschedule gives a post for later another time. Nothing else of it can be changed.
func (s *Server) reschedule(r *rest.Request) (any, error) {
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
	row, err := s.social.Reschedule(r.Context(), r.Viewer, scheduledParam(r), at)
	if err != nil {
		return nil, err
	}
	return s.entities.ScheduledStatus(r.Context(), row)
}

// cancelScheduled deletes a post for later and returns it as it was.
func (s *Server) cancelScheduled(r *rest.Request) (any, error) {
	before, err := s.showScheduled(r)
	if err != nil {
		return nil, err
	}
	return before, s.social.CancelScheduled(r.Context(), r.Viewer, scheduledParam(r))
}
