package store

import (
	"context"
	"time"
)

// maxMeasured bounds the rows that one number of a measure counts.
const maxMeasured = 20_000

// Measure is something that is counted by days.
type Measure string

// The measures.
const (
	NewUsers        Measure = "new_users"        // registrations
	ActiveUsers     Measure = "active_users"     // users whose last activity was in the time
	Interactions    Measure = "interactions"     // favourites and reactions
	OpenedReports   Measure = "opened_reports"   // reports made
	ResolvedReports Measure = "resolved_reports" // reports decided
)

// measureQueries count from ?1 to before ?2, in milliseconds, up to ?3. Ids say when rows were made.
var measureQueries = map[Measure]string{
	NewUsers: `
		SELECT count(*)
		FROM (
			SELECT 1
			FROM accounts a INDEXED BY accounts_domain
			WHERE a.domain = '' AND a.id >= ?1 << 10 AND a.id < ?2 << 10 AND EXISTS (SELECT 1 FROM users u WHERE u.account_id = a.id)
			LIMIT ?3)`,
	ActiveUsers: `
		SELECT count(*)
		FROM (SELECT 1 FROM users INDEXED BY users_active WHERE last_active_at >= ?1 AND last_active_at < ?2 LIMIT ?3)`,
	Interactions: `
		SELECT (SELECT count(*) FROM (SELECT 1 FROM favourites WHERE id >= ?1 << 10 AND id < ?2 << 10 LIMIT ?3))
			+ (SELECT count(*) FROM (SELECT 1 FROM reactions WHERE id >= ?1 << 10 AND id < ?2 << 10 LIMIT ?3))`,
	OpenedReports: `
		SELECT count(*)
		FROM (SELECT 1 FROM reports WHERE id >= ?1 << 10 AND id < ?2 << 10 LIMIT ?3)`,
	ResolvedReports: `
		SELECT count(*)
		FROM (SELECT 1 FROM reports INDEXED BY reports_decided WHERE state_at IS NOT NULL AND state_at >= ?1 AND state_at < ?2 LIMIT ?3)`,
}

// Known returns true if there is such a measure.
func (m Measure) Known() bool { return measureQueries[m] != "" }

// Measured returns a measure for the time from one moment to before another, up to maxMeasured.
func (r reader) Measured(ctx context.Context, m Measure, from, until time.Time) (int, error) {
	return value[int](ctx, r, "measure", measureQueries[m], At(from), At(until), maxMeasured)
}

// CountRegisteredActive counts the users who registered from one moment to before another and were active since a third one; all of them, if
// that is not later than the first.
func (r reader) CountRegisteredActive(ctx context.Context, from, until, since time.Time) (int, error) {
	return value[int](ctx, r, "cohort", `
		SELECT count(*)
		FROM (
			SELECT 1
			FROM accounts a INDEXED BY accounts_domain
			CROSS JOIN users u ON u.account_id = a.id
			WHERE a.domain = '' AND a.id >= ?1 << 10 AND a.id < ?2 << 10 AND (?3 <= ?1 OR u.last_active_at >= ?3)
			LIMIT ?4)`, At(from), At(until), At(since), maxMeasured)
}

// UserLocales counts the users by their language, most first.
func (r reader) UserLocales(ctx context.Context, limit int) ([]NamedCount, error) {
	return list[NamedCount](ctx, r, "locales of users", `
		SELECT locale AS name, count(*) AS count
		FROM users
		GROUP BY locale
		ORDER BY count(*) DESC, locale
		LIMIT ?`, limit)
}

// NamedCount is a number with its name.
type NamedCount struct {
	Name  string
	Count int64
}
