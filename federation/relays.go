package federation

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// Relays manages the subscriptions to relays.
type Relays struct {
	disabled   bool
	documents  *Documents
	outbox     *Outbox
	actors     *remote.Actors
	fetcher    *remote.Fetcher
	local      *LocalObjects
	db         *store.DB
	log        *slog.Logger
	accountIDs atomic.Pointer[map[store.AccountID]bool] // of relays that have accepted
	subscribed atomic.Bool                              // to at least one relay, accepted or not
}

// isAccepted tells whether an account is a relay that we have subscribed to and that has accepted.
func (rel *Relays) isAccepted(id store.AccountID) bool {
	ids := rel.accountIDs.Load()
	return ids != nil && (*ids)[id]
}

// hasRelays tells whether activities may come by a relay, of actors that are not known, or from one whose actor is not known yet.
func (rel *Relays) hasRelays() bool { return rel.subscribed.Load() }

// loadRelays looks anew whose deliveries are taken.
func (rel *Relays) loadRelays(ctx context.Context) error {
	rows, err := rel.db.Relays(ctx)
	if err != nil {
		return err
	}
	ids := make(map[store.AccountID]bool)
	for _, r := range rows {
		if r.Accepted && r.AccountID != nil {
			ids[*r.AccountID] = true
		}
	}
	rel.accountIDs.Store(&ids)
	rel.subscribed.Store(len(rows) > 0)
	return nil
}

// Relay is a relay as the staff see it.
type Relay struct {
	Actor        string `json:"actor"`         // its address, as it was given
	FollowedBack bool   `json:"followed_back"` // it has accepted the subscription
}

func newRelay(r *store.Relay) *Relay { return &Relay{Actor: r.Address, FollowedBack: r.Accepted} }

// maxRelays is how many relays can be subscribed to.
const maxRelays = 100

// List lists the relays that this server has subscribed to, or asked to, in the order in which that was done.
func (rel *Relays) List(ctx context.Context) ([]*Relay, error) {
	rows, err := rel.db.Relays(ctx)
	list := make([]*Relay, 0, len(rows))
	for _, r := range rows {
		list = append(list, newRelay(r))
	}
	return list, err
}

// Follow subscribes to a relay: by the address of its actor or, if it is of the Mastodon style, of its inbox, which ends in
// /inbox (federation 6). One that has been asked before and has not accepted is asked again.
func (rel *Relays) Follow(ctx context.Context, address string) (*Relay, error) {
	if rel.disabled {
		return nil, errs.BadRequest("This server does not talk with others (federation.enabled)")
	}
	row, err := rel.findRelay(ctx, address)
	if err != nil {
		return nil, err
	}
	if row == nil {
		if row, err = rel.resolveRelay(ctx, address); err != nil {
			return nil, err
		}
	}
	self, err := rel.local.serverActor(ctx, relayActorPath)
	if err != nil {
		return nil, err
	}
	follow := row.FollowURI
	err = rel.db.Update(ctx, func(tx *store.Tx) error {
		if before, err := tx.RelayByAddress(ctx, row.Address); err != nil || before != nil && before.Accepted {
			return err
		} else if before != nil {
			row = before
		} else {
			all, err := tx.Relays(ctx)
			if err != nil {
				return err
			}
			if len(all) >= maxRelays {
				return errs.BadRequest("There can be no more than %d relays", maxRelays)
			}
			row.ID = tx.NewRelayID()
			row.FollowURI = rel.documents.activityURI(int64(row.ID))
			follow = row.FollowURI
			if err := tx.SaveRelay(ctx, row); err != nil {
				return err
			}
		}
		object, err := relayTarget(ctx, tx, row)
		if err != nil {
			return err
		}
		return rel.enqueueForRelay(ctx, tx, self, row, relayFollow(follow, self, object))
	})
	if err != nil {
		return nil, err
	}
	rel.log.Info("relay asked", "relay", row.Address)
	return newRelay(row), rel.loadRelays(ctx)
}

// relayFollow is the Follow by which a relay is subscribed to.
func relayFollow(id string, self *store.Account, object string) activity.Object {
	return activity.Object{"id": id, "type": "Follow", "actor": self.URI, "object": object, "to": []any{object}, "cc": []any{}}
}

// Unfollow ends a subscription and tells the relay. That fails if the relay cannot be reached; with force it is told if it can be.
func (rel *Relays) Unfollow(ctx context.Context, address string, force bool) error {
	row, err := rel.findRelay(ctx, address)
	if err == nil && row == nil {
		err = errs.NotFound("There is no relay %s", address)
	}
	if err != nil {
		return err
	}
	self, err := rel.local.serverActor(ctx, relayActorPath)
	if err != nil {
		return err
	}
	if err := rel.checkRelayReachable(ctx, row); err != nil && !force {
		return errs.BadRequest("The relay cannot be reached (%v): to leave it nonetheless, use force", err)
	}
	err = rel.db.Update(ctx, func(tx *store.Tx) error {
		object, err := relayTarget(ctx, tx, row)
		if err != nil {
			return err
		}
		if err := rel.enqueueForRelay(ctx, tx, self, row, rel.undoRelayFollow(tx, self, row, object)); err != nil {
			return err
		}
		if row.AccountID != nil {
			if err := removeFollow(ctx, tx, *row.AccountID, self.ID); err != nil {
				return err
			}
		}
		return tx.DropRelay(ctx, row.ID)
	})
	if err != nil {
		return err
	}
	rel.log.Info("relay left", "relay", row.Address)
	return rel.loadRelays(ctx)
}

