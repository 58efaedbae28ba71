package entity

import (
	"context"
	"strconv"

	"svc/store"
)

// GroupedNotifications are groups of notifications with the accounts and statuses that they refer to, each once.
type GroupedNotifications struct {
	Accounts        List[Account]            `json:"accounts"`
	PartialAccounts []PartialAccount         `json:"partial_accounts,omitzero"`
	Statuses        List[*Status]            `json:"statuses"`
	Groups          List[*NotificationGroup] `json:"notification_groups"`
}

// PartialAccount is what clients need of an account to show its avatar.
type PartialAccount struct {
	ID           store.AccountID `json:"id"`
	Acct         string          `json:"acct"`
	Locked       bool            `json:"locked"`
	Bot          bool            `json:"bot"`
	URL          string          `json:"url"`
	Avatar       string          `json:"avatar"`
	AvatarStatic string          `json:"avatar_static"`

	AvatarDescription string `json:"avatar_description"`
}

// NotificationGroup is a group of notifications for their recipient.
type NotificationGroup struct {
	row    *store.GroupedNotification
	newest *Notification
	paged  bool
}

// AppendJSON renders the group.
func (g *NotificationGroup) AppendJSON(dst []byte) []byte {
	quotedInt := func(key string, n int64) {
		dst = append(strconv.AppendInt(append(dst, key...), n, 10), '"')
	}
	dst = append(append(dst, `{"group_key":"`...), g.row.String()...)
	dst = strconv.AppendInt(append(dst, `","notifications_count":`...), int64(g.row.Count), 10)
	dst = append(append(dst, `,"type":"`...), g.newest.builder.NotificationType(g.row.Newest.Type)...)
	dst = strconv.AppendInt(append(dst, `","most_recent_notification_id":`...), int64(g.row.Newest.ID), 10) // the only id that is a number
	if g.paged {
		quotedInt(`,"page_min_id":"`, int64(g.row.Oldest))
		quotedInt(`,"page_max_id":"`, int64(g.row.Newest.ID))
		dst = append(append(dst, `,"latest_page_notification_at":`...), '"')
		dst = append(append(dst, store.At(g.row.Newest.ID.Time()).String()...), '"')
	}
	dst = appendValue(append(dst, `,"sample_account_ids":`...), g.row.FromIDs)
	if g.newest.status != nil {
		dst = appendQuoted(append(dst, `,"status_id":`...), g.newest.status.id.String())
	}
	return append(g.newest.appendDetails(dst), '}')
}

// MarshalJSON is AppendJSON for groups inside of other entities.
func (g *NotificationGroup) MarshalJSON() ([]byte, error) { return g.AppendJSON(nil), nil }

// GroupOptions are what a client chooses of GroupedNotifications.
type GroupOptions struct {
	Paged   bool // the groups are those of a page: without what filters hide, and with their ids in the page
	Partial bool // accounts other than that of the newest notification are shown in part

	Supported *[]string // the types that the client knows; the others have a fallback. nil: it did not say
}

// GroupedNotifications renders groups of the viewer's notifications. Those whose newest notification cannot be shown are left out.
func (b *Builder) GroupedNotifications(ctx context.Context, viewer *store.Account, rows []*store.GroupedNotification, o GroupOptions) (*GroupedNotifications, error) {
	newest := make([]*store.Notification, 0, len(rows))
	for _, g := range rows {
		newest = append(newest, g.Newest)
	}
	list, err := b.Notifications(ctx, viewer, newest)
	if err != nil {
		return nil, err
	}
	if o.Supported != nil {
		if err := b.AddFallbacks(ctx, list, *o.Supported); err != nil {
			return nil, err
		}
	}
	shown := byID(list, func(n *Notification) store.NotificationID { return n.row.ID })
	all := &GroupedNotifications{Statuses: List[*Status]{}, Groups: List[*NotificationGroup]{}}
	var full, partial []store.AccountID
	seen := make(map[store.StatusID]bool)
	for _, g := range rows {
		n := shown[g.Newest.ID]
		if n == nil || o.Paged && n.HiddenIn(store.FilterNotifications) {
			continue
		}
		all.Groups = append(all.Groups, &NotificationGroup{g, n, o.Paged})
		full = append(full, g.FromIDs[0])
		if o.Partial {
			partial = append(partial, g.FromIDs[1:]...)
		} else {
			full = append(full, g.FromIDs[1:]...)
		}
		if n.status != nil && !seen[n.status.id] {
			seen[n.status.id] = true
			all.Statuses = append(all.Statuses, n.status)
		}
	}
	full = unique(full)
	if all.Accounts, err = b.Accounts(ctx, full); err != nil || !o.Partial {
		return all, err
	}
	all.PartialAccounts, err = b.partialAccounts(ctx, unique(partial), full)
	return all, err
}

// partialAccounts returns the accounts of the ids, except for those that are shown in full.
func (b *Builder) partialAccounts(ctx context.Context, ids, full []store.AccountID) ([]PartialAccount, error) {
	known := make(map[store.AccountID]bool, len(full))
	for _, id := range full {
		known[id] = true
	}
	rows, err := b.db.Accounts(ctx, ids)
	partial := make([]PartialAccount, 0, len(rows))
	for _, row := range rows {
		if known[row.ID] {
			continue
		}
		m, _ := b.accountMembers(row, nil)
		partial = append(partial, PartialAccount{m.ID, m.Acct, m.Locked, m.Bot, m.URL, m.Avatar, m.AvatarStatic, m.AvatarDescription})
	}
	return partial, err
}
