package store

import (
	"context"
	"fmt"
)

// Birthdays returns up to limit of those whom an account follows who show that their birthday is on a day of the year.
func (r reader) Birthdays(ctx context.Context, follower AccountID, month, day, limit int) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "birthdays", `
		SELECT f.target_id
		FROM follows f INDEXED BY follows_following
		CROSS JOIN accounts a ON a.id = f.target_id
		WHERE f.follower_id = ? AND f.pending = 0 AND a.show_birthday = 1 AND substr(a.birthday, 6) = ? AND a.unavailable = 0
		ORDER BY f.target_id DESC
		LIMIT ?`, follower, fmt.Sprintf("%02d-%02d", month, day), limit)
}
