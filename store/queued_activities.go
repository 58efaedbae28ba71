package store

import (
	"context"
	"time"
)

// QueuedActivity is an activity that has come in and is not done with.
type QueuedActivity struct {
	ID          QueuedActivityID
	SignerID    AccountID  // who signed the request
	RecipientID *AccountID // in whose own inbox it came; nil: in the shared one
	ReceivedAt  Time
	RunAt       Time
	Attempts    int
	Parked      bool
	LastError   string
	Body        string // last, so that the rest is read without it
}

// QueuedActivityHeader is what there is to know of an activity that waits before its turn comes.
type QueuedActivityHeader struct {
	ID        QueuedActivityID
	SignerID  AccountID
	SignerURI string
	RunAt     Time
	Attempts  int
	Size      int // bytes of its body
}

const (
	maxQueuedActivityAttempts = 8    // how often an activity is tried that fails of something passing
	maxParkedActivities       = 2000 // activities that are kept after that: the latest
)

// AddQueuedActivity queues an activity that has come in. Its ID is set, and its times if they are 0.
func (tx *Tx) AddQueuedActivity(ctx context.Context, a *QueuedActivity) error {
	a.ID = QueuedActivityID(tx.newID())
	now := At(tx.db.now())
	if a.ReceivedAt == 0 {
		a.ReceivedAt = now
	}
	if a.RunAt == 0 {
		a.RunAt = now
	}
	_, err := tx.exec(ctx, "add received", `
		INSERT INTO queued_activities (id, signer_id, recipient_id, body, received_at, run_at)
		VALUES (?, ?, ?, ?, ?, ?)`, a.ID, a.SignerID, a.RecipientID, a.Body, a.ReceivedAt, a.RunAt)
	return err
}

// DropQueuedActivities removes activities that are done with.
func (tx *Tx) DropQueuedActivities(ctx context.Context, ids []QueuedActivityID) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.exec(ctx, "drop received", `DELETE FROM queued_activities WHERE id IN (SELECT value FROM json_each(?))`, jsonArray(ids))
	return err
}

// RecordQueuedActivityFailure has an activity that failed tried again later, with growing pauses, and parks it in the end. It returns when it is to be
// tried again, the zero time if it is parked.
func (tx *Tx) RecordQueuedActivityFailure(ctx context.Context, a *QueuedActivity, failure error) (time.Time, error) {
	attempts := a.Attempts + 1
	at := tx.db.now().Add(firstBackoff << min(attempts-1, 11))
	_, err := tx.exec(ctx, "put off received", `
		UPDATE queued_activities
		SET attempts = ?, parked = ?, last_error = ?, run_at = ?
		WHERE id = ?`, attempts, attempts >= maxQueuedActivityAttempts, truncate(failure.Error(), 1000), At(at), a.ID)
	if err != nil || attempts < maxQueuedActivityAttempts {
		return at, err
	}
	_, err = tx.exec(ctx, "trim parked", `
		DELETE FROM queued_activities
		WHERE parked = 1 AND id <= (
			SELECT id
			FROM queued_activities INDEXED BY queued_activities_parked
			WHERE parked = 1
			ORDER BY id DESC
			LIMIT 1 OFFSET ?)`, maxParkedActivities)
	return time.Time{}, err
}

// DueQueuedActivities returns activities whose time has come, in the order of that.
func (r reader) DueQueuedActivities(ctx context.Context, limit int) ([]*QueuedActivity, error) {
	return list[*QueuedActivity](ctx, r, "due received", `
		SELECT *
		FROM queued_activities INDEXED BY queued_activities_due
		WHERE parked = 0 AND run_at <= ?
		ORDER BY run_at
		LIMIT ?`, At(r.db.now()), limit)
}

// QueuedActivityHeaders returns what waits, be it that its time has not come, by id and from one on. What is given up is passed over.
func (r reader) QueuedActivityHeaders(ctx context.Context, after QueuedActivityID, limit int) ([]*QueuedActivityHeader, error) {
	return list[*QueuedActivityHeader](ctx, r, "waiting received", `
		SELECT i.id, i.signer_id, a.uri AS signer_uri, i.run_at, i.attempts, octet_length(i.body) AS size
		FROM queued_activities i
		CROSS JOIN accounts a ON a.id = i.signer_id
		WHERE i.id > ? AND +i.parked = 0
		ORDER BY i.id
		LIMIT ?`, after, limit)
}

// QueuedActivity returns an activity that has come in, and errs.ErrRecordNotFound if it is done with.
func (r reader) QueuedActivity(ctx context.Context, id QueuedActivityID) (*QueuedActivity, error) {
	a, err := one[QueuedActivity](ctx, r, "received", `SELECT * FROM queued_activities WHERE id = ?`, id)
	if a == nil && err == nil {
		err = notFound
	}
	return a, err
}
