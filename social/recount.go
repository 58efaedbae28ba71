package social

import (
	"context"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// Recount is a part of the recount of all counters and search indexes.
type Recount struct {
	From        string `json:"from"`         // where the part before ended; "" starts
	ClearSearch bool   `json:"clear_search"` // empty the search indexes first, because they are damaged
}

// Recounted is the result of a part.
type Recounted struct {
	Next      string           `json:"next"`  // where the next part starts; "" after the last one
	Parts     int64            `json:"parts"` // that this call has done
	Total     int64            `json:"total"`
	Corrected []store.Mismatch `json:"corrected"` // counters and entries
}

const (
	reindexBatch = 50                    // posts or accounts at a time
	reindexPause = 10 * time.Millisecond // between batches, so that others can write
)

// Recount corrects a part of the counters, and indexes posts and accounts that search does not find. A part is small, so that it does not take
// long.
func (s *Service) Recount(ctx context.Context, c Recount) (*Recounted, error) {
	if c.ClearSearch && c.From == "" {
		if err := s.db.Update(ctx, func(tx *store.Tx) error { return tx.ClearSearch(ctx) }); err != nil {
			return nil, err
		}
	}
	r := &Recounted{Next: c.From, Corrected: []store.Mismatch{}}
	var err error
	if r.Total, err = s.db.RecountSize(ctx); err != nil {
		return nil, err
	}
	for until := time.Now().Add(checkTime); ; {
		found, next, err := s.db.Recount(ctx, r.Next)
		if err != nil {
			return nil, err
		}
		if err := s.correct(ctx, r, found); err != nil {
			return nil, err
		}
		r.Parts++
		if r.Next = next; next == "" || time.Now().After(until) || len(r.Corrected) > maxProblems {
			return r, nil
		}
	}
}

// correct corrects the mismatches of the part at r.Next.
func (s *Service) correct(ctx context.Context, r *Recounted, found []store.Mismatch) error {
	if len(found) == 0 {
		return nil
	}
	corrected, err := update(ctx, s.db, func(tx *store.Tx) ([]store.Mismatch, error) { return tx.CorrectCounters(ctx, r.Next, found) })
	if err != nil {
		return err
	}
	r.Corrected = append(r.Corrected, corrected...)
	for _, index := range []string{store.AccountIndex, store.StatusIndex} {
		var entries []store.Mismatch
		for _, m := range found {
			if m.Name == index {
				entries = append(entries, m)
			}
		}
		for batch := range slices.Chunk(entries, reindexBatch) {
			err := s.db.Update(ctx, func(tx *store.Tx) error { return reindex(ctx, tx, batch) })
			if err != nil {
				return err
			}
			r.Corrected = append(r.Corrected, batch...)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(reindexPause):
			}
		}
	}
	return nil
}

// reindex indexes posts and accounts again, and removes entries of deleted ones.
func reindex(ctx context.Context, tx *store.Tx, entries []store.Mismatch) error {
	for _, m := range entries {
		if m.Name == store.AccountIndex {
			if err := tx.ReindexAccount(ctx, store.AccountID(m.ID)); err != nil {
				return err
			}
			continue
		}
		id := store.StatusID(m.ID)
		st, err := tx.Status(ctx, id)
		switch {
		case errs.IsNotFound(err), err == nil && st.ReblogOfID != nil:
			tx.RemoveFromIndex(id)
		case err != nil:
			return err
		default:
			if err := reindexStatus(ctx, tx, id); err != nil {
				return err
			}
		}
	}
	return nil
}
