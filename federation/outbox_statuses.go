package federation

import (
	"context"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/store"
)

// What people here post, change, delete and boost.

func (b *Outbox) buildStatusCreated(ctx context.Context, _ *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	st, err := b.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err
	}
	a, err := b.documents.createActivity(ctx, st)
	if err != nil {
		return nil, err
	}
	t := &outgoing{activity: a, statusID: &st.ID, subject: int64(st.ID), priority: store.StatusPriority}
	if st.Visibility == store.ListOnly {
		members, err := b.listMembers(ctx, st)
		if err != nil {
			return nil, err
		}
		t.priority = store.HighPriority
		return splitByHost(markListMessage(b, t, st), members, nil), nil
	}
	named := 0
	if t.inboxes, named, err = b.remoteAudience(ctx, st); err != nil {
		return nil, err
	}
	if named > 0 {
		t.priority = store.HighPriority
	}
	return b.addRelays(ctx, d, st, t)
}

// listMembers returns the members of a list, at the time when something was posted to it, who live elsewhere.
func (b *Outbox) listMembers(ctx context.Context, st *store.Status) ([]*store.RemoteRecipient, error) {
	people, err := b.addressedAccounts(ctx, st)
	if err != nil {
		return nil, err
	}
	return b.db.RemoteRecipients(ctx, st.AccountID, people)
}

// markListMessage says in an activity and its object that they are for the members of a list, whom they do not name (federation 4.1).
func markListMessage(b *Outbox, t *outgoing, st *store.Status) *outgoing {
	if st.ListID == nil {
		return t
	}
	list := b.BaseURL + "/lists/" + st.ListID.String()
	t.activity["listMessage"] = list
	if o := t.activity.Object("object"); o != nil {
		o["listMessage"] = list
	}
	return t
}

// buildStatusUpdated tells how a post is now, whatever has changed by then: its text, or the counts of its poll (federation 4.4).
func (b *Outbox) buildStatusUpdated(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	st, err := b.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err
	}
	o, err := b.documents.objectDocument(ctx, st)
	if err != nil {
		return nil, err
	}
	a := b.newActivity(d, "Update", actor, jsonMap(o), o.Refs("to", remote.MaxAddressees), o.Refs("cc", remote.MaxAddressees))
	for _, key := range []string{"context", "conversation", "directMessage"} {
		if o[key] != nil {
			a[key] = o[key]
		}
	}
	t := &outgoing{activity: a, statusID: &st.ID, subject: int64(st.ID), replaces: store.ReplaceChanges, priority: store.UpdatePriority}
	if st.Visibility == store.ListOnly {
		members, err := b.listMembers(ctx, st)
		if err != nil {
			return nil, err
		}
		return splitByHost(markListMessage(b, t, st), members, nil), nil
	}
	if t.inboxes, _, err = b.remoteAudience(ctx, st); err != nil {
		return nil, err
	}
	others, err := b.interestedInboxes(ctx, st)
	if err != nil {
		return nil, err
	}
	t.inboxes = append(t.inboxes, others...)
	return b.addRelays(ctx, d, st, t)
}

// buildStatusDeleted tells everybody who may have a post that it is gone (federation 4.5).
func (b *Outbox) buildStatusDeleted(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	boxes, err := b.db.RemoteRecipients(ctx, 0, d.Recipients)
	if err != nil {
		return nil, err
	}
	named := []string{}
	if d.Visibility != store.ListOnly { // whose members do not know one another
		people, err := b.db.Accounts(ctx, d.Recipients)
		if err != nil {
			return nil, err
		}
		for _, a := range people {
			if a.ID != actor.ID {
				named = append(named, a.URI)
			}
		}
	}
	to, cc := b.addressing(actor, d.Visibility, named)
	t := &outgoing{
		activity: b.newActivity(d, "Delete", actor, jsonMap{"id": d.URI, "type": "Tombstone"}, to, cc),
		subject:  int64(d.StatusID), replaces: store.ReplaceAll, priority: store.LowPriority,
	}
	if d.Visibility == store.ListOnly {
		return splitByHost(t, boxes, d.Inboxes), nil
	}
	inboxes := deliveryInboxes(boxes)
	if d.Visibility == store.Direct && len(named) == 1 && len(boxes) == 1 {
		inboxes = []string{boxes[0].Inbox} // where the post has gone: it comes after that
	}
	if t.inboxes, err = b.addFollowerInboxes(ctx, append(inboxes, d.Inboxes...), actor.ID, d.Visibility); err != nil {
		return nil, err
	}
	if d.Visibility == store.Public {
		litepub, raw, err := b.relayInboxes(ctx)
		if err != nil {
			return nil, err
		}
		t.inboxes = append(append(t.inboxes, litepub...), raw...)
	}
	return []*outgoing{t}, nil
}

