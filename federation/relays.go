package federation

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/store"
)

// Relays manages the subscriptions to relays.
type Relays struct {
	Settings   *config.Live
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

// isAccepted returns true if an account is a relay that has accepted our Follow.
func (rel *Relays) isAccepted(id store.AccountID) bool {
	ids := rel.accountIDs.Load()
	return ids != nil && (*ids)[id]
}

// loadRelays reads the subscribed relays.
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

// Relay is a relay as the admin API shows it.
type Relay struct {
	Actor        string `json:"actor"`         // the URL that staff gave
	FollowedBack bool   `json:"followed_back"` // accepted

	LastError        string     `json:"last_error"`        // of the deliveries to its host; "": the last one succeeded
	UnreachableSince *time.Time `json:"unreachable_since"` // of its host
}

func newRelay(r *store.Relay) *Relay { return &Relay{Actor: r.Address, FollowedBack: r.Accepted} }

const maxRelays = 100 // subscriptions

// List returns the relays that this server has subscribed to, in the order of subscription.
func (rel *Relays) List(ctx context.Context) ([]*Relay, error) {
	rows, err := rel.db.Relays(ctx)
	if err != nil {
		return nil, err
	}
	domains := make([]string, len(rows))
	for i, r := range rows {
		if u, err := url.Parse(r.Inbox); err == nil {
			domains[i] = u.Host
		}
	}
	hosts, err := rel.db.HostsByDomain(ctx, domains)
	list := make([]*Relay, 0, len(rows))
	for i, r := range rows {
		relay := newRelay(r)
		if h := hosts[domains[i]]; h != nil && h.Failures > 0 {
			relay.LastError, relay.UnreachableSince = h.LastError, timePointer(h.UnreachableSince)
		}
		list = append(list, relay)
	}
	return list, err
}

// Follow subscribes to a relay by the URL of its actor, or of its inbox if it is Mastodon-style and ends in /inbox (federation 6). It sends
// the Follow again if the relay has not accepted. The moderation log names by, nil for the command line.
func (rel *Relays) Follow(ctx context.Context, by *store.Account, address string) (*Relay, error) {
	if !rel.Settings.Load().Federation.Enabled {
		return nil, errs.BadRequest("Federation is off (federation.enabled)")
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
				return errs.BadRequest("At most %d relays are allowed", maxRelays)
			}
			row.ID = tx.NewRelayID()
			row.FollowURI = rel.documents.activityURI(int64(row.ID))
			if err := tx.SaveRelay(ctx, row); err != nil {
				return err
			}
		}
		object, err := relayTarget(ctx, tx, row)
		if err != nil {
			return err
		}
		if err := logRelay(ctx, tx, by, "relay_follow", "followed relay", row); err != nil {
			return err
		}
		return rel.outbox.enqueueTo(ctx, tx, self, relayFollow(row.FollowURI, self, object), row.Inbox, int64(row.ID))
	})
	if err != nil {
		return nil, err
	}
	rel.log.Info("relay follow sent", "relay", row.Address)
	return newRelay(row), rel.loadRelays(ctx)
}

// logRelay adds an entry to the moderation log.
func logRelay(ctx context.Context, tx *store.Tx, by *store.Account, action, what string, r *store.Relay) error {
	return tx.AddLogEntry(ctx, store.NewLogEntry(by, action, what+": "+r.Address, map[string]any{"target": r.Address}))
}

// relayFollow returns the Follow that subscribes to a relay.
func relayFollow(id string, self *store.Account, object string) activity.Object {
	return activity.Object{"id": id, "type": "Follow", "actor": self.URI, "object": object, "to": []any{object}, "cc": []any{}}
}

