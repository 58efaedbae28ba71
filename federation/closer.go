package federation

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// Closer sends the Deletes of all local accounts to all known servers, when the server is closed permanently. Each inbox has a position in the list
// of accounts, and further Deletes are queued for it when its host has answered the ones before. So the queue of deliveries stays short, however
// many accounts and servers there are, and a server that does not answer delays no other one.
type Closer struct {
	documents *Documents
	outbox    *Outbox
	db        *store.DB
	log       *slog.Logger

	// Only the job reads and writes these.
	pause    time.Duration // after the last slice
	loggedAt time.Time     // when the progress was logged
}

const (
	closureWindow    = 10 // Deletes that are queued for an inbox at a time; 1 if its host is unreachable
	closureInboxes   = enqueueBatch / closureWindow
	closurePause     = time.Second      // after a slice of the job that queued Deletes; twice as long after each one that did not
	closureIdlePause = time.Minute      // at most
	closureLogPause  = 10 * time.Minute // between two log lines with the progress
	signOutBatch     = 100
)

// run is a slice of the job that closes the server. It enqueues the next one, until all servers have answered all Deletes, or did not answer for too long.
func (c *Closer) run(ctx context.Context, _ store.CloseServer) error {
	closure, err := c.db.ServerClosure(ctx)
	if err != nil || closure == nil || closure.FinishedAt != nil {
		return err
	}
	if err := c.signOut(ctx); err != nil {
		return err
	}
	if closure.ListedAt == nil {
		if err := c.listInboxes(ctx); err != nil {
			return err
		}
		if closure, err = c.db.ServerClosure(ctx); err != nil || closure == nil { // nil: it was canceled
			return err
		}
	}
	queued, err := c.queueDeletes(ctx, closure)
	if err != nil {
		return err
	}
	progress, err := c.db.ClosureProgress(ctx, closure)
	if err != nil {
		return err
	}
	if progress.Waiting == 0 {
		return c.finish(ctx, progress)
	}
	now := c.db.Now()
	if now.Sub(c.loggedAt) >= closureLogPause {
		c.loggedAt = now
		c.LogProgress(progress)
	}
	if c.pause = min(2*c.pause, closureIdlePause); queued {
		c.pause = closurePause
	}
	next := now.Add(max(c.pause, closurePause))
	return c.db.Update(ctx, func(tx *store.Tx) error { return tx.ContinueServerClosure(ctx, next) })
}

// LogProgress logs how far the closure is.
func (c *Closer) LogProgress(p *store.ClosureProgress) {
	c.log.Info("this server is being closed permanently: other servers are sent the Deletes of its accounts", "servers", p.Servers, "reached", p.Reached,
		"unreachable", p.Unreached, "waiting", p.Waiting)
}

// LogState logs what a server that starts has to do for its closure; nothing if it is not being closed.
func (c *Closer) LogState(ctx context.Context) error {
	closure, err := c.db.ServerClosure(ctx)
	if err != nil || closure == nil {
		return err
	}
	progress, err := c.db.ClosureProgress(ctx, closure)
	if err != nil {
		return err
	}
	if closure.FinishedAt != nil {
		c.logEnd(progress)
		return nil
	}
	c.LogProgress(progress)
	return nil
}

func (c *Closer) logEnd(p *store.ClosureProgress) {
	c.log.Info("this server is closed: all servers that could be reached have the Deletes of its accounts; you may stop it now", "reached", p.Reached, "unreachable", p.Unreached)
}

func (c *Closer) finish(ctx context.Context, p *store.ClosureProgress) error {
	if err := c.db.Update(ctx, func(tx *store.Tx) error { return tx.FinishServerClosure(ctx) }); err != nil {
		return err
	}
	c.logEnd(p)
	return nil
}

