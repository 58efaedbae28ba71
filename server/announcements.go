package server

import (
	"context"
	"slices"

	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// announcements serves what staff announce to all users.
type announcements struct{ *parts }

func (h *announcements) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/announcements":              {rest.User().Answers("[]Announcement"), h.announcements},
		"POST /api/v1/announcements/:id/dismiss": {rest.User("write:accounts").Deletes().Answers("empty"), operation(h.Social.DismissAnnouncement)},

		"PUT /api/v1/announcements/:id/reactions/:name":    {rest.User("write:favourites").Limit("status_actions").Answers("empty"), h.reaction(h.Social.ReactToAnnouncement)},
		"DELETE /api/v1/announcements/:id/reactions/:name": {rest.User("write:favourites").Limit("status_actions").Answers("empty"), h.reaction(h.Social.UnreactToAnnouncement)},
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

// reaction returns a handler that changes the viewer's reaction to an announcement with the emoji of the path.
func (h *announcements) reaction(change func(context.Context, *store.Account, store.AnnouncementID, social.Emoji) error) rest.Handler {
	return func(r *rest.Request) (any, error) {
		return nil, change(r.Context(), r.Viewer, store.ParseID[store.AnnouncementID](r.Param("id")), h.emojiNamed(r.Param("name")))
	}
}
