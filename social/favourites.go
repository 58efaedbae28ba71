package social

import (
	"context"

	"svc/store"
)

// Favourite favourites a status that actor can see, or the original of a reblog, and notifies its author. Doing so twice is not an error.
func (s *Service) Favourite(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	return s.favourite(ctx, actor, id, nil, "")
}

// ReceiveFavourite is Favourite by a remote actor, by the activity with this id. request is the id of the LikeRequest, "" if there was none.
func (s *Service) ReceiveFavourite(ctx context.Context, actor *store.Account, id store.StatusID, uri, request string) (*store.Status, error) {
	return s.favourite(ctx, actor, id, &uri, request)
}

func (s *Service) favourite(ctx context.Context, actor *store.Account, id store.StatusID, uri *string, request string) (*store.Status, error) {
	var refused error
	st, err := s.updateOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		if err := checkNotBlocked(ctx, tx, actor, st); err != nil {
			return err
		}
		a, err := checkInteraction(ctx, tx, actor, st, store.Favouriting)
		if err != nil {
			return err
		}
		if a == forbidden {
			refused = forbiddenInteractions[store.Favouriting]
			return rejectInteraction(ctx, tx, actor, st, store.InteractionRequest{Interaction: store.Favouriting, URI: *uri, RequestURI: request})
		}
		id, err := tx.AddFavourite(ctx, actor.ID, st.ID, uri)
		if err != nil {
			return err
		}
		if id == 0 {
			return answerAgain(ctx, tx, actor, uri, request)
		}
		if a == needsApproval {
			f := &store.Favourite{ID: id, AccountID: actor.ID, StatusID: st.ID}
			if err := tx.SetFavouritePending(ctx, f, true); err != nil {
				return err
			}
		}
		if st.Local() && (a != allowed || request != "") {
			q := store.InteractionRequest{Interaction: store.Favouriting, FavouriteID: &id, RequestURI: request, URI: store.NewActivityURI(s.Settings.BaseURL, id)}
			if uri != nil {
				q.URI = *uri
			}
			if err := s.addInteractionRequest(ctx, tx, actor, st, q, a); err != nil || a == needsApproval {
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
	if err == nil {
		err = refused
	}
	return st, err
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
		if err := tx.RemoveNotification(ctx, st.AccountID, store.NotifyPendingFavourite, actor.ID, &st.ID); err != nil {
			return err
		}
		return tx.RemoveNotification(ctx, st.AccountID, store.NotifyFavourite, actor.ID, &st.ID)
	})
}
