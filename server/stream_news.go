package server

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"svc/internal/errs"
	"svc/store"
)

// news is an event as a viewer is told of it.
type news struct {
	event   string
	payload []byte // JSON or plain text; empty: none

	frames map[string]*frame // by the label of the stream, as they are sent by WebSocket
	lines  *frame            // as they are sent by server-sent events
}

// framesKept is how many labels a frame is remembered of: most streams have one of few.
const framesKept = 50

// noPayload is what an event has that says all by its name.
var noPayload = json.RawMessage{}

// send tells targets.
func (n *news) send(targets []target) {
	for _, t := range targets {
		t.listener.send(t.out.encode(n, t.label, t.hub.held.bytes.Load() < mostHeld))
	}
}

// frame returns the event as a WebSocket has it (client API 4.10). The payload is JSON within a string.
func (n *news) frame(label string, anew bool) *frame {
	if f := n.frames[label]; f != nil || !anew {
		return f
	}
	f := make([]byte, 0, len(label)+len(n.payload)*9/8+64)
	f = append(append(f, `{"stream":`...), label...)
	f = append(append(append(f, `,"event":"`...), n.event...), '"')
	if len(n.payload) > 0 {
		f = appendJSONString(append(f, `,"payload":`...), string(n.payload))
	}
	f = append(f, '}')
	if n.frames == nil {
		n.frames = make(map[string]*frame, 1)
	}
	if len(n.frames) >= framesKept {
		clear(n.frames)
	}
	n.frames[label] = &frame{bytes: f}
	return n.frames[label]
}

// sent returns the event as server-sent events have it, where the payload is not encoded twice.
func (n *news) sent(anew bool) *frame {
	if n.lines != nil || !anew {
		return n.lines
	}
	payload := n.payload
	if len(payload) == 0 {
		payload = []byte("undefined")
	}
	text := append(append(append([]byte("event: "), n.event...), "\ndata: "...), payload...)
	n.lines = &frame{bytes: append(text, "\n\n"...)}
	return n.lines
}

// tell sends an event of the database to those who may know of it. Everything is looked at as it is now, not as it was when they
// subscribed.
func (h *hub) tell(ctx context.Context, e store.Event) error {
	switch e := e.(type) {
	case store.StatusPosted:
		return h.tellOfStatus(ctx, "update", e.Status)
	case store.StatusEdited:
		return h.tellOfStatus(ctx, "status.update", e.Status)
	case store.StatusDeleted:
		return h.tellOfDeletion(ctx, e)
	case store.Notified:
		return h.tellOfNotification(ctx, e.Notification)
	case store.FollowChanged:
		return h.tellOfFollow(ctx, e)
	case store.ConversationChanged:
		return h.tellOne(ctx, ownedFeed(directFeed, e.AccountID), "conversation", func(who *store.Account) (any, error) {
			c, err := h.server.entities.Conversation(ctx, who, e.ID)
			if err != nil || !c.Listed() {
				return nil, err
			}
			return c, nil
		})
	case store.ChatChanged:
		return h.tellOne(ctx, ownedFeed(chatFeed, e.AccountID), h.server.settings.API.Name+":chat_update", func(who *store.Account) (any, error) {
			return h.server.entities.Chat(ctx, who, e.ID)
		})
	case store.FiltersChanged:
		return h.tellOne(ctx, ownedFeed(filterFeed, e.AccountID), "filters_changed", func(*store.Account) (any, error) { return noPayload, nil })
	case store.AnnouncementChanged:
		return h.tellOfAnnouncement(ctx, e)
	case store.Changed:
		if e.All {
			return h.check(ctx, nil)
		}
		return h.check(ctx, e.Accounts)
	}
	return nil
}

// tellOfStatus shows a status to those who find it in the timelines that they listen to.
func (h *hub) tellOfStatus(ctx context.Context, event string, st *store.Status) error {
	if !h.wanted(feedKind.timeline) {
		return nil
	}
	audience, err := h.server.db.Audience(ctx, st)
	if err != nil {
		return err
	}
	crowd, err := h.crowd(ctx, h.targets(postFeeds(st, audience)...))
	if err != nil || len(crowd) == 0 {
		return err
	}
	shown, err := h.server.db.ShownTo(ctx, st, slices.Collect(maps.Keys(crowd)))
	if err != nil {
		return ignoreGone(err)
	}
	if err := h.server.db.RememberFlags(ctx, st.OriginalID(), shown); err != nil {
		return err
	}
	var n *news
	var text []byte
	for _, id := range shown {
		entity, err := h.server.entities.Status(ctx, crowd[id].account, st.ID)
		if err != nil {
			return ignoreGone(err)
		}
		// Most see the same, and then it needs to be encoded only once.
		if text = entity.AppendJSON(text[:0]); n == nil || !bytes.Equal(n.payload, text) {
			n = &news{event: event, payload: bytes.Clone(text)}
		}
		targets := crowd[id].targets
		if entity.Dropped(store.FilterHome) { // as on the page
			targets = slices.DeleteFunc(targets, func(t target) bool { return t.kind == homeFeed })
		}
		n.send(targets)
	}
	return nil
}