// signOut revokes all tokens of users, which also ends their streams.
func (c *Closer) signOut(ctx context.Context) error {
	for {
		signedIn, err := c.db.SignedInAccounts(ctx, signOutBatch)
		if err != nil || len(signedIn) == 0 {
			return err
		}
		err = c.db.Update(ctx, func(tx *store.Tx) error {
			for _, id := range signedIn {
				if err := tx.RevokeTokens(ctx, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// listInboxes stores the inboxes that the Deletes go to: those to which the Delete of one account goes, and those of relays.
func (c *Closer) listInboxes(ctx context.Context) error {
	inboxes, err := c.db.KnownInboxes(ctx, maxInboxes)
	if err != nil {
		return err
	}
	relays, err := c.db.Relays(ctx)
	if err != nil {
		return err
	}
	for _, r := range relays {
		inboxes = append(inboxes, r.Inbox)
	}
	for some := range slices.Chunk(c.outbox.destinations(inboxes), enqueueBatch) {
		err := c.whileClosing(ctx, func(tx *store.Tx) error { return tx.AddClosureInboxes(ctx, some) })
		if err != nil {
			return err
		}
	}
	return c.whileClosing(ctx, func(tx *store.Tx) error { return tx.ListClosure(ctx) })
}

// whileClosing is Update, and does nothing if the closure was canceled.
func (c *Closer) whileClosing(ctx context.Context, fn func(*store.Tx) error) error {
	return c.db.Update(ctx, func(tx *store.Tx) error {
		closure, err := tx.ServerClosure(ctx)
		if err != nil || closure == nil {
			return err
		}
		return fn(tx)
	})
}

// queueDeletes queues the next Deletes for all inboxes whose hosts have answered the ones before. It returns whether there were any.
func (c *Closer) queueDeletes(ctx context.Context, closure *store.ServerClosure) (queued bool, err error) {
	for after := (store.DeliveryTarget{}); ; {
		if err := ctx.Err(); err != nil {
			return queued, err
		}
		ready, err := c.db.ReadyInboxes(ctx, after, closure.LastPosition, closureInboxes)
		if err != nil || len(ready) == 0 {
			return queued, err
		}
		last := ready[len(ready)-1]
		after, queued = store.DeliveryTarget{Domain: last.Domain, Inbox: last.Inbox}, true
		for _, g := range groupInboxes(ready) {
			if err := c.queueFor(ctx, g, closure.LastPosition); err != nil {
				return queued, err
			}
		}
	}
}

// inboxGroup are inboxes that get the same Deletes next.
type inboxGroup struct {
	position store.AccountID // of the last one before
	window   int
	to       []store.DeliveryTarget
}

// groupInboxes groups inboxes by what they get next. Of an unreachable host only one inbox gets anything, because the queue takes one delivery for it.
func groupInboxes(ready []*store.ReadyInbox) (groups []*inboxGroup) {
	probed := make(map[string]bool)
	for _, r := range ready {
		window := closureWindow
		if r.Unreachable {
			if probed[r.Domain] {
				continue
			}
			probed[r.Domain], window = true, 1
		}
		i := slices.IndexFunc(groups, func(g *inboxGroup) bool { return g.position == r.Position && g.window == window })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &inboxGroup{position: r.Position, window: window})
		}
		groups[i].to = append(groups[i].to, store.DeliveryTarget{Domain: r.Domain, Inbox: r.Inbox})
	}
	return groups
}

// queueFor queues the next Deletes for a group of inboxes, and their new position, in one transaction.
func (c *Closer) queueFor(ctx context.Context, g *inboxGroup, last store.AccountID) error {
	accounts, err := c.db.ClosureAccounts(ctx, g.position, last, g.window)
	if err != nil {
		return err
	}
	var deletes []*store.OutgoingActivity
	for _, a := range accounts {
		body, err := c.deleteOf(a).Bytes()
		if err != nil {
			return err
		}
		deletes = append(deletes, &store.OutgoingActivity{
			Activity: store.Activity{AccountID: a.ID, Body: string(body)},
			Priority: store.LowPriority, Subject: int64(a.ID), Replaces: store.ReplaceAll, Targets: g.to,
		})
	}
	position := last // the accounts after these were deleted meanwhile
	if len(accounts) == g.window {
		position = accounts[len(accounts)-1].ID
	}
	return c.db.Update(ctx, func(tx *store.Tx) error {
		for _, d := range deletes {
			if err := tx.EnqueueDeliveries(ctx, d); err != nil {
				return err
			}
		}
		return tx.AdvanceClosure(ctx, g.to, position, len(deletes))
	})
}

// deleteOf returns the Delete of an account. Its id, which is made of that of the account, is the same for all inboxes, so that a server with several
// processes it once.
func (c *Closer) deleteOf(a *store.Account) activity.Object {
	to, cc := c.outbox.addressing(a, store.Public, nil)
	if c.documents.IsServerActor(a) {
		cc = nil
	}
	return c.outbox.complete(activity.Object{
		"id": c.documents.activityURI(int64(a.ID)), "type": "Delete", "actor": a.URI, "object": a.URI, "to": stringValues(to), "cc": stringValues(cc),
	})
}

// ServeClosed answers a request for the actor at a path while the server is closed: with its Tombstone. It needs no signature, so that a server that
// verifies the Delete learns that the actor is gone.
func (s *DocumentServer) ServeClosed(ctx context.Context, path, nickname string) (*Response, error) {
	closure, err := s.db.ServerClosure(ctx)
	if err != nil {
		return nil, err
	}
	var a *store.Account
	switch {
	case path == remote.FetchActorPath || path == relayActorPath:
		a, err = s.local.serverActor(ctx, path)
	default:
		if id := store.ParseID[store.AccountID](nickname); id != 0 {
			a, err = s.db.Account(ctx, id)
		} else {
			a, err = s.db.AccountByName(ctx, nickname, "")
		}
	}
	if err != nil {
		return nil, err
	}
	if !a.Local() || closure == nil {
		return nil, errs.ErrRecordNotFound
	}
	at := closure.BeganAt
	if a.DeletedAt != nil {
		at = *a.DeletedAt
	}
	return s.respondTombstone(a.URI, a.ActorType, at)
}
