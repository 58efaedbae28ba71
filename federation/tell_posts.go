package federation

import (
	"context"

	"svc/internal/activity"
	"svc/store"
)

// What people here post, change, delete and boost.

func (s *Service) tellPosted(ctx context.Context, _ *store.Account, d store.Deed) ([]*telling, error) {
	st, err := s.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err
	}
	a, err := s.createActivity(ctx, st)
	if err != nil {
		return nil, err
	}
	t := &telling{activity: a, status: &st.ID, subject: int64(st.ID), priority: store.PostPriority}
	if st.Visibility == store.ListOnly {
		members, err := s.members(ctx, st)
		if err != nil {
			return nil, err
		}
		t.priority = store.FirstPriority
		return forMembers(listMessage(s, t, st), members, nil), nil
	}
	named := 0
	if t.inboxes, named, err = s.audienceElsewhere(ctx, st); err != nil {
		return nil, err
	}
	if named > 0 {
		t.priority = store.FirstPriority
	}
	return s.withRelays(ctx, d, st, t)
}

// members returns the members of a list, at the time when something was posted to it, who live elsewhere.
func (s *Service) members(ctx context.Context, st *store.Status) ([]*store.Mailbox, error) {
	people, err := s.named(ctx, st)
	if err != nil {
		return nil, err
	}
	return s.db.Mailboxes(ctx, st.AccountID, people)
}

// listMessage says in an activity and its object that they are for the members of a list, whom they do not name (federation 4.1).
func listMessage(s *Service, t *telling, st *store.Status) *telling {
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

// tellEdited tells how a post is now, whatever has changed by then: its text, or the counts of its poll (federation 4.4).
func (s *Service) tellEdited(ctx context.Context, actor *store.Account, d store.Deed) ([]*telling, error) {
	st, err := s.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err
	}
	o, err := s.objectDocument(ctx, st)
	if err != nil {
		return nil, err
	}
	a := s.newActivity(d, "Update", actor, part(o), o.Refs("to", maxAddressed), o.Refs("cc", maxAddressed))
	for _, key := range []string{"context", "conversation", "directMessage"} {
		if o[key] != nil {
			a[key] = o[key]
		}
	}
	t := &telling{activity: a, status: &st.ID, subject: int64(st.ID), replaces: store.ReplaceChanges, priority: store.ChangePriority}
	if st.Visibility == store.ListOnly {
		members, err := s.members(ctx, st)
		if err != nil {
			return nil, err
		}
		return forMembers(listMessage(s, t, st), members, nil), nil
	}
	if t.inboxes, _, err = s.audienceElsewhere(ctx, st); err != nil {
		return nil, err
	}
	others, err := s.interested(ctx, st)
	if err != nil {
		return nil, err
	}
	t.inboxes = append(t.inboxes, others...)
	return s.withRelays(ctx, d, st, t)
}

// tellDeleted tells everybody who may have a post that it is gone (federation 4.5).
func (s *Service) tellDeleted(ctx context.Context, actor *store.Account, d store.Deed) ([]*telling, error) {
	boxes, err := s.db.Mailboxes(ctx, 0, d.People)
	if err != nil {
		return nil, err
	}
	named := []string{}
	if d.Visibility != store.ListOnly { // whose members do not know one another
		people, err := s.db.Accounts(ctx, d.People)
		if err != nil {
			return nil, err
		}
		for _, a := range people {
			if a.ID != actor.ID {
				named = append(named, a.URI)
			}
		}
	}
	to, cc := s.addresses(actor, d.Visibility, named)
	t := &telling{
		activity: s.newActivity(d, "Delete", actor, part{"id": d.URI, "type": "Tombstone"}, to, cc),
		subject:  int64(d.StatusID), replaces: store.ReplaceAll, priority: store.LastPriority,
	}
	if d.Visibility == store.ListOnly {
		return forMembers(t, boxes, d.Inboxes), nil
	}
	inboxes := deliverTo(boxes)
	if d.Visibility == store.Direct && len(named) == 1 && len(boxes) == 1 {
		inboxes = []string{boxes[0].Inbox} // where the post has gone: it comes after that
	}
	if t.inboxes, err = s.withFollowers(ctx, append(inboxes, d.Inboxes...), actor.ID, d.Visibility); err != nil {
		return nil, err
	}
	if d.Visibility == store.Public {
		litepub, raw, err := s.relayInboxes(ctx)
		if err != nil {
			return nil, err
		}
		t.inboxes = append(append(t.inboxes, litepub...), raw...)
	}
	return []*telling{t}, nil
}

// addresses returns whom what is of a visibility is for, beside others the named (federation 4.1).
func (s *Service) addresses(actor *store.Account, v store.Visibility, named []string) (to, cc []string) {
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

func (s *Service) tellBoosted(ctx context.Context, _ *store.Account, d store.Deed) ([]*telling, error) {
	boost, err := s.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err
	}
	a, err := s.announceActivity(ctx, boost)
	if err != nil {
		return nil, err
	}
	t := &telling{activity: a, status: &boost.ID, subject: int64(boost.ID), priority: store.ChangePriority}
	t.inboxes, _, err = s.audienceElsewhere(ctx, boost)
	return []*telling{t}, err
}

func (s *Service) tellUnboosted(ctx context.Context, actor *store.Account, d store.Deed) ([]*telling, error) {
	original, err := s.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err // who has heard of the boost hears that the original is gone
	}
	boxes, err := s.db.Mailboxes(ctx, 0, []store.AccountID{original.AccountID})
	if err != nil {
		return nil, err
	}
	to, cc := s.addresses(actor, d.Visibility, nil)
	for _, author := range boxes {
		cc = append(cc, author.URI)
	}
	announce := activity.Object{
		"id": d.URI, "type": "Announce", "actor": s.actorURI(actor), "object": original.URI, "to": texts(to), "cc": texts(cc),
	}
	t := &telling{activity: s.undoing(d, actor, announce), subject: d.RowID, replaces: store.ReplaceAll, priority: store.ChangePriority}
	t.inboxes, err = s.withFollowers(ctx, deliverTo(boxes), actor.ID, d.Visibility)
	return []*telling{t}, err
}

// tellPinned tells that a post is shown on top of its author's profile (federation 4.14).
func (s *Service) tellPinned(ctx context.Context, actor *store.Account, d store.Deed) ([]*telling, error) {
	return s.tellPin(ctx, actor, d, "Add", true)
}

func (s *Service) tellUnpinned(ctx context.Context, actor *store.Account, d store.Deed) ([]*telling, error) {
	return s.tellPin(ctx, actor, d, "Remove", false)
}

func (s *Service) tellPin(ctx context.Context, actor *store.Account, d store.Deed, verb string, is bool) ([]*telling, error) {
	st, err := s.db.Status(ctx, d.StatusID)
	if err != nil {
		return nil, err
	}
	if pinned, err := s.db.Pinned(ctx, st.ID); pinned != is || err != nil {
		return nil, err // it has changed since
	}
	to, cc := s.addresses(actor, st.Visibility, nil)
	a := s.newActivity(d, verb, actor, st.URI, to, cc)
	a["target"] = actor.URI + "/collections/featured"
	t := &telling{activity: a, status: &st.ID, priority: store.ChangePriority}
	t.subject, t.replaces = subjectOf("pin", actor.ID, store.AccountID(st.ID)), store.ReplaceAll
	t.inboxes, err = s.withFollowers(ctx, nil, actor.ID, st.Visibility)
	return []*telling{t}, err
}
