package store

import (
	"context"
	"time"
)

// QueuedActivity is an incoming activity that was verified and is not processed yet.
type QueuedActivity struct {
	ID          QueuedActivityID
	SignerID    AccountID  // of the request
	RecipientID *AccountID // whose inbox received it; nil: the shared inbox
	ReceivedAt  Time
	RunAt       Time
	Attempts    int
	Parked      bool
	LastError   string
	Body        string // last, so that the rest is read without it
}

// QueuedActivityHeader is what the queue of package inbox keeps in memory.
type QueuedActivityHeader struct {
	ID        QueuedActivityID
	SignerID  AccountID
	SignerURI string
	RunAt     Time
	Attempts  int
	Size      int // of the body, in bytes
}

const maxParkedActivities = 2000 // the latest

// AddQueuedActivity queues an activity. Its ID is set, and its times if they are 0.
func (tx *Tx) AddQueuedActivity(ctx context.Context, a *QueuedActivity) error {
	a.ID = QueuedActivityID(tx.newID())
	now := At(tx.db.now())
	if a.ReceivedAt == 0 {
		a.ReceivedAt = now
	}
	if a.RunAt == 0 {
		a.RunAt = now
	}
	return tx.exec(ctx, "queue activity", insertQueuedActivity.text, insertQueuedActivity.args(a)...)
}

// DropQueuedActivities deletes processed activities.
func (tx *Tx) DropQueuedActivities(ctx context.Context, ids []QueuedActivityID) error {
	if len(ids) == 0 {
		return nil
	}
	return tx.exec(ctx, "drop queued activities", `DELETE FROM queued_activities WHERE id IN (SELECT value FROM json_each(?))`, jsonArray(ids))
}

// RecordQueuedActivityFailure queues a failed activity for its next attempt (RetryDelay), or parks it. It returns the time of the next attempt,
// the zero time if it is parked.
func (tx *Tx) RecordQueuedActivityFailure(ctx context.Context, a *QueuedActivity, failure error) (time.Time, error) {
	attempts := a.Attempts + 1
	at := tx.db.now().Add(RetryDelay(attempts))
	err := tx.exec(ctx, "record activity failure", `
		UPDATE queued_activities
		SET attempts = ?, parked = ?, last_error = ?, run_at = ?
		WHERE id = ?`, attempts, attempts >= maxActivityAttempts, truncate(failure.Error(), maxErrorBytes), At(at), a.ID)
	if err != nil || attempts < maxActivityAttempts {
		return at, err
	}
	err = tx.exec(ctx, "trim parked", `
		DELETE FROM queued_activities
		WHERE parked = 1 AND id <= (
			SELECT id
			FROM queued_activities INDEXED BY queued_activities_parked
			WHERE parked = 1
			ORDER BY id DESC
			LIMIT 1 OFFSET ?)`, maxParkedActivities)
	return time.Time{}, err
}

// DueQueuedActivities returns due activities, longest due first.
func (r reader) DueQueuedActivities(ctx context.Context, limit int) ([]*QueuedActivity, error) {
	return list[*QueuedActivity](ctx, r, "due activities", `
		SELECT *
		FROM queued_activities INDEXED BY queued_activities_due
		WHERE parked = 0 AND run_at <= ?
		ORDER BY run_at
		LIMIT ?`, At(r.db.now()), limit)
}

// QueuedActivityHeaders returns the headers of activities after an id, due or not, without parked ones.
func (r reader) QueuedActivityHeaders(ctx context.Context, after QueuedActivityID, limit int) ([]*QueuedActivityHeader, error) {
	return list[*QueuedActivityHeader](ctx, r, "queued activity headers", `
		SELECT i.id, i.signer_id, a.uri AS signer_uri, i.run_at, i.attempts, octet_length(i.body) AS size
		FROM queued_activities i
		CROSS JOIN accounts a ON a.id = i.signer_id
		WHERE i.id > ? AND +i.parked = 0
		ORDER BY i.id
		LIMIT ?`, after, limit)
}

