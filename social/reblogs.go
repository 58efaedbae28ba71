package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// Reblog boosts a status, or what that boosts, and returns the boost. Doing it twice returns the first one. v is whom the boost
// is for: public, unlisted or private; nil is the actor's default.
//
// What is open to all may be boosted by all, a private status by its author only and for the same people; what is local stays so.
func (s *Service) Reblog(ctx context.Context, actor *store.Account, id store.StatusID, v *store.Visibility) (*store.Status, error) {
	var boost *store.Status
	_, err := s.updateOriginal(ctx, actor, id, func(tx *store.Tx, original *store.Status) error {
		var err error
		if boost, err = tx.Reblog(ctx, actor.ID, original.ID); err != nil || boost != nil {
			return err
		}
		if boost, err = s.newReblog(ctx, tx, actor, original, v); err != nil {
			return err
		}
		if err := tx.AddStatus(ctx, boost); err != nil {
			return err
		}
		if err := tx.FanOut(ctx, boost, original); err != nil {
			return err
		}
		n := store.Notification{AccountID: original.AccountID, Type: store.NotifyReblog, FromID: actor.ID}
		if err := notify(ctx, tx, n, original); err != nil {
			return err
		}
		tx.Emit(store.StatusPosted{Status: boost})
		if !boost.Visibility.Federated() {
			return nil
		}
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.ReblogCreated, ActorID: actor.ID, StatusID: boost.ID})
	})
	return boost, err
}

func (s *Service) newReblog(ctx context.Context, tx *store.Tx, actor *store.Account, original *store.Status, v *store.Visibility) (*store.Status, error) {
	visibility := store.Public
	if v != nil {
		visibility = *v
	} else if user, err := tx.User(ctx, actor.ID); err == nil {
		visibility = user.DefaultVisibility
	} else if !errs.IsNotFound(err) {
		return nil, err
	}
	switch {
	case original.Visibility > store.Private, original.Visibility == store.Private && original.AccountID != actor.ID:
		return nil, errs.ErrRecordNotFound
	case original.Visibility >= store.Local:
		visibility = original.Visibility
	case visibility == store.Local || visibility > store.Private:
		visibility = store.Public
	}
	id := tx.NewStatusID()
	return &store.Status{
		ID:             id,
		AccountID:      actor.ID,
		Domain:         actor.Domain,
		Visibility:     visibility,
		ReblogOfID:     &original.ID,
		ConversationID: store.ConversationID(id), // it is no post of the original's thread
		URI:            s.BaseURL + "/activities/" + id.String(),
	}, nil
}

// Unreblog takes a boost back, with its notification. It returns the original.
func (s *Service) Unreblog(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	return s.undoOnOriginal(ctx, actor, id, func(tx *store.Tx, original *store.Status) error {
		boost, err := tx.Reblog(ctx, actor.ID, original.ID)
		if err != nil || boost == nil {
			return err
		}
		return deleteStatus(ctx, tx, boost)
	})
}
