package social

import (
	"context"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// DeleteAccount is DeleteAccountIn in a transaction of its own.
func (s *Service) DeleteAccount(ctx context.Context, id store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error { return s.DeleteAccountIn(ctx, tx, id) })
}

// DeleteAccountIn deletes a local or a remote account. At once nobody can sign in as it or see it, and its profile is blank; a job deletes
// its statuses, its files and the rest. The nickname stays taken, unless the account was never confirmed or approved. Deleting twice is not
// an error. The last admin cannot be deleted.
func (s *Service) DeleteAccountIn(ctx context.Context, tx *store.Tx, id store.AccountID) error {
	account, err := tx.Account(ctx, id)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	if account.DeletedAt != nil {
		return nil
	}
	user, err := tx.User(ctx, id)
	if err = errs.IgnoreNotFound(err); err != nil {
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
	inboxes, err := tx.FollowerInboxes(ctx, id) // the job removes the follows
	if err != nil {
		return err
	}
	if err := tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.AccountDeleted, ActorID: id, Inboxes: inboxes}); err != nil {
		return err
	}
	if err := tx.MarkAccountDeleted(ctx, id); err != nil {
		return err
	}
	if account.Local() {
		err = s.enqueueRemoveFiles(ctx, tx, account.PictureFiles())
	} else {
		err = tx.RemoveActor(ctx, id)
	}
	if err != nil {
		return err
	}
	return tx.EnqueueUnique(ctx, s.db.Now(), store.PurgeKey(id), store.PurgeAccount{AccountID: id})
}

// Limits of one transaction of the purge, so that others can write in between.
const (
	purgeTransactionTime = 20 * time.Millisecond
	purgeBatch           = 20
	maxDirectDeletes     = 100 // reblogs, favourites, reactions or votes that are deleted together with a status
)

// purgeAccount is the job that deletes the rows of a deleted account. It continues where it was interrupted.
func (s *Service) purgeAccount(ctx context.Context, w store.PurgeAccount) error {
	id := w.AccountID
	if err := s.purgeBackups(ctx, id); err != nil {
		return err
	}
	err := purgeInBatches(ctx, s.db,
		func(tx *store.Tx) ([]*store.Status, error) { return tx.OldestStatuses(ctx, id, purgeBatch) },
		func(tx *store.Tx, st *store.Status) error { return purgeStatus(ctx, tx, st, tx.DeleteStatus) })
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
	if err := s.db.PurgeAccount(ctx, id); err != nil {
		return err
	}
	return s.purgeMedia(ctx, id)
}

// purgeMedia deletes the uploads of an account. Each transaction enqueues the removal of their files, so that an interruption leaves none.
func (s *Service) purgeMedia(ctx context.Context, id store.AccountID) error {
	for more := true; more; {
		err := s.db.Update(ctx, func(tx *store.Tx) error {
			removed, err := tx.RemoveMediaOf(ctx, id, purgeBatch)
			if err != nil {
				return err
			}
			more = len(removed) == purgeBatch
			var files []string
			for _, m := range removed {
				files = append(files, m.Files()...)
			}
			return s.enqueueRemoveFiles(ctx, tx, files)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// purgeInBatches calls remove for all that list returns until it returns nothing, in transactions of bounded time.
func purgeInBatches[T any](ctx context.Context, db *store.DB, list func(*store.Tx) ([]T, error), remove func(*store.Tx, T) error) error {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := db.Update(ctx, func(tx *store.Tx) error {
			until := time.Now().Add(purgeTransactionTime)
			for {
				list, err := list(tx)
				if err != nil {
					return err
				}
				if len(list) == 0 {
					more = false
					return nil
				}
				for _, v := range list {
					if err := remove(tx, v); err != nil {
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

// purgeStatus deletes a status, or only some of its reblogs, favourites, reactions or votes if there are many. remove deletes the row.
func purgeStatus(ctx context.Context, tx *store.Tx, st *store.Status, remove statusRemover) error {
	if st.ReblogsCount > maxDirectDeletes {
		reblogs, err := tx.BoostsOf(ctx, st.ID, purgeBatch)
		if err != nil {
			return err
		}
		for _, b := range reblogs {
			if err := removeStatusBy(ctx, tx, b, remove); err != nil {
				return err
			}
		}
		if len(reblogs) > 0 {
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
	return removeStatusBy(ctx, tx, st, remove)
}

// purgeFollow is endFollow without what the purge deletes anyway.
func purgeFollow(ctx context.Context, tx *store.Tx, f *store.Follow) error {
	if err := tx.RemoveFollow(ctx, f); err != nil {
		return err
	}
	gone := *f
	gone.ID = 0
	tx.Emit(store.FollowChanged{Follow: &gone, Ended: true})
	return nil
}
