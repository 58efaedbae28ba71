package server

import (
	"svc/store"
)

// scheduledRoutes are the posts for later. They are made like those for now (createStatus).
var scheduledRoutes = routes{
	"GET /api/v1/scheduled_statuses":        {user("read:statuses"), (*Server).listScheduled},
	"GET /api/v1/scheduled_statuses/:id":    {user("read:statuses"), (*Server).showScheduled},
	"PUT /api/v1/scheduled_statuses/:id":    {user("write:statuses"), (*Server).reschedule},
	"DELETE /api/v1/scheduled_statuses/:id": {user("write:statuses"), (*Server).cancelScheduled},
}

// listScheduled returns the viewer's posts for later, the latest made first.
func (s *Server) listScheduled(r *Request) (any, error) {
	page := r.Page(20)
	rows, err := s.db.ScheduledStatuses(r.Context(), r.Viewer.ID, page.Page)
	if err != nil {
		return nil, err
	}
	r.LinkPage(page, len(rows), func(i int) string { return rows[i].ID.String() })
	return s.entities.ScheduledStatuses(r.Context(), rows)
}

// ownScheduled returns the post for later of the path, which has to be the viewer's.
func (s *Server) ownScheduled(r *Request) (*store.ScheduledStatus, error) {
	return s.db.OwnScheduledStatus(r.Context(), r.Viewer.ID, scheduledParam(r))
}

func scheduledParam(r *Request) store.ScheduledID {
	var id store.ScheduledID
	id.UnmarshalText([]byte(r.Param("id")))
	return id
}

// showScheduled returns one post for later.
func (s *Server) showScheduled(r *Request) (any, error) {
	row, err := s.ownScheduled(r)
	if err != nil {
		return nil, err
	}
	return s.entities.ScheduledStatus(r.Context(), row)
}

// reschedule gives a post for later another time. Nothing else of it can be changed.
func (s *Server) reschedule(r *Request) (any, error) {
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
func (s *Server) cancelScheduled(r *Request) (any, error) {
	before, err := s.showScheduled(r)
	if err != nil {
		return nil, err
	}
	return before, s.social.CancelScheduled(r.Context(), r.Viewer, scheduledParam(r))
}
