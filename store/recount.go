package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
)

// Mismatch is a stored number that differs from what it counts, or an entry of a search index that is missing (0 instead of 1) or that
// nothing has (1 instead of 0).
type Mismatch struct {
	Name   string // "accounts.followers_count", "statuses_fts"
	ID     int64  // of the account or status; 0: none
	Detail string // what else identifies it: an emoji, a hashtag, a domain and a visibility, a class
	Value  int64
	Want   int64
}

// Names of mismatches that a caller treats in a different way.
const (
	StatusIndex  = "statuses_fts"
	AccountIndex = "accounts_fts"
)

// recountBatch is how many rows a part of the recount has.
const recountBatch = 1000

// Parts of the recount, in order. A cursor is the name of a part, a colon, and the id after which it goes on.
const (
	recountAccounts = "accounts"
	recountStatuses = "statuses"
	recountSums     = "sums"
)

// counter finds the mismatches of one name between the ids ?1, exclusive, and ?2. correct writes the right number; its parameters are the
// id, the detail and the number. "": package social does.
type counter struct {
	name    string
	query   string
	correct string
}

// ofRows returns the query for a column of the rows of a table that meet a condition. want counts.
func ofRows(table, condition, column, want string) string {
	return strings.NewReplacer("TABLE", table, "CONDITION", condition, "COLUMN", column, "WANT", want).Replace(`
		SELECT *
		FROM (
			SELECT t.id, '' AS detail, t.COLUMN AS value, (WANT) AS want
			FROM TABLE t
			WHERE t.id > ?1 AND t.id <= ?2 AND CONDITION)
		WHERE value <> want`)
}

// Of a remote account the numbers are those that its own server publishes.
var accountCounters = []counter{
	{
		"accounts.followers_count",
		ofRows("accounts", "t.domain = ''", "followers_count", `SELECT count(*) FROM follows f WHERE f.target_id = t.id AND f.pending = 0`),
		`UPDATE accounts SET followers_count = ?3 WHERE id = ?1`,
	},
	{
		"accounts.following_count",
		ofRows("accounts", "t.domain = ''", "following_count", `SELECT count(*) FROM follows f WHERE f.follower_id = t.id AND f.pending = 0`),
		`UPDATE accounts SET following_count = ?3 WHERE id = ?1`,
	},
	{
		"accounts.statuses_count",
		ofRows("accounts", "t.domain = ''", "statuses_count", `SELECT count(*) FROM statuses s WHERE s.account_id = t.id AND s.visibility IN (0, 1)`),
		`UPDATE accounts SET statuses_count = ?3 WHERE id = ?1`,
	},
	{
		"account_tags.statuses_count", `
		SELECT account_id AS id, CAST(tag_id AS TEXT) AS detail, sum(value) AS value, sum(want) AS want
		FROM (
			SELECT account_id, tag_id, statuses_count AS value, 0 AS want
			FROM account_tags
			WHERE account_id > ?1 AND account_id <= ?2
			UNION ALL
			SELECT s.account_id, st.tag_id, 0, 1
			FROM accounts a
			CROSS JOIN statuses s ON s.account_id = a.id
			CROSS JOIN status_tags st ON st.status_id = s.id
			WHERE a.id > ?1 AND a.id <= ?2 AND a.domain = '' AND s.reblog_of_id IS NULL AND s.visibility IN (0, 1))
		GROUP BY account_id, tag_id
		HAVING sum(value) <> sum(want)`, `
		INSERT INTO account_tags (account_id, tag_id, statuses_count, last_status_id)
		SELECT ?1, CAST(?2 AS INTEGER), ?3, (
			SELECT ifnull(max(s.id), 0)
			FROM status_tags st
			CROSS JOIN statuses s ON s.id = st.status_id
			WHERE st.tag_id = CAST(?2 AS INTEGER) AND s.account_id = ?1 AND s.reblog_of_id IS NULL AND s.visibility IN (0, 1))
		WHERE true
		ON CONFLICT (account_id, tag_id) DO UPDATE SET statuses_count = excluded.statuses_count, last_status_id = excluded.last_status_id`,
	},
	{AccountIndex, `
		SELECT a.id, '' AS detail, 0 AS value, 1 AS want
		FROM accounts a
		WHERE a.id > ?1 AND a.id <= ?2 AND a.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM accounts_fts_docsize d WHERE d.id = a.id)
		UNION ALL
		SELECT d.id, '', 1, 0
		FROM accounts_fts_docsize d
		WHERE d.id > ?1 AND d.id <= ?2 AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = d.id AND a.deleted_at IS NULL)`, ""},
}

