package social

import (
	"context"

	"svc/store"
)

// Favourite marks a status that actor can see as a favourite, and tells its author. Of a boost it is the original that is
// meant. Doing it twice is no error. It returns the status as it is then.
func (s *Service) Favourite(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	return s.onOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		added, err := tx.AddFavourite(ctx, actor.ID, st.ID)
		if err != nil || !added {
			return err
		}
		n := store.Notification{AccountID: st.AccountID, Type: store.NotifyFavourite, FromID: actor.ID}
		return notify(ctx, tx, n, st)
	})
}

// Unfavourite takes a favourite back, and its notification.
func (s *Service) Unfavourite(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	return s.onOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		removed, err := tx.RemoveFavourite(ctx, actor.ID, st.ID)
		if err != nil || !removed {
			return err
		}
		return tx.WithdrawNotification(ctx, st.AccountID, store.NotifyFavourite, actor.ID, &st.ID)
	})
}

// onOriginal runs fn on the status that actor sees under an id, or on what that boosts, in a transaction.
func (s *Service) onOriginal(ctx context.Context, actor *store.Account, id store.StatusID, fn func(*store.Tx, *store.Status) error) (*store.Status, error) {
	var st *store.Status
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		var err error
		if st, err = tx.VisibleStatus(ctx, actor.ID, id); err != nil {
			return err
		}
		if st.ReblogOfID != nil {
			if st, err = tx.Status(ctx, *st.ReblogOfID); err != nil {
				return err
			}
		}
		return fn(tx, st)
	})
	return st, err
}