// Unfollow ends a subscription. It fails if the relay is unreachable, unless force is set. The moderation log names by, nil for the command
// line.
func (rel *Relays) Unfollow(ctx context.Context, by *store.Account, address string, force bool) error {
	row, err := rel.findRelay(ctx, address)
	if err == nil && row == nil {
		err = errs.NotFound("No relay has the URL %s", address)
	}
	if err != nil {
		return err
	}
	self, err := rel.local.serverActor(ctx, relayActorPath)
	if err != nil {
		return err
	}
	if err := rel.checkRelayReachable(ctx, row); err != nil && !force {
		return errs.BadRequest("The relay is unreachable (%v); use force to leave it anyway", err)
	}
	err = rel.db.Update(ctx, func(tx *store.Tx) error {
		object, err := relayTarget(ctx, tx, row)
		if err != nil {
			return err
		}
		undo := activity.Object{
			"id": rel.documents.activityURI(int64(tx.NewActivityID())), "type": "Undo", "actor": self.URI, "to": []any{object}, "cc": []any{},
			"object": map[string]any{"id": row.FollowURI, "type": "Follow", "actor": self.URI, "object": object},
		}
		if err := rel.outbox.enqueueTo(ctx, tx, self, undo, row.Inbox, int64(row.ID)); err != nil {
			return err
		}
		if row.AccountID != nil {
			if err := removeFollow(ctx, tx, *row.AccountID, self.ID); err != nil {
				return err
			}
		}
		if err := logRelay(ctx, tx, by, "relay_unfollow", "unfollowed relay", row); err != nil {
			return err
		}
		return tx.DropRelay(ctx, row.ID)
	})
	if err != nil {
		return err
	}
	rel.log.Info("relay unfollowed", "relay", row.Address)
	return rel.loadRelays(ctx)
}

// findRelay returns the relay of a URL that staff gave, or of an actor id; nil if there is none.
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

// resolveRelay returns a new relay for a URL.
func (rel *Relays) resolveRelay(ctx context.Context, address string) (*store.Relay, error) {
	switch _, err := rel.fetcher.FetchableHost(address); {
	case errors.Is(err, remote.ErrLocal):
		return nil, errs.BadRequest("The URL is of this server")
	case errors.Is(err, activity.ErrMalformed):
		return nil, invalidRelay(address)
	case err != nil:
		return nil, errs.BadRequest("The server is blocked: %v", err)
	}
	u, err := url.Parse(address)
	if err != nil || u.Fragment != "" || len(address) > 2048 {
		return nil, invalidRelay(address)
	}
	if strings.HasSuffix(u.Path, "/inbox") {
		return &store.Relay{Address: address, Inbox: address}, nil
	}
	account, err := rel.fetchRelayActor(ctx, address)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, errs.BadRequest("The actor of the relay could not be fetched: %v", err)
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
	return errs.BadRequest("%q is not the URL of a relay; give one like https://relay.example.org/actor", address)
}

// checkRelayReachable returns an error if the actor of a relay cannot be fetched. A Mastodon-style relay that has not answered has no known
// actor.
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

// accountReader is a *store.DB or a *store.Tx.
type accountReader interface {
	Account(context.Context, store.AccountID) (*store.Account, error)
}

// fetchRelayActor fetches the actor of a relay without the failure cache, because staff may have fixed the cause.
func (rel *Relays) fetchRelayActor(ctx context.Context, uri string) (*store.Account, error) {
	rel.fetcher.ForgetFailure(activity.WithoutFragment(uri))
	return rel.actors.FetchActor(ctx, uri)
}

// relayTarget returns the object of the Follow for a relay.
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

// enqueueTo queues an activity of a server actor for an inbox with high priority, in place of queued ones about the same subject.
func (b *Outbox) enqueueTo(ctx context.Context, tx *store.Tx, self *store.Account, o activity.Object, inbox string, subject int64) error {
	body, err := b.complete(o).Bytes()
	if err != nil {
		return err
	}
	return tx.EnqueueDeliveries(ctx, &store.OutgoingActivity{
		Activity: store.Activity{AccountID: self.ID, Body: string(body)}, Priority: store.HighPriority, Subject: subject,
		Replaces: store.ReplaceAll, Targets: b.destinations([]string{inbox}),
	})
}

// removeFollow removes a follow, if there is one.
func removeFollow(ctx context.Context, tx *store.Tx, follower, target store.AccountID) error {
	f, err := tx.FollowOf(ctx, follower, target)
	if f == nil || err != nil {
		return err
	}
	return tx.RemoveFollow(ctx, f)
}
