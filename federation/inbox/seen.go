package inbox

import (
	"context"
	"sync"
	"time"

	"svc/store"
)

const maxRecentlySeen = 8192

// Seen knows which activities were processed: the last ones in memory, before that is recorded; older ones in the database.
type Seen struct {
	db    *store.DB
	mu    sync.Mutex
	keys  map[store.SeenKey]struct{}
	ring  []store.SeenKey // the last ones, from added % maxRecentlySeen on
	added uint64          // from 1, so that a mark is never 0
}

func newSeen(db *store.DB) *Seen {
	return &Seen{db: db, keys: make(map[store.SeenKey]struct{}), added: 1}
}

// Precheck returns true if an activity was processed before. If undo is not zero it is the key of an Undo of the activity, and Precheck looks for
// that, too. What it finds saves IsProcessed and IsUndone their queries.
func (s *Seen) Precheck(ctx context.Context, a *Activity, key, undo store.SeenKey) (bool, error) {
	mark := s.mark()
	if seen, _ := s.recent(key, 0); seen {
		return true, nil
	}
	seen, err := s.db.SeenKey(ctx, key)
	if seen || err != nil {
		return seen, err
	}
	if undo != (store.SeenKey{}) {
		undone, err := s.db.SeenKey(ctx, undo)
		if err != nil {
			return false, err
		}
		a.notUndone = !undone
	}
	a.seenMark = mark
	return false, nil
}

// IsProcessed returns true if an activity with the Key of a was processed before, for any recipient.
func (s *Seen) IsProcessed(ctx context.Context, a *Activity) (bool, error) {
	if seen, certain := s.recent(a.Key, a.seenMark); certain {
		return seen, nil
	}
	return s.db.SeenKey(ctx, a.Key)
}

// IsUndone returns true if the Undo of an activity, with this key, came since a time.
func (s *Seen) IsUndone(ctx context.Context, a *Activity, undo store.SeenKey, since time.Time) (bool, error) {
	if seen, certain := s.recent(undo, a.seenMark); a.notUndone && certain && !seen {
		return false, nil
	}
	return s.db.SeenKeySince(ctx, undo, since)
}

// mark returns a number for this moment, for recent.
func (s *Seen) mark() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.added
}

// Add adds a key.
func (s *Seen) Add(key store.SeenKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.keys[key]; ok {
		return
	}
	if len(s.ring) < maxRecentlySeen {
		s.ring = append(s.ring, key)
	} else {
		oldest := &s.ring[(s.added-1)%maxRecentlySeen]
		delete(s.keys, *oldest)
		*oldest = key
	}
	s.keys[key] = struct{}{}
	s.added++
}

// recent returns true if a key is in memory. certain is false if the database may know the key nevertheless: mark is from too long ago, or 0, which
// says that the key was not looked for before.
func (s *Seen) recent(key store.SeenKey, mark uint64) (seen, certain bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, seen = s.keys[key]
	return seen, seen || mark != 0 && s.added-mark < maxRecentlySeen
}