var statusCounters = []counter{
	{
		"statuses.replies_count",
		ofRows("statuses", "true", "replies_count", `SELECT count(*) FROM statuses r WHERE r.in_reply_to_id = t.id AND r.visibility IN (0, 1)`),
		`UPDATE statuses SET replies_count = ?3 WHERE id = ?1`,
	},
	{
		"statuses.reblogs_count",
		ofRows("statuses", "true", "reblogs_count", `SELECT count(*) FROM statuses r WHERE r.reblog_of_id = t.id`),
		`UPDATE statuses SET reblogs_count = ?3 WHERE id = ?1`,
	},
	{
		"statuses.favourites_count",
		ofRows("statuses", "true", "favourites_count", `SELECT count(*) FROM favourites f WHERE f.status_id = t.id AND f.pending = 0`),
		`UPDATE statuses SET favourites_count = ?3 WHERE id = ?1`,
	},
	{
		"statuses.quotes_count",
		ofRows("statuses", "true", "quotes_count", `SELECT count(*) FROM statuses q WHERE q.quote_of_id = t.id AND q.visibility IN (0, 1)`),
		`UPDATE statuses SET quotes_count = ?3 WHERE id = ?1`,
	},
	{"reaction_counts.count", `
		SELECT status_id AS id, emoji AS detail, sum(value) AS value, sum(want) AS want
		FROM (
			SELECT status_id, emoji, count AS value, 0 AS want
			FROM reaction_counts
			WHERE status_id > ?1 AND status_id <= ?2
			UNION ALL
			SELECT status_id, emoji, 0, 1
			FROM reactions INDEXED BY reactions_status
			WHERE status_id > ?1 AND status_id <= ?2)
		GROUP BY status_id, emoji
		HAVING sum(value) <> sum(want)`, `
		INSERT INTO reaction_counts (status_id, emoji, url, count, first_id)
		SELECT ?1, ?2, ifnull(min(url), ''), ?3, ifnull(min(id), 0)
		FROM reactions INDEXED BY reactions_status
		WHERE status_id = ?1 AND emoji = ?2
		ON CONFLICT (status_id, emoji) DO UPDATE SET count = excluded.count`},
	{"polls.options", `
		SELECT *
		FROM (
			SELECT s.id, CAST(o.key AS TEXT) AS detail, json_extract(o.value, '$.votes') AS value,
				(SELECT count(*) FROM poll_votes v WHERE v.poll_id = p.id AND v.choice = o.key) AS want
			FROM statuses s
			CROSS JOIN polls p ON p.status_id = s.id
			CROSS JOIN json_each(p.options) o
			WHERE s.id > ?1 AND s.id <= ?2 AND s.domain = '' AND s.has_poll = 1)
		WHERE value <> want`,
		`UPDATE polls SET options = json_set(options, '$[' || ?2 || '].votes', ?3) WHERE status_id = ?1`},
	{"polls.voters_count", `
		SELECT *
		FROM (
			SELECT s.id, '' AS detail, p.voters_count AS value, (SELECT count(DISTINCT v.account_id) FROM poll_votes v WHERE v.poll_id = p.id) AS want
			FROM statuses s
			CROSS JOIN polls p ON p.status_id = s.id
			WHERE s.id > ?1 AND s.id <= ?2 AND s.domain = '' AND s.has_poll = 1)
		WHERE value <> want`,
		`UPDATE polls SET voters_count = ?3 WHERE status_id = ?1`},
	{StatusIndex, `
		SELECT s.id, '' AS detail, 0 AS value, 1 AS want
		FROM statuses s
		WHERE s.id > ?1 AND s.id <= ?2 AND s.reblog_of_id IS NULL AND NOT EXISTS (SELECT 1 FROM statuses_fts_docsize d WHERE d.id = s.id)
		UNION ALL
		SELECT d.id, '', 1, 0
		FROM statuses_fts_docsize d
		WHERE d.id > ?1 AND d.id <= ?2 AND NOT EXISTS (SELECT 1 FROM statuses s WHERE s.id = d.id AND s.reblog_of_id IS NULL)`, ""},
}

