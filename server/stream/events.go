package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"svc/internal/errs"
	"svc/server/rest"
	"svc/store"
)

// message is an event as it is sent to a viewer.
type message struct {
	name    string
	payload []byte // JSON or plain text; empty: none

	socketFrames map[string]*frame // by the label of the stream, as they are sent by WebSocket
	sseLines     *frame            // for server-sent events
}

// maxCachedFrames bounds the labels for which a message keeps its frame. Most streams have one of few.
const maxCachedFrames = 50

// maxEventBytes bounds the payload of an event. An entity beyond it is not sent: clients see it when they load the timeline again. Entities of what is
// stored are smaller, but for a boost of a long post with a long quote by authors with long profiles.
const maxEventBytes = 512 << 10

// noPayload is the payload of events that have none.
var noPayload = json.RawMessage{}

// send queues the message with targets.
func (n *message) send(targets []target) {
	for _, t := range targets {
		t.client.send(t.transport.encode(n, t.label, t.hub.backlog.bytes.Load() < maxBacklogBytes))
	}
}

// socketFrame returns the frame for a WebSocket (client API 4.10), whose payload is JSON within a string.
func (n *message) socketFrame(label string, mayEncode bool) *frame {
	if f := n.socketFrames[label]; f != nil || !mayEncode {
		return f
	}
	f := make([]byte, 0, len(label)+len(n.payload)*9/8+64)
	f = append(append(f, `{"stream":`...), label...)
	f = append(append(append(f, `,"event":"`...), n.name...), '"')
	if len(n.payload) > 0 {
		f = rest.AppendString(append(f, `,"payload":`...), string(n.payload))
	}
	f = append(f, '}')
	if n.socketFrames == nil {
		n.socketFrames = make(map[string]*frame, 1)
	}
	if len(n.socketFrames) >= maxCachedFrames {
		clear(n.socketFrames)
	}
	n.socketFrames[label] = &frame{bytes: f}
	return n.socketFrames[label]
}

// sseFrame returns the frame for server-sent events.
func (n *message) sseFrame(mayEncode bool) *frame {
	if n.sseLines != nil || !mayEncode {
		return n.sseLines
	}
	payload := n.payload
	if len(payload) == 0 {
		payload = []byte("undefined")
	}
	text := append(append(append([]byte("event: "), n.name...), "\ndata: "...), payload...)
	n.sseLines = &frame{bytes: append(text, "\n\n"...)}
	return n.sseLines
}

// dispatch sends an event of the database to the viewers who may see it. Permissions are checked now, not at the time of the
// subscription.
func (h *Hub) dispatch(ctx context.Context, e store.Event) error {
	switch e := e.(type) {
	case store.StatusPosted:
		return h.sendStatus(ctx, "update", e.Status)
	case store.StatusEdited:
		return h.sendStatus(ctx, "status.update", e.Status)
	case store.StatusRemoved:
		return h.sendDeletion(ctx, e)
	case store.NotificationAdded:
		return h.sendNotification(ctx, e.Notification)
	case store.NotificationsMerged:
		return h.sendToOwner(ctx, ownedTopic(notificationTopic, e.AccountID), "notifications_merged", func(*store.Account) (any, error) { return noPayload, nil })
	case store.FollowChanged:
		return h.sendFollow(ctx, e)
	case store.ConversationChanged:
		return h.sendToOwner(ctx, ownedTopic(directTopic, e.AccountID), "conversation", func(owner *store.Account) (any, error) {
			c, err := h.Entities.Conversation(ctx, owner, e.ID)
			if err != nil || !c.HasStatus() {
				return nil, err
			}
			return c, nil
		})
	case store.ChatChanged:
		return h.sendToOwner(ctx, ownedTopic(chatTopic, e.AccountID), h.Settings.Load().API.Name+":chat_update", func(owner *store.Account) (any, error) {
			return h.Entities.Chat(ctx, owner, e.ID)
		})
	case store.FiltersChanged:
		return h.sendToOwner(ctx, ownedTopic(filterTopic, e.AccountID), "filters_changed", func(*store.Account) (any, error) { return noPayload, nil })
	case store.AnnouncementChanged:
		return h.sendAnnouncement(ctx, e)
	case store.AnnouncementReacted:
		return h.sendAnnouncementReaction(ctx, e)
	case store.RowsChanged:
		if e.All {
			return h.checkTokens(ctx, nil)
		}
		return h.checkTokens(ctx, e.Accounts)
	}
	return nil
}

