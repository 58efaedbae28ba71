package server

import (
	"slices"

	"svc/server/entity"
	"svc/server/rest"
)

// announcements serves what staff announce to all users.
type announcements struct{ *parts }

func (h *announcements) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/announcements":              {rest.User(), h.announcements},
		"POST /api/v1/announcements/:id/dismiss": {rest.User("write:accounts").Deletes(), operation(h.Social.DismissAnnouncement)},
	}
}

// announcements returns the current announcements. Dismissed ones are marked as read, and left out with with_dismissed=false.
func (h *announcements) announcements(r *rest.Request) (any, error) {
	var p struct {
		WithDismissed *bool `param:"with_dismissed"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	list, err := h.Entities.Announcements(r.Context(), r.Viewer)
	if p.WithDismissed != nil && !*p.WithDismissed {
		list = slices.DeleteFunc(list, func(a *entity.Announcement) bool { return a.Read })
	}
	return list, err
}