// QueuedActivity returns an activity, and errs.ErrRecordNotFound if it is processed.
func (r reader) QueuedActivity(ctx context.Context, id QueuedActivityID) (*QueuedActivity, error) {
	return get[QueuedActivity](ctx, r, "queued activity", `SELECT * FROM queued_activities WHERE id = ?`, id)
}

// QueuedActivityCounts are the numbers of activities in the queue.
type QueuedActivityCounts struct {
	Queued int // not parked
	Failed int // of these, after a failed attempt
	Parked int
}

// QueuedActivityCounts counts the activities in the queue, up to limit of each kind.
func (r reader) QueuedActivityCounts(ctx context.Context, limit int) (QueuedActivityCounts, error) {
	return value[QueuedActivityCounts](ctx, r, "count queued activities", `
		SELECT
			(SELECT count(*) FROM (SELECT 1 FROM queued_activities INDEXED BY queued_activities_due WHERE parked = 0 LIMIT ?1)) AS queued,
			(SELECT count(*) FROM (SELECT 1 FROM queued_activities INDEXED BY queued_activities_due WHERE parked = 0 AND attempts > 0 LIMIT ?1)) AS failed,
			(SELECT count(*) FROM (SELECT 1 FROM queued_activities INDEXED BY queued_activities_parked WHERE parked = 1 LIMIT ?1)) AS parked`, limit)
}

// FailedQueuedActivities returns parked and failed activities, parked ones first, oldest first. If about is not "", it returns those that
// contain it, also before their first attempt.
func (r reader) FailedQueuedActivities(ctx context.Context, about string, limit int) ([]*QueuedActivity, error) {
	return list[*QueuedActivity](ctx, r, "failed activities", `
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

// RetryQueuedActivities makes failed and parked activities due now: the one with an id or, if id is 0, those of a domain ("": all). It
// returns how many.
func (tx *Tx) RetryQueuedActivities(ctx context.Context, id QueuedActivityID, domain string) (int, error) {
	now := At(tx.db.now())
	if id != 0 {
		n, err := tx.execRows(ctx, "retry activity", `
			UPDATE queued_activities
			SET run_at = ?, attempts = 0, parked = 0
			WHERE id = ?`, now, id)
		return int(n), err
	}
	n, err := tx.execRows(ctx, "retry activities", `
		UPDATE queued_activities
		SET run_at = ?1, attempts = 0, parked = 0
		WHERE id IN (
			SELECT i.id
			FROM queued_activities i
			CROSS JOIN accounts a ON a.id = i.signer_id
			WHERE i.attempts > 0 AND (?2 = '' OR a.domain = ?2 OR a.uri LIKE '%://' || ?2 || '/%'))`, now, domain)
	return int(n), err
}

// DropParkedActivities deletes parked activities: the one with an id or, if id is 0, those of a domain ("": all). It returns how many.
func (tx *Tx) DropParkedActivities(ctx context.Context, id QueuedActivityID, domain string) (int, error) {
	n, err := tx.execRows(ctx, "drop parked activities", `
		DELETE FROM queued_activities
		WHERE id IN (
			SELECT i.id
			FROM queued_activities i
			CROSS JOIN accounts a ON a.id = i.signer_id
			WHERE i.parked = 1 AND (?1 = 0 OR i.id = ?1) AND (?2 = '' OR a.domain = ?2 OR a.uri LIKE '%://' || ?2 || '/%'))`, id, domain)
	return int(n), err
}

// PruneQueuedActivities deletes a batch of old parked activities. It returns whether there are more.
func (tx *Tx) PruneQueuedActivities(ctx context.Context) (more bool, err error) {
	n, err := tx.execRows(ctx, "prune parked activities", `
		DELETE FROM queued_activities
		WHERE id IN (SELECT id FROM queued_activities INDEXED BY queued_activities_parked WHERE parked = 1 AND id < ? LIMIT ?)`,
		tx.db.now().Add(-parkedTTL).UnixMilli()<<sequenceBits, pruneBatch)
	return n == pruneBatch, err
}