// sendStatus sends a status to viewers that stream a timeline with it.
func (h *Hub) sendStatus(ctx context.Context, event string, st *store.Status) error {
	if !h.hasSubscribers(topicKind.isTimeline) {
		return nil
	}
	audience, err := h.DB.Audience(ctx, st)
	if err != nil {
		return err
	}
	viewers, err := h.byViewer(ctx, h.targets(statusTopics(st, audience)...))
	if err != nil || len(viewers) == 0 {
		return err
	}
	shown, err := h.DB.VisibleTo(ctx, st, slices.Collect(maps.Keys(viewers)))
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	if err := h.DB.CacheFlags(ctx, st.OriginalID(), shown); err != nil {
		return err
	}
	var n *message
	var text []byte
	for _, id := range shown {
		entity, err := h.Entities.Status(ctx, viewers[id].account, st.ID)
		if err != nil {
			return errs.IgnoreNotFound(err)
		}
		// The JSON is the same for most viewers, so that one encoding serves them.
		if entity.JSONSize() > maxEventBytes {
			continue
		}
		if text = entity.AppendJSON(text[:0]); n == nil || !bytes.Equal(n.payload, text) {
			n = &message{name: event, payload: bytes.Clone(text)}
		}
		targets := viewers[id].targets
		if entity.HiddenIn(store.FilterHome) { // as in the home timeline
			targets = slices.DeleteFunc(targets, func(t target) bool { return t.kind == homeTopic })
		}
		n.send(targets)
	}
	return nil
}

// sendDeletion sends the deletion of a status to viewers that saw it, with the id that they know (for a boost, its own).
func (h *Hub) sendDeletion(ctx context.Context, e store.StatusRemoved) error {
	if e.Audience == nil || !h.hasSubscribers(topicKind.isTimeline) {
		return nil
	}
	viewers, err := h.byViewer(ctx, h.targets(statusTopics(e.Status, e.Audience)...))
	if err != nil || len(viewers) == 0 {
		return err
	}
	shown, err := h.DB.SawRemoved(ctx, e, slices.Collect(maps.Keys(viewers)))
	if err == nil && e.Narrowed {
		shown, err = h.withoutViewers(ctx, e.Status.ID, shown)
	}
	n := &message{name: "delete", payload: []byte(e.Status.ID.String())}
	for _, id := range shown {
		n.send(viewers[id].targets)
	}
	return err
}

// withoutViewers returns those of the accounts that do not see a status now.
func (h *Hub) withoutViewers(ctx context.Context, id store.StatusID, accounts []store.AccountID) ([]store.AccountID, error) {
	now, err := h.DB.Status(ctx, id)
	if errs.IsNotFound(err) {
		return accounts, nil
	}
	if err != nil {
		return nil, err
	}
	sees, err := h.DB.VisibleTo(ctx, now, accounts)
	return slices.DeleteFunc(accounts, func(id store.AccountID) bool { return slices.Contains(sees, id) }), err
}

// sendNotification sends a notification, if the default list of notifications contains it.
func (h *Hub) sendNotification(ctx context.Context, n *store.Notification) error {
	return h.sendToOwner(ctx, ownedTopic(notificationTopic, n.AccountID), "notification", func(owner *store.Account) (any, error) {
		page := store.Page{MinID: int64(n.ID) - 1, MaxID: int64(n.ID) + 1, Limit: 1}
		part, err := h.DB.Notifications(ctx, owner.ID, store.NotificationFilter{}, page)
		rows := part.Rows
		if err != nil || len(rows) == 0 || rows[0].Read {
			return nil, err
		}
		list, err := h.Entities.Notifications(ctx, owner, rows)
		if err != nil || len(list) == 0 || list[0].HiddenIn(store.FilterNotifications) {
			return nil, err
		}
		return list[0], nil
	})
}

