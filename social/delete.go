package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// DeleteStatus removes a status of actor's; of a boost, the boost only. It returns what it was. Staff remove others' through
// the admin package.
func (s *Service) DeleteStatus(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	var st *store.Status
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		var err error
		if st, err = tx.Status(ctx, id); err != nil {
			return err
		}
		if st.AccountID != actor.ID {
			return errs.ErrRecordNotFound
		}
		return remove(ctx, tx, st)
	})
	return st, err
}

// remove deletes a status with its boosts. Of a boost, its notification goes too.
func remove(ctx context.Context, tx *store.Tx, st *store.Status) error {
	if st.ReblogOfID != nil {
		original, err := tx.Status(ctx, *st.ReblogOfID)
		if err != nil {
			return err
		}
		if err := tx.WithdrawNotification(ctx, original.AccountID, store.NotifyReblog, st.AccountID, &original.ID); err != nil {
			return err
		}
	}
	if _, err := tx.DeleteStatus(ctx, st); err != nil {
		return err
	}
	if st.HasPoll {
		if err := tx.DropJob(ctx, pollKey(st.ID)); err != nil {
			return err
		}
	}
	return tx.DropJob(ctx, expiryKey(st.ID))
}

// expireStatus is the job that removes a status at the end of its time.
func (s *Service) expireStatus(ctx context.Context, w store.ExpireStatus) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.Status(ctx, w.StatusID)
		if err != nil {
			return ignoreMissing(err)
		}
		if st.ExpiresAt == nil || st.ExpiresAt.Time().After(s.db.Now()) {
			return nil
		}
		if pinned, err := tx.Pinned(ctx, st.ID); pinned || err != nil {
			return err
		}
		return remove(ctx, tx, st)
	})
}

// expireLater has a status removed at the end of its time.
func expireLater(ctx context.Context, tx *store.Tx, st *store.Status) error {
	return tx.EnqueueOnce(ctx, st.ExpiresAt.Time(), expiryKey(st.ID), store.ExpireStatus{StatusID: st.ID})
}

func expiryKey(id store.StatusID) string { return "expire:" + id.String() }
