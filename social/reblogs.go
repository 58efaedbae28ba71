package social

import (
	"context"
	"time"

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

// IncomingReblog is a boost by somebody elsewhere.
type IncomingReblog struct {
	URI        string
	Visibility store.Visibility
	Published  time.Time
}

// ReceiveReblog takes in that somebody elsewhere boosts a status. Of what is not for everybody only its author makes boosts that count,
// and they are for the same people. Whoever has boosted it already has not done so again.
func (s *Service) ReceiveReblog(ctx context.Context, actor *store.Account, id store.StatusID, b IncomingReblog) (*store.Status, error) {
	var boost *store.Status
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		original, err := tx.Status(ctx, id)
		if err != nil {
			return err
		}
		sees, err := tx.CanSee(ctx, actor.ID, original)
		switch {
		case err != nil:
			return err
		case !sees, original.ReblogOfID != nil, original.Visibility > store.Private, original.Visibility == store.Local,
			original.Visibility == store.Private && original.AccountID != actor.ID:
			return errs.ErrRecordNotFound
		case original.Visibility == store.Private:
			b.Visibility = store.Private
		}
		if err := checkNotBlocked(ctx, tx, actor, original); err != nil {
			return err
		}
		known, made, err := tx.ReblogURIState(ctx, b.URI, actor, original.ID)
		switch {
		case err != nil:
			return err
		case made != 0:
			boost, err = tx.Status(ctx, made)
			return err
		case known:
			return ErrDeleted
		}
		boost = &store.Status{
			ID: tx.NewStatusID(), AccountID: actor.ID, Domain: actor.Domain, Visibility: b.Visibility, ReblogOfID: &original.ID,
			URI: b.URI, CreatedAt: store.At(b.Published),
		}
		boost.ConversationID = store.ConversationID(boost.ID) // it is no post of the original's thread
		return s.addReblog(ctx, tx, boost, original)
	})
	return boost, err
}

// addReblog stores a boost from elsewhere with all that follows from it.
func (s *Service) addReblog(ctx context.Context, tx *store.Tx, boost, original *store.Status) error {
	if err := tx.AddStatus(ctx, boost); err != nil {
		return err
	}
	if err := tx.FanOut(ctx, boost, original); err != nil {
		return err
	}
	if original.Local() {
		n := store.Notification{AccountID: original.AccountID, Type: store.NotifyReblog, FromID: boost.AccountID}
		if err := notify(ctx, tx, n, original); err != nil {
			return err
		}
	}
	tx.Emit(store.StatusPosted{Status: boost})
	return nil
}

// updateOriginal runs fn on the status that actor sees under an id, or on what that boosts, in a transaction, and returns it.
func (s *Service) updateOriginal(ctx context.Context, actor *store.Account, id store.StatusID, fn func(*store.Tx, *store.Status) error) (*store.Status, error) {
	var st *store.Status
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		var visible bool
		var err error
		if st, visible, err = original(ctx, tx, actor, id); err != nil {
			return err
		}
		if !visible {
			return errs.ErrRecordNotFound
		}
		return fn(tx, st)
	})
	return st, err
}

// undoOnOriginal is updateOriginal for taking back what actor did: that is possible with a status that has become invisible, too,
// but the answer does not tell of it. fn does nothing if there is nothing to take back.
func (s *Service) undoOnOriginal(ctx context.Context, actor *store.Account, id store.StatusID, fn func(*store.Tx, *store.Status) error) (*store.Status, error) {
	var st *store.Status
	var visible bool
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		var err error
		if st, visible, err = original(ctx, tx, actor, id); err != nil {
			return err
		}
		return fn(tx, st)
	})
	if err == nil && !visible {
		return nil, errs.ErrRecordNotFound
	}
	return st, err
}

// original returns a status, or what it boosts, and whether actor sees the status named.
func original(ctx context.Context, tx *store.Tx, actor *store.Account, id store.StatusID) (st *store.Status, visible bool, err error) {
	if st, err = tx.Status(ctx, id); err != nil {
		return nil, false, err
	}
	if visible, err = tx.CanSee(ctx, actor.ID, st); err != nil || st.ReblogOfID == nil {
		return st, visible, err
	}
	st, err = tx.Status(ctx, *st.ReblogOfID)
	return st, visible, err
}