// sendAnnouncement sends an announcement to all users if it is current, or its deletion.
func (h *Hub) sendAnnouncement(ctx context.Context, e store.AnnouncementChanged) error {
	n := &message{name: "announcement.delete", payload: []byte(e.ID.String())}
	if !e.Deleted {
		row, err := h.DB.Announcement(ctx, e.ID)
		if err != nil || !row.Current(h.Now()) {
			return errs.IgnoreNotFound(err)
		}
		payload, err := rest.AppendJSON(nil, h.Entities.Announcement(row))
		if err != nil {
			return err
		}
		n = &message{name: "announcement", payload: payload}
	}
	return h.sendToUsers(ctx, n)
}

// sendAnnouncementReaction sends the number of reactions to an announcement with an emoji to all users.
func (h *Hub) sendAnnouncementReaction(ctx context.Context, e store.AnnouncementReacted) error {
	count, err := h.Entities.AnnouncementReactionCount(ctx, e.ID, e.Emoji)
	if err != nil {
		return err
	}
	payload, err := rest.AppendJSON(nil, count)
	if err != nil {
		return err
	}
	return h.sendToUsers(ctx, &message{name: "announcement.reaction", payload: payload})
}

// sendToUsers sends a message to all users.
func (h *Hub) sendToUsers(ctx context.Context, n *message) error {
	viewers, err := h.byViewer(ctx, h.targets(topic{kind: announcementTopic}))
	for _, v := range viewers {
		n.send(v.targets)
	}
	return err
}

// sendFollow tells a follower about the state of a follow, unless the follower ended it.
func (h *Hub) sendFollow(ctx context.Context, e store.FollowChanged) error {
	state := "follow_accept"
	switch {
	case e.Ended && !e.Rejected:
		return nil
	case e.Ended:
		state = "follow_reject"
	case e.Follow.Pending:
		state = "follow_pending"
	}
	event := h.Settings.Load().API.Name + ":follow_relationships_update"
	return h.sendToOwner(ctx, ownedTopic(followTopic, e.Follow.FollowerID), event, func(*store.Account) (any, error) {
		return h.Entities.FollowUpdate(ctx, state, e.Follow)
	})
}

// sendToOwner sends an event to the account that owns the topic. render returns nil if there is nothing to send.
func (h *Hub) sendToOwner(ctx context.Context, f topic, event string, render func(*store.Account) (any, error)) error {
	viewers, err := h.byViewer(ctx, h.targets(f))
	if err != nil {
		return err
	}
	for _, v := range viewers {
		entity, err := render(v.account)
		if err != nil || entity == nil {
			return errs.IgnoreNotFound(err)
		}
		payload, err := rest.AppendJSON(nil, entity)
		if err != nil {
			return err
		}
		if len(payload) > maxEventBytes {
			continue
		}
		(&message{name: event, payload: payload}).send(v.targets)
	}
	return nil
}

// viewerTargets are the subscriptions of one viewer.
type viewerTargets struct {
	account *store.Account // nil: the anonymous
	targets []target
}

// byViewer groups targets by the account of their viewer, 0 for anonymous ones. It leaves out clients whose token is no longer
// valid.
func (h *Hub) byViewer(ctx context.Context, targets []target) (map[store.AccountID]*viewerTargets, error) {
	viewers := make(map[store.AccountID]*viewerTargets)
	for _, t := range targets {
		identity, ok, err := h.identity(ctx, t.client)
		if err != nil {
			return nil, err
		}
		var account *store.Account
		if identity.Token != nil && (!t.kind.isPublic() || h.viewerOf(identity) != 0) {
			account = identity.Account
		}
		var id store.AccountID
		if account != nil {
			id = account.ID
		}
		if !ok || id == 0 && !h.Settings.Load().Instance.Public {
			continue
		}
		if viewers[id] == nil {
			viewers[id] = &viewerTargets{account: account}
		}
		viewers[id].targets = append(viewers[id].targets, t)
	}
	return viewers, nil
}
