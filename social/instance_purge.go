package social

import (
	"context"
	"time"

	"svc/store"
)

// PurgeRemoteAccountIn removes rows of a remote account and about it until a time: its statuses, which leave no tombstones, what it did with
// other statuses, its follows, and in the end the account. It federates nothing. It returns how many statuses it removed, and whether the
// account is removed; otherwise the next call continues.
func (s *Service) PurgeRemoteAccountIn(ctx context.Context, tx *store.Tx, id store.AccountID, until time.Time) (statuses int, done bool, err error) {
	remove := func(ctx context.Context, st *store.Status) ([]*store.Status, error) {
		if st.AccountID == id {
			statuses++
		}
		return tx.RemoveStatus(ctx, st)
	}
	for _, step := range []func() error{
		func() error {
			return purgeUntil(ctx, until,
				func() ([]*store.Status, error) { return tx.OldestStatuses(ctx, id, purgeBatch) },
				func(st *store.Status) error { return purgeStatus(ctx, tx, st, remove) })
		},
		func() error {
			return purgeUntil(ctx, until,
				func() ([]store.StatusID, error) { return tx.FavouritesBy(ctx, id, purgeBatch) },
				func(st store.StatusID) error {
					_, err := tx.RemoveFavourite(ctx, id, st)
					return err
				})
		},
		func() error {
			return purgeUntil(ctx, until,
				func() ([]*store.Reaction, error) { return tx.ReactionsBy(ctx, id, purgeBatch) },
				func(r *store.Reaction) error { return tx.RemoveReaction(ctx, r) })
		},
		func() error {
			return purgeUntil(ctx, until,
				func() ([]*store.Poll, error) { return tx.PollsVotedIn(ctx, id, purgeBatch) },
				func(p *store.Poll) error { return tx.RemoveVotes(ctx, p, id) })
		},
		func() error {
			return purgeUntil(ctx, until,
				func() ([]*store.Follow, error) { return tx.FollowsBy(ctx, id, purgeBatch) },
				func(f *store.Follow) error { return purgeFollow(ctx, tx, f) })
		},
		func() error {
			return purgeUntil(ctx, until,
				func() ([]*store.Follow, error) { return tx.FollowsOf(ctx, id, purgeBatch) },
				func(f *store.Follow) error { return purgeFollow(ctx, tx, f) })
		},
	} {
		if err := step(); err != nil || time.Now().After(until) {
			return statuses, false, err
		}
	}
	if more, err := tx.PurgeAccountRows(ctx, id); more || err != nil {
		return statuses, false, err
	}
	return statuses, true, tx.RemovePurgedAccount(ctx, id)
}

// purgeUntil calls remove for all that list returns until it returns nothing or the time is over.
func purgeUntil[T any](ctx context.Context, until time.Time, list func() ([]T, error), remove func(T) error) error {
	for {
		batch, err := list()
		if err != nil || len(batch) == 0 {
			return err
		}
		for _, v := range batch {
			if err := remove(v); err != nil {
				return err
			}
			if time.Now().After(until) {
				return ctx.Err()
			}
		}
	}
}
