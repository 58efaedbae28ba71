package store

import (
	"context"
	"fmt"

	"svc/internal/enum"
)

// NotificationAction is what a policy does with notifications.
type NotificationAction int

const (
	PolicyAccept NotificationAction = iota
	PolicyFilter                    // they wait for the recipient's consent
	PolicyDrop
)

var notificationActionNames = []string{"accept", "filter", "drop"}

// String returns the client API's name.
func (a NotificationAction) String() string {
	if a < 0 || int(a) >= len(notificationActionNames) {
		return fmt.Sprintf("notificationaction(%d)", int(a))
	}
	return notificationActionNames[a]
}

// MarshalText is String for JSON.
func (a NotificationAction) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the client API's name.
func (a *NotificationAction) UnmarshalText(b []byte) error {
	i, err := enum.Index(b, notificationActionNames)
	if err == nil {
		*a = NotificationAction(i)
	}
	return err
}

// NotificationPolicy is what happens to notifications caused by accounts of some kinds.
type NotificationPolicy struct {
	AccountID          AccountID          // the recipient
	ForNotFollowing    NotificationAction // accounts that the recipient does not follow; PolicyDrop is User.BlockFromStrangers
	ForNotFollowers    NotificationAction // accounts that do not follow the recipient
	ForNewAccounts     NotificationAction
	ForPrivateMentions NotificationAction // direct statuses that answer none of the recipient's
	ForLimitedAccounts NotificationAction // accounts that staff have limited
}

// NotificationPolicy returns the policy of a local account, and errs.ErrRecordNotFound if there is none.
func (r reader) NotificationPolicy(ctx context.Context, id AccountID) (*NotificationPolicy, error) {
	p, err := one[NotificationPolicy](ctx, r, "notification policy", `
		SELECT u.account_id,
			CASE WHEN u.block_from_strangers THEN 2 ELSE ifnull(p.for_not_following, 0) END AS for_not_following,
			ifnull(p.for_not_followers, 0) AS for_not_followers,
			ifnull(p.for_new_accounts, 0) AS for_new_accounts,
			ifnull(p.for_private_mentions, 0) AS for_private_mentions,
			ifnull(p.for_limited_accounts, 0) AS for_limited_accounts
		FROM users u
		LEFT JOIN notification_policies p ON p.account_id = u.account_id
		WHERE u.account_id = ?`, id)
	if p == nil && err == nil {
		err = notFound
	}
	return p, err
}

// SaveNotificationPolicy stores a policy. One that accepts everything has no row, so that nothing is looked up for it.
func (tx *Tx) SaveNotificationPolicy(ctx context.Context, p *NotificationPolicy) error {
	drops := p.ForNotFollowing == PolicyDrop
	if err := tx.exec(ctx, "set block_from_strangers", `
		UPDATE users
		SET block_from_strangers = ?
		WHERE account_id = ?`, drops, p.AccountID); err != nil {
		return err
	}
	tx.invalidateAccount(p.AccountID)
	row := *p
	if drops {
		row.ForNotFollowing = PolicyAccept
	}
	if row == (NotificationPolicy{AccountID: p.AccountID}) {
		return tx.exec(ctx, "remove notification policy", `DELETE FROM notification_policies WHERE account_id = ?`, p.AccountID)
	}
	return tx.exec(ctx, "save notification policy", saveNotificationPolicy.text, saveNotificationPolicy.args(&row)...)
}

// NotificationExempt returns true if the policy of account does not apply to from: it is permitted, or staff of this server.
func (r reader) NotificationExempt(ctx context.Context, account, from AccountID) (bool, error) {
	return r.exists(ctx, `
		SELECT 1 FROM notification_permissions WHERE account_id = ?1 AND target_id = ?2
		UNION ALL
		SELECT 1 FROM users WHERE account_id = ?2 AND (is_admin = 1 OR is_moderator = 1)`, account, from)
}
