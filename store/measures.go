package store

import (
	"context"
	"time"

	"svc/internal/text"
)

// Bounds of a measure: the rows that one number counts at most, and those that all numbers of a query read together. Rows of posts are read
// for the measures that need more than an index.
const (
	maxMeasured      = 20_000
	maxMeasuredRows  = 300_000
	maxMeasuredPosts = 50_000
)

// Measure is something that is counted by days.
type Measure string

// The measures.
const (
	NewUsers          Measure = "new_users"          // registrations
	ActiveUsers       Measure = "active_users"       // users whose last activity was in the time
	Interactions      Measure = "interactions"       // favourites and reactions
	OpenedReports     Measure = "opened_reports"     // reports made
	ResolvedReports   Measure = "resolved_reports"   // reports decided
	TagAccounts       Measure = "tag_accounts"       // accounts that used a hashtag
	TagUses           Measure = "tag_uses"           // posts with a hashtag
	TagServers        Measure = "tag_servers"        // other servers with such posts
	InstanceAccounts  Measure = "instance_accounts"  // accounts of a domain
	InstanceReports   Measure = "instance_reports"   // reports about them
	InstanceStatuses  Measure = "instance_statuses"  // posts and boosts by them
	InstanceFollows   Measure = "instance_follows"   // follows of them by local accounts
	InstanceFollowers Measure = "instance_followers" // follows of local accounts by them
)

// measureQueries count in the time from j.value to before j.value + ?2, in milliseconds, up to ?3. Ids say when rows were made. ?4 is a
// hashtag, ?5 a domain. Private and direct posts do not count for hashtags.
var measureQueries = map[Measure]string{
	NewUsers: `
		SELECT count(*)
		FROM (
			SELECT 1
			FROM accounts a INDEXED BY accounts_domain
			WHERE a.domain = '' AND a.id >= j.value << 10 AND a.id < (j.value + ?2) << 10 AND EXISTS (SELECT 1 FROM users u WHERE u.account_id = a.id)
			LIMIT ?3)`,
	ActiveUsers: `
		SELECT count(*)
		FROM (SELECT 1 FROM users INDEXED BY users_active WHERE last_active_at >= j.value AND last_active_at < j.value + ?2 LIMIT ?3)`,
	Interactions: `
		SELECT (SELECT count(*) FROM (SELECT 1 FROM favourites WHERE id >= j.value << 10 AND id < (j.value + ?2) << 10 LIMIT ?3))
			+ (SELECT count(*) FROM (SELECT 1 FROM reactions WHERE id >= j.value << 10 AND id < (j.value + ?2) << 10 LIMIT ?3))`,
	OpenedReports: `
		SELECT count(*)
		FROM (SELECT 1 FROM reports WHERE id >= j.value << 10 AND id < (j.value + ?2) << 10 LIMIT ?3)`,
	ResolvedReports: `
		SELECT count(*)
		FROM (
			SELECT 1
			FROM reports INDEXED BY reports_decided
			WHERE state_at IS NOT NULL AND state_at >= j.value AND state_at < j.value + ?2
			LIMIT ?3)`,
	TagAccounts: `SELECT count(DISTINCT some.account_id) FROM (` + taggedPosts + `) AS some`,
	TagServers:  `SELECT count(DISTINCT some.domain) FROM (` + taggedPosts + `) AS some WHERE some.domain <> ''`,
	TagUses: `
		SELECT count(*)
		FROM (
			SELECT 1
			FROM status_tags t
			WHERE t.tag_id = ?4 AND t.status_id >= j.value << 10 AND t.status_id < (j.value + ?2) << 10 AND t.visibility IN (0, 1, 2)
			LIMIT ?3)`,
	InstanceAccounts: `
		SELECT count(*)
		FROM (
			SELECT 1
			FROM accounts a INDEXED BY accounts_domain
			WHERE a.domain = ?5 AND a.id >= j.value << 10 AND a.id < (j.value + ?2) << 10
			LIMIT ?3)`,
	InstanceReports: `
		SELECT count(*)
		FROM (SELECT target_id FROM reports WHERE id >= j.value << 10 AND id < (j.value + ?2) << 10 ORDER BY id DESC LIMIT ?3) AS some
		CROSS JOIN accounts a ON a.id = some.target_id
		WHERE a.domain = ?5`,
	InstanceStatuses: `
		SELECT (
			SELECT count(*)
			FROM (
				SELECT 1
				FROM statuses s INDEXED BY statuses_domain
				WHERE s.domain = ?5 AND s.id >= j.value << 10 AND s.id < (j.value + ?2) << 10 AND s.visibility IN (0, 2) AND s.reblog_of_id IS NULL
				LIMIT ?3)
			) + (
			SELECT count(*)
			FROM (
				SELECT 1
				FROM statuses s INDEXED BY statuses_domain_other
				WHERE s.domain = ?5 AND s.id >= j.value << 10 AND s.id < (j.value + ?2) << 10
					AND (s.visibility = 1 OR s.visibility > 2 OR s.reblog_of_id IS NOT NULL)
				LIMIT ?3))`,
	InstanceFollows: `
		SELECT count(*)
		FROM (` + someFollows + `) AS some
		CROSS JOIN accounts a ON a.id = some.target_id
		WHERE some.follower_local = 1 AND some.pending = 0 AND a.domain = ?5`,
	InstanceFollowers: `
		SELECT count(*)
		FROM (` + someFollows + `) AS some
		CROSS JOIN accounts a ON a.id = some.follower_id
		WHERE some.follower_local = 0 AND some.pending = 0 AND a.domain = ?5`,
}

