package store

import (
	"context"
	"sync"
)

// Lookups spare a query the look-ups that cannot find anything for this viewer: most people block and mute nobody. A bit that is
// set means "there is such a row: look"; the conditions of visible.go hold with all bits set, too.
type Lookups int64

const (
	lookupBlocks        Lookups = 1 << iota // blocks somebody
	lookupBlockedBy                         // is blocked by somebody; the settings may switch it off
	lookupMutes                             // mutes somebody
	lookupThreadMutes                       // mutes a thread
	lookupDomainBlocks                      // blocks a domain
	lookupHiddenReblogs                     // hides the boosts of somebody followed
	lookupUnavailable                       // some account is withheld and may have posts, other than the server's own
	lookupSubscriptions                     // is told of each post of somebody
	lookupNotes                             // has written a note on somebody
	lookupEndorsements                      // recommends somebody
	allLookups          Lookups = 1<<iota - 1
)

// lookupCache keeps the hints of recent viewers.
type lookupCache struct {
	mu         sync.Mutex
	generation int64 // changes with each forget, so that what was read before is not kept after
	entries    map[AccountID]Lookups
}

const maxCachedLookups = 10_000

func newLookupCache() *lookupCache { return &lookupCache{entries: make(map[AccountID]Lookups)} }

func (c *lookupCache) invalidate(ids []AccountID, all bool) {
	if len(ids) == 0 && !all {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	if all {
		clear(c.entries)
	}
	for _, id := range ids {
		delete(c.entries, id)
	}
}

func (c *lookupCache) get(id AccountID) (h Lookups, generation int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok = c.entries[id]
	return h, c.generation, ok
}

func (c *lookupCache) put(id AccountID, h Lookups, generation int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != generation {
		return
	}
	if len(c.entries) >= maxCachedLookups {
		clear(c.entries)
	}
	c.entries[id] = h
}

// lookups returns the hints for a viewer, 0 for the anonymous, by which what is shown is chosen.
func (r reader) lookups(ctx context.Context, viewer AccountID) (Lookups, error) {
	h, err := r.unmaskedLookups(ctx, viewer)
	return r.db.maskLookups(h), err
}

// unmaskedLookups is hints whatever the settings switch off. A transaction always looks everywhere.
func (r reader) unmaskedLookups(ctx context.Context, viewer AccountID) (Lookups, error) {
	if r.q != r.db.q {
		return allLookups, nil
	}
	h, generation, ok := r.db.lookupCache.get(viewer)
	if ok {
		return h, nil
	}
	found, err := one[Lookups](ctx, r, "hints", `
		SELECT EXISTS (SELECT 1 FROM blocks WHERE account_id = ?1)
			+ 2 * EXISTS (SELECT 1 FROM blocks WHERE target_id = ?1)
			+ 4 * EXISTS (SELECT 1 FROM mutes WHERE account_id = ?1)
			+ 8 * EXISTS (SELECT 1 FROM thread_mutes WHERE account_id = ?1)
			+ 16 * EXISTS (SELECT 1 FROM domain_blocks WHERE account_id = ?1)
			+ 32 * EXISTS (SELECT 1 FROM follows WHERE follower_id = ?1 AND show_reblogs = 0)
			+ 64 * (EXISTS (SELECT 1 FROM accounts a INDEXED BY accounts_unavailable_deleted
				WHERE a.unavailable = 1 AND a.deleted_at IS NULL AND (a.domain <> '' OR a.actor_type <> 'Application' OR EXISTS (SELECT 1 FROM users u WHERE u.account_id = a.id)))
				OR EXISTS (SELECT 1 FROM jobs WHERE unique_key BETWEEN 'purge:' AND 'purge;'))
			+ 128 * EXISTS (SELECT 1 FROM subscriptions WHERE account_id = ?1)
			+ 256 * EXISTS (SELECT 1 FROM account_notes WHERE account_id = ?1)
			+ 512 * EXISTS (SELECT 1 FROM endorsements WHERE account_id = ?1)`, viewer)
	if err != nil {
		return 0, err
	}
	r.db.lookupCache.put(viewer, *found, generation)
	return *found, nil
}

// maskLookups leaves out what the settings switch off.
func (db *DB) maskLookups(h Lookups) Lookups {
	if db.options.BlockersVisible {
		h &^= lookupBlockedBy
	}
	return h
}

// SeesAllUnrestricted tells whether viewer sees every status that is open to all: nobody blocks the viewer, and no account is withheld.
func (r reader) SeesAllUnrestricted(ctx context.Context, viewer AccountID) (bool, error) {
	h, err := r.lookups(ctx, viewer)
	return h&(lookupBlockedBy|lookupUnavailable) == 0, err
}

// flagCache keeps what recent viewers did with statuses. What it has of a viewer is dropped with each commit that has changed it.
type flagCache struct {
	mu         sync.Mutex
	generation int64
	size       int
	entries    map[AccountID]map[StatusID]StatusFlags
}

// maxCachedFlags is how many statuses are remembered, of all viewers together: some 4 MB.
const maxCachedFlags = 50_000

func newFlagCache() *flagCache {
	return &flagCache{entries: make(map[AccountID]map[StatusID]StatusFlags)}
}

// get fills found with what is known, and returns the ids of which nothing is, and the generation to put them with.
func (c *flagCache) get(viewer AccountID, ids []StatusID, found map[StatusID]StatusFlags) (missing []StatusID, generation int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.entries[viewer]
	for _, id := range ids {
		if f, ok := known[id]; ok {
			found[id] = f
		} else {
			missing = append(missing, id)
		}
	}
	return missing, c.generation
}

func (c *flagCache) put(viewer AccountID, flags map[StatusID]StatusFlags, generation int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != generation {
		return
	}
	if c.size+len(flags) > maxCachedFlags {
		clear(c.entries)
		c.size = 0
	}
	known := c.entries[viewer]
	if known == nil {
		known = make(map[StatusID]StatusFlags, len(flags))
		c.entries[viewer] = known
	}
	for id, f := range flags {
		if _, ok := known[id]; !ok {
			c.size++
		}
		known[id] = f
	}
}

func (c *flagCache) invalidate(viewers []AccountID, all bool) {
	if len(viewers) == 0 && !all {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	if all {
		clear(c.entries)
		c.size = 0
	}
	for _, v := range viewers {
		c.size -= len(c.entries[v])
		delete(c.entries, v)
	}
}
