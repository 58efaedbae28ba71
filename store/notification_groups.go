package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	groupSpan       = 12 * time.Hour // notifications of the same kind within it form a group; spans begin at 0:00 and 12:00 UTC
	maxGroupCount   = 1000           // of the notifications of a group that are counted
	maxGroupSamples = 8              // accounts of a group that are returned
	maxGroupLooked  = "2000"         // newest notifications of a group that are examined for its count and accounts
	maxGroupScan    = 2000           // notifications that are read for a page of groups
	groupScanBatch  = 200
)

// groupable is the condition of the index notifications_groups: the type of notification x is in GroupableTypes.
var groupable = typeIs("x.type", isGrouped)

// NotificationGroup identifies the notifications of a type about a status within a span of time, or a single notification.
type NotificationGroup struct {
	Type     NotificationType // "": a single notification
	StatusID StatusID         // 0: none
	Span     int64            // number of the span since 1970
	ID       NotificationID   // of the single notification
}

// Group returns the group of a notification. Only the types in grouped form groups.
func (n *Notification) Group(grouped []NotificationType) NotificationGroup {
	if !slices.Contains(grouped, n.Type) || !slices.Contains(GroupableTypes, n.Type) {
		return NotificationGroup{ID: n.ID}
	}
	g := NotificationGroup{Type: n.Type, Span: n.ID.Time().UnixMilli() / groupSpan.Milliseconds()}
	if n.StatusID != nil {
		g.StatusID = *n.StatusID
	}
	return g
}

// String returns the key of the group in the client API.
func (g NotificationGroup) String() string {
	switch {
	case g.Type == "":
		return "ungrouped-" + strconv.FormatInt(int64(g.ID), 10)
	case g.StatusID == 0:
		return fmt.Sprintf("%s-%d", g.Type, g.Span)
	}
	return fmt.Sprintf("%s-%s-%d", g.Type, g.StatusID, g.Span)
}

// ParseNotificationGroup reads the key of a group.
func ParseNotificationGroup(key string) (g NotificationGroup, ok bool) {
	parts := strings.Split(key, "-")
	if len(parts) == 2 && parts[0] == "ungrouped" {
		g.ID = ParseID[NotificationID](parts[1])
		return g, g.ID != 0
	}
	g.Type = NotificationType(parts[0])
	switch {
	case len(parts) == 2 && g.Type == NotifyFollow:
	case len(parts) == 3 && (g.Type == NotifyFavourite || g.Type == NotifyReblog):
		if g.StatusID = ParseID[StatusID](parts[1]); g.StatusID == 0 {
			return NotificationGroup{}, false
		}
	default:
		return NotificationGroup{}, false
	}
	span, err := strconv.ParseInt(parts[len(parts)-1], 10, 32)
	g.Span = span
	return g, err == nil && span > 0
}

// bounds returns the ids between which the notifications of the group are, exclusive.
func (g NotificationGroup) bounds() (below, above int64) {
	if g.Type == "" {
		return int64(g.ID) + 1, int64(g.ID) - 1
	}
	start := g.Span * groupSpan.Milliseconds()
	return (start + groupSpan.Milliseconds()) << sequenceBits, start<<sequenceBits - 1
}

// status returns the value of status_id.
func (g NotificationGroup) status() any {
	if g.StatusID == 0 {
		return nil
	}
	return int64(g.StatusID)
}

// GroupedNotification is a group with its notifications in a page.
type GroupedNotification struct {
	NotificationGroup
	Newest  *Notification  // in the page
	Oldest  NotificationID // in the page
	Count   int            // of the group up to Newest, at most 1000; of those in the page if they are selected by account
	FromIDs []AccountID    // that caused the newest notifications, without repetition, at most 8
}

// GroupPage is a page of groups, the one with the newest notification first.
type GroupPage struct {
	Groups         []*GroupedNotification
	Newest, Oldest NotificationID // that were read for it
	More           bool           // there may be older ones, or newer ones for a page with MinID
}

