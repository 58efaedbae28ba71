package entity

import (
	"context"
	"strconv"

	"svc/store"
)

// NotificationPolicy is what happens to notifications by accounts of some kinds.
type NotificationPolicy struct {
	ForNotFollowing    store.NotificationAction `json:"for_not_following"`
	ForNotFollowers    store.NotificationAction `json:"for_not_followers"`
	ForNewAccounts     store.NotificationAction `json:"for_new_accounts"`
	ForPrivateMentions store.NotificationAction `json:"for_private_mentions"`
	ForLimitedAccounts store.NotificationAction `json:"for_limited_accounts"`
	Summary            PolicySummary            `json:"summary"`
}

// PolicySummary counts what a policy has filtered, up to 1000.
type PolicySummary struct {
	PendingRequests      int `json:"pending_requests_count"`
	PendingNotifications int `json:"pending_notifications_count"`
}

// NotificationPolicyV1 is the first version of NotificationPolicy.
type NotificationPolicyV1 struct {
	FilterNotFollowing    bool          `json:"filter_not_following"`
	FilterNotFollowers    bool          `json:"filter_not_followers"`
	FilterNewAccounts     bool          `json:"filter_new_accounts"`
	FilterPrivateMentions bool          `json:"filter_private_mentions"`
	Summary               PolicySummary `json:"summary"`
}

// NewNotificationPolicy returns a policy.
func NewNotificationPolicy(p *store.NotificationPolicy, filtered store.FilteredCounts) NotificationPolicy {
	return NotificationPolicy{
		p.ForNotFollowing, p.ForNotFollowers, p.ForNewAccounts, p.ForPrivateMentions, p.ForLimitedAccounts,
		PolicySummary{filtered.Requests, filtered.Notifications},
	}
}

// V1 returns the first version, which does not tell filtering from dropping.
func (p NotificationPolicy) V1() NotificationPolicyV1 {
	return NotificationPolicyV1{
		FilterNotFollowing:    p.ForNotFollowing != store.PolicyAccept,
		FilterNotFollowers:    p.ForNotFollowers != store.PolicyAccept,
		FilterNewAccounts:     p.ForNewAccounts != store.PolicyAccept,
		FilterPrivateMentions: p.ForPrivateMentions != store.PolicyAccept,
		Summary:               p.Summary,
	}
}

// NotificationRequest is an account whose notifications the viewer has filtered.
type NotificationRequest struct {
	ID                 store.NotificationRequestID `json:"id"`
	CreatedAt          store.Time                  `json:"created_at"`
	UpdatedAt          store.Time                  `json:"updated_at"`
	NotificationsCount string                      `json:"notifications_count"`
	Account            Account                     `json:"account"`
	LastStatus         *Status                     `json:"last_status"` // null: there is none, or the viewer may not see it
}

// NotificationRequests renders a page of requests to the viewer.
func (b *Builder) NotificationRequests(ctx context.Context, viewer *store.Account, rows []*store.NotificationRequestSummary) ([]*NotificationRequest, error) {
	var accountIDs []store.AccountID
	var statusIDs []store.StatusID
	for _, row := range rows {
		accountIDs = append(accountIDs, row.FromID)
		if row.LastStatusID != nil {
			statusIDs = append(statusIDs, *row.LastStatusID)
		}
	}
	accountOf, err := b.loadAccounts(ctx, accountIDs)
	if err != nil {
		return nil, err
	}
	if statusIDs, err = b.db.VisibleIDs(ctx, idOf(viewer), statusIDs); err != nil {
		return nil, err
	}
	statuses, err := b.Statuses(ctx, viewer, unique(statusIDs))
	if err != nil {
		return nil, err
	}
	statusOf := byID(statuses, (*Status).ID)
	list := make([]*NotificationRequest, 0, len(rows))
	for _, row := range rows {
		q := &NotificationRequest{
			ID:                 row.ID,
			CreatedAt:          store.At(row.ID.Time()),
			UpdatedAt:          store.At(row.NewestID.Time()),
			NotificationsCount: strconv.Itoa(row.Count),
			Account:            accountOf[row.FromID],
		}
		if row.LastStatusID != nil {
			q.LastStatus = statusOf[*row.LastStatusID]
		}
		if q.Account.cachedAccount != nil {
			list = append(list, q)
		}
	}
	return list, nil
}
