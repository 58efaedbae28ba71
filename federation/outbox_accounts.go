package federation

import (
	"context"

	"svc/store"
)

// What becomes of accounts here (federation 4.13, 4.18), and the messages of their chats (4.3).

func (b *Outbox) buildProfileUpdated(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	t, err := b.profileUpdate(ctx, actor, d)
	if err != nil {
		return nil, err
	}
	return []*outgoing{t}, nil
}

func (b *Outbox) profileUpdate(ctx context.Context, actor *store.Account, d store.OutboxEntry) (*outgoing, error) {
	o, err := b.documents.actorDocument(ctx, actor)
	if err != nil {
		return nil, err
	}
	inboxes, err := b.db.FollowerInboxes(ctx, actor.ID)
	if err != nil {
		return nil, err
	}
	to, cc := b.addressing(actor, store.Public, nil)
	return &outgoing{
		activity: b.newActivity(d, "Update", actor, jsonMap(o), to, cc),
		subject:  int64(actor.ID), replaces: store.ReplaceChanges, priority: store.LowPriority, inboxes: inboxes,
	}, nil
}

// buildAccountMoved tells followers that an account has another one now. What that is has to be in its profile already when they look.
func (b *Outbox) buildAccountMoved(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	if actor.MovedToID == nil || *actor.MovedToID != d.TargetID {
		return nil, nil // it has changed since
	}
	target, err := b.db.Account(ctx, d.TargetID)
	if err != nil {
		return nil, err
	}
	update, err := b.profileUpdate(ctx, actor, d)
	if err != nil {
		return nil, err
	}
	update.activity["id"] = update.activity.ID() + "/profile"
	a := b.newActivity(d, "Move", actor, b.documents.actorURI(actor), []string{b.documents.followersURI(actor)}, nil)
	a["target"] = target.URI
	move := &outgoing{activity: a, subject: update.subject, priority: store.StatusPriority, inboxes: update.inboxes}
	return []*outgoing{update, move}, nil
}

// buildAccountDeleted tells all servers that an account is no more: somebody on each may have something of it.
func (b *Outbox) buildAccountDeleted(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	known, err := b.db.KnownInboxes(ctx, maxInboxes)
	if err != nil {
		return nil, err
	}
	to, cc := b.addressing(actor, store.Public, nil)
	return []*outgoing{{
		activity: b.newActivity(d, "Delete", actor, b.documents.actorURI(actor), to, cc),
		subject:  int64(actor.ID), replaces: store.ReplaceAll, priority: store.LowPriority, inboxes: append(d.Inboxes, known...),
	}}, nil
}

func (b *Outbox) buildChatMessageCreated(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	m, err := b.db.ChatMessage(ctx, store.MessageID(d.RowID))
	if err != nil {
		return nil, err
	}
	target, err := b.db.Account(ctx, m.RecipientID)
	if err != nil {
		return nil, err
	}
	media, err := b.db.MediaOfMessages(ctx, []store.MessageID{m.ID})
	if err != nil {
		return nil, err
	}
	to := []string{target.URI}
	o := jsonMap{
		"id": m.URI, "type": "ChatMessage", "attributedTo": b.documents.actorURI(actor), "actor": b.documents.actorURI(actor), "to": stringValues(to),
		"content": m.Content, "published": m.CreatedAt.String(), "tag": append([]any{}, b.documents.emojiTags(m.Content)...),
	}
	if len(media) > 0 {
		o["attachment"] = b.documents.attachment(media[0], media[0].Description)
	}
	a := b.newActivity(d, "Create", actor, o, to, nil)
	a["id"], a["published"] = b.documents.activityURI(int64(m.ID)), o["published"]
	return b.toTarget(ctx, d, a, int64(m.ID), store.ReplaceNothing)
}

// buildChatMessageDeleted takes a message back.
func (b *Outbox) buildChatMessageDeleted(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	target, err := b.db.Account(ctx, d.TargetID)
	if err != nil {
		return nil, err
	}
	a := b.newActivity(d, "Delete", actor, jsonMap{"id": d.URI, "type": "Tombstone"}, []string{target.URI}, nil)
	return b.toTarget(ctx, d, a, d.RowID, store.ReplaceAll)
}