// GroupedNotifications returns a page of the groups of an account's notifications. A group may go on in the next page. The page is short
// if very many notifications form few groups.
func (r reader) GroupedNotifications(ctx context.Context, account AccountID, f NotificationFilter, grouped []NotificationType, p Page) (*GroupPage, error) {
	page, limit := &GroupPage{}, p.Limit
	found := make(map[NotificationGroup]*GroupedNotification)
	p.Limit = groupScanBatch
	for scanned := 0; scanned < maxGroupScan; scanned += groupScanBatch {
		part, err := r.Notifications(ctx, account, f, p)
		if err != nil {
			return nil, err
		}
		rows := part.Rows
		if p.MinID != 0 {
			slices.Reverse(rows) // away from the cursor
		}
		for _, n := range rows {
			key := n.Group(grouped)
			g := found[key]
			if g == nil && len(page.Groups) == limit {
				page.More = true
				return page, r.completeGroups(ctx, account, f, page)
			}
			if g == nil {
				g = &GroupedNotification{NotificationGroup: key, Newest: n, Oldest: n.ID}
				found[key] = g
				page.Groups = append(page.Groups, g)
			}
			page.add(g, n)
		}
		if part.Next != 0 {
			page.goOn(part.Next, p)
			return page, r.completeGroups(ctx, account, f, page)
		}
		if len(rows) < groupScanBatch {
			return page, r.completeGroups(ctx, account, f, page)
		}
		if last := rows[len(rows)-1].Position(); p.MinID != 0 {
			p.MinID = last
		} else {
			p.MaxID = last
		}
	}
	page.More = true
	return page, r.completeGroups(ctx, account, f, page)
}

// goOn makes the list go on after a notification, the last examined one.
func (p *GroupPage) goOn(after int64, q Page) {
	p.More = true
	if q.MinID != 0 {
		p.Newest = NotificationID(after)
	} else {
		p.Oldest = NotificationID(after)
	}
}

// add adds a notification to a group of the page.
func (p *GroupPage) add(g *GroupedNotification, n *Notification) {
	if n.ID > g.Newest.ID {
		g.Newest = n
	}
	g.Oldest = min(g.Oldest, n.ID)
	g.Count++
	p.Newest = max(p.Newest, n.ID)
	if p.Oldest == 0 || n.ID < p.Oldest {
		p.Oldest = n.ID
	}
}

var (
	ofGroup = `
			FROM (
				SELECT x.*
				FROM notifications x INDEXED BY notifications_groups
				WHERE x.account_id = ?1 AND x.type = j.value ->> 0 AND ` + groupable + ` AND x.status_id IS j.value ->> 1
					AND x.id < j.value ->> 2 AND x.id > j.value ->> 3
				ORDER BY x.id DESC
				LIMIT ` + maxGroupLooked + `) n
			WHERE n.filtered = 0 AND ` + notificationVisible

	groupTotals = `
		SELECT j.key, (
			SELECT count(*)
			FROM (SELECT 1 ` + ofGroup + ` LIMIT ?5)
		), (
			SELECT json_group_array(from_id)
			FROM (SELECT n.from_id ` + ofGroup + ` ORDER BY n.id DESC LIMIT ?6)
		)
		FROM json_each(?4) j`
)

