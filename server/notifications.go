package server

import (
	"slices"

	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// notifications serves notifications and read markers.
type notifications struct{ *parts }

func (h *notifications) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/notifications":                     {rest.User("read:notifications").Answers("[]Notification"), h.listNotifications},
		"GET /api/v1/notifications/unread_count":        {rest.User("read:notifications").Answers("Count"), h.countUnread},
		"GET /api/v1/notifications/:id":                 {rest.User("read:notifications").Answers("Notification"), h.showNotification},
		"POST /api/v1/notifications/clear":              {rest.User("write:notifications").Deletes().Answers("empty"), h.clearNotifications},
		"POST /api/v1/notifications/dismiss":            {rest.User("write:notifications").Deletes().Answers("empty"), h.dismissNotification},
		"POST /api/v1/notifications/:id/dismiss":        {rest.User("write:notifications").Deletes().Answers("empty"), h.dismissNotification},
		"DELETE /api/v1/notifications/destroy_multiple": {rest.User("write:notifications").Answers("empty"), h.destroyNotifications},
		"POST /api/v1/svc/notifications/read":           {rest.User("write:notifications").Answers("Notification|[]Notification"), h.readNotifications},
		"GET /api/v1/markers":                           {rest.User("read:statuses").Answers("Markers"), h.showMarkers},
		"POST /api/v1/markers":                          {rest.User("write:statuses").Answers("Markers"), h.moveMarkers},
	}
}

// filter reads the parameters of lists of notifications. Unknown types and visibilities are ignored.
func (h *notifications) filter(r *rest.Request) (f store.NotificationFilter, err error) {
	var p struct {
		Types               []string         `param:"types"`
		IncludeTypes        []string         `param:"include_types"` // the extension API's name
		ExcludeTypes        []string         `param:"exclude_types"`
		ExcludeVisibilities []string         `param:"exclude_visibilities"`
		AccountID           *store.AccountID `param:"account_id"`
		WithMuted           bool             `param:"with_muted"`
		WithFiltered        bool             `param:"include_filtered"`
	}
	if err := r.Bind(&p); err != nil {
		return f, err
	}
	f = store.NotificationFilter{
		Types:             h.notificationTypes(p.Types),
		ExcludeTypes:      h.notificationTypes(p.ExcludeTypes),
		ExcludeVisibility: parseVisibilities(p.ExcludeVisibilities),
		WithMuted:         p.WithMuted,
		WithFiltered:      p.WithFiltered,
	}
	if len(p.Types) == 0 {
		f.Types = h.notificationTypes(p.IncludeTypes)
	}
	f.ExcludeTypes = append(f.ExcludeTypes, store.NotificationTypesWhere(func(k *store.NotificationKind) bool {
		return k.Privilege != "" && !h.Entities.HasPrivilege(r.User, k.Privilege)
	})...)
	if p.AccountID != nil {
		if _, err := h.lookup.visibleAccount(r, *p.AccountID); err != nil {
			return f, accountNotFound(err)
		}
		f.From = *p.AccountID
	}
	return f, nil
}

