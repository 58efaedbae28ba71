package federation

import (
	"context"

	"svc/internal/activity"
	"svc/store"
)

// What people here post, change, delete and boost.

func (s *Service) buildStatusCreated(ctx context.Context, _ *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	st, err := s.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err
	}
	a, err := s.createActivity(ctx, st)
	if err != nil {
		return nil, err
	}
	t := &outgoing{activity: a, statusID: &st.ID, subject: int64(st.ID), priority: store.StatusPriority}
	if st.Visibility == store.ListOnly {
		members, err := s.listMembers(ctx, st)
		if err != nil {
			return nil, err
		}
		t.priority = store.HighPriority
		return splitByHost(markListMessage(s, t, st), members, nil), nil
	}
	named := 0
	if t.inboxes, named, err = s.remoteAudience(ctx, st); err != nil {
		return nil, err
	}
	if named > 0 {
		t.priority = store.HighPriority
	}
	return s.addRelays(ctx, d, st, t)
}

// listMembers returns the members of a list, at the time when something was posted to it, who live elsewhere.
func (s *Service) listMembers(ctx context.Context, st *store.Status) ([]*store.RemoteRecipient, error) {
	people, err := s.addressedAccounts(ctx, st)
	if err != nil {
		return nil, err
	}
	return s.db.RemoteRecipients(ctx, st.AccountID, people)
}

// markListMessage says in an activity and its object that they are for the members of a list, whom they do not name (federation 4.1).
func markListMessage(s *Service, t *outgoing, st *store.Status) *outgoing {
	if st.ListID == nil {
		return t
	}
	list := s.BaseURL + "/lists/" + st.ListID.String()
	t.activity["listMessage"] = list
	if o := t.activity.Object("object"); o != nil {
		o["listMessage"] = list
	}
	return t
}

// buildStatusUpdated tells how a post is now, whatever has changed by then: its text, or the counts of its poll (federation 4.4).
func (s *Service) buildStatusUpdated(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	st, err := s.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err
	}
	o, err := s.objectDocument(ctx, st)
	if err != nil {
		return nil, err
	}
	a := s.newActivity(d, "Update", actor, jsonMap(o), o.Refs("to", maxAddressees), o.Refs("cc", maxAddressees))
	for _, key := range []string{"context", "conversation", "directMessage"} {
		if o[key] != nil {
			a[key] = o[key]
		}
	}
	t := &outgoing{activity: a, statusID: &st.ID, subject: int64(st.ID), replaces: store.ReplaceChanges, priority: store.UpdatePriority}
	if st.Visibility == store.ListOnly {
		members, err := s.listMembers(ctx, st)
		if err != nil {
			return nil, err
		}
		return splitByHost(markListMessage(s, t, st), members, nil), nil
	}
	if t.inboxes, _, err = s.remoteAudience(ctx, st); err != nil {
		return nil, err
	}
	others, err := s.interestedInboxes(ctx, st)
	if err != nil {
		return nil, err
	}
	t.inboxes = append(t.inboxes, others...)
	return s.addRelays(ctx, d, st, t)
}

// buildStatusDeleted tells everybody who may have a post that it is gone (federation 4.5).
func (s *Service) buildStatusDeleted(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	boxes, err := s.db.RemoteRecipients(ctx, 0, d.Recipients)
	if err != nil {
		return nil, err
	}
	named := []string{}
	if d.Visibility != store.ListOnly { // whose members do not know one another
		people, err := s.db.Accounts(ctx, d.Recipients)
		if err != nil {
			return nil, err
		}
		for _, a := range people {
			if a.ID != actor.ID {
				named = append(named, a.URI)
			}
		}
	}
	to, cc := s.addressing(actor, d.Visibility, named)
	t := &outgoing{
		activity: s.newActivity(d, "Delete", actor, jsonMap{"id": d.URI, "type": "Tombstone"}, to, cc),
		subject:  int64(d.StatusID), replaces: store.ReplaceAll, priority: store.LowPriority,
	}
	if d.Visibility == store.ListOnly {
		return splitByHost(t, boxes, d.Inboxes), nil
	}
	inboxes := deliveryInboxes(boxes)
	if d.Visibility == store.Direct && len(named) == 1 && len(boxes) == 1 {
		inboxes = []string{boxes[0].Inbox} // where the post has gone: it comes after that
	}
	if t.inboxes, err = s.addFollowerInboxes(ctx, append(inboxes, d.Inboxes...), actor.ID, d.Visibility); err != nil {
		return nil, err
	}
	if d.Visibility == store.Public {
		litepub, raw, err := s.relayInboxes(ctx)
		if err != nil {
			return nil, err
		}
		t.inboxes = append(append(t.inboxes, litepub...), raw...)
	}
	return []*outgoing{t}, nil
}

