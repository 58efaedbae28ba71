package store

import "context"

// StaffStatusFilter selects the posts that staff list, of any visibility.
type StaffStatusFilter struct {
	Account    AccountID // of this account; 0: of all
	Host       string    // of this domain, "" for local posts; only with OfHost
	OfHost     bool
	Restricted bool // include posts that are not public or unlisted
	Reblogs    bool // include boosts
}

// Bounds of the lists of posts for staff.
const (
	maxStaffCounted = 100_000 // posts that a list or a total looks at
	maxStaffOffset  = 100_000 // because the posts before a page are read
)

// staffStatus is the condition of a StaffStatusFilter with the parameters ?1 (Restricted) and ?2 (Reblogs).
const staffStatus = `(?1 OR s.visibility IN (0, 1)) AND (?2 OR s.reblog_of_id IS NULL)`

// Each post of a domain is in one of two indexes. SQLite merges them in the order of the ids.
const (
	inDomain      = `FROM statuses s INDEXED BY statuses_domain WHERE s.domain = ?3 AND s.visibility IN (0, 2) AND s.reblog_of_id IS NULL`
	otherInDomain = `FROM statuses s INDEXED BY statuses_domain_other WHERE s.domain = ?3 AND (s.visibility = 1 OR s.visibility > 2 OR s.reblog_of_id IS NOT NULL)`

	statusesInDomain      = inDomain + ` AND ` + staffStatus
	otherStatusesInDomain = otherInDomain + ` AND ` + staffStatus

	// The last post of each index that a list looks at.
	lastInDomain      = `(SELECT s.id ` + inDomain + ` ORDER BY s.id DESC LIMIT 1 OFFSET ?6)`
	lastOtherInDomain = `(SELECT s.id ` + otherInDomain + ` ORDER BY s.id DESC LIMIT 1 OFFSET ?6)`

	staffStatusesOfHost = `
		SELECT s.id ` + statusesInDomain + ` AND s.id >= ifnull(` + lastInDomain + `, 0)
		UNION ALL
		SELECT s.id ` + otherStatusesInDomain + ` AND s.id >= ifnull(` + lastOtherInDomain + `, 0)
		ORDER BY 1 DESC
		LIMIT ?4 OFFSET ?5`
	staffStatusesOfAccount = `
		SELECT s.id
		FROM (
			SELECT s.id, s.visibility, s.reblog_of_id
			FROM statuses s INDEXED BY statuses_account
			WHERE s.account_id = ?3
			ORDER BY s.id DESC
			LIMIT ?6) s
		WHERE ` + staffStatus + `
		LIMIT ?4 OFFSET ?5`
	staffStatusesOfAll = `
		SELECT s.id
		FROM (
			SELECT s.id, s.visibility, s.reblog_of_id
			FROM statuses s
			WHERE s.id > ?3
			ORDER BY s.id DESC
			LIMIT ?6) s
		WHERE ` + staffStatus + `
		LIMIT ?4 OFFSET ?5`
)

// StaffStatuses returns a page of the ids of the posts that a filter selects, newest first, among the newest maxStaffCounted ones of the
// account or of all. Of a host, it looks at as many public and local posts, and at as many others.
func (r reader) StaffStatuses(ctx context.Context, f StaffStatusFilter, limit, offset int) ([]StatusID, error) {
	query, of := staffStatusesOfAll, any(0)
	switch {
	case f.OfHost:
		query, of = staffStatusesOfHost, f.Host
	case f.Account != 0:
		query, of = staffStatusesOfAccount, f.Account
	}
	return ids[StatusID](ctx, r, "statuses for staff", query, f.Restricted, f.Reblogs, of, limit, min(offset, maxStaffOffset), maxStaffCounted)
}

// CountStaffStatuses counts the posts of an account or a host that a filter selects, among its newest maxStaffCounted ones.
func (r reader) CountStaffStatuses(ctx context.Context, f StaffStatusFilter) (int, error) {
	query, of := `
		SELECT count(*)
		FROM (
			SELECT s.visibility, s.reblog_of_id
			FROM statuses s INDEXED BY statuses_account
			WHERE s.account_id = ?3
			ORDER BY s.id DESC
			LIMIT ?4) some
		WHERE (?1 OR some.visibility IN (0, 1)) AND (?2 OR some.reblog_of_id IS NULL)`, any(f.Account)
	if f.OfHost {
		query, of = `
		SELECT (SELECT count(*) FROM (SELECT s.visibility, s.reblog_of_id `+inDomain+` ORDER BY s.id DESC LIMIT ?4) s WHERE `+staffStatus+`)
			+ (SELECT count(*) FROM (SELECT s.visibility, s.reblog_of_id `+otherInDomain+` ORDER BY s.id DESC LIMIT ?4) s WHERE `+staffStatus+`) AS n`, f.Host
	}
	return value[int](ctx, r, "count statuses for staff", query, f.Restricted, f.Reblogs, of, maxStaffCounted)
}
