package social

import (
	"context"
	"time"

	"svc/policy"
	"svc/store"
)

// newAccountAge is the age below which an account is new to a notification policy.
const newAccountAge = 30 * 24 * time.Hour

// NotificationPolicyChange has the actions to change; nil ones stay.
type NotificationPolicyChange struct {
	ForNotFollowing    *store.NotificationAction
	ForNotFollowers    *store.NotificationAction
	ForNewAccounts     *store.NotificationAction
	ForPrivateMentions *store.NotificationAction
	ForLimitedAccounts *store.NotificationAction
}

// ChangeNotificationPolicy changes what happens to notifications from now on.
func (s *Service) ChangeNotificationPolicy(ctx context.Context, owner *store.Account, c NotificationPolicyChange) (*store.NotificationPolicy, error) {
	var p *store.NotificationPolicy
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		var err error
		if p, err = tx.NotificationPolicy(ctx, owner.ID); err != nil {
			return err
		}
		setIfPresent(&p.ForNotFollowing, c.ForNotFollowing)
		setIfPresent(&p.ForNotFollowers, c.ForNotFollowers)
		setIfPresent(&p.ForNewAccounts, c.ForNewAccounts)
		setIfPresent(&p.ForPrivateMentions, c.ForPrivateMentions)
		setIfPresent(&p.ForLimitedAccounts, c.ForLimitedAccounts)
		return tx.SaveNotificationPolicy(ctx, p)
	})
	return p, err
}

// notificationAction returns what the recipient's policy does with a notification: the strictest action of those that apply. Accounts that the recipient has accepted, and staff of this server, are exempt. PolicyDrop for
// accounts that are not followed is the setting block_from_strangers, which notify has checked.
func notificationAction(ctx context.Context, tx *store.Tx, n *store.Notification, about *store.Status, follows bool) (store.NotificationAction, error) {
	if n.Type.Kind().Rule != store.ByPolicy {
		return store.PolicyAccept, nil
	}
	p, err := tx.NotificationPolicy(ctx, n.AccountID)
	if err != nil {
		return 0, err
	}
	if exempt, err := tx.NotificationExempt(ctx, n.AccountID, n.FromID); exempt || err != nil {
		return store.PolicyAccept, err
	}
	action := store.PolicyAccept
	if p.ForNotFollowers > action {
		followed, err := tx.Follows(ctx, n.FromID, n.AccountID)
		if err != nil {
			return 0, err
		}
		if !followed {
			action = p.ForNotFollowers
		}
	}
	if follows {
		return action, nil
	}
	action = max(action, p.ForNotFollowing)
	if n.Type == store.NotifyMention && about.Visibility == store.Direct && (about.InReplyToAccountID == nil || *about.InReplyToAccountID != n.AccountID) {
		action = max(action, p.ForPrivateMentions)
	}
	if max(p.ForNewAccounts, p.ForLimitedAccounts) <= action {
		return action, nil
	}
	from, err := tx.Account(ctx, n.FromID)
	if err != nil {
		return 0, err
	}
	if tx.Now().Sub(from.CreatedAt.Time()) < newAccountAge {
		action = max(action, p.ForNewAccounts)
	}
	if policy.Limited(from) {
		action = max(action, p.ForLimitedAccounts)
	}
	return action, nil
}

// AcceptNotificationRequests adds the notifications of requests to the list of notifications, and exempts their senders from the policy.
// It returns how many of the requests there are.
func (s *Service) AcceptNotificationRequests(ctx context.Context, owner *store.Account, ids []store.NotificationRequestID) (int, error) {
	var requests []*store.NotificationRequest
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if requests, err = tx.NotificationRequestsByID(ctx, owner.ID, ids); err != nil {
			return err
		}
		for _, q := range requests {
			if err := tx.AddNotificationPermission(ctx, owner.ID, q.FromID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(requests) == 0 {
		return 0, err
	}
	return len(requests), s.emptyRequests(ctx, owner, requests, (*store.Tx).AcceptFiltered, store.NotificationsMerged{AccountID: owner.ID})
}

// DismissNotificationRequests deletes requests with their notifications. The next filtered notification of a sender makes a new one. It
// returns how many of the requests there were.
func (s *Service) DismissNotificationRequests(ctx context.Context, owner *store.Account, ids []store.NotificationRequestID) (int, error) {
	requests, err := s.db.NotificationRequestsByID(ctx, owner.ID, ids)
	if err != nil || len(requests) == 0 {
		return 0, err
	}
	return len(requests), s.emptyRequests(ctx, owner, requests, (*store.Tx).DropFiltered)
}

// emptyRequests calls empty for the notifications of requests until there are none, deletes the requests, and emits events.
func (s *Service) emptyRequests(ctx context.Context, owner *store.Account, requests []*store.NotificationRequest,
	empty func(tx *store.Tx, ctx context.Context, account, from store.AccountID, limit int) (int64, error), events ...store.Event) error {
	ids := make([]store.NotificationRequestID, 0, len(requests))
	for _, q := range requests {
		ids = append(ids, q.ID)
		err := s.inBatches(ctx, notificationClearBatch, func(tx *store.Tx) (int64, error) {
			return empty(tx, ctx, owner.ID, q.FromID, notificationClearBatch)
		})
		if err != nil {
			return err
		}
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		for _, e := range events {
			tx.Emit(e)
		}
		return tx.CloseNotificationRequests(ctx, owner.ID, ids)
	})
}