// tellOfDeletion tells those who were shown a status that it is gone, by the id under which they were (of a boost, its own).
func (h *hub) tellOfDeletion(ctx context.Context, e store.StatusDeleted) error {
	if e.Audience == nil || !h.wanted(feedKind.timeline) {
		return nil
	}
	crowd, err := h.crowd(ctx, h.targets(postFeeds(e.Status, e.Audience)...))
	if err != nil || len(crowd) == 0 {
		return err
	}
	shown, err := h.server.db.WereShown(ctx, e, slices.Collect(maps.Keys(crowd)))
	n := &news{event: "delete", payload: []byte(e.Status.ID.String())}
	for _, id := range shown {
		n.send(crowd[id].targets)
	}
	return err
}

// tellOfNotification shows a notification, if the default list of notifications has it.
func (h *hub) tellOfNotification(ctx context.Context, n *store.Notification) error {
	return h.tellOne(ctx, ownedFeed(notificationFeed, n.AccountID), "notification", func(who *store.Account) (any, error) {
		just := store.Page{MinID: int64(n.ID) - 1, MaxID: int64(n.ID) + 1, Limit: 1}
		rows, err := h.server.db.Notifications(ctx, who.ID, store.NotificationFilter{}, just)
		if err != nil || len(rows) == 0 || rows[0].Read {
			return nil, err
		}
		list, err := h.server.entities.Notifications(ctx, who, rows)
		if err != nil || len(list) == 0 || list[0].Dropped(store.FilterNotifications) {
			return nil, err
		}
		return list[0], nil
	})
}

// tellOfAnnouncement tells everybody who is signed in of what the staff announces, if that is to be seen already.
func (h *hub) tellOfAnnouncement(ctx context.Context, e store.AnnouncementChanged) error {
	n := &news{event: "announcement.delete", payload: []byte(e.ID.String())}
	if !e.Deleted {
		row, err := h.server.db.Announcement(ctx, e.ID)
		if err != nil || !row.Current(h.server.now()) {
			return ignoreGone(err)
		}
		b := newJSONBuffer()
		if err := b.encode(h.server.entities.Announcement(row)); err != nil {
			return err
		}
		n = &news{event: "announcement", payload: b.bytes}
	}
	crowd, err := h.crowd(ctx, h.targets(feed{kind: announcementFeed}))
	for _, v := range crowd {
		n.send(v.targets)
	}
	return err
}

// tellOfFollow tells a follower what became of a follow. That they ended it themselves is no news.
func (h *hub) tellOfFollow(ctx context.Context, e store.FollowChanged) error {
	state := "follow_accept"
	switch {
	case e.Ended && !e.Rejected:
		return nil
	case e.Ended:
		state = "follow_reject"
	case e.Follow.Pending:
		state = "follow_pending"
	}
	event := h.server.settings.API.Name + ":follow_relationships_update"
	return h.tellOne(ctx, ownedFeed(followFeed, e.Follow.FollowerID), event, func(*store.Account) (any, error) {
		return h.server.entities.FollowUpdate(ctx, state, e.Follow)
	})
}

// tellOne sends something to the one account whose feed it is. render returns nil if there is nothing to send after all.
func (h *hub) tellOne(ctx context.Context, f feed, event string, render func(*store.Account) (any, error)) error {
	crowd, err := h.crowd(ctx, h.targets(f))
	if err != nil {
		return err
	}
	for _, v := range crowd {
		entity, err := render(v.account)
		if err != nil || entity == nil {
			return ignoreGone(err)
		}
		b := newJSONBuffer()
		if err := b.encode(entity); err != nil {
			return err
		}
		(&news{event: event, payload: b.bytes}).send(v.targets)
	}
	return nil
}

// viewer is somebody who listens, and by what.
type viewer struct {
	account *store.Account // nil: the anonymous
	targets []target
}

// crowd sorts targets by who listens, 0 being the anonymous. Those whose tokens are no longer good are left out.
func (h *hub) crowd(ctx context.Context, targets []target) (map[store.AccountID]*viewer, error) {
	crowd := make(map[store.AccountID]*viewer)
	for _, t := range targets {
		who, ok, err := h.identity(ctx, t.listener)
		if err != nil {
			return nil, err
		}
		var account *store.Account
		if who != nil && (!t.kind.open() || h.server.readsAs(who) != 0) {
			account = who.Account
		}
		var id store.AccountID
		if account != nil {
			id = account.ID
		}
		if !ok || id == 0 && !h.server.settings.Instance.Public {
			continue
		}
		if crowd[id] == nil {
			crowd[id] = &viewer{account: account}
		}
		crowd[id].targets = append(crowd[id].targets, t)
	}
	return crowd, nil
}

// ignoreGone is for what has been deleted since the event that told of it.
func ignoreGone(err error) error {
	if errs.IsNotFound(err) {
		return nil
	}
	return err
}
