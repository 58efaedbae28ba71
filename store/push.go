package store

import (
	"context"
	"slices"

	"svc/internal/enum"
)

// PushSubscription is the web push subscription of a token.
type PushSubscription struct {
	ID        PushID
	TokenID   TokenID
	AccountID AccountID
	Endpoint  string
	P256dh    []byte // of the client
	Auth      []byte // shared with the client
	Token     []byte // the access token, sealed
	Alerts    JSON[[]NotificationType]
	Policy    PushPolicy
	Standard  bool // encrypted by RFC 8291, not by one of its drafts
}

// PushPolicy selects the accounts whose actions are pushed.
type PushPolicy string

const (
	PushAll      PushPolicy = "all"
	PushFollowed PushPolicy = "followed" // followed by the account
	PushFollower PushPolicy = "follower" // followers of the account
	PushNone     PushPolicy = "none"
)

// UnmarshalText reads a policy.
func (p *PushPolicy) UnmarshalText(b []byte) error {
	return enum.Read(p, b, PushAll, PushFollowed, PushFollower, PushNone)
}

// PushNotification is the job that sends a notification to one subscription.
type PushNotification struct {
	SubscriptionID PushID         `json:"subscription_id"`
	NotificationID NotificationID `json:"notification_id"`
}

func (j PushNotification) Kind() JobKind {
	return JobKind{Name: "push", Server: serverBy(`SELECT endpoint FROM push_subscriptions WHERE id = ?`, j.SubscriptionID)}
}

// maxPushSubscriptions bounds the subscriptions of an account, because a remote action causes one message for each. The oldest are deleted.
const maxPushSubscriptions = 50

// PushSubscription returns a subscription, nil if it is gone or its token has expired.
func (r reader) PushSubscription(ctx context.Context, id PushID) (*PushSubscription, error) {
	return one[PushSubscription](ctx, r, "push subscription", `
		SELECT p.*
		FROM push_subscriptions p
		CROSS JOIN oauth_tokens t ON t.id = p.token_id
		WHERE p.id = ? AND (t.expires_at IS NULL OR t.expires_at > ?)`, id, At(r.db.now()))
}

// PushSubscriptionOf returns the subscription of a token, and errs.ErrRecordNotFound if there is none.
func (r reader) PushSubscriptionOf(ctx context.Context, token TokenID) (*PushSubscription, error) {
	return get[PushSubscription](ctx, r, "push subscription of a token", `SELECT * FROM push_subscriptions WHERE token_id = ?`, token)
}

// PushSubscriber is what decides whether a subscription wants a notification.
type PushSubscriber struct {
	ID     PushID
	Alerts JSON[[]NotificationType]
	Policy PushPolicy
}

// Wants returns true if notifications of a type are wanted.
func (p PushSubscriber) Wants(t NotificationType) bool { return slices.Contains(p.Alerts.V, t) }

// PushSubscribers returns an account's subscriptions.
func (r reader) PushSubscribers(ctx context.Context, account AccountID) ([]PushSubscriber, error) {
	return list[PushSubscriber](ctx, r, "push subscriptions", `
		SELECT id, alerts, policy
		FROM push_subscriptions INDEXED BY push_subscriptions_account
		WHERE account_id = ?`, account)
}

// SetPushSubscription inserts or replaces the subscription of a token. Its ID is set.
func (tx *Tx) SetPushSubscription(ctx context.Context, p *PushSubscription) error {
	p.ID = PushID(tx.newID())
	if err := tx.exec(ctx, "set push subscription", insertPushSubscription.text, insertPushSubscription.args(p)...); err != nil {
		return err
	}
	return tx.exec(ctx, "trim push subscriptions", `
		DELETE FROM push_subscriptions
		WHERE id IN (
			SELECT id
			FROM push_subscriptions
			WHERE account_id = ?
			ORDER BY id DESC
			LIMIT -1 OFFSET ?)`, p.AccountID, maxPushSubscriptions)
}

// SavePushAlerts writes which notifications a subscription wants.
func (tx *Tx) SavePushAlerts(ctx context.Context, p *PushSubscription) error {
	return tx.exec(ctx, "save push alerts", `UPDATE push_subscriptions SET alerts = ?, policy = ? WHERE id = ?`, p.Alerts, p.Policy, p.ID)
}

// RemovePushSubscription deletes a subscription. It is not an error if there is none.
func (tx *Tx) RemovePushSubscription(ctx context.Context, id PushID) error {
	return tx.exec(ctx, "remove push subscription", `DELETE FROM push_subscriptions WHERE id = ?`, id)
}

// RemovePushSubscriptionOf deletes the subscription of a token, if it has one.
func (tx *Tx) RemovePushSubscriptionOf(ctx context.Context, token TokenID) error {
	return tx.exec(ctx, "remove push subscription", `DELETE FROM push_subscriptions WHERE token_id = ?`, token)
}