// sumCounters count all rows of a table. Corrections add the difference to the number as it is then, because posts come and go meanwhile.
var sumCounters = []counter{
	{"status_counts.count", `
		SELECT 0 AS id, domain || ' ' || visibility AS detail, sum(value) AS value, sum(want) AS want
		FROM (
			SELECT domain, visibility, count AS value, 0 AS want
			FROM status_counts
			UNION ALL
			SELECT domain, visibility, 0, count(*)
			FROM statuses
			WHERE reblog_of_id IS NULL
			GROUP BY domain, visibility
			UNION ALL
			SELECT '*', visibility, 0, count(*)
			FROM statuses
			WHERE reblog_of_id IS NULL
			GROUP BY visibility)
		GROUP BY domain, visibility
		HAVING sum(value) <> sum(want)`, ""},
	{"storage_usage.count", `
		SELECT 0 AS id, class AS detail, sum(value) AS value, sum(want) AS want
		FROM (
			SELECT class, count AS value, 0 AS want
			FROM storage_usage
			UNION ALL
			SELECT class, 0, count(*)
			FROM stored_files
			GROUP BY class
			UNION ALL
			SELECT 'remote_posts', 0, count(*)
			FROM statuses
			WHERE domain <> '')
		GROUP BY class
		HAVING sum(value) <> sum(want)`, `
		INSERT INTO storage_usage (class, count, bytes) VALUES (?2, ?3, 0)
		ON CONFLICT (class) DO UPDATE SET count = count + excluded.count`},
	{"storage_usage.bytes", `
		SELECT 0 AS id, class AS detail, sum(value) AS value, sum(want) AS want
		FROM (
			SELECT class, bytes AS value, 0 AS want
			FROM storage_usage
			UNION ALL
			SELECT class, 0, bytes
			FROM stored_files)
		GROUP BY class
		HAVING sum(value) <> sum(want)`, `
		INSERT INTO storage_usage (class, count, bytes) VALUES (?2, 0, ?3)
		ON CONFLICT (class) DO UPDATE SET bytes = bytes + excluded.bytes`},
}

// recountPart is what a cursor stands for.
type recountPart struct {
	name     string
	counters []counter
	from, to int64 // ids
	next     string
}

// part returns the part at a cursor; "" is the first one.
func (r reader) recountPart(ctx context.Context, cursor string) (*recountPart, error) {
	if cursor == "" {
		cursor = recountAccounts + ":0"
	}
	name, after, _ := strings.Cut(cursor, ":")
	p := &recountPart{name: name, to: math.MaxInt64}
	ends := `SELECT id FROM statuses WHERE id > ? ORDER BY id LIMIT 1 OFFSET ` + strconv.Itoa(recountBatch-1)
	following := recountSums
	switch name {
	case recountAccounts:
		p.counters, following = accountCounters, recountStatuses+":0"
		ends = strings.Replace(ends, "statuses", "accounts", 1)
	case recountStatuses:
		p.counters = statusCounters
	case recountSums:
		p.counters = sumCounters
		return p, nil
	default:
		return nil, fmt.Errorf("recount: there is no part %q", cursor)
	}
	var err error
	if p.from, err = strconv.ParseInt(after, 10, 64); err != nil {
		return nil, fmt.Errorf("recount: there is no part %q", cursor)
	}
	end, err := ids[StatusID](ctx, r, "recount", ends, p.from)
	if err != nil {
		return nil, err
	}
	if p.next = following; len(end) > 0 {
		p.to = int64(end[0])
		p.next = name + ":" + strconv.FormatInt(p.to, 10)
	}
	return p, nil
}

// Recount is Recount of a reader, with a connection of its own: in a large database, the sums take longer than a query of the reading
// connections may.
func (db *DB) Recount(ctx context.Context, cursor string) (found []Mismatch, next string, err error) {
	err = db.readLong(ctx, "recount", func(ctx context.Context, conn *sqlx.DB) error {
		conn.Mapper = mapper
		var err error
		found, next, err = reader{interruptible{conn}, db}.Recount(ctx, cursor)
		return err
	})
	return found, next, err
}

// interruptible is a connection whose queries end with their context.
type interruptible struct{ *sqlx.DB }

func (i interruptible) queryWithin(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return i.QueryContext(ctx, query, args...)
}

// Recount recounts a part of the counters, and compares search indexes with the rows. It returns the cursor of the next part, "" after the last
// one.
func (r reader) Recount(ctx context.Context, cursor string) (found []Mismatch, next string, err error) {
	p, err := r.recountPart(ctx, cursor)
	if err != nil {
		return nil, "", err
	}
	found, err = r.recount(ctx, p)
	return found, p.next, err
}

