package federation

import (
	"context"

	"svc/store"
)

// Profiles, moves and deletions of local accounts (federation 4.13, 4.18), and chat messages (4.3).

func (b *Outbox) buildProfileUpdated(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	o, err := b.documents.actorDocument(ctx, actor)
	if err != nil {
		return nil, err
	}
	inboxes, err := b.db.FollowerInboxes(ctx, actor.ID)
	if err != nil {
		return nil, err
	}
	to, cc := b.addressing(actor, store.Public, nil)
	return []*outgoing{{
		activity: b.newActivity(e, "Update", actor, jsonMap(o), to, cc),
		subject:  int64(actor.ID), replaces: store.ReplaceChanges, priority: store.LowPriority, inboxes: inboxes,
	}}, nil
}

// buildKeyRotated sends the Update with a new key to one inbox of each known server, before other queued deliveries. It is signed with the
// key before (remote.Signers.SignerFor). Later Updates do not replace it, because its delivery tells which servers know the key.
func (b *Outbox) buildKeyRotated(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	o, err := b.documents.actorDocument(ctx, actor)
	if err != nil {
		return nil, err
	}
	inboxes, err := b.db.FollowerInboxes(ctx, actor.ID)
	if err != nil {
		return nil, err
	}
	known, err := b.db.KnownInboxes(ctx, maxInboxes)
	if err != nil {
		return nil, err
	}
	to, cc := b.addressing(actor, store.Public, nil)
	if b.documents.IsServerActor(actor) {
		cc = nil
	}
	return []*outgoing{{
		activity: b.newActivity(e, "Update", actor, jsonMap(o), to, cc),
		subject:  int64(actor.ID), priority: store.HighPriority, inboxes: b.oneInboxPerHost(append(inboxes, known...)),
	}}, nil
}

// oneInboxPerHost returns the first inbox of each host.
func (b *Outbox) oneInboxPerHost(inboxes []string) []string {
	var first []string
	seen := make(map[string]bool)
	for _, inbox := range inboxes {
		if host, err := b.fetcher.FetchableHost(inbox); err == nil && !seen[host] {
			seen[host] = true
			first = append(first, inbox)
		}
	}
	return first
}

// buildAccountMoved sends an Update before the Move, so that followers find the new account in the profile.
func (b *Outbox) buildAccountMoved(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	if actor.MovedToID == nil || *actor.MovedToID != e.TargetID {
		return nil, nil // changed meanwhile
	}
	target, err := b.db.Account(ctx, e.TargetID)
	if err != nil {
		return nil, err
	}
	list, err := b.buildProfileUpdated(ctx, actor, e)
	if err != nil {
		return nil, err
	}
	update := list[0]
	update.activity["id"] = update.activity.ID() + "/profile"
	a := b.newActivity(e, "Move", actor, actor.URI, []string{b.documents.followersURI(actor)}, nil)
	a["target"] = target.URI
	return append(list, &outgoing{activity: a, subject: update.subject, priority: store.StatusPriority, inboxes: update.inboxes}), nil
}

// buildAccountDeleted sends the Delete to all known servers, because any of them may have something of the account.
func (b *Outbox) buildAccountDeleted(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	known, err := b.db.KnownInboxes(ctx, maxInboxes)
	if err != nil {
		return nil, err
	}
	to, cc := b.addressing(actor, store.Public, nil)
	return []*outgoing{{
		activity: b.newActivity(e, "Delete", actor, actor.URI, to, cc),
		subject:  int64(actor.ID), replaces: store.ReplaceAll, priority: store.LowPriority, inboxes: append(e.Inboxes, known...),
	}}, nil
}

func (b *Outbox) buildChatMessageCreated(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	m, err := b.db.ChatMessage(ctx, store.MessageID(e.RowID))
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
		"id": m.URI, "type": "ChatMessage", "attributedTo": actor.URI, "actor": actor.URI, "to": stringValues(to),
		"content": m.Content, "published": m.CreatedAt.String(), "tag": append([]any{}, b.documents.emojiTags(m.Content)...),
	}
	if len(media) > 0 {
		o["attachment"] = b.documents.attachment(media[0], media[0].Description)
	}
	a := b.newActivity(e, "Create", actor, o, to, nil)
	a["id"], a["published"] = b.documents.activityURI(int64(m.ID)), o["published"]
	return b.toTarget(ctx, e, a, int64(m.ID), store.ReplaceNothing)
}

func (b *Outbox) buildChatMessageDeleted(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	target, err := b.db.Account(ctx, e.TargetID)
	if err != nil {
		return nil, err
	}
	a := b.newActivity(e, "Delete", actor, jsonMap{"id": e.URI, "type": "Tombstone"}, []string{target.URI}, nil)
	return b.toTarget(ctx, e, a, e.RowID, store.ReplaceAll)
}
