package social

import (
	"context"

	"svc/store"
)

// Favourite favourites a status that actor can see, or the original of a reblog, and notifies its author. Doing so twice is not an error.
func (s *Service) Favourite(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	return s.favourite(ctx, actor, id, nil)
}

// ReceiveFavourite is Favourite by a remote actor, by the activity with this id.
func (s *Service) ReceiveFavourite(ctx context.Context, actor *store.Account, id store.StatusID, uri string) (*store.Status, error) {
	return s.favourite(ctx, actor, id, &uri)
}

func (s *Service) favourite(ctx context.Context, actor *store.Account, id store.StatusID, uri *string) (*store.Status, error) {
	return s.updateOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		if err := checkNotBlocked(ctx, tx, actor, st); err != nil {
			return err
		}
		pending, err := checkInteraction(ctx, tx, actor, st, store.Favouriting)
		if err != nil {
			return err
		}
		id, err := tx.AddFavourite(ctx, actor.ID, st.ID, uri)
		if err != nil || id == 0 {
			return err
		}
		if pending {
			if err := tx.SetFavouritePending(ctx, id, true); err != nil {
				return err
			}
		}
		if actor.Local() {
			entry := store.OutboxEntry{Type: store.FavouriteCreated, ActorID: actor.ID, TargetID: st.AccountID, StatusID: st.ID, RowID: int64(id)}
			if err := tx.AddToOutbox(ctx, entry); err != nil {
				return err
			}
		}
		n := store.Notification{AccountID: st.AccountID, Type: store.NotifyFavourite, FromID: actor.ID}
		return notify(ctx, tx, n, st)
	})
}

// Unfavourite removes a favourite and its notification.
func (s *Service) Unfavourite(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	return s.undoOnOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		id, err := tx.RemoveFavourite(ctx, actor.ID, st.ID)
		if err != nil || id == 0 {
			return err
		}
		entry := store.OutboxEntry{Type: store.FavouriteDeleted, ActorID: actor.ID, TargetID: st.AccountID, StatusID: st.ID, RowID: int64(id)}
		if err := tx.AddToOutbox(ctx, entry); err != nil {
			return err
		}
		return tx.RemoveNotification(ctx, st.AccountID, store.NotifyFavourite, actor.ID, &st.ID)
	})
}
