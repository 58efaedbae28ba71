package social

import (
	"context"
	"slices"

	"svc/internal/errs"
	"svc/store"
)

// Pin pins a public or unlisted status of actor's to its profile. Pinned statuses do not expire. Pinning twice is not an error, even at
// the limit.
func (s *Service) Pin(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	return s.updateOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		if st.AccountID != actor.ID {
			return errs.Invalid("Someone else's status cannot be pinned")
		}
		tooMany := errs.Invalid("You have already pinned the maximum number of statuses")
		if added, err := addPin(ctx, tx, st, s.Settings.Load().Statuses.MaxPinned, tooMany); !added || err != nil {
			return err
		}
		if err := tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.PinCreated, ActorID: actor.ID, StatusID: st.ID}); err != nil {
			return err
		}
		return tx.DropJob(ctx, expiryKey(st.ID))
	})
}

// Unpin removes a pin. A status with an expiry expires again.
func (s *Service) Unpin(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	return s.updateOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		if st.AccountID != actor.ID {
			return nil
		}
		removed, err := tx.RemovePin(ctx, st.ID)
		if err != nil || !removed {
			return err
		}
		if err := tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.PinDeleted, ActorID: actor.ID, StatusID: st.ID}); err != nil || st.ExpiresAt == nil {
			return err
		}
		return enqueueExpiry(ctx, tx, st)
	})
}

// maxRemotePins is how many pins of a remote account are stored (federation 4.14).
const maxRemotePins = 50

// ReceivePin adds or removes a pin of a remote author.
func (s *Service) ReceivePin(ctx context.Context, author *store.Account, id store.StatusID, pin bool) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		st, err := tx.Status(ctx, id)
		if err != nil {
			return err
		}
		if st.AccountID != author.ID || st.ReblogOfID != nil {
			return errs.Invalid("Someone else's status cannot be pinned")
		}
		if !pin {
			_, err := tx.RemovePin(ctx, st.ID)
			return err
		}
		_, err = addPin(ctx, tx, st, maxRemotePins, errs.Invalid("No more statuses can be pinned"))
		return err
	})
}

// addPin pins a public or unlisted status to its author's profile, or returns tooMany if limit is reached. added is false if it is pinned
// already.
func addPin(ctx context.Context, tx *store.Tx, st *store.Status, limit int, tooMany error) (added bool, err error) {
	if st.Visibility != store.Public && st.Visibility != store.Unlisted {
		return false, errs.Invalid("Non-public status cannot be pinned")
	}
	if pinned, err := tx.Pinned(ctx, st.ID); pinned || err != nil {
		return false, err
	}
	n, err := tx.CountPins(ctx, st.AccountID)
	if err != nil {
		return false, err
	}
	if n >= limit {
		return false, tooMany
	}
	return true, tx.AddPin(ctx, st)
}

// SetRemotePins replaces the pins of a remote account.
func (s *Service) SetRemotePins(ctx context.Context, id store.AccountID, pins []store.StatusID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		old, err := tx.PinsOf(ctx, id)
		if err != nil {
			return err
		}
		for _, pin := range old {
			if slices.Contains(pins, pin) {
				continue
			}
			if _, err := tx.RemovePin(ctx, pin); err != nil {
				return err
			}
		}
		for _, pin := range pins {
			if slices.Contains(old, pin) {
				continue
			}
			st, err := tx.Status(ctx, pin)
			if err == nil && st.AccountID == id {
				err = tx.AddPin(ctx, st)
			}
			if err := errs.IgnoreNotFound(err); err != nil {
				return err
			}
			old = append(old, pin)
		}
		return nil
	})
}
