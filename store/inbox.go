package store

import (
	"context"
	"time"
)

// Received is an activity that has come in and is not done with.
type Received struct {
	ID          ReceivedID
	SignerID    AccountID  // who signed the request
	RecipientID *AccountID // in whose own inbox it came; nil: in the shared one
	ReceivedAt  Time
	RunAt       Time
	Attempts    int
	Parked      bool
	LastError   string
	Body        string // last, so that the rest is read without it
}

// ReceivedHead is what there is to know of an activity that waits before its turn comes.
type ReceivedHead struct {
	ID        ReceivedID
	SignerID  AccountID
	SignerURI string
	RunAt     Time
	Attempts  int
	Size      int // bytes of its body
}

const (
	receivedTries = 8    // how often an activity is tried that fails of something passing
	maxParked     = 2000 // activities that are kept after that: the latest
)

// AddReceived queues an activity that has come in. Its ID is set, and its times if they are 0.
func (tx *Tx) AddReceived(ctx context.Context, a *Received) error {
	a.ID = ReceivedID(tx.newID())
	now := At(tx.db.now())
	if a.ReceivedAt == 0 {
		a.ReceivedAt = now
	}
	if a.RunAt == 0 {
		a.RunAt = now
	}
	_, err := tx.exec(ctx, "add received", `
		INSERT INTO inbox (id, signer_id, recipient_id, body, received_at, run_at)
		VALUES (?, ?, ?, ?, ?, ?)`, a.ID, a.SignerID, a.RecipientID, a.Body, a.ReceivedAt, a.RunAt)
	return err
}

// DropReceived removes activities that are done with.
func (tx *Tx) DropReceived(ctx context.Context, ids []ReceivedID) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.exec(ctx, "drop received", `DELETE FROM inbox WHERE id IN (SELECT value FROM json_each(?))`, jsonArray(ids))
	return err
}

// PutOffReceived has an activity that failed tried again later, with growing pauses, and parks it in the end. It returns when it is to be
// tried again, the zero time if it is parked.
func (tx *Tx) PutOffReceived(ctx context.Context, a *Received, failure error) (time.Time, error) {
	attempts := a.Attempts + 1
	at := tx.db.now().Add(firstPause << min(attempts-1, 11))
	_, err := tx.exec(ctx, "put off received", `
		UPDATE inbox
		SET attempts = ?, parked = ?, last_error = ?, run_at = ?
		WHERE id = ?`, attempts, attempts >= receivedTries, truncate(failure.Error(), 1000), At(at), a.ID)
	if err != nil || attempts < receivedTries {
		return at, err
	}
	_, err = tx.exec(ctx, "trim parked", `
		DELETE FROM inbox
		WHERE parked = 1 AND id <= (
			SELECT id
			FROM inbox INDEXED BY inbox_parked
			WHERE parked = 1
			ORDER BY id DESC
			LIMIT 1 OFFSET ?)`, maxParked)
	return time.Time{}, err
}

// DueReceived returns activities whose time has come, in the order of that.
func (r reader) DueReceived(ctx context.Context, limit int) ([]*Received, error) {
	return list[*Received](ctx, r, "due received", `
		SELECT *
		FROM inbox INDEXED BY inbox_due
		WHERE parked = 0 AND run_at <= ?
		ORDER BY run_at
		LIMIT ?`, At(r.db.now()), limit)
}

// WaitingReceived returns what waits, be it that its time has not come, by id and from one on. What is given up is passed over.
func (r reader) WaitingReceived(ctx context.Context, after ReceivedID, limit int) ([]*ReceivedHead, error) {
	return list[*ReceivedHead](ctx, r, "waiting received", `
		SELECT i.id, i.signer_id, a.uri AS signer_uri, i.run_at, i.attempts, octet_length(i.body) AS size
		FROM inbox i
		CROSS JOIN accounts a ON a.id = i.signer_id
		WHERE i.id > ? AND +i.parked = 0
		ORDER BY i.id
		LIMIT ?`, after, limit)
}

// ReceivedBy returns an activity that has come in, and errs.ErrRecordNotFound if it is done with.
func (r reader) ReceivedBy(ctx context.Context, id ReceivedID) (*Received, error) {
	a, err := one[Received](ctx, r, "received", `SELECT * FROM inbox WHERE id = ?`, id)
	if a == nil && err == nil {
		err = notFound
	}
	return a, err
}