const (
	taggedPosts = `
		SELECT s.account_id, s.domain
		FROM status_tags t CROSS JOIN statuses s ON s.id = t.status_id
		WHERE t.tag_id = ?4 AND t.status_id >= j.value << 10 AND t.status_id < (j.value + ?2) << 10 AND t.visibility IN (0, 1, 2)
		LIMIT ?3`
	someFollows = `
		SELECT f.target_id, f.follower_id, f.follower_local, f.pending
		FROM follows f
		WHERE f.id >= j.value << 10 AND f.id < (j.value + ?2) << 10
		ORDER BY f.id DESC
		LIMIT ?3`
)

// Known returns true if there is such a measure.
func (m Measure) Known() bool { return measureQueries[m] != "" }

// rows returns how many rows the numbers of one query read together.
func (m Measure) rows() int {
	switch m {
	case TagAccounts, TagServers, InstanceReports, InstanceFollows, InstanceFollowers:
		return maxMeasuredPosts
	}
	return maxMeasuredRows
}

// MeasureQuery is a measure in spans of time of one length.
type MeasureQuery struct {
	Measure Measure
	Tag     TagID  // of measures of hashtags
	Domain  string // of measures of instances
	Length  time.Duration
}

// Measured returns a measure in the spans that begin at some times. Each number counts a bounded number of rows.
func (r reader) Measured(ctx context.Context, q MeasureQuery, begins []Time) ([]int64, error) {
	limit := min(maxMeasured, q.Measure.rows()/max(len(begins), 1))
	return list[int64](ctx, r, "measure", `SELECT (`+measureQueries[q.Measure]+`) AS n FROM json_each(?1) j`,
		jsonArray(begins), q.Length.Milliseconds(), limit, q.Tag, q.Domain)
}

// MeasuredTotal returns a measure of all time, up to a bounded number of rows.
func (r reader) MeasuredTotal(ctx context.Context, q MeasureQuery) (int64, error) {
	n, err := list[int64](ctx, r, "measure", `SELECT (`+measureQueries[q.Measure]+`) AS n FROM json_each(?1) j`,
		`[0]`, EndOfTime, q.Measure.rows(), q.Tag, q.Domain)
	if err != nil || len(n) == 0 {
		return 0, err
	}
	return n[0], nil
}

// EndOfTime is later than all ids.
const EndOfTime Time = 1 << 43

// TagIDByName returns the id of a hashtag, 0 if there is none.
func (r reader) TagIDByName(ctx context.Context, name string) (TagID, error) {
	id, err := one[TagID](ctx, r, "tag by name", `SELECT id FROM tags WHERE key = ?`, text.TagKey(name))
	if err != nil || id == nil {
		return 0, err
	}
	return *id, nil
}

// HasTag returns true if a hashtag has the id.
func (r reader) HasTag(ctx context.Context, id TagID) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM tags WHERE id = ?`, id)
}

// RegisteredActive is how many users registered on one day and were active last on another. Days count from 1970, in UTC.
type RegisteredActive struct {
	Registered, Active int64
	Count              int
}

// RegisteredActive counts the users who registered from one time to before another by the days of registration and last activity, up to
// maxMeasuredRows users.
func (r reader) RegisteredActive(ctx context.Context, from, until Time) ([]RegisteredActive, error) {
	return list[RegisteredActive](ctx, r, "cohorts", `
		SELECT registered, active, count(*) AS count
		FROM (
			SELECT (a.id >> 10) / 86400000 AS registered, u.last_active_at / 86400000 AS active
			FROM accounts a INDEXED BY accounts_domain
			CROSS JOIN users u ON u.account_id = a.id
			WHERE a.domain = '' AND a.id >= ?1 << 10 AND a.id < ?2 << 10
			ORDER BY a.id DESC
			LIMIT ?3) AS sampled
		GROUP BY registered, active`, from, until, maxMeasuredRows)
}
