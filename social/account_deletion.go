package social

import (
	"context"
	"time"

	"svc/store"
)

// DeleteAccount deletes an account for good. At once nobody can sign in or see it any more, and its profile is blank; a job takes
// away its posts and all else. So it is with one elsewhere that its server says is no more. Its nickname stays taken, except that an account which was never confirmed or approved leaves
// no trace. Deleting it again is no error. The last admin cannot be deleted.
func (s *Service) DeleteAccount(ctx context.Context, id store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		account, err := tx.Account(ctx, id)
		if err != nil {
			return ignoreNotFound(err)
		}
		if account.DeletedAt != nil {
			return nil
		}
		user, err := tx.User(ctx, id)
		if err = ignoreNotFound(err); err != nil {
			return err
		}
		if err := checkNotLastAdmin(ctx, tx, id); err != nil {
			return err
		}
		tx.Emit(store.TokensRevoked{AccountID: id})
		if user != nil && (user.ConfirmedAt == nil || user.ApprovedAt == nil) {
			return tx.RemoveAccount(ctx, id)
		}
		if err := tx.RemoveUser(ctx, id); err != nil {
			return err
		}
		inboxes, err := tx.FollowerInboxes(ctx, id) // the follows are gone soon
		if err != nil {
			return err
		}
		if err := tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.AccountDeleted, ActorID: id, Inboxes: inboxes}); err != nil {
			return err
		}
		if err := tx.MarkAccountDeleted(ctx, id); err != nil {
			return err
		}
		if !account.Local() {
			if err := tx.RemoveActor(ctx, id); err != nil {
				return err
			}
		}
		return tx.EnqueueUnique(ctx, s.db.Now(), store.PurgeKey(id), store.PurgeAccount{AccountID: id})
	})
}

// Bounds of one transaction of the purge, so that others can write in between.
const (
	purgeTransactionTime = 20 * time.Millisecond
	purgeBatch           = 20
	maxDirectDeletes     = 100 // boosts, favourites, reactions or votes of a post that are too many to go with it
)

// purgeAccount is the job that takes away what a deleted account has left. It goes on where it was interrupted.
func (s *Service) purgeAccount(ctx context.Context, w store.PurgeAccount) error {
	id := w.AccountID
	err := purgeInBatches(ctx, s.db,
		func(tx *store.Tx) ([]*store.Status, error) { return tx.OldestStatuses(ctx, id, purgeBatch) },
		func(tx *store.Tx, st *store.Status) error { return purgeStatus(ctx, tx, st) })
	if err != nil {
		return err
	}
	err = purgeInBatches(ctx, s.db,
		func(tx *store.Tx) ([]store.StatusID, error) { return tx.FavouritesBy(ctx, id, purgeBatch) },
		func(tx *store.Tx, st store.StatusID) error {
			_, err := tx.RemoveFavourite(ctx, id, st)
			return err
		})
	if err != nil {
		return err
	}
	err = purgeInBatches(ctx, s.db,
		func(tx *store.Tx) ([]*store.Reaction, error) { return tx.ReactionsBy(ctx, id, purgeBatch) },
		func(tx *store.Tx, r *store.Reaction) error { return tx.RemoveReaction(ctx, r) })
	if err != nil {
		return err
	}
	err = purgeInBatches(ctx, s.db,
		func(tx *store.Tx) ([]*store.Poll, error) { return tx.PollsVotedIn(ctx, id, purgeBatch) },
		func(tx *store.Tx, p *store.Poll) error { return tx.RemoveVotes(ctx, p, id) })
	if err != nil {
		return err
	}
	for _, follows := range []func(*store.Tx) ([]*store.Follow, error){
		func(tx *store.Tx) ([]*store.Follow, error) { return tx.FollowsBy(ctx, id, purgeBatch) },
		func(tx *store.Tx) ([]*store.Follow, error) { return tx.FollowsOf(ctx, id, purgeBatch) },
	} {
		err := purgeInBatches(ctx, s.db, follows, func(tx *store.Tx, f *store.Follow) error { return purgeFollow(ctx, tx, f) })
		if err != nil {
			return err
		}
	}
	return s.db.PurgeAccount(ctx, id)
}

// purgeInBatches calls take for each of what some lists, until there is nothing more, in transactions of bounded time.
func purgeInBatches[T any](ctx context.Context, db *store.DB, some func(*store.Tx) ([]T, error), take func(*store.Tx, T) error) error {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := db.Update(ctx, func(tx *store.Tx) error {
			until := time.Now().Add(purgeTransactionTime)
			for {
				list, err := some(tx)
				if err != nil {
					return err
				}
				if len(list) == 0 {
					more = false
					return nil
				}
				for _, v := range list {
					if err := take(tx, v); err != nil {
						return err
					}
					if time.Now().After(until) {
						return nil
					}
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// purgeStatus deletes a status, or, if it has many boosts, favourites, reactions or votes, some of those.
func purgeStatus(ctx context.Context, tx *store.Tx, st *store.Status) error {
	if st.ReblogsCount > maxDirectDeletes {
		boosts, err := tx.BoostsOf(ctx, st.ID, purgeBatch)
		if err != nil {
			return err
		}
		for _, b := range boosts {
			if err := removeStatus(ctx, tx, b); err != nil {
				return err
			}
		}
		if len(boosts) > 0 {
			return nil
		}
	}
	if st.FavouritesCount > maxDirectDeletes {
		if n, err := tx.DeleteFavourites(ctx, st.ID, maxDirectDeletes); n > 0 || err != nil {
			return err
		}
	}
	if n, err := tx.DeleteReactions(ctx, st.ID, maxDirectDeletes); n == maxDirectDeletes || err != nil {
		return err
	}
	if st.HasPoll {
		if n, err := tx.DeleteVotes(ctx, st.ID, maxDirectDeletes); n == maxDirectDeletes || err != nil {
			return err
		}
	}
	return removeStatus(ctx, tx, st)
}

// purgeFollow is end without what the purge takes away anyway.
func purgeFollow(ctx context.Context, tx *store.Tx, f *store.Follow) error {
	if err := tx.RemoveFollow(ctx, f); err != nil {
		return err
	}
	gone := *f
	gone.ID = 0
	tx.Emit(store.FollowChanged{Follow: &gone, Ended: true})
	return nil
}
