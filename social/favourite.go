package social

import (
	"context"

	"svc/store"
)

// Favourite marks a status that actor can see as a favourite, and tells its author. Of a boost it is the original that is
// meant. Doing it twice is no error.
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
	return s.undoOnOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		removed, err := tx.RemoveFavourite(ctx, actor.ID, st.ID)
		if err != nil || !removed {
			return err
		}
		return tx.WithdrawNotification(ctx, st.AccountID, store.NotifyFavourite, actor.ID, &st.ID)
	})
}
