package social

import (
	"context"

	"svc/store"
)

// SetPushSubscription replaces the push subscription of a token.
func (s *Service) SetPushSubscription(ctx context.Context, p *store.PushSubscription) error {
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.SetPushSubscription(ctx, p) })
}

// UpdatePushSubscription applies change to alerts and policy of the subscription of a token.
func (s *Service) UpdatePushSubscription(ctx context.Context, token store.TokenID, change func(*store.PushSubscription)) (*store.PushSubscription, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.PushSubscription, error) {
		p, err := tx.PushSubscriptionOf(ctx, token)
		if err != nil {
			return nil, err
		}
		change(p)
		return p, tx.SavePushAlerts(ctx, p)
	})
}

// RemovePushSubscription removes the subscription of a token. A missing one is not an error.
func (s *Service) RemovePushSubscription(ctx context.Context, token store.TokenID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.RemovePushSubscriptionOf(ctx, token) })
}

// DropPushSubscription removes a subscription that its push service has ended.
func (s *Service) DropPushSubscription(ctx context.Context, id store.PushID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.RemovePushSubscription(ctx, id) })
}

// enqueuePush enqueues a job for each push subscription that wants the notification. followed is true if the recipient follows the
// sender.
func enqueuePush(ctx context.Context, tx *store.Tx, n *store.Notification, followed bool) error {
	subscribers, err := tx.PushSubscribers(ctx, n.AccountID)
	if err != nil {
		return err
	}
	for _, p := range subscribers {
		if !p.Wants(n.Type) {
			continue
		}
		wanted := p.Policy == store.PushAll || n.FromID == n.AccountID && p.Policy != store.PushNone
		switch p.Policy {
		case store.PushFollowed:
			wanted = wanted || followed
		case store.PushFollower:
			follows, err := tx.Follows(ctx, n.FromID, n.AccountID)
			if err != nil {
				return err
			}
			wanted = wanted || follows
		}
		if !wanted {
			continue
		}
		if err := tx.Enqueue(ctx, store.PushNotification{SubscriptionID: p.ID, NotificationID: n.ID}); err != nil {
			return err
		}
	}
	return nil
}
