package federation

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"svc/store"
)

const maxCachedAccounts = 2000

// AccountCache keeps the accounts ready that send something. They are shared, so nobody may change them. What it has of an account is dropped
// before a change to it is answered.
type AccountCache struct {
	db      *store.DB
	mu      sync.Mutex
	byID    map[store.AccountID]*store.Account
	byURI   map[string]*store.Account
	pending map[*pendingRead]bool
}

// pendingRead is an account that is being read.
type pendingRead struct{ stale bool }

func newAccountCache(db *store.DB) *AccountCache {
	k := &AccountCache{
		db: db, byID: make(map[store.AccountID]*store.Account), byURI: make(map[string]*store.Account), pending: make(map[*pendingRead]bool),
	}
	db.Subscribe(k.invalidate)
	return k
}

// Get returns an account, and errs.ErrRecordNotFound if there is none.
func (k *AccountCache) Get(ctx context.Context, id store.AccountID) (*store.Account, error) {
	return k.lookup(
		func() *store.Account { return k.byID[id] },
		func() (*store.Account, error) { return k.db.Account(ctx, id) })
}

// GetByURI returns the account of an id of ActivityPub, likewise.
func (k *AccountCache) GetByURI(ctx context.Context, uri string) (*store.Account, error) {
	return k.lookup(
		func() *store.Account { return k.byURI[uri] },
		func() (*store.Account, error) { return k.db.AccountByURI(ctx, uri) })
}

func (k *AccountCache) lookup(find func() *store.Account, read func() (*store.Account, error)) (*store.Account, error) {
	k.mu.Lock()
	if a := find(); a != nil {
		k.mu.Unlock()
		return a, nil
	}
	r := new(pendingRead)
	k.pending[r] = true
	k.mu.Unlock()
	a, err := read()
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.pending, r)
	if err == nil && !r.stale {
		for _, other := range k.byID {
			if len(k.byID) < maxCachedAccounts {
				break
			}
			k.remove(other.ID)
		}
		k.byID[a.ID], k.byURI[a.URI] = a, a
	}
	return a, err
}

func (k *AccountCache) remove(id store.AccountID) {
	if a := k.byID[id]; a != nil {
		delete(k.byID, id)
		delete(k.byURI, a.URI)
	}
}

// invalidate is told what has changed. Of who posts only the counters do.
func (k *AccountCache) invalidate(events []store.Event) {
	changed, ok := events[0].(store.RowsChanged) // it comes first
	if !ok || !changed.All && len(changed.Accounts)+len(changed.Counters) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for r := range k.pending {
		r.stale = true
	}
	if changed.All {
		clear(k.byID)
		clear(k.byURI)
		return
	}
	for _, id := range changed.Accounts {
		k.remove(id)
	}
	for id, now := range changed.Counters {
		if a := k.byID[id]; a != nil && !slices.Contains(changed.Accounts, id) {
			counted := *a
			counted.FollowersCount, counted.FollowingCount, counted.StatusesCount = now.Followers, now.Following, now.Statuses
			counted.LastStatusAt = now.LastStatusAt
			k.byID[id], k.byURI[a.URI] = &counted, &counted
		}
	}
}

// catchPanic returns a panic of fn as an error.
func catchPanic(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}
