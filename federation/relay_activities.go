package federation

import (
	"context"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/store"
)

// maxRelayFollowers is how many others can follow this server's own relay actor.
const maxRelayFollowers = 1000

// handleRelayAnswer does what a relay's Accept or Reject of our Follow asks for. It tells whether that is what it is. Only a Follow that
// was sent is answered, and only by who got it.
func (r *Receiver) handleRelayAnswer(ctx context.Context, in *inbox.Activity) (bool, error) {
	row, err := r.answeredRelay(ctx, in)
	if row == nil || err != nil {
		return false, err
	}
	if !r.isRelay(row, in.Actor) {
		return true, remote.Refuse("%s answers a Follow that %s got", in.Actor.URI, row.Address)
	}
	err = r.db.Update(ctx, func(tx *store.Tx) error {
		now, err := tx.RelayByFollow(ctx, row.FollowURI)
		if now == nil || err != nil {
			return err // we have left since
		}
		now.Accepted = in.Type == "Accept"
		if now.AccountID == nil {
			if other, err := tx.RelayOf(ctx, in.Actor.ID); other != nil || err != nil {
				return err // it is subscribed to under another address, too
			}
			now.AccountID = &in.Actor.ID
		}
		return tx.SaveRelay(ctx, now)
	})
	if err != nil {
		return true, err
	}
	r.log.Info("relay answered", "relay", row.Address, "accepted", in.Type == "Accept")
	return true, r.relays.loadRelays(ctx)
}

// isRelay tells whether an account is a relay: the one whose account is known, or, as long as it has not answered, any of its host.
func (r *Receiver) isRelay(relay *store.Relay, a *store.Account) bool {
	if relay.AccountID != nil {
		return *relay.AccountID == a.ID
	}
	return activity.SameHost(a.URI, relay.Inbox, r.AllowLoopback)
}

// answeredRelay returns the relay whose Follow is answered, nil if it is none of ours. Some relays give the Follow back without its id, or
// with one of their own making (federation 7.1): then it is the relay that answers, if that Follow is by our relay actor; or if it is
// only named, by an id that is not ours, and the relay has not accepted yet.
func (r *Receiver) answeredRelay(ctx context.Context, in *inbox.Activity) (*store.Relay, error) {
	ref := in.Ref("object")
	if row, err := r.db.RelayByFollow(ctx, ref); row != nil || err != nil {
		return row, err
	}
	follow := in.Object.Object("object")
	if follow != nil {
		if !follow.Is("Follow") || follow.Ref("actor") != r.BaseURL+relayActorPath {
			return nil, nil
		}
	} else if ref == "" || r.local.isLocalURI(ref) {
		return nil, nil
	}
	rows, err := r.db.Relays(ctx)
	if err != nil {
		return nil, err
	}
	var answered []*store.Relay
	for _, relay := range rows {
		if r.isRelay(relay, in.Actor) && (follow != nil || !relay.Accepted) {
			answered = append(answered, relay)
		}
	}
	if len(answered) != 1 { // several of one host may be meant
		return nil, nil
	}
	return answered[0], nil
}

// handleRelayFollow answers a Follow of this server's own relay actor, or of the public collection, as servers of the Mastodon style send it
// to relays. It tells whether it is one. Relays that we have subscribed to may follow, and with allow_relay other servers, but no
// people (federation 6.1, 6.4).
func (r *Receiver) handleRelayFollow(ctx context.Context, in *inbox.Activity) (bool, error) {
	object := in.Ref("object")
	if object != r.BaseURL+relayActorPath && object != activity.Public {
		return false, nil
	}
	self, err := r.local.serverActor(ctx, relayActorPath)
	if err != nil {
		return true, err
	}
	inbox, err := r.db.Actor(ctx, in.Actor.ID)
	if err != nil {
		return true, err
	}
	return true, r.db.Update(ctx, func(tx *store.Tx) error {
		answer := "Reject"
		f, err := tx.FollowOf(ctx, in.Actor.ID, self.ID)
		if err != nil {
			return err
		}
		if f != nil {
			answer = "Accept"
		} else if welcome, err := r.mayFollowRelay(ctx, tx, in.Actor, self); err != nil {
			return err
		} else if welcome {
			answer = "Accept"
			f = &store.Follow{FollowerID: in.Actor.ID, TargetID: self.ID, ShowReblogs: true, URI: &in.URI}
			if err := tx.AddFollow(ctx, f); err != nil {
				return err
			}
		}
		return r.outbox.enqueueTo(ctx, tx, self, activity.Object{
			"id": r.documents.activityURI(int64(tx.NewActivityID())), "type": answer, "actor": self.URI, "to": []any{in.Actor.URI}, "cc": []any{},
			"object": map[string]any{"id": in.URI, "type": "Follow", "actor": in.Actor.URI, "object": object},
		}, inbox.Inbox, subjectHash("answer", self.ID, in.Actor.ID))
	})
}

// mayFollowRelay tells whether an account may follow this server's own relay actor.
func (r *Receiver) mayFollowRelay(ctx context.Context, tx *store.Tx, from, self *store.Account) (bool, error) {
	known, err := tx.Relays(ctx)
	if err != nil {
		return false, err
	}
	for _, relay := range known {
		if r.isRelay(relay, from) {
			return true, nil
		}
	}
	if !r.AllowRelay || from.ActorType != "Application" && from.ActorType != "Service" {
		return false, nil
	}
	now, err := tx.Account(ctx, self.ID)
	return err == nil && now.FollowersCount < maxRelayFollowers, err
}

// handleRelayUnfollow ends a follow of this server's own relay actor. It tells whether that is what an Undo is about: of the id ref, with the
// embedded copy inner, if it has one.
func (r *Receiver) handleRelayUnfollow(ctx context.Context, in *inbox.Activity, ref string, inner activity.Object) (bool, error) {
	self, err := r.local.serverActor(ctx, relayActorPath)
	if err != nil {
		return false, err
	}
	f, err := r.db.FollowOf(ctx, in.Actor.ID, self.ID)
	if f == nil || err != nil {
		return false, err
	}
	object := inner.Ref("object")
	if (f.URI == nil || *f.URI != ref) && (!inner.Is("Follow") || object != self.URI && object != activity.Public) {
		return false, nil
	}
	return true, r.db.Update(ctx, func(tx *store.Tx) error { return removeFollow(ctx, tx, in.Actor.ID, self.ID) })
}
