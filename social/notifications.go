package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// maxReadNotifications is how many notifications are told to have been read at most (spec 8).
const maxReadNotifications = 80

// notificationClearBatch is how many notifications go in one transaction, so that others can write in between.
const notificationClearBatch = 1000

// ReadNotification marks one notification as read.
func (s *Service) ReadNotification(ctx context.Context, reader *store.Account, id store.NotificationID) (*store.Notification, error) {
	var n *store.Notification
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		var err error
		if n, err = tx.Notification(ctx, reader.ID, id); err != nil {
			return err
		}
		n.Read = true
		return tx.ReadNotification(ctx, reader.ID, id)
	})
	return n, err
}

// ReadNotificationsUpTo marks all notifications up to one as read and moves the marker there. It returns the newest of those
// that had not been read, 80 at most.
func (s *Service) ReadNotificationsUpTo(ctx context.Context, reader *store.Account, id store.NotificationID) ([]*store.Notification, error) {
	var list []*store.Notification
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		ids, err := tx.ReadNotifications(ctx, reader.ID, id, maxReadNotifications)
		if err != nil {
			return err
		}
		if len(ids) > 0 {
			if _, err := tx.MoveMarker(ctx, reader.ID, "notifications", int64(ids[0])); err != nil {
				return err
			}
		}
		list, err = tx.NotificationsByID(ctx, reader.ID, ids)
		return err
	})
	return list, err
}

// DismissNotifications removes the reader's notifications of these ids; others are left alone. It tells how many there were.
func (s *Service) DismissNotifications(ctx context.Context, reader *store.Account, ids []store.NotificationID) (int64, error) {
	var n int64
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		n, err = tx.DismissNotifications(ctx, reader.ID, ids)
		return err
	})
	return n, err
}

// ClearNotifications removes all of the reader's notifications.
func (s *Service) ClearNotifications(ctx context.Context, reader *store.Account) error {
	for {
		var n int64
		err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
			n, err = tx.ClearNotifications(ctx, reader.ID, notificationClearBatch)
			return err
		})
		if err != nil || n < notificationClearBatch {
			return err
		}
	}
}

// MoveMarker notes how far somebody has read a timeline: "home" or "notifications". A marker never moves back. Notifications up to
// theirs count as read.
func (s *Service) MoveMarker(ctx context.Context, reader *store.Account, timeline string, to int64) (*store.Marker, error) {
	if to < 0 || timeline != "home" && timeline != "notifications" {
		return nil, errs.Invalid("Validation failed: Timeline is not included in the list")
	}
	var m *store.Marker
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		if timeline == "notifications" {
			if _, err := tx.ReadNotifications(ctx, reader.ID, store.NotificationID(to), 1); err != nil {
				return err
			}
		}
		var err error
		m, err = tx.MoveMarker(ctx, reader.ID, timeline, to)
		return err
	})
	return m, err
}
