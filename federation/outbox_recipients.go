package federation

import (
	"context"
	"maps"
	"slices"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/store"
)

// Recipients of activities and their inboxes (federation 3.1).

const (
	maxInboxes    = 50_000 // of an activity for all known servers
	maxInterested = 1000   // accounts that interacted with a status, and servers that fetched it
)

// inboxesOf returns the own inboxes of remote accounts.
func (b *Outbox) inboxesOf(ctx context.Context, ids ...store.AccountID) ([]string, error) {
	recipients, err := b.db.RemoteRecipients(ctx, 0, ids)
	inboxes := make([]string, len(recipients))
	for i, to := range recipients {
		inboxes[i] = to.Inbox
	}
	return inboxes, err
}

// deliveryInboxes returns the shared inboxes of remote accounts, or their own if there is none.
func deliveryInboxes(recipients []*store.RemoteRecipient) []string {
	inboxes := make([]string, len(recipients))
	for i, b := range recipients {
		inboxes[i] = b.DeliveryInbox()
	}
	return inboxes
}

// remoteAudience returns the inboxes of a status or reblog, and how many remote accounts it addresses by name. Accounts with a block
// between them and the author get nothing.
func (b *Outbox) remoteAudience(ctx context.Context, st *store.Status) (inboxes []string, named int, err error) {
	if inboxes, named, err = b.namedInboxes(ctx, st); err != nil {
		return nil, 0, err
	}
	all, err := b.addFollowerInboxes(ctx, inboxes, st.AccountID, st.Visibility)
	return all, named, err
}

// namedInboxes returns the inboxes of the accounts that a status addresses by name or refers to, and how many accounts those are.
func (b *Outbox) namedInboxes(ctx context.Context, st *store.Status) (inboxes []string, named int, err error) {
	ids, err := b.addressedAccounts(ctx, st)
	if err != nil {
		return nil, 0, err
	}
	single := st.Visibility == store.Direct && len(ids) == 1
	related, err := b.relatedAuthors(ctx, st)
	if err != nil {
		return nil, 0, err
	}
	recipients, err := b.db.RemoteRecipients(ctx, st.AccountID, append(ids, related...))
	if err != nil {
		return nil, 0, err
	}
	inboxes = deliveryInboxes(recipients)
	if single && len(recipients) > 0 {
		inboxes = []string{recipients[0].Inbox} // some servers address a message by the inbox that gets it (federation 3.1)
	}
	return inboxes, len(recipients), nil
}

// explainedAudience returns the inboxes of remoteAudience in parts: of accounts that the status itself names or refers to, of all followers of
// its author, and of those that followed before it.
func (b *Outbox) explainedAudience(ctx context.Context, st *store.Status) (named, followers, early []string, err error) {
	if named, _, err = b.namedInboxes(ctx, st); err != nil {
		return nil, nil, nil, err
	}
	if followers, err = b.addFollowerInboxes(ctx, nil, st.AccountID, st.Visibility); err != nil || len(followers) == 0 {
		return named, nil, nil, err
	}
	early, err = b.db.FollowerInboxesBefore(ctx, st.AccountID, st.ID)
	return named, followers, early, err
}

// addressedAccounts returns the recipients of a status, without its author.
func (b *Outbox) addressedAccounts(ctx context.Context, st *store.Status) ([]store.AccountID, error) {
	recipients, err := b.db.Recipients(ctx, []store.StatusID{st.ID})
	var ids []store.AccountID
	for _, r := range recipients {
		if r.AccountID != st.AccountID { // the author is a recipient of direct statuses
			ids = append(ids, r.AccountID)
		}
	}
	return ids, err
}

// relatedAuthors returns the author of the reblogged status, and of the parent and the quoted status of a public or unlisted one.
func (b *Outbox) relatedAuthors(ctx context.Context, st *store.Status) ([]store.AccountID, error) {
	var ids []store.AccountID
	var related []store.StatusID
	if st.ReblogOfID != nil {
		related = append(related, *st.ReblogOfID)
	}
	if isPublicOrUnlisted(st.Visibility) {
		if st.InReplyToAccountID != nil {
			ids = append(ids, *st.InReplyToAccountID)
		}
		if st.QuoteOfID != nil {
			related = append(related, *st.QuoteOfID)
		}
	}
	if len(related) == 0 {
		return ids, nil
	}
	rows, err := b.db.Statuses(ctx, related)
	for _, o := range rows {
		ids = append(ids, o.AccountID)
	}
	return ids, err
}

// addFollowerInboxes adds the inboxes of the remote followers of an account, if the visibility includes followers.
func (b *Outbox) addFollowerInboxes(ctx context.Context, inboxes []string, id store.AccountID, v store.Visibility) ([]string, error) {
	switch v {
	case store.Public, store.Unlisted, store.Private:
	default:
		return inboxes, nil
	}
	followers, err := b.db.FollowerInboxes(ctx, id)
	return append(inboxes, followers...), err
}

// interestedInboxes returns the inboxes of accounts that interacted with a public or unlisted status, and of servers that fetched it. It
// returns none for narrower visibilities, because an account may have left the audience.
func (b *Outbox) interestedInboxes(ctx context.Context, st *store.Status) ([]string, error) {
	if !isPublicOrUnlisted(st.Visibility) {
		return nil, nil
	}
	related, err := b.db.RemoteInteractors(ctx, st.ID, maxInterested)
	if err != nil {
		return nil, err
	}
	recipients, err := b.db.RemoteRecipients(ctx, st.AccountID, related)
	if err != nil {
		return nil, err
	}
	fetchers, err := b.db.FetcherInboxes(ctx, st.ID, maxInterested)
	return append(deliveryInboxes(recipients), fetchers...), err
}

// splitByHost returns one copy of an activity per host for the members of a list; each copy addresses only the members on that host
// (federation 3.1). other are further inboxes, which get a copy without recipients.
func splitByHost(t *outgoing, members []*store.RemoteRecipient, other []string) []*outgoing {
	hosts := make(map[string][]*store.RemoteRecipient)
	for _, m := range members {
		hosts[m.Domain] = append(hosts[m.Domain], m)
		other = slices.DeleteFunc(other, func(inbox string) bool { return inbox == m.Inbox || inbox == m.SharedInbox })
	}
	var list []*outgoing
	for _, domain := range slices.Sorted(maps.Keys(hosts)) {
		onHost := hosts[domain]
		c := *t
		c.inboxes = deliveryInboxes(onHost)
		if len(onHost) == 1 {
			c.inboxes = []string{onHost[0].Inbox}
		}
		named := t.activity.Refs("to", remote.MaxAddressees)
		var cc []string
		for _, m := range onHost {
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
	if len(other) > 0 {
		rest := *t
		rest.inboxes = other
		list = append(list, &rest)
	}
	return list
}
