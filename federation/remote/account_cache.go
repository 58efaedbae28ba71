package remote

import (
	"context"
	"slices"

	"svc/internal/cache"
	"svc/internal/errs"
	"svc/store"
)

const maxCachedAccounts = 2000

// AccountCache caches accounts that send activities. Accounts are shared, so callers must not change them. A changed account is removed
// before the change is answered.
type AccountCache struct {
	db       *store.DB
	accounts *cache.Cache[store.AccountID, *store.Account]
	ids      *cache.Cache[string, store.AccountID] // by URI
}

func newAccountCache(db *store.DB) *AccountCache {
	c := &AccountCache{
		db:       db,
		accounts: cache.New[store.AccountID, *store.Account](maxCachedAccounts),
		ids:      cache.New[string, store.AccountID](maxCachedAccounts),
	}
	db.Subscribe(c.invalidate)
	return c
}

// Get returns an account. The error is errs.ErrRecordNotFound if there is none.
func (c *AccountCache) Get(ctx context.Context, id store.AccountID) (*store.Account, error) {
	return c.accounts.Load(id, func() (*store.Account, error) { return c.db.Account(ctx, id) })
}

// GetByURI returns the account of an actor id. The error is errs.ErrRecordNotFound if there is none.
func (c *AccountCache) GetByURI(ctx context.Context, uri string) (*store.Account, error) {
	if id, ok := c.ids.Get(uri); ok { // an account that was removed and added again has another id
		if a, err := c.Get(ctx, id); err == nil && a.URI == uri || err != nil && !errs.IsNotFound(err) {
			return a, err
		}
	}
	id, err := c.db.AccountIDByURI(ctx, uri)
	switch {
	case err != nil:
		return nil, err
	case id == 0:
		return nil, errs.ErrRecordNotFound
	}
	c.ids.Put(uri, id, c.ids.Generation())
	return c.Get(ctx, id)
}

// ByURI returns the accounts that have one of the actor ids, by id.
func (c *AccountCache) ByURI(ctx context.Context, uris []string) (map[string]*store.Account, error) {
	found := make(map[string]*store.Account, len(uris))
	var missing []string
	for _, uri := range uris {
		if id, ok := c.ids.Get(uri); ok {
			if a, ok := c.accounts.Get(id); ok && a.URI == uri {
				found[uri] = a
				continue
			}
		}
		missing = append(missing, uri)
	}
	if len(missing) == 0 {
		return found, nil
	}
	ids, accounts := c.ids.Generation(), c.accounts.Generation()
	read, err := c.db.AccountsByURI(ctx, missing)
	for uri, a := range read {
		c.ids.Put(uri, a.ID, ids)
		c.accounts.Put(a.ID, a, accounts)
		found[uri] = a
	}
	return found, err
}

// invalidate removes changed accounts, and updates the counters of those that only posted.
func (c *AccountCache) invalidate(events []store.Event) {
	changed, ok := events[0].(store.RowsChanged) // always the first event
	if !ok {
		return
	}
	if changed.All {
		c.accounts.Clear()
		return
	}
	c.accounts.Drop(changed.Accounts...)
	for id, counters := range changed.Counters {
		if slices.Contains(changed.Accounts, id) {
			continue
		}
		c.accounts.Replace(id, func(a *store.Account) *store.Account {
			counted := *a
			counted.FollowersCount, counted.FollowingCount, counted.StatusesCount = counters.Followers, counters.Following, counters.Statuses
			counted.LastStatusAt = counters.LastStatusAt
			return &counted
		})
	}
}