// addressing returns whom what is of a visibility is for, beside others the named (federation 4.1).
func (b *Outbox) addressing(actor *store.Account, v store.Visibility, named []string) (to, cc []string) {
	switch followers := b.documents.followersURI(actor); v {
	case store.Public:
		return append([]string{activity.Public}, named...), []string{followers}
	case store.Unlisted:
		return append([]string{followers}, named...), []string{activity.Public}
	case store.Private:
		return append([]string{followers}, named...), nil
	}
	return named, nil
}

func (b *Outbox) buildReblogCreated(ctx context.Context, _ *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	boost, err := b.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err
	}
	a, err := b.documents.announceActivity(ctx, boost)
	if err != nil {
		return nil, err
	}
	t := &outgoing{activity: a, statusID: &boost.ID, subject: int64(boost.ID), priority: store.UpdatePriority}
	t.inboxes, _, err = b.remoteAudience(ctx, boost)
	return []*outgoing{t}, err
}

func (b *Outbox) buildReblogDeleted(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	original, err := b.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err // who has heard of the boost hears that the original is gone
	}
	boxes, err := b.db.RemoteRecipients(ctx, 0, []store.AccountID{original.AccountID})
	if err != nil {
		return nil, err
	}
	to, cc := b.addressing(actor, d.Visibility, nil)
	for _, author := range boxes {
		cc = append(cc, author.URI)
	}
	announce := activity.Object{
		"id": d.URI, "type": "Announce", "actor": b.documents.actorURI(actor), "object": original.URI, "to": stringValues(to), "cc": stringValues(cc),
	}
	t := &outgoing{activity: b.newUndo(d, actor, announce), subject: d.RowID, replaces: store.ReplaceAll, priority: store.UpdatePriority}
	t.inboxes, err = b.addFollowerInboxes(ctx, deliveryInboxes(boxes), actor.ID, d.Visibility)
	return []*outgoing{t}, err
}

// buildPinCreated tells that a post is shown on top of its author's profile (federation 4.14).
func (b *Outbox) buildPinCreated(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	return b.buildPin(ctx, actor, d, "Add", true)
}

func (b *Outbox) buildPinDeleted(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	return b.buildPin(ctx, actor, d, "Remove", false)
}

func (b *Outbox) buildPin(ctx context.Context, actor *store.Account, d store.OutboxEntry, verb string, is bool) ([]*outgoing, error) {
	st, err := b.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err
	}
	if pinned, err := b.db.Pinned(ctx, st.ID); pinned != is || err != nil {
		return nil, err // it has changed since
	}
	to, cc := b.addressing(actor, st.Visibility, nil)
	a := b.newActivity(d, verb, actor, st.URI, to, cc)
	a["target"] = actor.URI + "/collections/featured"
	t := &outgoing{activity: a, statusID: &st.ID, priority: store.UpdatePriority}
	t.subject, t.replaces = subjectHash("pin", actor.ID, store.AccountID(st.ID)), store.ReplaceAll
	t.inboxes, err = b.addFollowerInboxes(ctx, nil, actor.ID, st.Visibility)
	return []*outgoing{t}, err
}