func (r reader) recount(ctx context.Context, p *recountPart) ([]Mismatch, error) {
	var found []Mismatch
	for _, c := range p.counters {
		var args []any
		if p.name != recountSums {
			args = []any{p.from, p.to}
		}
		rows, err := list[Mismatch](ctx, r, "recount "+c.name, c.query, args...)
		if err != nil {
			return nil, err
		}
		for _, m := range rows {
			m.Name = c.name
			found = append(found, m)
		}
	}
	return found, nil
}

// RecountSize returns about how many parts a recount has.
func (r reader) RecountSize(ctx context.Context) (int64, error) {
	n, err := value[int64](ctx, r, "size of the recount", `SELECT (SELECT count(*) FROM accounts) + (SELECT ifnull(sum(count), 0) FROM status_counts WHERE domain = '*') AS n`)
	return n/recountBatch + 3, err
}

// CorrectCounters corrects the counters of a part, and returns what it changed. Search indexes are left to the caller. found is what Recount has
// returned for the part.
func (tx *Tx) CorrectCounters(ctx context.Context, cursor string, found []Mismatch) ([]Mismatch, error) {
	p, err := tx.recountPart(ctx, cursor)
	if err != nil {
		return nil, err
	}
	isSum := p.name == recountSums
	if !isSum && len(found) > 0 { // again, because rows may have changed meanwhile, but not all of the part: the writer waits
		p.from, p.to = found[0].ID-1, found[0].ID
		for _, m := range found {
			p.from, p.to = min(p.from, m.ID-1), max(p.to, m.ID)
		}
		if found, err = tx.recount(ctx, p); err != nil {
			return nil, err
		}
	}
	var corrected []Mismatch
	for _, m := range found {
		switch {
		case m.Name == StatusIndex, m.Name == AccountIndex:
			continue
		case m.Name == "status_counts.count":
			err = tx.correctStatusCount(m)
		default:
			want := m.Want
			if isSum {
				want -= m.Value
			}
			err = tx.exec(ctx, "correct "+m.Name, correction(p.counters, m.Name), m.ID, m.Detail, want)
		}
		if err != nil {
			return nil, err
		}
		switch p.name {
		case recountAccounts:
			tx.invalidateAccount(AccountID(m.ID))
		case recountStatuses:
			tx.invalidateStatus(StatusID(m.ID))
		}
		corrected = append(corrected, m)
	}
	for _, query := range []string{
		`DELETE FROM account_tags WHERE statuses_count <= 0 AND account_id > ?1 AND account_id <= ?2`,
		`DELETE FROM reaction_counts WHERE count <= 0 AND status_id > ?1 AND status_id <= ?2`,
	} {
		if len(corrected) > 0 && !isSum {
			if err := tx.exec(ctx, "remove empty counts", query, p.from, p.to); err != nil {
				return nil, err
			}
		}
	}
	return corrected, nil
}

func correction(counters []counter, name string) string {
	for _, c := range counters {
		if c.name == name {
			return c.correct
		}
	}
	return ""
}

// correctStatusCount adds the difference to the numbers that the group commit writes.
func (tx *Tx) correctStatusCount(m Mismatch) error {
	domain, visibility, _ := strings.Cut(m.Detail, " ")
	v, err := strconv.Atoi(visibility)
	if err != nil {
		return fmt.Errorf("correct %s: %w", m.Name, err)
	}
	if tx.statusCounts == nil {
		tx.statusCounts = make(map[statusClass]int)
	}
	tx.statusCounts[statusClass{domain, Visibility(v)}] += int(m.Want - m.Value)
	return nil
}

// ClearSearch empties the search indexes, because they are damaged. Posts and accounts are found again after they were indexed again.
func (tx *Tx) ClearSearch(ctx context.Context) error {
	for _, query := range []string{
		`INSERT INTO statuses_fts (statuses_fts) VALUES ('delete-all')`,
		`INSERT INTO accounts_fts (accounts_fts) VALUES ('delete-all')`,
	} {
		if err := tx.exec(ctx, "clear search index", query); err != nil {
			return err
		}
	}
	return nil
}

// ReindexAccount indexes the names of an account again, or removes them if it is gone.
func (tx *Tx) ReindexAccount(ctx context.Context, id AccountID) error {
	a, err := one[Account](ctx, tx.reader, "account", `SELECT * FROM accounts WHERE id = ? AND deleted_at IS NULL`, id)
	switch {
	case err != nil:
		return err
	case a == nil:
		return tx.unindexAccount(ctx, id)
	}
	return tx.indexAccount(ctx, a)
}

// RemoveFromIndex removes an entry of the full-text index that no status has.
func (tx *Tx) RemoveFromIndex(id StatusID) { tx.unindexStatus(id) }