// listNotifications lists the viewer's notifications.
func (h *notifications) listNotifications(r *rest.Request) (any, error) {
	f, err := h.filter(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(40, 80)
	read := func(p store.Page) (store.Part[*store.Notification], error) {
		return h.DB.Notifications(r.Context(), r.Viewer.ID, f, p)
	}
	supported, err := supportedTypes(r)
	if err != nil {
		return nil, err
	}
	show := func(rows []*store.Notification) (entity.List[*entity.Notification], error) {
		list, err := h.Entities.Notifications(r.Context(), r.Viewer, rows)
		if err == nil && supported != nil {
			err = h.Entities.AddFallbacks(r.Context(), list, *supported)
		}
		return list, err
	}
	found, err := filteredPage(r, page.Page, store.FilterNotifications, read, show)
	if err != nil {
		return nil, err
	}
	r.LinkPart(page, len(found.scanned), func(i int) string { return notificationCursor(found.scanned[i]) }, decimalCursor(found.next))
	return found.shown, nil
}

// supportedTypes returns the names of the types of notifications that the client knows, nil if it does not say.
func supportedTypes(r *rest.Request) (*[]string, error) {
	var p struct {
		Types []string `param:"supported_types"`
	}
	if err := r.Bind(&p); err != nil || p.Types == nil || r.IsNull("supported_types") {
		return nil, err
	}
	return &p.Types, nil
}

// Bounds of the counts of unread notifications.
const (
	standardUnread = 100
	maxUnread      = 1000
)

// unreadCount is the number of unread notifications or groups.
type unreadCount struct {
	Count int `json:"count"`
}

// countUnread counts the viewer's unread notifications, up to a limit.
func (h *notifications) countUnread(r *rest.Request) (any, error) {
	f, err := h.filter(r)
	if err != nil {
		return nil, err
	}
	rows, err := h.DB.NewestUnread(r.Context(), r.Viewer.ID, f, r.Page(standardUnread, maxUnread).Limit)
	return unreadCount{len(rows)}, err
}

// notificationTypes reads types and ignores unknown ones. It returns nil if there are no names.
func (h *notifications) notificationTypes(names []string) []store.NotificationType {
	if len(names) == 0 {
		return nil
	}
	types := []store.NotificationType{}
	for _, name := range names {
		if t, ok := h.Entities.ParseNotificationType(name); ok {
			types = append(types, t)
		}
	}
	return types
}

func notificationCursor(n *store.Notification) string {
	text, _ := n.ID.MarshalText() // never fails
	return string(text)
}

func accountNotFound(err error) error {
	if errs.IsNotFound(err) {
		return errs.NotFound("Account is not found")
	}
	return err
}

// showNotification returns one of the viewer's notifications.
func (h *notifications) showNotification(r *rest.Request) (any, error) {
	row, err := h.DB.Notification(r.Context(), r.Viewer.ID, notificationParam(r.Param("id")))
	if err != nil {
		return nil, err
	}
	n, err := h.renderNotification(r, row)
	if err != nil {
		return nil, err
	}
	supported, err := supportedTypes(r)
	if err != nil {
		return nil, err
	}
	if supported != nil {
		err = h.Entities.AddFallbacks(r.Context(), entity.List[*entity.Notification]{n}, *supported)
	}
	return n, err
}

func notificationParam(text string) store.NotificationID {
	return store.ParseID[store.NotificationID](text)
}

func (h *notifications) renderNotification(r *rest.Request, row *store.Notification) (*entity.Notification, error) {
	return only(h.Entities.Notifications(r.Context(), r.Viewer, []*store.Notification{row}))
}

// clearNotifications deletes all notifications of the viewer.
func (h *notifications) clearNotifications(r *rest.Request) (any, error) {
	return nil, h.Social.ClearNotifications(r.Context(), r.Viewer)
}

// dismissNotification deletes one notification, named in the path or by the parameter id.
func (h *notifications) dismissNotification(r *rest.Request) (any, error) {
	text := r.Param("id")
	if text == "" {
		text = r.Query("id")
	}
	n, err := h.Social.DismissNotifications(r.Context(), r.Viewer, []store.NotificationID{notificationParam(text)})
	if err == nil && n == 0 {
		err = errs.ErrRecordNotFound
	}
	return nil, err
}

// maxDismissed is how many notifications one request may delete.
const maxDismissed = 1000

// destroyNotifications deletes several notifications. Ids that are not the viewer's are ignored.
func (h *notifications) destroyNotifications(r *rest.Request) (any, error) {
	var p struct {
		IDs []store.NotificationID `param:"ids"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if len(p.IDs) == 0 {
		return nil, errs.BadRequest("Missing field: ids.")
	}
	if len(p.IDs) > maxDismissed {
		return nil, errs.BadRequest("ids - too many: %d, at most %d.", len(p.IDs), maxDismissed)
	}
	_, err := h.Social.DismissNotifications(r.Context(), r.Viewer, p.IDs)
	return nil, err
}

// readNotifications marks one notification (id), or all up to one (max_id), as read, and returns them.
func (h *notifications) readNotifications(r *rest.Request) (any, error) {
	var p struct {
		ID    *store.NotificationID `param:"id"`
		MaxID *store.NotificationID `param:"max_id"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	switch {
	case p.ID != nil:
		row, err := h.Social.ReadNotification(r.Context(), r.Viewer, *p.ID)
		if errs.IsNotFound(err) {
			return nil, errs.BadRequest("Cannot get notification")
		}
		if err != nil {
			return nil, err
		}
		return h.renderNotification(r, row)
	case p.MaxID != nil:
		rows, err := h.Social.ReadNotificationsUpTo(r.Context(), r.Viewer, *p.MaxID)
		if err != nil {
			return nil, err
		}
		list, _, err := rest.Fit(r, rows, false, func(rows []*store.Notification) (entity.List[*entity.Notification], error) {
			return h.Entities.Notifications(r.Context(), r.Viewer, rows)
		})
		return list, err
	}
	return nil, errs.BadRequest("Missing field: id.")
}

// showMarkers returns the requested markers. There is always one for notifications, because clients rely on it.
func (h *notifications) showMarkers(r *rest.Request) (any, error) {
	var p struct {
		Timelines []string `param:"timeline"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	rows, unread, err := h.DB.Markers(r.Context(), r.Viewer.ID)
	if err != nil {
		return nil, err
	}
	var markers []*store.Marker
	for _, name := range p.Timelines {
		i := slices.IndexFunc(rows, func(m *store.Marker) bool { return m.Timeline == name })
		switch {
		case i >= 0:
			markers = append(markers, rows[i])
		case name == "notifications":
			markers = append(markers, &store.Marker{Timeline: name, UpdatedAt: r.Viewer.CreatedAt})
		}
	}
	return h.renderMarkers(markers, unread)
}

// moveMarkers sets markers and returns those that were sent.
func (h *notifications) moveMarkers(r *rest.Request) (any, error) {
	type marker struct {
		LastReadID string `param:"last_read_id"`
	}
	var p struct {
		Home          *marker `param:"home"`
		Notifications *marker `param:"notifications"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	to := make(map[string]int64)
	for timeline, sent := range map[string]*marker{"home": p.Home, "notifications": p.Notifications} {
		if sent == nil || sent.LastReadID == "" {
			continue
		}
		position, ok := store.ParsePosition(sent.LastReadID)
		if !ok {
			return nil, errs.Invalid("Validation failed: last_read_id is invalid")
		}
		to[timeline] = position
	}
	var markers []*store.Marker
	for timeline, position := range to {
		m, err := h.Social.MoveMarker(r.Context(), r.Viewer, timeline, position)
		if err != nil {
			return nil, err
		}
		markers = append(markers, m)
	}
	_, unread, err := h.DB.Markers(r.Context(), r.Viewer.ID)
	if err != nil {
		return nil, err
	}
	return h.renderMarkers(markers, unread)
}

func (h *notifications) renderMarkers(markers []*store.Marker, unread int) (any, error) {
	if len(markers) == 0 {
		return nil, nil
	}
	return h.Entities.Markers(markers, unread)
}
