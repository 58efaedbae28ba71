package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
)

// The filter has a bit for each of seenFilterHashes parts of a key. With maxSeen keys, about 3 of 100 others look like one of them.
const (
	seenFilterBits   = 1 << 23 // 1 MiB
	seenFilterHashes = 3
	seenFilterBatch  = 10_000
)

// seenFilter is a Bloom filter of the keys in seen_activities. Most activities are new: it tells without a query, which costs more after each
// commit, because a connection then reads its pages anew. Keys that are deleted stay until it is loaded again.
type seenFilter struct {
	bits [seenFilterBits / 64]atomic.Uint64
}

// seenFilters are the filter in use and the one that is being loaded, nil if there is none.
type seenFilters struct {
	current, next atomic.Pointer[seenFilter]
	loading       sync.Mutex
}

// mayHave returns false if a key is not in seen_activities for certain.
func (f *seenFilters) mayHave(key SeenKey) bool {
	current := f.current.Load()
	return current == nil || current.has(key)
}

// add must be called in the transaction that stores the key. A key whose transaction fails does no harm. It looks at next first, because LoadSeen
// may put next in the place of current meanwhile.
func (f *seenFilters) add(key SeenKey) {
	for _, filter := range []*seenFilter{f.next.Load(), f.current.Load()} {
		if filter != nil {
			filter.add(key)
		}
	}
}

func (f *seenFilter) add(key SeenKey) {
	for i := range seenFilterHashes {
		word, bit := seenFilterPlace(key, i)
		if f.bits[word].Load()&bit == 0 {
			f.bits[word].Or(bit)
		}
	}
}

func (f *seenFilter) has(key SeenKey) bool {
	for i := range seenFilterHashes {
		if word, bit := seenFilterPlace(key, i); f.bits[word].Load()&bit == 0 {
			return false
		}
	}
	return true
}

// seenFilterPlace returns the i-th word and bit of a key, which is part of a hash.
func seenFilterPlace(key SeenKey, i int) (word int, bit uint64) {
	n := binary.BigEndian.Uint32(key[4*i:]) % seenFilterBits
	return int(n / 64), 1 << (n % 64)
}

// LoadSeen reads the keys of seen activities into memory, which spares a query for each new activity from then on. It is called at the start, and
// again from time to time to forget deleted keys.
func (db *DB) LoadSeen(ctx context.Context) error {
	db.seen.loading.Lock()
	defer db.seen.loading.Unlock()
	filter := new(seenFilter)
	install := func(*Tx) error {
		db.seen.next.Store(filter)
		return nil
	}
	// Transactions before this one are committed when Update returns, so that their keys are read; later ones add theirs.
	if err := db.Update(ctx, install); err != nil {
		return err
	}
	defer db.seen.next.Store(nil)
	after := []byte{0} // before all keys
	for {
		keys, err := list[[]byte](ctx, db.reader, "seen activities", `
			SELECT hash
			FROM seen_activities
			WHERE hash > ?
			ORDER BY hash
			LIMIT ?`, after, seenFilterBatch)
		if err != nil {
			return fmt.Errorf("load seen activities: %w", err)
		}
		for _, key := range keys {
			filter.add(SeenKey(key))
		}
		if len(keys) < seenFilterBatch {
			break
		}
		after = keys[len(keys)-1]
	}
	db.seen.current.Store(filter)
	return nil
}
