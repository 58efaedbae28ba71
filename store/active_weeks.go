package store

import (
	"context"
	"time"
)

// WeeklyActivity is what happened on this server in a week.
type WeeklyActivity struct {
	Week          Time // its first moment
	Statuses      int  // public and local ones, written here
	ActiveUsers   int  // who used the server in it
	Registrations int
}

// WeeklyActivity returns the activity of the last weeks, the current one first.
func (r reader) WeeklyActivity(ctx context.Context, weeks int) ([]WeeklyActivity, error) {
	first := weekOf(r.db.now())
	var begins []Time
	for i := range weeks {
		begins = append(begins, At(first.AddDate(0, 0, -7*i)))
	}
	return list[WeeklyActivity](ctx, r, "activity", `
		SELECT w.value AS week,
			(SELECT count(*)
				FROM statuses s INDEXED BY statuses_domain
				WHERE s.visibility IN (0, 2) AND s.reblog_of_id IS NULL AND s.domain = ''
					AND s.id >= w.value << ?2 AND s.id < (w.value + ?3) << ?2) AS statuses,
			ifnull((SELECT a.users FROM active_weeks a WHERE a.week = w.value), 0) AS active_users,
			(SELECT count(*)
				FROM accounts a INDEXED BY accounts_domain
				WHERE a.domain = '' AND a.actor_type <> 'Application' AND a.id >= w.value << ?2 AND a.id < (w.value + ?3) << ?2) AS registrations
		FROM json_each(?1) w`, jsonArray(begins), sequenceBits, (7 * 24 * time.Hour).Milliseconds())
}

// weekOf returns the beginning of the week of t.
func weekOf(t time.Time) time.Time {
	t = t.UTC().Truncate(24 * time.Hour)
	return t.AddDate(0, 0, -(int(t.Weekday())+6)%7)
}

// countActive counts an account among the active users of this week, unless it is counted already.
func (tx *Tx) countActive(ctx context.Context, id AccountID) error {
	week := At(weekOf(tx.db.now()))
	return tx.exec(ctx, "count active", `
		INSERT INTO active_weeks (week, users)
		SELECT ?1, 1
		FROM users
		WHERE account_id = ?2 AND last_active_at < ?1
		ON CONFLICT (week) DO UPDATE SET users = users + 1`, week, id)
}
