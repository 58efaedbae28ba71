package server

import (
	"slices"

	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// announcementRoutes are what the staff tells everybody.
func (s *Server) announcementRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/announcements":              {rest.User(), s.announcements},
		"POST /api/v1/announcements/:id/dismiss": {rest.User("write:accounts"), s.dismissAnnouncement},
	}
}

// announcements returns what is announced now. Those that the viewer has put away are marked as read; with_dismissed=false leaves
// them out.
func (s *Server) announcements(r *rest.Request) (any, error) {
	var p struct {
		WithDismissed *bool `param:"with_dismissed"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	list, err := s.entities.Announcements(r.Context(), r.Viewer)
	if p.WithDismissed != nil && !*p.WithDismissed {
		list = slices.DeleteFunc(list, func(a *entity.Announcement) bool { return a.Read })
	}
	return list, err
}

// dismissAnnouncement puts an announcement away.
func (s *Server) dismissAnnouncement(r *rest.Request) (any, error) {
	var id store.AnnouncementID
	id.UnmarshalText([]byte(r.Param("id")))
	return nil, s.social.DismissAnnouncement(r.Context(), r.Viewer, id)
}
