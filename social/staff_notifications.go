package social

import (
	"context"

	"svc/store"
)

// notifyStaff notifies the staff with the privilege of a type of notifications, whatever their notification settings, except the account that causes
// it. Staff who block or mute that account do not see the notification.
func (s *Service) notifyStaff(ctx context.Context, tx *store.Tx, n store.Notification) error {
	staff, err := s.staffWith(ctx, tx, n.Type.Kind().Privilege)
	if err != nil {
		return err
	}
	for _, id := range staff {
		if id == n.FromID {
			continue
		}
		of := n
		of.AccountID = id
		if err := addDuty(ctx, tx, &of); err != nil {
			return err
		}
	}
	return nil
}

// addDuty adds a notification for one of the staff, and its push messages.
func addDuty(ctx context.Context, tx *store.Tx, n *store.Notification) error {
	added, err := tx.AddNotification(ctx, n)
	if err != nil || !added {
		return err
	}
	tx.Emit(store.NotificationAdded{Notification: n})
	relation, err := tx.NotificationRelation(ctx, n.AccountID, n.FromID, 0)
	if err != nil || !relation.HasPushSubscriptions || relation.Blocks || relation.MutesNotifications {
		return err
	}
	return enqueuePush(ctx, tx, n, relation.Follows)
}