func (rel *Relays) undoRelayFollow(tx *store.Tx, self *store.Account, r *store.Relay, object string) activity.Object {
	return activity.Object{
		"id": rel.documents.activityURI(int64(tx.NewActivityID())), "type": "Undo", "actor": self.URI, "to": []any{object}, "cc": []any{},
		"object": map[string]any{"id": r.FollowURI, "type": "Follow", "actor": self.URI, "object": object},
	}
}

// findRelay returns the relay of an address: the one that the staff gave, or its actor's. nil if there is none.
func (rel *Relays) findRelay(ctx context.Context, address string) (*store.Relay, error) {
	row, err := rel.db.RelayByAddress(ctx, address)
	if row != nil || err != nil {
		return row, err
	}
	account, err := rel.db.AccountByURI(ctx, address)
	if errs.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return rel.db.RelayOf(ctx, account.ID)
}

// resolveRelay finds out how to subscribe to a relay that is new.
func (rel *Relays) resolveRelay(ctx context.Context, address string) (*store.Relay, error) {
	switch _, err := rel.fetcher.FetchableHost(address); {
	case errors.Is(err, remote.ErrLocal):
		return nil, errs.BadRequest("That is this server itself")
	case errors.Is(err, activity.ErrMalformed):
		return nil, invalidRelay(address)
	case err != nil:
		return nil, errs.BadRequest("There are to be no dealings with that server: %v", err)
	}
	u, err := url.Parse(address)
	if err != nil || u.Fragment != "" || len(address) > 2048 {
		return nil, invalidRelay(address)
	}
	if strings.HasSuffix(u.Path, "/inbox") {
		return &store.Relay{Address: address, Inbox: address}, nil
	}
	account, err := rel.fetchRelayActor(ctx, address)
	if err != nil {
		return nil, relayFetchError(ctx, err)
	}
	known, err := rel.db.RelayOf(ctx, account.ID)
	if known != nil || err != nil {
		return known, err
	}
	actor, err := rel.db.Actor(ctx, account.ID)
	if err != nil {
		return nil, err
	}
	return &store.Relay{Address: address, Inbox: actor.Inbox, AccountID: &account.ID, Litepub: true}, nil
}

func invalidRelay(address string) error {
	return errs.BadRequest("%q is no address of a relay, as https://relay.example.org/actor is", address)
}

// relayFetchError is what the staff is told of an actor that could not be had.
func relayFetchError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errs.BadRequest("The actor of the relay could not be read: %v", err)
}

// checkRelayReachable tells why a relay cannot be reached. Of one in the Mastodon style that has not answered yet there is nothing to ask.
func (rel *Relays) checkRelayReachable(ctx context.Context, r *store.Relay) error {
	if r.AccountID == nil {
		return nil
	}
	account, err := rel.db.Account(ctx, *r.AccountID)
	if err != nil {
		return err
	}
	_, err = rel.fetchRelayActor(ctx, account.URI)
	return err
}

// accountReader are what is known of accounts, in a transaction or outside of one.
type accountReader interface {
	Account(context.Context, store.AccountID) (*store.Account, error)
}

// fetchRelayActor asks for the actor of a relay, whether or not it could be had a moment ago: the staff may have seen to that.
func (rel *Relays) fetchRelayActor(ctx context.Context, uri string) (*store.Account, error) {
	rel.fetcher.ForgetFailure(activity.WithoutFragment(uri))
	return rel.actors.FetchActor(ctx, uri)
}

// relayTarget returns what a relay is asked to let us follow.
func relayTarget(ctx context.Context, known accountReader, r *store.Relay) (string, error) {
	if !r.Litepub || r.AccountID == nil {
		return activity.Public, nil
	}
	account, err := known.Account(ctx, *r.AccountID)
	if err != nil {
		return "", err
	}
	return account.URI, nil
}

// enqueueForRelay queues an activity of our relay actor for a relay. What it was told before and has not heard yet, it need not hear.
func (rel *Relays) enqueueForRelay(ctx context.Context, tx *store.Tx, self *store.Account, r *store.Relay, o activity.Object) error {
	return rel.outbox.enqueueTo(ctx, tx, self, o, r.Inbox, int64(r.ID))
}

// enqueueTo queues an activity of an actor of this server for an inbox, ahead of what goes to many, and in place of what waits about the
// same subject.
func (b *Outbox) enqueueTo(ctx context.Context, tx *store.Tx, self *store.Account, o activity.Object, inbox string, subject int64) error {
	body, err := b.encodeActivity(o)
	if err != nil {
		return err
	}
	return tx.EnqueueDeliveries(ctx, &store.OutgoingActivity{
		Activity: store.Activity{AccountID: self.ID, Body: string(body)}, Priority: store.HighPriority, Subject: subject,
		Replaces: store.ReplaceAll, Targets: b.destinations([]string{inbox}),
	})
}

// removeFollow ends a follow, if there is one.
func removeFollow(ctx context.Context, tx *store.Tx, follower, target store.AccountID) error {
	f, err := tx.FollowOf(ctx, follower, target)
	if f == nil || err != nil {
		return err
	}
	return tx.RemoveFollow(ctx, f)
}
