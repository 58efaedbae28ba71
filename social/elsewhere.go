package social

import (
	"context"
	"slices"

	"svc/store"
)

// SetRemotePins has what somebody elsewhere has pinned to their profile pinned here. What is pinned no more is taken off.
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
			if err := ignoreNotFound(err); err != nil {
				return err
			}
			old = append(old, pin)
		}
		return nil
	})
}
