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

// QueuedActivityCounts tells how much of what has come in is not done with.
type QueuedActivityCounts struct {
	Waiting int // for the first time, or again
	Failed  int // has failed at least once, and is tried again
	Parked  int
}

// QueuedActivityCounts counts up to a number of each.
func (r reader) QueuedActivityCounts(ctx context.Context, most int) (QueuedActivityCounts, error) {
	s, err := one[QueuedActivityCounts](ctx, r, "state of the inbox", `
		SELECT
			(SELECT count(*) FROM (SELECT 1 FROM queued_activities INDEXED BY queued_activities_due WHERE parked = 0 LIMIT ?1)) AS waiting,
			(SELECT count(*) FROM (SELECT 1 FROM queued_activities INDEXED BY queued_activities_due WHERE parked = 0 AND attempts > 0 LIMIT ?1)) AS failed,
			(SELECT count(*) FROM (SELECT 1 FROM queued_activities INDEXED BY queued_activities_parked WHERE parked = 1 LIMIT ?1)) AS parked`, most)
	if err != nil {
		return QueuedActivityCounts{}, err
	}
	return *s, nil
}

// FailedQueuedActivities returns what has come in and failed, the given up first, the oldest of each first. about: what is in it, "" for any;
// then also what has not been tried yet.
func (r reader) FailedQueuedActivities(ctx context.Context, about string, limit int) ([]*QueuedActivity, error) {
	return list[*QueuedActivity](ctx, r, "troubled received", `
		SELECT *
		FROM (SELECT * FROM queued_activities INDEXED BY queued_activities_parked WHERE parked = 1 AND (?1 = '' OR instr(body, ?1) > 0) ORDER BY id LIMIT ?2)
		UNION ALL
		SELECT *
		FROM (
			SELECT *
			FROM queued_activities INDEXED BY queued_activities_due
			WHERE parked = 0 AND iif(?1 = '', attempts > 0, instr(body, ?1) > 0)
			ORDER BY run_at
			LIMIT ?2)
		LIMIT ?2`, about, limit)
}

// RetryQueuedActivities has what came in and failed, or was given up, done at once: one of an id, or if that is 0 all, or those that a host has
// sent.
func (tx *Tx) RetryQueuedActivities(ctx context.Context, id QueuedActivityID, domain string) (int, error) {
	now := At(tx.db.now())
	if id != 0 {
		n, err := tx.exec(ctx, "retry received", `
			UPDATE queued_activities
			SET run_at = ?, attempts = 0, parked = 0
			WHERE id = ?`, now, id)
		return int(n), err
	}
	n, err := tx.exec(ctx, "retry all received", `
		UPDATE queued_activities
		SET run_at = ?1, attempts = 0, parked = 0
		WHERE id IN (
			SELECT i.id
			FROM queued_activities i
			CROSS JOIN accounts a ON a.id = i.signer_id
			WHERE i.attempts > 0 AND (?2 = '' OR a.domain = ?2 OR a.uri LIKE '%://' || ?2 || '/%'))`, now, domain)
	return int(n), err
}

// parkedActivityTTL is how long what came in and was given up is kept.
const parkedActivityTTL = 30 * 24 * time.Hour

// PruneQueuedActivities forgets what came in and was given up long ago, some at a time. It tells whether there is more.
func (tx *Tx) PruneQueuedActivities(ctx context.Context) (more bool, err error) {
	n, err := tx.exec(ctx, "prune received", `
		DELETE FROM queued_activities
		WHERE id IN (SELECT id FROM queued_activities INDEXED BY queued_activities_parked WHERE parked = 1 AND id < ? LIMIT ?)`,
		tx.db.now().Add(-parkedActivityTTL).UnixMilli()<<sequenceBits, pruneBatch)
	return n == pruneBatch, err
}
