package store

import (
	"context"
)

// LimitHostPosts is the job that makes the audience of stored posts smaller if the settings say so for their hosts, and undoes it for others.
type LimitHostPosts struct{}

func (LimitHostPosts) Kind() JobKind {
	return JobKind{Name: "limit_host_posts", Timeout: NoTimeout, Parallel: 1}
}

// LimitedStatus is a status of another server whose audience a block of its host has made smaller.
type LimitedStatus struct {
	StatusID   StatusID
	Visibility Visibility // before
}

// StatusesWiderThan returns statuses of an account after an id, in the order of ids, that are public or unlisted and have a larger audience than
// v. Boosts are not among them.
func (r reader) StatusesWiderThan(ctx context.Context, account AccountID, v Visibility, after StatusID, limit int) ([]StatusID, error) {
	return list[StatusID](ctx, r, "statuses to limit", `
		SELECT id
		FROM statuses INDEXED BY statuses_account
		WHERE account_id = ? AND id > ? AND visibility < min(?, 2) AND reblog_of_id IS NULL
		ORDER BY id
		LIMIT ?`, account, after, v, limit)
}

// LimitedStatuses returns those statuses of an account after an id, in the order of ids, whose audience is smaller because of a block.
func (r reader) LimitedStatuses(ctx context.Context, account AccountID, after StatusID, limit int) ([]StatusID, error) {
	return list[StatusID](ctx, r, "limited statuses", `
		SELECT s.id
		FROM statuses s INDEXED BY statuses_account
		CROSS JOIN limited_statuses l ON l.status_id = s.id
		WHERE s.account_id = ? AND s.id > ?
		ORDER BY s.id
		LIMIT ?`, account, after, limit)
}

// LimitStatus gives a status that is no boost the largest audience up to v that it had before blocks of its host. It returns false if the status
// has it already.
func (tx *Tx) LimitStatus(ctx context.Context, s *Status, v Visibility) (bool, error) {
	before := s.Visibility
	limited, err := one[LimitedStatus](ctx, tx.reader, "limited status", `SELECT * FROM limited_statuses WHERE status_id = ?`, s.ID)
	if err != nil {
		return false, err
	}
	if limited != nil {
		before = limited.Visibility
	}
	wanted := max(before, v)
	switch {
	case wanted == before:
		err = tx.exec(ctx, "end limit of status", `DELETE FROM limited_statuses WHERE status_id = ?`, s.ID)
	case limited == nil:
		err = tx.exec(ctx, "limit status", `INSERT INTO limited_statuses (status_id, visibility) VALUES (?, ?)`, s.ID, before)
	}
	if err != nil || wanted == s.Visibility {
		return false, err
	}
	return true, tx.SetVisibility(ctx, s, wanted)
}

// ForgetLimit makes the audience of a status stay as it is when the block of its host ends.
func (tx *Tx) ForgetLimit(ctx context.Context, id StatusID) error {
	return tx.exec(ctx, "forget limit of status", `DELETE FROM limited_statuses WHERE status_id = ?`, id)
}

// SetMaxVisibility records the largest audience that the settings leave to the stored posts of an account. limiting means that not all posts
// have it yet.
func (tx *Tx) SetMaxVisibility(ctx context.Context, id AccountID, v Visibility, limiting bool) error {
	tx.invalidateAccount(id)
	return tx.exec(ctx, "set max visibility", `UPDATE accounts SET max_visibility = ?, limiting = ? WHERE id = ?`, v, limiting, id)
}

// HasLimitedAccounts returns true if the posts of an account have a smaller audience because of a block.
func (r reader) HasLimitedAccounts(ctx context.Context) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM accounts INDEXED BY accounts_limited WHERE (max_visibility > 0 OR limiting = 1) AND id > 0`)
}
