package store

import (
	"context"
	"sync"
)

// Hints spare a query the look-ups that cannot find anything for this viewer: most people block and mute nobody. A bit that is
// set means "there is such a row: look"; the conditions of visible.go hold with all bits set, too.
type Hints int64

const (
	hintBlocks        Hints = 1 << iota // blocks somebody
	hintBlocked                         // is blocked by somebody; the settings may switch it off
	hintMutes                           // mutes somebody
	hintThreadMutes                     // mutes a thread
	hintDomainBlocks                    // blocks a domain
	hintReblogs                         // hides the boosts of somebody followed
	hintWithheld                        // some account is withheld and may have posts, other than the server's own
	hintSubscriptions                   // is told of each post of somebody
	hintNotes                           // has written a note on somebody
	hintEndorsements                    // recommends somebody
	allHints          Hints = 1<<iota - 1
)

// hintCache keeps the hints of recent viewers.
type hintCache struct {
	mu         sync.Mutex
	generation int64 // changes with each forget, so that what was read before is not kept after
	kept       map[AccountID]Hints
}

const hintsKept = 10_000

func newHintCache() *hintCache { return &hintCache{kept: make(map[AccountID]Hints)} }

func (c *hintCache) forget(ids []AccountID, all bool) {
	if len(ids) == 0 && !all {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	if all {
		clear(c.kept)
	}
	for _, id := range ids {
		delete(c.kept, id)
	}
}

func (c *hintCache) get(id AccountID) (h Hints, generation int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok = c.kept[id]
	return h, c.generation, ok
}

func (c *hintCache) put(id AccountID, h Hints, generation int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != generation {
		return
	}
	if len(c.kept) >= hintsKept {
		clear(c.kept)
	}
	c.kept[id] = h
}

// hints returns the hints for a viewer, 0 for the anonymous, by which what is shown is chosen.
func (r reader) hints(ctx context.Context, viewer AccountID) (Hints, error) {
	h, err := r.trueHints(ctx, viewer)
	return r.db.masked(h), err
}

// trueHints is hints whatever the settings switch off. A transaction always looks everywhere.
func (r reader) trueHints(ctx context.Context, viewer AccountID) (Hints, error) {
	if r.q != r.db.q {
		return allHints, nil
	}
	h, generation, ok := r.db.hints.get(viewer)
	if ok {
		return h, nil
	}
	found, err := one[Hints](ctx, r, "hints", `
		SELECT EXISTS (SELECT 1 FROM blocks WHERE account_id = ?1)
			+ 2 * EXISTS (SELECT 1 FROM blocks WHERE target_id = ?1)
			+ 4 * EXISTS (SELECT 1 FROM mutes WHERE account_id = ?1)
			+ 8 * EXISTS (SELECT 1 FROM thread_mutes WHERE account_id = ?1)
			+ 16 * EXISTS (SELECT 1 FROM domain_blocks WHERE account_id = ?1)
			+ 32 * EXISTS (SELECT 1 FROM follows WHERE follower_id = ?1 AND show_reblogs = 0)
			+ 64 * (EXISTS (SELECT 1 FROM accounts a INDEXED BY accounts_withheld_deleted
				WHERE a.withheld = 1 AND a.deleted_at IS NULL AND (a.domain <> '' OR a.actor_type <> 'Application' OR EXISTS (SELECT 1 FROM users u WHERE u.account_id = a.id)))
				OR EXISTS (SELECT 1 FROM jobs WHERE unique_key BETWEEN 'purge:' AND 'purge;'))
			+ 128 * EXISTS (SELECT 1 FROM subscriptions WHERE account_id = ?1)
			+ 256 * EXISTS (SELECT 1 FROM account_notes WHERE account_id = ?1)
			+ 512 * EXISTS (SELECT 1 FROM endorsements WHERE account_id = ?1)`, viewer)
	if err != nil {
		return 0, err
	}
	r.db.hints.put(viewer, *found, generation)
	return *found, nil
}

// masked leaves out what the settings switch off.
func (db *DB) masked(h Hints) Hints {
	if db.options.BlockersVisible {
		h &^= hintBlocked
	}
	return h
}

// SeesAllOpen tells whether viewer sees every status that is open to all: nobody blocks the viewer, and no account is withheld.
func (r reader) SeesAllOpen(ctx context.Context, viewer AccountID) (bool, error) {
	h, err := r.hints(ctx, viewer)
	return h&(hintBlocked|hintWithheld) == 0, err
}

// flagCache keeps what recent viewers did with statuses. What it has of a viewer is dropped with each commit that has changed it.
type flagCache struct {
	mu         sync.Mutex
	generation int64
	size       int
	kept       map[AccountID]map[StatusID]StatusFlags
}

// flagsKept is how many statuses are remembered, of all viewers together: some 4 MB.
const flagsKept = 50_000

func newFlagCache() *flagCache { return &flagCache{kept: make(map[AccountID]map[StatusID]StatusFlags)} }

// get fills found with what is known, and returns the ids of which nothing is, and the generation to put them with.
func (c *flagCache) get(viewer AccountID, ids []StatusID, found map[StatusID]StatusFlags) (missing []StatusID, generation int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.kept[viewer]
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
	if c.size+len(flags) > flagsKept {
		clear(c.kept)
		c.size = 0
	}
	known := c.kept[viewer]
	if known == nil {
		known = make(map[StatusID]StatusFlags, len(flags))
		c.kept[viewer] = known
	}
	for id, f := range flags {
		if _, ok := known[id]; !ok {
			c.size++
		}
		known[id] = f
	}
}

func (c *flagCache) forget(viewers []AccountID, all bool) {
	if len(viewers) == 0 && !all {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	if all {
		clear(c.kept)
		c.size = 0
	}
	for _, v := range viewers {
		c.size -= len(c.kept[v])
		delete(c.kept, v)
	}
}
