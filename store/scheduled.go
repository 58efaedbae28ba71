package store

import (
	"context"
	"encoding/json"
)

// ScheduledStatus is a post that will be published later. If that fails, it stays with a time in the past.
type ScheduledStatus struct {
	ID          ScheduledID
	AccountID   AccountID
	AppID       *AppID
	ScheduledAt Time
	Draft       JSON[json.RawMessage] // written by package social
}

// OwnScheduledStatus returns a scheduled status of the owner, and errs.ErrRecordNotFound if there is none.
func (r reader) OwnScheduledStatus(ctx context.Context, owner AccountID, id ScheduledID) (*ScheduledStatus, error) {
	return get[ScheduledStatus](ctx, r, "scheduled status", `
		SELECT *
		FROM scheduled_statuses
		WHERE id = ? AND account_id = ?`, id, owner)
}

// ScheduledStatus returns a scheduled status of any account, and errs.ErrRecordNotFound if there is none.
func (r reader) ScheduledStatus(ctx context.Context, id ScheduledID) (*ScheduledStatus, error) {
	return get[ScheduledStatus](ctx, r, "scheduled status", `SELECT * FROM scheduled_statuses WHERE id = ?`, id)
}

var scheduledStatuses = newKeyset(`
		SELECT s.*
		FROM scheduled_statuses s INDEXED BY scheduled_statuses_account
		WHERE s.account_id = ?1 AND s.id < ?2 AND s.id > ?3
		ORDER BY s.id DESC
		LIMIT ?4`)

// ScheduledStatuses returns a page of an account's scheduled statuses, latest first.
func (r reader) ScheduledStatuses(ctx context.Context, owner AccountID, p Page) ([]*ScheduledStatus, error) {
	return rowPage[*ScheduledStatus](ctx, r, "scheduled statuses", scheduledStatuses, owner, p)
}

// CountScheduled counts the scheduled statuses of an account without one, and those that are due in [from, until).
func (r reader) CountScheduled(ctx context.Context, owner AccountID, from, until Time, but ScheduledID) (due, all int, err error) {
	type counts struct{ Due, Total int }
	n, err := value[counts](ctx, r, "count scheduled statuses", `
		SELECT (
			SELECT count(*)
			FROM scheduled_statuses INDEXED BY scheduled_statuses_time
			WHERE account_id = ?1 AND scheduled_at >= ?2 AND scheduled_at < ?3 AND id <> ?4
		) AS due, (
			SELECT count(*)
			FROM scheduled_statuses INDEXED BY scheduled_statuses_account
			WHERE account_id = ?1 AND id <> ?4
		) AS total`, owner, from, until, but)
	return n.Due, n.Total, err
}

// ScheduledMedia returns the attachments of scheduled statuses, in order of status and position.
func (r reader) ScheduledMedia(ctx context.Context, ids []ScheduledID) ([]*Media, error) {
	return list[*Media](ctx, r, "scheduled attachments", `
		SELECT m.*
		FROM json_each(?) j
		CROSS JOIN media m ON m.scheduled_id = j.value
		ORDER BY j.key, m.position`, jsonArray(ids))
}

// AddScheduledStatus inserts a scheduled status with its attachments. Its ID is set.
func (tx *Tx) AddScheduledStatus(ctx context.Context, s *ScheduledStatus, media []*Media) error {
	s.ID = ScheduledID(tx.newID())
	if err := tx.exec(ctx, "add scheduled status", insertScheduledStatus.text, insertScheduledStatus.args(s)...); err != nil {
		return err
	}
	for i, m := range media {
		if err := tx.exec(ctx, "attach media", `
			UPDATE media
			SET scheduled_id = ?, position = ?, detached_at = NULL
			WHERE id = ?`, s.ID, i, m.ID); err != nil {
			return err
		}
	}
	return nil
}

// Reschedule changes the time of a scheduled status.
func (tx *Tx) Reschedule(ctx context.Context, s *ScheduledStatus) error {
	return tx.exec(ctx, "reschedule status", `UPDATE scheduled_statuses SET scheduled_at = ? WHERE id = ?`, s.ScheduledAt, s.ID)
}

// RemoveScheduledStatus deletes a scheduled status. Its attachments become detached.
func (tx *Tx) RemoveScheduledStatus(ctx context.Context, id ScheduledID) error {
	return tx.exec(ctx, "remove scheduled status", `DELETE FROM scheduled_statuses WHERE id = ?`, id)
}
