package server

import (
	"cmp"
	"strconv"

	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// groupRoutes are the notifications in groups (version 2 of the reference API).
func (h *notifications) groupRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v2/notifications":                     {rest.User("read:notifications").Answers("GroupedNotifications"), h.listGroups},
		"GET /api/v2/notifications/unread_count":        {rest.User("read:notifications").Answers("Count"), h.countUnreadGroups},
		"GET /api/v2/notifications/:group_key":          {rest.User("read:notifications").Answers("NotificationGroups"), h.showGroup},
		"GET /api/v2/notifications/:group_key/accounts": {rest.User("read:notifications").Answers("[]Account"), h.groupAccounts},
		"POST /api/v2/notifications/:group_key/dismiss": {rest.User("write:notifications").Deletes().Answers("empty"), h.dismissGroup},
		"POST /api/v2/notifications/clear":              {rest.User("write:notifications").Deletes().Answers("empty"), h.clearNotifications},
	}
}

// groupedTypes returns the types that the client shows in groups, by default all that form some.
func (h *notifications) groupedTypes(r *rest.Request) ([]store.NotificationType, error) {
	var p struct {
		Types []string `param:"grouped_types"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if len(p.Types) == 0 {
		return store.GroupableTypes, nil
	}
	return h.notificationTypes(p.Types), nil
}

// listGroups lists the groups of the viewer's notifications.
func (h *notifications) listGroups(r *rest.Request) (any, error) {
	var p struct {
		ExpandAccounts string `param:"expand_accounts"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	expand := cmp.Or(p.ExpandAccounts, "full")
	if expand != "full" && expand != "partial_avatars" {
		return nil, errs.BadRequest("expand_accounts - must be full or partial_avatars.")
	}
	f, err := h.filter(r)
	if err != nil {
		return nil, err
	}
	grouped, err := h.groupedTypes(r)
	if err != nil {
		return nil, err
	}
	supported, err := supportedTypes(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(40, 80)
	var rows *store.GroupPage
	show := func(limit int) (_ *entity.GroupedNotifications, err error) {
		page.Limit = limit
		if rows, err = h.DB.GroupedNotifications(r.Context(), r.Viewer.ID, f, grouped, page.Page); err != nil {
			return nil, err
		}
		return h.Entities.GroupedNotifications(r.Context(), r.Viewer, rows.Groups, entity.GroupOptions{Paged: true, Partial: expand != "full", Supported: supported})
	}
	groups, err := rest.Halved(r, page.Limit, show)
	if err != nil {
		return nil, err
	}
	linkGroups(r, page, rows)
	return groups, nil
}

// linkGroups sets the Link header from all notifications that were read for a page of groups.
func linkGroups(r *rest.Request, page rest.Page, rows *store.GroupPage) {
	if len(rows.Groups) == 0 && !rows.More {
		return
	}
	if len(rows.Groups) == 0 { // the scan budget was spent
		r.LinkPart(page, 0, nil, decimalCursor(int64(max(rows.Newest, rows.Oldest))))
		return
	}
	cursors := [2]store.NotificationID{rows.Newest, rows.Oldest}
	page.Limit = len(cursors)
	if !rows.More && page.MinID == 0 {
		page.Limit++ // there is no next page
	}
	r.LinkPage(page, len(cursors), func(i int) string { return strconv.FormatInt(int64(cursors[i]), 10) })
}

// countUnreadGroups counts the groups of the viewer's newest 1000 unread notifications, up to a limit.
func (h *notifications) countUnreadGroups(r *rest.Request) (any, error) {
	f, err := h.filter(r)
	if err != nil {
		return nil, err
	}
	grouped, err := h.groupedTypes(r)
	if err != nil {
		return nil, err
	}
	rows, err := h.DB.NewestUnread(r.Context(), r.Viewer.ID, f, maxUnread)
	groups := make(map[store.NotificationGroup]bool)
	for _, n := range rows {
		groups[n.Group(grouped)] = true
	}
	return unreadCount{min(len(groups), r.Page(standardUnread, maxUnread).Limit)}, err
}

// groupParam reads the key of a group in the path.
func groupParam(r *rest.Request) (store.NotificationGroup, error) {
	g, ok := store.ParseNotificationGroup(r.Param("group_key"))
	if !ok {
		return g, errs.ErrRecordNotFound
	}
	return g, nil
}

// showGroup returns one group.
func (h *notifications) showGroup(r *rest.Request) (any, error) {
	key, err := groupParam(r)
	if err != nil {
		return nil, err
	}
	row, err := h.DB.GroupedNotification(r.Context(), r.Viewer.ID, key)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, errs.ErrRecordNotFound
	}
	supported, err := supportedTypes(r)
	if err != nil {
		return nil, err
	}
	group, err := h.Entities.GroupedNotifications(r.Context(), r.Viewer, []*store.GroupedNotification{row}, entity.GroupOptions{Supported: supported})
	if err == nil && len(group.Groups) == 0 {
		err = errs.ErrRecordNotFound
	}
	return group, err
}

// groupAccounts lists the accounts that caused the notifications of a group.
func (h *notifications) groupAccounts(r *rest.Request) (any, error) {
	key, err := groupParam(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(80, 80)
	rows, err := h.DB.GroupNotifications(r.Context(), r.Viewer.ID, key, store.NotificationID(page.MaxID), page.Limit)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 && page.MaxID == 0 {
		return nil, errs.ErrRecordNotFound
	}
	ids := entity.Map(rows, func(n *store.Notification) store.AccountID { return n.FromID })
	show := func(ids []store.AccountID) (entity.List[entity.Account], error) {
		return h.Entities.Accounts(r.Context(), ids)
	}
	return rest.List(r, page, ids, func(i int) string { return notificationCursor(rows[i]) }, "", show)
}

// dismissGroup deletes the notifications of a group.
func (h *notifications) dismissGroup(r *rest.Request) (any, error) {
	key, err := groupParam(r)
	if err != nil {
		return nil, err
	}
	n, err := h.Social.DismissGroup(r.Context(), r.Viewer, key)
	if err == nil && n == 0 {
		err = errs.ErrRecordNotFound
	}
	return nil, err
}