// addressing returns whom what is of a visibility is for, beside others the named (federation 4.1).
func (s *Service) addressing(actor *store.Account, v store.Visibility, named []string) (to, cc []string) {
	switch followers := s.followersURI(actor); v {
	case store.Public:
		return append([]string{activity.Public}, named...), []string{followers}
	case store.Unlisted:
		return append([]string{followers}, named...), []string{activity.Public}
	case store.Private:
		return append([]string{followers}, named...), nil
	}
	return named, nil
}

func (s *Service) buildReblogCreated(ctx context.Context, _ *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	boost, err := s.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err
	}
	a, err := s.announceActivity(ctx, boost)
	if err != nil {
		return nil, err
	}
	t := &outgoing{activity: a, statusID: &boost.ID, subject: int64(boost.ID), priority: store.UpdatePriority}
	t.inboxes, _, err = s.remoteAudience(ctx, boost)
	return []*outgoing{t}, err
}

func (s *Service) buildReblogDeleted(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	original, err := s.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err // who has heard of the boost hears that the original is gone
	}
	boxes, err := s.db.RemoteRecipients(ctx, 0, []store.AccountID{original.AccountID})
	if err != nil {
		return nil, err
	}
	to, cc := s.addressing(actor, d.Visibility, nil)
	for _, author := range boxes {
		cc = append(cc, author.URI)
	}
	announce := activity.Object{
		"id": d.URI, "type": "Announce", "actor": s.actorURI(actor), "object": original.URI, "to": stringValues(to), "cc": stringValues(cc),
	}
	t := &outgoing{activity: s.newUndo(d, actor, announce), subject: d.RowID, replaces: store.ReplaceAll, priority: store.UpdatePriority}
	t.inboxes, err = s.addFollowerInboxes(ctx, deliveryInboxes(boxes), actor.ID, d.Visibility)
	return []*outgoing{t}, err
}

// buildPinCreated tells that a post is shown on top of its author's profile (federation 4.14).
func (s *Service) buildPinCreated(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	return s.buildPin(ctx, actor, d, "Add", true)
}

func (s *Service) buildPinDeleted(ctx context.Context, actor *store.Account, d store.OutboxEntry) ([]*outgoing, error) {
	return s.buildPin(ctx, actor, d, "Remove", false)
}

func (s *Service) buildPin(ctx context.Context, actor *store.Account, d store.OutboxEntry, verb string, is bool) ([]*outgoing, error) {
	st, err := s.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err
	}
	if pinned, err := s.db.Pinned(ctx, st.ID); pinned != is || err != nil {
		return nil, err // it has changed since
	}
	to, cc := s.addressing(actor, st.Visibility, nil)
	a := s.newActivity(d, verb, actor, st.URI, to, cc)
	a["target"] = actor.URI + "/collections/featured"
	t := &outgoing{activity: a, statusID: &st.ID, priority: store.UpdatePriority}
	t.subject, t.replaces = subjectHash("pin", actor.ID, store.AccountID(st.ID)), store.ReplaceAll
	t.inboxes, err = s.addFollowerInboxes(ctx, nil, actor.ID, st.Visibility)
	return []*outgoing{t}, err
}
