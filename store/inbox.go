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
	Body        string
	ReceivedAt  Time
	RunAt       Time
	Attempts    int
	Parked      bool
	LastError   string
}

// receivedTries is how often an activity is tried that fails of something passing.
const receivedTries = 8

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

// DropReceived removes an activity that is done with.
func (tx *Tx) DropReceived(ctx context.Context, id ReceivedID) error {
	_, err := tx.exec(ctx, "drop received", `DELETE FROM inbox WHERE id = ?`, id)
	return err
}

// PutOffReceived has an activity that failed tried again later, with growing pauses, and parks it in the end.
func (tx *Tx) PutOffReceived(ctx context.Context, a *Received, failure error) error {
	attempts := a.Attempts + 1
	pause := firstPause << min(attempts-1, 11)
	_, err := tx.exec(ctx, "put off received", `
		UPDATE inbox
		SET attempts = ?, parked = ?, last_error = ?, run_at = ?
		WHERE id = ?`, attempts, attempts >= receivedTries, truncate(failure.Error(), 1000), At(tx.db.now().Add(pause)), a.ID)
	return err
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

// NextReceived returns when the next activity is to be tried again, the zero time if none is.
func (r reader) NextReceived(ctx context.Context) (time.Time, error) {
	at, err := one[Time](ctx, r, "next received", `
		SELECT run_at
		FROM inbox INDEXED BY inbox_due
		WHERE parked = 0 AND run_at > ?
		ORDER BY run_at
		LIMIT 1`, At(r.db.now()))
	if at == nil || err != nil {
		return time.Time{}, err
	}
	return at.Time(), nil
}

// CountReceived counts the activities that wait, up to a number.
func (r reader) CountReceived(ctx context.Context, most int) (int, error) {
	n, err := one[int](ctx, r, "count received", `SELECT count(*) FROM (SELECT 1 FROM inbox INDEXED BY inbox_due WHERE parked = 0 LIMIT ?)`, most)
	if err != nil {
		return 0, err
	}
	return *n, nil
}