// completeGroups sorts the groups of a page, and sets their counts and accounts. If f selects an account, the group has only the
// notifications of the page.
func (r reader) completeGroups(ctx context.Context, account AccountID, f NotificationFilter, page *GroupPage) error {
	slices.SortFunc(page.Groups, func(a, b *GroupedNotification) int { return cmp.Compare(b.Newest.ID, a.Newest.ID) })
	l, err := r.lookups(ctx, account)
	if err != nil {
		return err
	}
	var counted []*GroupedNotification
	var keys JSON[[][4]any]
	for _, g := range page.Groups {
		g.FromIDs = []AccountID{g.Newest.FromID}
		if g.Type != "" && !g.Newest.Filtered && f.From == 0 {
			_, above := g.bounds()
			keys.V = append(keys.V, [4]any{g.Type, g.status(), int64(g.Newest.ID) + 1, above})
			counted = append(counted, g)
		}
	}
	if len(counted) == 0 {
		return nil
	}
	rows, err := r.query(ctx, "notifications of group", groupTotals, account, l, false, keys, maxGroupCount, maxGroupSamples)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var i, count int
		var from JSON[[]int64]
		if err := rows.Scan(&i, &count, &from); err != nil {
			return fmt.Errorf("groups of notifications: %w", err)
		}
		g := counted[i]
		g.Count = max(count, 1) // 0 if all are muted
		for _, id := range from.V {
			if !slices.Contains(g.FromIDs, AccountID(id)) {
				g.FromIDs = append(g.FromIDs, AccountID(id))
			}
		}
	}
	return rows.Err()
}

var (
	groupNotifications = `
		SELECT ` + notificationColumns + `
		FROM (
			SELECT x.*
			FROM notifications x INDEXED BY notifications_groups
			WHERE x.account_id = ?1 AND x.type = ?6 AND ` + groupable + ` AND x.status_id IS ?7
				AND x.id < ?4 AND x.id > ?5
			ORDER BY x.id DESC
			LIMIT ` + maxGroupLooked + `) n
		WHERE n.filtered = 0 AND ` + notificationVisible + `
		ORDER BY n.id DESC
		LIMIT ?8`

	singleNotification = `
		SELECT ` + notificationColumns + `
		FROM notifications n
		WHERE n.account_id = ?1 AND n.id < ?4 AND n.id > ?5 AND ` + notificationVisible
)

// GroupNotifications returns the newest notifications of a group of an account, older than before unless that is 0. It examines the newest
// 2000 of them, hidden ones included.
func (r reader) GroupNotifications(ctx context.Context, account AccountID, g NotificationGroup, before NotificationID, limit int) ([]*Notification, error) {
	l, err := r.lookups(ctx, account)
	if err != nil {
		return nil, err
	}
	below, above := g.bounds()
	if before != 0 {
		below = min(below, int64(before))
	}
	query, args := singleNotification, []any{account, l, true, below, above}
	if g.Type != "" {
		query, args = groupNotifications, []any{account, l, false, below, above, g.Type, g.status(), limit}
	}
	rows, err := r.query(ctx, "notifications of group", query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return scanNotifications(rows.Rows, account)
}

// GroupedNotification returns a group of an account, nil if it has no notifications.
func (r reader) GroupedNotification(ctx context.Context, account AccountID, g NotificationGroup) (*GroupedNotification, error) {
	rows, err := r.GroupNotifications(ctx, account, g, 0, 1)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	page := &GroupPage{Groups: []*GroupedNotification{{NotificationGroup: g, Newest: rows[0], Oldest: rows[0].ID, Count: 1}}}
	return page.Groups[0], r.completeGroups(ctx, account, NotificationFilter{}, page)
}

// DismissGroup deletes up to limit notifications of a group of account, and returns how many there were.
func (tx *Tx) DismissGroup(ctx context.Context, account AccountID, g NotificationGroup, limit int) (int64, error) {
	if g.Type == "" {
		return tx.DismissNotifications(ctx, account, []NotificationID{g.ID})
	}
	below, above := g.bounds()
	return tx.execRows(ctx, "dismiss group", `
		DELETE FROM notifications
		WHERE id IN (
			SELECT x.id
			FROM notifications x INDEXED BY notifications_groups
			WHERE x.account_id = ? AND x.type = ? AND `+groupable+` AND x.status_id IS ? AND x.id < ? AND x.id > ?
			LIMIT ?)`, account, g.Type, g.status(), below, above, limit)
}
