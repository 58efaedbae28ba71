package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

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
