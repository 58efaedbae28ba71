package federation

import (
	"context"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/store"
)

// Statuses: new, edited, deleted, reblogged and pinned ones.

func (b *Outbox) buildStatusCreated(ctx context.Context, _ *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	st, err := b.db.Status(ctx, e.StatusID)
	if err != nil {
		return nil, err
	}
	a, err := b.documents.statusDocument(ctx, st, b.documents.buildCreate)
	if err != nil {
		return nil, err
	}
	if st.PendingVisibility != nil {
		return b.buildPendingReply(ctx, st, a)
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
	return b.addRelays(ctx, e, st, t)
}

// listMembers returns the remote members of a list at the time when a status was posted to it.
func (b *Outbox) listMembers(ctx context.Context, st *store.Status) ([]*store.RemoteRecipient, error) {
	addressed, err := b.addressedAccounts(ctx, st)
	if err != nil {
		return nil, err
	}
	return b.db.RemoteRecipients(ctx, st.AccountID, addressed)
}

// markListMessage marks an activity and its object as addressed to the members of a list, which they do not name (federation 4.1).
func markListMessage(b *Outbox, t *outgoing, st *store.Status) *outgoing {
	if st.ListID == nil {
		return t
	}
	list := b.Settings.BaseURL + "/lists/" + st.ListID.String()
	t.activity["listMessage"] = list
	if o := t.activity.Object("object"); o != nil {
		o["listMessage"] = list
	}
	return t
}

// buildStatusUpdated sends the current state of a status: its text, or the counts of its poll (federation 4.4).
func (b *Outbox) buildStatusUpdated(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	st, err := b.db.Status(ctx, e.StatusID)
	if err != nil {
		return nil, err
	}
	o, err := b.documents.statusDocument(ctx, st, b.documents.buildObject)
	if err != nil {
		return nil, err
	}
	a := b.newActivity(e, "Update", actor, jsonMap(o), o.Refs("to", remote.MaxAddressees), o.Refs("cc", remote.MaxAddressees))
	for _, key := range []string{"context", "conversation", "directMessage", "audience"} {
		if o[key] != nil {
			a[key] = o[key]
		}
	}
	if st.PendingVisibility != nil {
		return b.buildPendingReply(ctx, st, a)
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
	return b.addRelays(ctx, e, st, t)
}

// buildStatusDeleted sends the Delete to all servers that may have the status (federation 4.5).
func (b *Outbox) buildStatusDeleted(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	recipients, err := b.db.RemoteRecipients(ctx, 0, e.Recipients)
	if err != nil {
		return nil, err
	}
	named := []string{}
	if e.Visibility != store.ListOnly { // its recipients may not learn of each other
		addressed, err := b.db.Accounts(ctx, e.Recipients)
		if err != nil {
			return nil, err
		}
		for _, a := range addressed {
			if a.ID != actor.ID {
				named = append(named, a.URI)
			}
		}
	}
	to, cc := b.addressing(actor, e.Visibility, named)
	t := &outgoing{
		activity: b.newActivity(e, "Delete", actor, jsonMap{"id": e.URI, "type": "Tombstone"}, to, cc),
		subject:  int64(e.StatusID), replaces: store.ReplaceAll, priority: store.LowPriority,
	}
	if e.Visibility == store.ListOnly {
		return splitByHost(t, recipients, e.Inboxes), nil
	}
	inboxes := deliveryInboxes(recipients)
	if e.Visibility == store.Direct && len(named) == 1 && len(recipients) == 1 {
		inboxes = []string{recipients[0].Inbox} // the inbox that got the Create, so that the order is kept
	}
	if t.inboxes, err = b.addFollowerInboxes(ctx, append(inboxes, e.Inboxes...), actor.ID, e.Visibility); err != nil {
		return nil, err
	}
	if e.Visibility == store.Public {
		litepub, raw, err := b.relayInboxes(ctx)
		if err != nil {
			return nil, err
		}
		t.inboxes = append(append(t.inboxes, litepub...), raw...)
	}
	return []*outgoing{t}, nil
}

// addressing returns to and cc of a visibility, with further recipients in to (federation 4.1).
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

func (b *Outbox) buildReblogCreated(ctx context.Context, _ *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	boost, err := b.db.Status(ctx, e.StatusID)
	if err != nil {
		return nil, err
	}
	a, err := b.documents.statusDocument(ctx, boost, b.documents.buildAnnounce)
	if err != nil {
		return nil, err
	}
	t := &outgoing{activity: a, statusID: &boost.ID, subject: int64(boost.ID), priority: store.UpdatePriority}
	t.inboxes, _, err = b.remoteAudience(ctx, boost)
	return []*outgoing{t}, err
}

func (b *Outbox) buildReblogDeleted(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	original, err := b.db.Status(ctx, e.StatusID)
	if err != nil {
		return nil, err // the Delete of the original is enough
	}
	recipients, err := b.db.RemoteRecipients(ctx, 0, []store.AccountID{original.AccountID})
	if err != nil {
		return nil, err
	}
	to, cc := b.addressing(actor, e.Visibility, nil)
	for _, author := range recipients {
		cc = append(cc, author.URI)
	}
	announce := activity.Object{
		"id": e.URI, "type": "Announce", "actor": actor.URI, "object": original.URI, "to": stringValues(to), "cc": stringValues(cc),
	}
	t := &outgoing{activity: b.newUndo(e, actor, announce), subject: e.RowID, replaces: store.ReplaceAll, priority: store.UpdatePriority}
	t.inboxes, err = b.addFollowerInboxes(ctx, deliveryInboxes(recipients), actor.ID, e.Visibility)
	return []*outgoing{t}, err
}

// buildPin sends the Add of a status to the featured collection, or its Remove (federation 4.14).
func (b *Outbox) buildPin(ctx context.Context, actor *store.Account, e store.OutboxEntry) ([]*outgoing, error) {
	activityType := "Remove"
	if e.Type == store.PinCreated {
		activityType = "Add"
	}
	st, err := b.db.Status(ctx, e.StatusID)
	if err != nil {
		return nil, err
	}
	if pinned, err := b.db.Pinned(ctx, st.ID); pinned != (e.Type == store.PinCreated) || err != nil {
		return nil, err // changed meanwhile
	}
	to, cc := b.addressing(actor, st.Visibility, nil)
	a := b.newActivity(e, activityType, actor, st.URI, to, cc)
	a["target"] = actor.URI + "/collections/featured"
	t := &outgoing{activity: a, statusID: &st.ID, priority: store.UpdatePriority}
	t.subject, t.replaces = subjectHash("pin", actor.ID, store.AccountID(st.ID)), store.ReplaceAll
	t.inboxes, err = b.addFollowerInboxes(ctx, nil, actor.ID, st.Visibility)
	return []*outgoing{t}, err
}
