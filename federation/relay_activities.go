package federation

import (
	"context"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/store"
)

// maxRelayFollowers is the maximum number of followers of the relay actor.
const maxRelayFollowers = 1000

// handleRelayAnswer handles a relay's Accept or Reject of our Follow, and returns false if the activity is none. The Follow must have
// been sent to the actor that answers it.
func (r *Receiver) handleRelayAnswer(ctx context.Context, in *inbox.Activity) (bool, error) {
	row, err := r.answeredRelay(ctx, in)
	if row == nil || err != nil {
		return false, err
	}
	if !r.isRelay(row, in.Actor) {
		return true, remote.Refuse("%s answers a Follow that was sent to %s", in.Actor.URI, row.Address)
	}
	err = r.db.Update(ctx, func(tx *store.Tx) error {
		now, err := tx.RelayByFollow(ctx, row.FollowURI)
		if now == nil || err != nil {
			return err // unsubscribed meanwhile
		}
		now.Accepted = in.Type == "Accept"
		if now.AccountID == nil {
			if other, err := tx.RelayOf(ctx, in.Actor.ID); other != nil || err != nil {
				return err // the relay has another row
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

// isRelay returns whether an account is a relay: by its account, or before its first answer by its host.
func (r *Receiver) isRelay(relay *store.Relay, a *store.Account) bool {
	if relay.AccountID != nil {
		return *relay.AccountID == a.ID
	}
	return activity.SameHost(a.URI, relay.Inbox, r.Settings.AllowLoopback)
}

// answeredRelay returns the relay whose Follow is answered, nil if there is none. Some relays return the Follow without its id, or with
// another (federation 7.1). Then the sender is the relay, if the Follow is by our relay actor, or if it is given by an unknown id and
// the relay has not accepted yet.
func (r *Receiver) answeredRelay(ctx context.Context, in *inbox.Activity) (*store.Relay, error) {
	ref := in.Ref("object")
	if row, err := r.db.RelayByFollow(ctx, ref); row != nil || err != nil {
		return row, err
	}
	follow := in.Object.Object("object")
	if follow != nil {
		if !follow.Is("Follow") || follow.Ref("actor") != r.Settings.BaseURL+relayActorPath {
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
	if len(answered) != 1 { // ambiguous: several relays on one host
		return nil, nil
	}
	return answered[0], nil
}

// handleRelayFollow handles a Follow of the relay actor, or of the public collection, which servers send to relays of the Mastodon
// style. It returns false if the activity is none. Relays that we subscribe to may follow, and with allow_relay other servers, but no
// persons (federation 6.1, 6.4).
func (r *Receiver) handleRelayFollow(ctx context.Context, in *inbox.Activity) (bool, error) {
	object := in.Ref("object")
	if object != r.Settings.BaseURL+relayActorPath && object != activity.Public {
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
		} else if allowed, err := r.mayFollowRelay(ctx, tx, in.Actor, self); err != nil {
			return err
		} else if allowed {
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

// mayFollowRelay returns whether an account may follow the relay actor.
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
	if !r.Settings.Load().Federation.AllowRelay || from.ActorType != "Application" && from.ActorType != "Service" {
		return false, nil
	}
	now, err := tx.Account(ctx, self.ID)
	return err == nil && now.FollowersCount < maxRelayFollowers, err
}

// handleRelayUnfollow ends a follow of the relay actor. It returns false if the Undo is about something else: the id ref, with the
// embedded copy inner if there is one.
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
