package store

import "context"

// Bounds of the rows, the newest ones, that a list of the most frequent values counts.
const (
	maxCountedPosts   = 20_000
	maxCountedFollows = 50_000
	maxCountedTokens  = 20_000
)

// NamedCount is a number with its name.
type NamedCount struct {
	Name  string
	Count int64
}

// mostFrequent is the end of queries that count the names in a subquery with a limit.
const mostFrequent = ` AS sampled
		GROUP BY sampled.name
		ORDER BY count(*) DESC, sampled.name
		LIMIT ?1`

// UserLocales counts the users by their language, most first.
func (r reader) UserLocales(ctx context.Context, limit int) ([]NamedCount, error) {
	return list[NamedCount](ctx, r, "locales of users", `
		SELECT locale AS name, count(*) AS count
		FROM users
		GROUP BY locale
		ORDER BY count(*) DESC, locale
		LIMIT ?`, limit)
}

// TopApps counts the accounts that used apps from one time to before another, by the name of the app. "": browsers.
func (r reader) TopApps(ctx context.Context, from, until Time, limit int) ([]NamedCount, error) {
	return list[NamedCount](ctx, r, "top apps", `
		SELECT ifnull(a.name, '') AS name, count(DISTINCT sampled.account_id) AS count
		FROM (SELECT app_id, account_id, last_used_at FROM oauth_tokens ORDER BY id DESC LIMIT ?4) AS sampled
		LEFT JOIN oauth_apps a ON a.id = sampled.app_id
		WHERE sampled.account_id IS NOT NULL AND sampled.last_used_at >= ?2 AND sampled.last_used_at < ?3
		GROUP BY 1
		ORDER BY 2 DESC, 1
		LIMIT ?1`, limit, from, until, maxCountedTokens)
}

// TopServers counts the public posts from one time to before another by domain. "": this server.
func (r reader) TopServers(ctx context.Context, from, until Time, limit int) ([]NamedCount, error) {
	return list[NamedCount](ctx, r, "top servers", `
		SELECT sampled.name, count(*) AS count
		FROM (
			SELECT domain AS name
			FROM statuses INDEXED BY statuses_public
			WHERE visibility IN (0, 2) AND reblog_of_id IS NULL AND id >= ?2 << 10 AND id < ?3 << 10
			ORDER BY id DESC
			LIMIT ?4)`+mostFrequent, limit, from, until, maxCountedPosts)
}

// TopTagServers counts the posts with a hashtag, but private and direct ones, by domain. "": this server.
func (r reader) TopTagServers(ctx context.Context, tag TagID, from, until Time, limit int) ([]NamedCount, error) {
	return list[NamedCount](ctx, r, "top servers of tag", `
		SELECT sampled.name, count(*) AS count
		FROM (
			SELECT s.domain AS name`+newestTagged+mostFrequent, limit, from, until, maxCountedPosts, tag)
}

// TopTagLanguages counts the posts with a hashtag, but private and direct ones, by language. "": unknown.
func (r reader) TopTagLanguages(ctx context.Context, tag TagID, from, until Time, limit int) ([]NamedCount, error) {
	return list[NamedCount](ctx, r, "top languages of tag", `
		SELECT sampled.name, count(*) AS count
		FROM (
			SELECT s.language AS name`+newestTagged+mostFrequent, limit, from, until, maxCountedPosts, tag)
}

const newestTagged = `
			FROM status_tags t CROSS JOIN statuses s ON s.id = t.status_id
			WHERE t.tag_id = ?5 AND t.status_id >= ?2 << 10 AND t.status_id < ?3 << 10 AND t.visibility IN (0, 1, 2)
			ORDER BY t.status_id DESC
			LIMIT ?4)`

// TopInstanceLanguages counts the public posts of a domain by language. "": unknown.
func (r reader) TopInstanceLanguages(ctx context.Context, domain string, from, until Time, limit int) ([]NamedCount, error) {
	return list[NamedCount](ctx, r, "top languages of instance", `
		SELECT sampled.name, count(*) AS count
		FROM (
			SELECT language AS name
			FROM statuses INDEXED BY statuses_domain
			WHERE domain = ?5 AND visibility IN (0, 2) AND reblog_of_id IS NULL AND id >= ?2 << 10 AND id < ?3 << 10
			ORDER BY id DESC
			LIMIT ?4)`+mostFrequent, limit, from, until, maxCountedPosts, domain)
}

// TopInstanceAccounts counts the local followers of the accounts of a domain.
func (r reader) TopInstanceAccounts(ctx context.Context, domain string, limit int) ([]NamedCount, error) {
	return list[NamedCount](ctx, r, "top accounts of instance", `
		SELECT sampled.name, count(*) AS count
		FROM (
			SELECT a.nickname AS name
			FROM (SELECT target_id, follower_local, pending FROM follows ORDER BY id DESC LIMIT ?2) AS some
			CROSS JOIN accounts a ON a.id = some.target_id
			WHERE some.follower_local = 1 AND some.pending = 0 AND a.domain = ?3)`+mostFrequent, limit, maxCountedFollows, domain)
}

// RemoteAttachment is an attachment of a post of another server.
type RemoteAttachment struct {
	StatusID   StatusID
	RemoteURL  string
	PreviewURL string
}

// InstanceAttachments returns the newest attachments of public posts of a domain from one time to before another.
func (r reader) InstanceAttachments(ctx context.Context, domain string, from, until Time, limit int) ([]RemoteAttachment, error) {
	return list[RemoteAttachment](ctx, r, "attachments of instance", `
		SELECT s.id AS status_id, m.remote_url, m.preview_url
		FROM statuses s INDEXED BY statuses_domain_media
		CROSS JOIN media m INDEXED BY media_status ON m.status_id = s.id
		WHERE s.domain = ?1 AND s.visibility IN (0, 2) AND s.reblog_of_id IS NULL AND s.has_media = 1 AND s.id >= ?2 << 10 AND s.id < ?3 << 10
		ORDER BY s.id DESC
		LIMIT ?4`, domain, from, until, limit)
}

// SQLiteVersion returns the version of SQLite.
func (r reader) SQLiteVersion(ctx context.Context) (string, error) {
	return value[string](ctx, r, "version", `SELECT sqlite_version()`)
}
