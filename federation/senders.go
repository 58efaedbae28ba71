package federation

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"svc/store"
)

const maxSenders = 2000

// senders keeps the accounts ready that send something. They are shared, so nobody may change them. What it has of an account is dropped
// before a change to it is answered.
type senders struct {
	db      *store.DB
	mu      sync.Mutex
	byID    map[store.AccountID]*store.Account
	byURI   map[string]*store.Account
	reading map[*reading]bool
}

// reading is an account that is being read.
type reading struct{ stale bool }

func newSenders(db *store.DB) *senders {
	k := &senders{
		db: db, byID: make(map[store.AccountID]*store.Account), byURI: make(map[string]*store.Account), reading: make(map[*reading]bool),
	}
	db.Subscribe(k.forget)
	return k
}

// account returns an account, and errs.ErrRecordNotFound if there is none.
func (k *senders) account(ctx context.Context, id store.AccountID) (*store.Account, error) {
	return k.get(
		func() *store.Account { return k.byID[id] },
		func() (*store.Account, error) { return k.db.Account(ctx, id) })
}

// actor returns the account of an id of ActivityPub, likewise.
func (k *senders) actor(ctx context.Context, uri string) (*store.Account, error) {
	return k.get(
		func() *store.Account { return k.byURI[uri] },
		func() (*store.Account, error) { return k.db.AccountByURI(ctx, uri) })
}

func (k *senders) get(find func() *store.Account, read func() (*store.Account, error)) (*store.Account, error) {
	k.mu.Lock()
	if a := find(); a != nil {
		k.mu.Unlock()
		return a, nil
	}
	r := new(reading)
	k.reading[r] = true
	k.mu.Unlock()
	a, err := read()
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.reading, r)
	if err == nil && !r.stale {
		for _, other := range k.byID {
			if len(k.byID) < maxSenders {
				break
			}
			k.drop(other.ID)
		}
		k.byID[a.ID], k.byURI[a.URI] = a, a
	}
	return a, err
}

func (k *senders) drop(id store.AccountID) {
	if a := k.byID[id]; a != nil {
		delete(k.byID, id)
		delete(k.byURI, a.URI)
	}
}

// forget is told what has changed. Of who posts only the counters do.
func (k *senders) forget(events []store.Event) {
	changed, ok := events[0].(store.Changed) // it comes first
	if !ok || !changed.All && len(changed.Accounts)+len(changed.Counted) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for r := range k.reading {
		r.stale = true
	}
	if changed.All {
		clear(k.byID)
		clear(k.byURI)
		return
	}
	for _, id := range changed.Accounts {
		k.drop(id)
	}
	for id, now := range changed.Counted {
		if a := k.byID[id]; a != nil && !slices.Contains(changed.Accounts, id) {
			counted := *a
			counted.FollowersCount, counted.FollowingCount, counted.StatusesCount = now.Followers, now.Following, now.Statuses
			counted.LastStatusAt = now.LastStatusAt
			k.byID[id], k.byURI[a.URI] = &counted, &counted
		}
	}
}

// panicked makes an error of what a panic was about.
func panicked(v any) error { return fmt.Errorf("panic: %v\n%s", v, debug.Stack()) }
