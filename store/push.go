package store

import (
	"context"
	"slices"
)

// PushSubscription is where a push service takes messages for what somebody is signed in with, and which messages.
type PushSubscription struct {
	ID        PushID
	TokenID   TokenID
	AccountID AccountID
	Endpoint  string
	P256dh    []byte // the client's public key
	Auth      []byte // the secret that client and server share
	Token     []byte // the access token, sealed
	Alerts    JSON[[]NotificationType]
	Policy    PushPolicy
	Standard  bool // wants the encryption of RFC 8291, not that of the drafts before it
}

// PushPolicy says whose deeds are worth a message.
type PushPolicy string

const (
	PushAll      PushPolicy = "all"
	PushFollowed PushPolicy = "followed" // of those whom the account follows
	PushFollower PushPolicy = "follower" // of those who follow the account
	PushNone     PushPolicy = "none"
)

// PushNotification is the job that sends a notification to one subscription.
type PushNotification struct {
	SubscriptionID PushID         `json:"subscription_id"`
	NotificationID NotificationID `json:"notification_id"`
}

// Kind names the job.
func (PushNotification) Kind() string { return "push" }

// maxPushSubscriptions is how many subscriptions an account can have: each multiplies what a stranger's deed costs. The oldest go first.
const maxPushSubscriptions = 50

// PushSubscription returns a subscription, nil if it is no more or its token has expired.
func (r reader) PushSubscription(ctx context.Context, id PushID) (*PushSubscription, error) {
	return one[PushSubscription](ctx, r, "push subscription", `
		SELECT p.*
		FROM push_subscriptions p
		CROSS JOIN oauth_tokens t ON t.id = p.token_id
		WHERE p.id = ? AND (t.expires_at IS NULL OR t.expires_at > ?)`, id, At(r.db.now()))
}

// PushSubscriptionOf returns the subscription that belongs to a token, and errs.ErrRecordNotFound if there is none.
func (r reader) PushSubscriptionOf(ctx context.Context, token TokenID) (*PushSubscription, error) {
	p, err := one[PushSubscription](ctx, r, "push subscription of a token", `SELECT * FROM push_subscriptions WHERE token_id = ?`, token)
	if p == nil && err == nil {
		err = notFound
	}
	return p, err
}

// PushSubscriber is what it takes to know whether a subscription wants a notification.
type PushSubscriber struct {
	ID     PushID
	Alerts JSON[[]NotificationType]
	Policy PushPolicy
}

// Wants tells whether notifications of a type are wanted.
func (p PushSubscriber) Wants(t NotificationType) bool { return slices.Contains(p.Alerts.V, t) }

// PushSubscribers returns an account's subscriptions.
func (r reader) PushSubscribers(ctx context.Context, account AccountID) ([]PushSubscriber, error) {
	return list[PushSubscriber](ctx, r, "push subscriptions", `
		SELECT id, alerts, policy
		FROM push_subscriptions INDEXED BY push_subscriptions_account
		WHERE account_id = ?`, account)
}

// SetPushSubscription stores a subscription in place of the one that its token had. Its ID is set.
func (tx *Tx) SetPushSubscription(ctx context.Context, p *PushSubscription) error {
	p.ID = PushID(tx.newID())
	if _, err := tx.exec(ctx, "set push subscription", `
		INSERT OR REPLACE INTO push_subscriptions (id, token_id, account_id, endpoint, p256dh, auth, token, alerts, policy, standard)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		p.ID, p.TokenID, p.AccountID, p.Endpoint, p.P256dh, p.Auth, p.Token, p.Alerts, p.Policy, p.Standard); err != nil {
		return err
	}
	_, err := tx.exec(ctx, "trim push subscriptions", `
		DELETE FROM push_subscriptions
		WHERE id IN (
			SELECT id
			FROM push_subscriptions
			WHERE account_id = ?
			ORDER BY id DESC
			LIMIT -1 OFFSET ?)`, p.AccountID, maxPushSubscriptions)
	return err
}

// SavePushAlerts writes which messages a subscription is for.
func (tx *Tx) SavePushAlerts(ctx context.Context, p *PushSubscription) error {
	_, err := tx.exec(ctx, "save push wishes", `UPDATE push_subscriptions SET alerts = ?, policy = ? WHERE id = ?`, p.Alerts, p.Policy, p.ID)
	return err
}

// RenewPushToken gives the subscription of a token, if it has one, the token's new form, sealed.
func (tx *Tx) RenewPushToken(ctx context.Context, token TokenID, sealed []byte) error {
	_, err := tx.exec(ctx, "renew push token", `UPDATE push_subscriptions SET token = ? WHERE token_id = ?`, sealed, token)
	return err
}

// RemovePushSubscription removes a subscription, if it is still there.
func (tx *Tx) RemovePushSubscription(ctx context.Context, id PushID) error {
	_, err := tx.exec(ctx, "remove push subscription", `DELETE FROM push_subscriptions WHERE id = ?`, id)
	return err
}

// RemovePushSubscriptionOf removes the subscription of a token, if it has one.
func (tx *Tx) RemovePushSubscriptionOf(ctx context.Context, token TokenID) error {
	_, err := tx.exec(ctx, "remove push subscription", `DELETE FROM push_subscriptions WHERE token_id = ?`, token)
	return err
}
