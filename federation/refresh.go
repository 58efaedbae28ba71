package federation

import (
	"context"
	"slices"
	"sync"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// How often accounts elsewhere are looked at anew (federation 3.9).
const (
	refreshAge  = 24 * time.Hour   // of what is known of an account, when it does something
	countsAge   = 6 * time.Hour    // of its counters and pins, when somebody looks at it
	tryPause    = 10 * time.Minute // between two tries
	absentPause = 25 * time.Hour   // until who was not found is believed to be gone, if not found again
	refreshers  = 2                // that are asked for at a time
	maxLooked   = 10_000
)

// looked remembers which accounts were looked at a moment ago, so that not each of their deeds costs a query.
type looked struct {
	mu sync.Mutex
	at map[lookedKey]time.Time
}

type lookedKey struct {
	id     store.AccountID
	counts bool
	gone   bool // it was asked for because its key is gone
}

func newLooked() *looked { return &looked{at: make(map[lookedKey]time.Time)} }

// begin tells whether it is time to look at an account, and notes that it is done.
func (l *looked) begin(key lookedKey, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.at[key]; ok && now.Sub(at) < tryPause {
		return false
	}
	for other := range l.at {
		if len(l.at) < maxLooked {
			break
		}
		delete(l.at, other)
	}
	l.at[key] = now
	return true
}

// refreshIfOld queues a look at an account elsewhere that has done something, if what is known of it is old.
func (s *Service) refreshIfOld(ctx context.Context, a *store.Account) error {
	now := s.now()
	if a.Local() || !s.looked.begin(lookedKey{id: a.ID}, now) {
		return nil
	}
	actor, err := s.db.Actor(ctx, a.ID)
	if err != nil {
		return ignoreMissing(err)
	}
	age := refreshAge
	if actor.ConfirmedAt == 0 {
		age = time.Hour
	}
	if now.Sub(actor.FetchedAt.Time()) < age || now.Sub(actor.TriedAt.Time()) < tryPause {
		return nil
	}
	return s.db.Update(ctx, func(tx *store.Tx) error { return queueRefresh(ctx, tx, a.ID, now) })
}

func queueRefresh(ctx context.Context, tx *store.Tx, id store.AccountID, at time.Time) error {
	return tx.EnqueueOnce(ctx, at, "refresh:"+id.String(), store.RefreshActor{AccountID: id})
}

// refresh is the job that looks at an account anew. One that its server says is gone is deleted here, too; one that it does not find is if it
// does not find it the next day either (federation 3.8). Other failures are left to the next time that the account does something.
func (s *Service) refresh(ctx context.Context, w store.RefreshActor) error {
	account, err := s.db.Account(ctx, w.AccountID)
	if err != nil || account.Local() || account.DeletedAt != nil {
		return ignoreMissing(err)
	}
	s.absent.forget(account.URI)
	_, err = s.fetchActor(ctx, account.URI)
	switch status := statusOf(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case status == 410:
		return s.actorGone(ctx, account)
	case status == 404:
		return s.actorAbsent(ctx, account)
	}
	s.log.Debug("account could not be refreshed", "account", account.Acct(), "err", err)
	return s.noteTry(ctx, account.ID, func(actor *store.Actor) { actor.Failures = 0 })
}

// actorAbsent notes that an account was not found.
func (s *Service) actorAbsent(ctx context.Context, account *store.Account) error {
	sure := false
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		actor, err := tx.Actor(ctx, account.ID)
		if err != nil {
			return ignoreMissing(err)
		}
		now := s.now()
		if sure = actor.Failures > 0 && now.Sub(actor.TriedAt.Time()) >= refreshAge; sure {
			return nil
		}
		if actor.Failures == 0 {
			actor.Failures, actor.TriedAt = 1, store.At(now)
			if err := tx.SaveActor(ctx, actor); err != nil {
				return err
			}
		}
		return queueRefresh(ctx, tx, account.ID, actor.TriedAt.Time().Add(absentPause))
	})
	if err == nil && sure {
		return s.actorGone(ctx, account)
	}
	return err
}

func (s *Service) noteTry(ctx context.Context, id store.AccountID, change func(*store.Actor)) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		actor, err := tx.Actor(ctx, id)
		if err != nil {
			return ignoreMissing(err)
		}
		actor.TriedAt = store.At(s.now())
		change(actor)
		return tx.SaveActor(ctx, actor)
	})
}

// actorGone deletes an account elsewhere that is no more, with all that it has left here. Its id and its handle stay taken.
func (s *Service) actorGone(ctx context.Context, account *store.Account) error {
	if account.Local() {
		return errOwn
	}
	keys, err := s.db.ActorKeys(ctx, account.ID)
	if err != nil {
		return err
	}
	if err := s.social.DeleteAccount(ctx, account.ID); err != nil {
		return err
	}
	for _, k := range keys {
		s.keys.forget(k.URI)
	}
	return nil
}

// updateActor is what an actor says of itself anew. It has signed that, but its keys and its handle are those that its own document
// gives: if the new ones differ, that is read (federation 4.4).
func (s *Service) updateActor(ctx context.Context, in *incoming) error {
	uri := in.actor.URI
	if in.Ref("object") != uri {
		return refuse("it updates an actor that is not its own")
	}
	doc := in.Object.Object("object")
	if doc == nil || in.via != nil {
		return s.refreshSoon(ctx, in.actor)
	}
	p, err := s.readActor(doc)
	if err != nil {
		s.log.Debug("actor sent in an odd form", "actor", uri, "err", err)
		return s.refreshSoon(ctx, in.actor)
	}
	row, actor, err := s.knownActor(ctx, uri)
	if err != nil || row == nil || actor == nil || row.DeletedAt != nil {
		return err
	}
	known, err := s.db.ActorKeys(ctx, row.ID)
	if err != nil {
		return err
	}
	if !activity.SameHost(actor.Inbox, p.actor.Inbox, s.Trial) {
		return refuse("its inbox is of another host")
	}
	if err := s.reviewPerson(ctx, p, row.Domain); err != nil {
		return err
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.Account(ctx, row.ID)
		if err != nil || row.DeletedAt != nil {
			return ignoreMissing(err)
		}
		p.actor.FetchedAt, p.actor.TriedAt, p.actor.ConfirmedAt = actor.FetchedAt, actor.TriedAt, actor.ConfirmedAt
		p.actor.Failures = actor.Failures
		return s.saveProfile(ctx, tx, row, p)
	})
	if err != nil {
		return err
	}
	if row.Nickname != p.account.Nickname || !sameKeys(known, p.keys) {
		return s.refreshSoon(ctx, in.actor)
	}
	return nil
}

// sameKeys tells whether all of the keys are known.
func sameKeys(known, keys []*store.ActorKey) bool {
	have := make(map[string]string, len(known))
	for _, k := range known {
		have[k.URI] = k.Public
	}
	return !slices.ContainsFunc(keys, func(k *store.ActorKey) bool { return have[k.URI] != k.Public })
}

// refreshSoon queues a look at an account, but not so soon after the last one.
func (s *Service) refreshSoon(ctx context.Context, a *store.Account) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		actor, err := tx.Actor(ctx, a.ID)
		if errs.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		at := actor.TriedAt.Time().Add(tryPause)
		if now := s.now(); at.Before(now) {
			at = now
		}
		return queueRefresh(ctx, tx, a.ID, at)
	})
}
