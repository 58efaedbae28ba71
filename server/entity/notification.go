package entity

import (
	"context"
	"slices"
	"strconv"

	"svc/store"
)

// Notification is a notification for its recipient.
type Notification struct {
	builder    *Builder
	row        *store.Notification
	account    Account
	status     *Status
	report     *StaffReport
	target     Account // that the account has moved to
	message    *ChatMessage
	collection object
	fallback   *notificationFallback // nil: not requested, or none
}

// Position returns the id as a position in a list.
func (n *Notification) Position() int64 { return n.row.Position() }

// AppendJSON renders the notification.
func (n *Notification) AppendJSON(dst []byte) []byte {
	id := int64(n.row.ID)
	dst = strconv.AppendInt(append(dst, `{"id":"`...), id, 10)
	dst = append(append(dst, `","type":"`...), n.builder.NotificationType(n.row.Type)...)
	dst = append(append(dst, `","created_at":"`...), store.At(n.row.ID.Time()).String()...)
	dst = append(append(dst, `","group_key":"`...), n.row.Group(store.GroupableTypes).String()...)
	dst = append(dst, '"')
	dst = n.account.AppendJSON(append(dst, `,"account":`...))
	if n.status != nil {
		dst = n.status.AppendJSON(append(dst, `,"status":`...))
	}
	return append(n.appendDetails(dst), '}')
}

// appendDetails appends the members that only some types have, and the extension.
func (n *Notification) appendDetails(dst []byte) []byte {
	if n.row.Type == store.NotifyEmojiReaction {
		dst = n.appendEmoji(dst)
	}
	if n.row.Type == store.NotifyMove {
		dst = n.target.AppendJSON(append(dst, `,"target":`...))
	}
	if n.report != nil {
		if b, err := marshal(n.report); err == nil {
			dst = append(append(dst, `,"report":`...), b...)
		}
	}
	if n.message != nil {
		if b, err := marshal(n.message); err == nil {
			dst = append(append(dst, `,"chat_message":`...), b...)
		}
	}
	if n.collection != nil {
		dst = append(append(dst, `,"collection":`...), n.collection...)
	}
	if n.fallback != nil {
		dst = appendValue(append(dst, `,"fallback":`...), n.fallback)
	}
	dst = append(n.builder.appendName(append(dst, ',')), '{')
	dst = appendBool(dst, `"is_seen":`, n.row.Read)
	dst = appendBool(dst, `,"is_muted":`, n.row.Muted)
	return append(dst, '}')
}

// appendEmoji appends the emoji of a reaction, and the URL of its image if it is custom.
func (n *Notification) appendEmoji(dst []byte) []byte {
	if b, err := marshal(store.ReactionText(n.row.Detail)); err == nil {
		dst = append(append(dst, `,"emoji":`...), b...)
	}
	dst = append(dst, `,"emoji_url":`...)
	for _, r := range n.status.reactions {
		if r.emoji == n.row.Detail {
			return append(dst, r.url...)
		}
	}
	return append(dst, "null"...)
}

// MarshalJSON is AppendJSON for notifications inside of other entities.
func (n *Notification) MarshalJSON() ([]byte, error) { return n.AppendJSON(nil), nil }

// NotificationType returns the name of a type. Types beyond the reference API are prefixed with the name of the service.
func (r *renderer) NotificationType(t store.NotificationType) string {
	if t.Kind().Own {
		return r.Settings.Load().API.Name + ":" + string(t)
	}
	return string(t)
}

// ParseNotificationType reads the name of a type.
func (r *renderer) ParseNotificationType(name string) (store.NotificationType, bool) {
	for i := range store.NotificationKinds {
		if t := store.NotificationKinds[i].Type; r.NotificationType(t) == name {
			return t, true
		}
	}
	return "", false
}

// Notifications renders a page of the viewer's notifications. Those whose status, report, target, message or collection was deleted meanwhile, or
// may not be seen, are left out.
func (b *Builder) Notifications(ctx context.Context, viewer *store.Account, rows []*store.Notification) (List[*Notification], error) {
	rows, err := b.withoutLostDuties(ctx, viewer, rows)
	if err != nil {
		return nil, err
	}
	accountIDs := make([]store.AccountID, 0, len(rows))
	var statusIDs []store.StatusID
	for _, n := range rows {
		accountIDs = append(accountIDs, n.FromID)
		if n.Type == store.NotifyMove {
			accountIDs = append(accountIDs, moveTarget(n))
		}
		if n.StatusID != nil {
			statusIDs = append(statusIDs, *n.StatusID)
		}
	}
	accountOf, err := b.loadAccounts(ctx, unique(accountIDs))
	if err != nil {
		return nil, err
	}
	var statuses List[*Status]
	if len(statusIDs) > 0 {
		if statuses, err = b.Statuses(ctx, viewer, unique(statusIDs)); err != nil {
			return nil, err
		}
	}
	reports, err := b.loadReports(ctx, viewer, rows)
	if err != nil {
		return nil, err
	}
	messageOf, err := b.loadMessages(ctx, viewer, rows)
	if err != nil {
		return nil, err
	}
	collectionOf, err := b.loadCollections(ctx, viewer, rows)
	if err != nil {
		return nil, err
	}
	statusOf := byID(statuses, (*Status).ID)
	list := make(List[*Notification], 0, len(rows))
	for _, row := range rows {
		n := &Notification{builder: b, row: row, account: accountOf[row.FromID]}
		if row.StatusID != nil {
			if n.status = statusOf[*row.StatusID]; n.status == nil {
				continue
			}
		}
		if row.Type == store.NotifyMove {
			if n.target = accountOf[moveTarget(row)]; n.target.cachedAccount == nil || n.target.unavailable {
				continue
			}
		}
		if row.Type == store.NotifyReport {
			if n.report = reports[reportID(row)]; n.report == nil {
				continue
			}
		}
		if isAboutCollection(row) {
			if n.collection = collectionOf[collectionItemID(row)]; n.collection == nil {
				continue
			}
		}
		if row.MessageID != nil {
			if n.message = messageOf[*row.MessageID]; n.message == nil {
				continue
			}
		}
		if n.account.cachedAccount != nil {
			list = append(list, n)
		}
	}
	return list, nil
}

// withoutLostDuties leaves out the notifications for staff that the viewer no longer has the privilege for.
func (b *Builder) withoutLostDuties(ctx context.Context, viewer *store.Account, rows []*store.Notification) ([]*store.Notification, error) {
	forStaff := func(n *store.Notification) bool { return n.Type.Kind().Privilege != "" }
	if !slices.ContainsFunc(rows, forStaff) {
		return rows, nil
	}
	user, err := b.db.User(ctx, viewer.ID)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(rows), func(n *store.Notification) bool {
		return forStaff(n) && !b.HasPrivilege(user, n.Type.Kind().Privilege)
	}), nil
}

// loadReports returns the reports of a page of notifications.
func (b *Builder) loadReports(ctx context.Context, viewer *store.Account, rows []*store.Notification) (map[store.ReportID]*StaffReport, error) {
	var ids []store.ReportID
	for _, n := range rows {
		if n.Type == store.NotifyReport {
			ids = append(ids, reportID(n))
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return b.StaffReports(ctx, viewer, ids, listedStatuses)
}

// moveTarget returns the account to which the one that a notification is about has moved.
func moveTarget(n *store.Notification) store.AccountID {
	return store.ParseID[store.AccountID](n.Detail)
}

// reportID returns what a notification of a report is about.
func reportID(n *store.Notification) store.ReportID { return store.ParseID[store.ReportID](n.Detail) }
