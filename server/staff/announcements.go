package staff

import (
	"time"

	"svc/admin"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/rest"
	"svc/store"
)

// announcementRoutes are announcements to all local accounts.
func (h *Handlers) announcementRoutes() rest.Routes {
	read := rest.Privileged(config.AnnouncementsManage, "admin:read")
	write := rest.Privileged(config.AnnouncementsManage, "admin:write")
	return rest.Routes{
		"GET /api/v1/svc/admin/announcements":        {read.Answers("[]object"), h.listAnnouncements},
		"GET /api/v1/svc/admin/announcements/:id":    {read.Answers("Announcement|object"), h.showAnnouncement},
		"POST /api/v1/svc/admin/announcements":       {write.Written().Answers("Announcement|object"), h.createAnnouncement},
		"PATCH /api/v1/svc/admin/announcements/:id":  {write.Answers("Announcement|object"), h.updateAnnouncement},
		"DELETE /api/v1/svc/admin/announcements/:id": {write.Answers("empty"), h.deleteAnnouncement},
	}
}

// listAnnouncements lists announcements, including past and future ones, newest first.
func (h *Handlers) listAnnouncements(r *rest.Request) (any, error) {
	p := struct {
		Limit  string `param:"limit"`
		Offset int    `param:"offset"`
	}{}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	limit, err := parseLimit(p.Limit, 20)
	switch {
	case err != nil:
		return nil, err
	case p.Offset < 0:
		return nil, errs.BadRequest("offset - %d is smaller than inclusive minimum 0.", p.Offset)
	}
	return h.Entities.StaffAnnouncements(r.Context(), limit, p.Offset)
}

// showAnnouncement returns an announcement, whether or not it is current.
func (h *Handlers) showAnnouncement(r *rest.Request) (any, error) {
	return h.announcement(r, r.Param("id"))
}

func (h *Handlers) announcement(r *rest.Request, id string) (any, error) {
	a, err := h.Entities.StaffAnnouncement(r.Context(), store.ParseID[store.AnnouncementID](id))
	return a, notFound(err)
}

// bindAnnouncement binds the members of an announcement. Null removes a time.
func bindAnnouncement(r *rest.Request) (c admin.AnnouncementChange, err error) {
	var p struct {
		Content  *string `param:"content"`
		StartsAt *string `param:"starts_at,word"`
		EndsAt   *string `param:"ends_at,word"`
		AllDay   *bool   `param:"all_day"`
	}
	if err := r.Bind(&p); err != nil {
		return c, err
	}
	c = admin.AnnouncementChange{Text: p.Content, AllDay: p.AllDay, NoStart: r.IsNull("starts_at"), NoEnd: r.IsNull("ends_at")}
	if c.StartsAt, err = parseTime("starts_at", p.StartsAt, &c.NoStart); err != nil {
		return c, err
	}
	c.EndsAt, err = parseTime("ends_at", p.EndsAt, &c.NoEnd)
	return c, err
}

// parseTime parses a time, which is in UTC unless it has an offset. An empty text removes the time, as forms of clients send it.
func parseTime(name string, value *string, none *bool) (*time.Time, error) {
	if value == nil {
		return nil, nil
	}
	if *value == "" {
		*none = true
		return nil, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.Parse(layout, *value); err == nil {
			return &at, nil
		}
	}
	return nil, errs.BadRequest("%s - Invalid format. Expected date-time.", name)
}

// createAnnouncement publishes an announcement.
func (h *Handlers) createAnnouncement(r *rest.Request) (any, error) {
	c, err := bindAnnouncement(r)
	if err != nil {
		return nil, err
	}
	n := admin.Announcement{StartsAt: c.StartsAt, EndsAt: c.EndsAt}
	if c.Text == nil {
		return nil, errs.BadRequest("Missing field: content.")
	}
	if n.Text = *c.Text; c.AllDay != nil {
		n.AllDay = *c.AllDay
	}
	created, err := h.as(r).CreateAnnouncement(r.Context(), n)
	if err != nil {
		return nil, err
	}
	return h.announcement(r, created.ID)
}

// updateAnnouncement changes the members of an announcement that are given.
func (h *Handlers) updateAnnouncement(r *rest.Request) (any, error) {
	c, err := bindAnnouncement(r)
	if err != nil {
		return nil, err
	}
	c.ID = r.Param("id")
	updated, err := h.as(r).UpdateAnnouncement(r.Context(), c)
	if err != nil {
		return nil, notFound(err)
	}
	return h.announcement(r, updated.ID)
}

// deleteAnnouncement deletes an announcement.
func (h *Handlers) deleteAnnouncement(r *rest.Request) (any, error) {
	_, err := h.as(r).DeleteAnnouncement(r.Context(), r.Param("id"))
	return struct{}{}, notFound(err)
}
