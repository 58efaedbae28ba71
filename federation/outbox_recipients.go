package federation

import (
	"context"
	"maps"
	"slices"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/store"
)

// Where audiences of activities take them in (federation 3.1).

const (
	maxInboxes    = 50_000 // of all servers that are known
	maxInterested = 1000   // of each kind of those who had to do with a post
)

// inboxesOf returns where accounts elsewhere take in what is for one of them alone.
func (b *Outbox) inboxesOf(ctx context.Context, ids ...store.AccountID) ([]string, error) {
	boxes, err := b.db.RemoteRecipients(ctx, 0, ids)
	inboxes := make([]string, len(boxes))
	for i, to := range boxes {
		inboxes[i] = to.Inbox
	}
	return inboxes, err
}

// sharedInboxesOf returns where the servers of accounts elsewhere take in what is for many.
func (b *Outbox) sharedInboxesOf(ctx context.Context, ids []store.AccountID) ([]string, error) {
	boxes, err := b.db.RemoteRecipients(ctx, 0, ids)
	return deliveryInboxes(boxes), err
}

func deliveryInboxes(boxes []*store.RemoteRecipient) []string {
	inboxes := make([]string, len(boxes))
	for i, b := range boxes {
		inboxes[i] = b.DeliveryInbox()
	}
	return inboxes
}

// remoteAudience returns where a post, or a boost, has to go, and how many of the people that it names live there. Who blocks its
// author, or is blocked, does not get it.
func (b *Outbox) remoteAudience(ctx context.Context, st *store.Status) (inboxes []string, named int, err error) {
	people, err := b.addressedAccounts(ctx, st)
	if err != nil {
		return nil, 0, err
	}
	single := st.Visibility == store.Direct && len(people) == 1
	about, err := b.relatedAuthors(ctx, st)
	if err != nil {
		return nil, 0, err
	}
	boxes, err := b.db.RemoteRecipients(ctx, st.AccountID, append(people, about...))
	if err != nil {
		return nil, 0, err
	}
	inboxes = deliveryInboxes(boxes)
	if single && len(boxes) > 0 {
		inboxes = []string{boxes[0].Inbox} // some servers take whose inbox it is for whom it is for (federation 3.1)
	}
	all, err := b.addFollowerInboxes(ctx, inboxes, st.AccountID, st.Visibility)
	return all, len(boxes), err
}

// addressedAccounts returns to whom a post is addressed beside its visibility's own audience.
func (b *Outbox) addressedAccounts(ctx context.Context, st *store.Status) ([]store.AccountID, error) {
	recipients, err := b.db.Recipients(ctx, []store.StatusID{st.ID})
	var people []store.AccountID
	for _, r := range recipients {
		if r.AccountID != st.AccountID { // a direct post names its author too
			people = append(people, r.AccountID)
		}
	}
	return people, err
}

// relatedAuthors returns whose post a boost boosts, and whose posts an open one answers or quotes.
func (b *Outbox) relatedAuthors(ctx context.Context, st *store.Status) ([]store.AccountID, error) {
	var people []store.AccountID
	var about []store.StatusID
	if st.ReblogOfID != nil {
		about = append(about, *st.ReblogOfID)
	}
	if isPublicOrUnlisted(st.Visibility) {
		if st.InReplyToAccountID != nil {
			people = append(people, *st.InReplyToAccountID)
		}
		if st.QuoteOfID != nil {
			about = append(about, *st.QuoteOfID)
		}
	}
	if len(about) == 0 {
		return people, nil
	}
	rows, err := b.db.Statuses(ctx, about)
	for _, o := range rows {
		people = append(people, o.AccountID)
	}
	return people, err
}

// addFollowerInboxes adds where the followers of an account take in what is of a visibility that is for them.
func (b *Outbox) addFollowerInboxes(ctx context.Context, inboxes []string, id store.AccountID, v store.Visibility) ([]string, error) {
	switch v {
	case store.Public, store.Unlisted, store.Private:
	default:
		return inboxes, nil
	}
	followers, err := b.db.FollowerInboxes(ctx, id)
	return append(inboxes, followers...), err
}

// interestedInboxes returns where those elsewhere are who have boosted, favourited, answered … an open post, or asked for it. With one that is for
// few some of them may have had to do while they were among those.
func (b *Outbox) interestedInboxes(ctx context.Context, st *store.Status) ([]string, error) {
	if !isPublicOrUnlisted(st.Visibility) {
		return nil, nil
	}
	about, err := b.db.RemoteInteractors(ctx, st.ID, maxInterested)
	if err != nil {
		return nil, err
	}
	boxes, err := b.db.RemoteRecipients(ctx, st.AccountID, about)
	if err != nil {
		return nil, err
	}
	readers, err := b.db.FetcherInboxes(ctx, st.ID, maxInterested)
	return append(deliveryInboxes(boxes), readers...), err
}

// splitByHost returns what goes to the members of a list: the servers get a copy each, in which nobody is named but the members there
// (federation 3.1). members are those who live elsewhere, others inboxes of those who are to hear of it besides.
func splitByHost(t *outgoing, members []*store.RemoteRecipient, others []string) []*outgoing {
	hosts := make(map[string][]*store.RemoteRecipient)
	for _, m := range members {
		hosts[m.Domain] = append(hosts[m.Domain], m)
		others = slices.DeleteFunc(others, func(inbox string) bool { return inbox == m.Inbox || inbox == m.SharedInbox })
	}
	var list []*outgoing
	for _, domain := range slices.Sorted(maps.Keys(hosts)) {
		there := hosts[domain]
		c := *t
		c.inboxes = deliveryInboxes(there)
		if len(there) == 1 {
			c.inboxes = []string{there[0].Inbox}
		}
		named := t.activity.Refs("to", remote.MaxAddressees)
		var cc []string
		for _, m := range there {
			if !slices.Contains(named, m.URI) {
				cc = append(cc, m.URI)
			}
		}
		c.activity = activity.Object(maps.Clone(t.activity))
		c.activity["cc"] = stringValues(cc)
		if o := t.activity.Object("object"); o != nil && o["cc"] != nil {
			o = maps.Clone(o)
			o["cc"] = stringValues(cc)
			c.activity["object"] = jsonMap(o)
		}
		list = append(list, &c)
	}
	if len(others) > 0 {
		rest := *t
		rest.inboxes = others
		list = append(list, &rest)
	}
	return list
}
