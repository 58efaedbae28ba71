package federation

import (
	"context"

	"svc/store"
)

// Deliveries to relays: public statuses only (federation 6.2).

// relayInboxes returns the inboxes of accepted relays: of LitePub relays and followers of the relay actor, which get an Announce, and of
// Mastodon-style relays, which get the activity.
func (b *Outbox) relayInboxes(ctx context.Context) (litepub, raw []string, err error) {
	rows, err := b.db.Relays(ctx)
	if err != nil {
		return nil, nil, err
	}
	self, err := b.local.serverActor(ctx, relayActorPath)
	if err != nil {
		return nil, nil, err
	}
	if b.Settings.Load().Federation.AllowRelay {
		if litepub, err = b.db.FollowerInboxes(ctx, self.ID); err != nil {
			return nil, nil, err
		}
	}
	for _, r := range rows {
		switch {
		case !r.Accepted:
		case !r.Litepub:
			raw = append(raw, r.Inbox)
		case !b.Settings.Load().Federation.AllowRelay || r.AccountID == nil:
			litepub = append(litepub, r.Inbox)
		default:
			follows, err := b.db.Follows(ctx, *r.AccountID, self.ID)
			if err != nil {
				return nil, nil, err
			}
			if !follows {
				litepub = append(litepub, r.Inbox)
			}
		}
	}
	return litepub, raw, nil
}

// addRelays adds what relays get of a new or edited public status: the activity itself, or an Announce by the relay actor of a new one.
func (b *Outbox) addRelays(ctx context.Context, e store.OutboxEntry, st *store.Status, t *outgoing) ([]*outgoing, error) {
	list := []*outgoing{t}
	if st.Visibility != store.Public {
		return list, nil
	}
	litepub, raw, err := b.relayInboxes(ctx)
	if err != nil {
		return nil, err
	}
	t.inboxes = append(t.inboxes, raw...)
	if e.Type != store.StatusCreated || len(litepub) == 0 {
		return list, nil
	}
	relay, err := b.local.serverActor(ctx, relayActorPath)
	if err != nil {
		return nil, err
	}
	announce := b.newActivity(e, "Announce", relay, st.URI, []string{b.documents.followersURI(relay)}, nil)
	return append(list, &outgoing{
		activity: announce, signer: relay.ID, statusID: &st.ID, subject: int64(st.ID), priority: store.StatusPriority, inboxes: litepub,
	}), nil
}
