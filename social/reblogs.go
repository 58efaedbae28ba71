package social

import (
	"context"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// Reblog reblogs a status, or the original of a reblog. Doing so twice returns the first reblog. v is public, unlisted, local or
// private; nil is the actor's default, or private if that has recipients only. Private statuses can be reblogged by their author only and stay private; local ones stay local.
func (s *Service) Reblog(ctx context.Context, actor *store.Account, id store.StatusID, v *store.Visibility) (*store.Status, error) {
	var reblog *store.Status
	_, err := s.updateOriginal(ctx, actor, id, func(tx *store.Tx, original *store.Status) (err error) {
		if reblog, err = tx.Reblog(ctx, actor.ID, original.ID); err != nil || reblog != nil {
			return err
		}
		if reblog, err = s.newReblog(ctx, tx, actor, original, v); err != nil {
			return err
		}
		a, err := checkInteraction(ctx, tx, actor, original, store.Reblogging)
		if err != nil {
			return err
		}
		if err := s.addReblogAs(ctx, tx, actor, reblog, original, a, ""); err != nil || !reblog.Federated() {
			return err
		}
		if a == needsApproval && original.Local() {
			return nil // until the author approves it
		}
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.ReblogCreated, ActorID: actor.ID, StatusID: reblog.ID})
	})
	return reblog, err
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
	case visibility > store.Private: // by default; a boost has no recipients
		visibility = store.Private
	}
	id := tx.NewStatusID()
	return &store.Status{
		ID:             id,
		AccountID:      actor.ID,
		Domain:         actor.Domain,
		Visibility:     visibility,
		ReblogOfID:     &original.ID,
		ConversationID: store.ConversationID(id), // a reblog is not part of the original's thread
		URI:            store.NewActivityURI(s.Settings.BaseURL, id),
		Unfederated:    original.Unfederated,
	}, nil
}

// Unreblog removes a reblog with its notification. It returns the original.
func (s *Service) Unreblog(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	return s.undoOnOriginal(ctx, actor, id, func(tx *store.Tx, original *store.Status) error {
		reblog, err := tx.Reblog(ctx, actor.ID, original.ID)
		if err != nil || reblog == nil {
			return err
		}
		return deleteStatus(ctx, tx, reblog)
	})
}

// IncomingReblog is a reblog by a remote account.
type IncomingReblog struct {
	URI        string
	Visibility store.Visibility
	Published  time.Time
	Request    string // id of the AnnounceRequest; "": there was none
}

// ReceiveReblog stores a reblog by a remote actor. A private status can be reblogged by its author only and stays private. A second
// reblog of the same status returns the first.
func (s *Service) ReceiveReblog(ctx context.Context, actor *store.Account, id store.StatusID, b IncomingReblog) (*store.Status, error) {
	var refused error
	st, err := update(ctx, s.db, func(tx *store.Tx) (*store.Status, error) {
		original, err := tx.Status(ctx, id)
		if err != nil {
			return nil, err
		}
		visible, err := tx.CanSee(ctx, actor.ID, original)
		switch {
		case err != nil:
			return nil, err
		case !visible, original.ReblogOfID != nil, original.Visibility > store.Private, original.Visibility == store.Local,
			original.Visibility == store.Private && original.AccountID != actor.ID:
			return nil, errs.ErrRecordNotFound
		case original.Visibility == store.Private:
			b.Visibility = store.Private
		}
		if err := checkNotBlocked(ctx, tx, actor, original); err != nil {
			return nil, err
		}
		a, err := checkInteraction(ctx, tx, actor, original, store.Reblogging)
		if err != nil {
			return nil, err
		}
		if a == forbidden {
			refused = forbiddenInteractions[store.Reblogging]
			return nil, rejectInteraction(ctx, tx, actor, original, store.InteractionRequest{Interaction: store.Reblogging, URI: b.URI, RequestURI: b.Request})
		}
		known, existingID, err := tx.ReblogURIState(ctx, b.URI, actor, original.ID)
		switch {
		case err != nil:
			return nil, err
		case existingID != 0:
			if err := answerAgain(ctx, tx, actor, &b.URI, b.Request); err != nil {
				return nil, err
			}
			return tx.Status(ctx, existingID)
		case known:
			return nil, ErrDeleted
		}
		reblog := &store.Status{
			ID: tx.NewStatusID(), AccountID: actor.ID, Domain: actor.Domain, Visibility: b.Visibility, ReblogOfID: &original.ID,
			URI: b.URI, CreatedAt: store.At(b.Published),
		}
		reblog.ConversationID = store.ConversationID(reblog.ID) // a reblog is not part of the original's thread
		return reblog, s.addReblogAs(ctx, tx, actor, reblog, original, a, b.Request)
	})
	if err == nil {
		err = refused
	}
	return st, err
}

// addReblogAs is addReblog for what the policy of the original says.
func (s *Service) addReblogAs(ctx context.Context, tx *store.Tx, actor *store.Account, reblog, original *store.Status, a approval, request string) error {
	if a == needsApproval {
		hold(reblog)
	}
	if err := addReblog(ctx, tx, reblog, original); err != nil || !original.Local() || a == allowed && request == "" {
		return err
	}
	q := store.InteractionRequest{Interaction: store.Reblogging, InteractingID: &reblog.ID, URI: reblog.URI, RequestURI: request}
	return s.addInteractionRequest(ctx, tx, actor, original, q, a)
}

// notifyReblogged notifies the local author of a status of a reblog that does not wait for approval.
func notifyReblogged(ctx context.Context, tx *store.Tx, reblog, original *store.Status) error {
	if !original.Local() || reblog.PendingVisibility != nil {
		return nil
	}
	n := store.Notification{AccountID: original.AccountID, Type: store.NotifyReblog, FromID: reblog.AccountID}
	return notify(ctx, tx, n, original)
}

// addReblog stores a reblog with its consequences on this server.
func addReblog(ctx context.Context, tx *store.Tx, reblog, original *store.Status) error {
	if err := tx.AddStatus(ctx, reblog); err != nil {
		return err
	}
	if err := tx.FanOut(ctx, reblog, original); err != nil {
		return err
	}
	if err := notifyReblogged(ctx, tx, reblog, original); err != nil {
		return err
	}
	tx.Emit(store.StatusPosted{Status: reblog})
	return nil
}

// updateOriginal runs fn in a transaction on a status that actor can see, or on the original of a reblog, and returns it.
func (s *Service) updateOriginal(ctx context.Context, actor *store.Account, id store.StatusID, fn func(*store.Tx, *store.Status) error) (*store.Status, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.Status, error) {
		st, visible, err := original(ctx, tx, actor, id)
		if err == nil && !visible {
			err = errs.ErrRecordNotFound
		}
		if err != nil {
			return nil, err
		}
		return st, fn(tx, st)
	})
}

// undoOnOriginal is updateOriginal for undoing what actor did. It also works on a status that has become invisible, but then returns not
// found. fn does nothing if there is nothing to undo.
func (s *Service) undoOnOriginal(ctx context.Context, actor *store.Account, id store.StatusID, fn func(*store.Tx, *store.Status) error) (*store.Status, error) {
	var st *store.Status
	var visible bool
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
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

// original returns a status, or the original of a reblog, and whether actor can see the status with this id.
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
