package store

import (
	"context"
	"fmt"
	"slices"
)

// CutLargeRows is the job that cuts what earlier versions stored too large of other servers (entity_limits.go). It looks at a batch of rows
// of a table and queues itself for the next one.
type CutLargeRows struct {
	Table string `json:"table"` // "": the first
	After int64  `json:"after"` // id
}

func (CutLargeRows) Kind() JobKind {
	return JobKind{Name: "cut_large_rows", Timeout: NoTimeout, Parallel: 1}
}

// largeRowsBatch is how many rows the job looks at before it lets others run.
const largeRowsBatch = 1000

// largeTable is a table with rows that may be too large. The conditions compare bytes as stored, which JSON at most doubles: HTML and names
// have no control characters. Descriptions may have them.
type largeTable struct {
	name  string
	ends  string // query of the last id of a batch after ?
	large string // query of the ids of large rows after ? and up to ?
	cut   func(ctx context.Context, tx *Tx, id int64) error
}

var largeTables = []largeTable{
	{
		"accounts", `SELECT ifnull(max(id), 0) FROM (SELECT id FROM accounts WHERE id > ? ORDER BY id LIMIT ?)`, `
		SELECT id
		FROM accounts
		WHERE id > ? AND id <= ? AND domain <> ''
			AND (octet_length(note) > 6000 OR octet_length(fields) > 2000 OR octet_length(emojis) > 2000 OR octet_length(also_known_as) > 4000 OR octet_length(display_name) > 500)`,
		cutAccountRow,
	},
	{
		"statuses", `SELECT ifnull(max(id), 0) FROM (SELECT id FROM statuses WHERE id > ? ORDER BY id LIMIT ?)`, `
		SELECT id
		FROM statuses
		WHERE id > ? AND id <= ? AND domain <> ''
			AND (octet_length(content) > 32000 OR octet_length(spoiler_text) > 2500 OR octet_length(emojis) > 4000)`,
		cutStatusRow,
	},
	{
		"status_edits", `SELECT ifnull(max(id), 0) FROM (SELECT id FROM status_edits WHERE id > ? ORDER BY id LIMIT ?)`, `
		SELECT id
		FROM status_edits
		WHERE id > ? AND id <= ?
			AND (octet_length(content) > 32000 OR octet_length(spoiler_text) > 2500 OR octet_length(media) > 3000 OR octet_length(poll) > 2000)`,
		cutEditRow,
	},
	{
		"media", `SELECT ifnull(max(id), 0) FROM (SELECT id FROM media WHERE id > ? ORDER BY id LIMIT ?)`, `
		SELECT id
		FROM media
		WHERE id > ? AND id <= ? AND file = '' AND (octet_length(description) > 3000 OR octet_length(mime) > 255)`,
		cutMediaRow,
	},
	{
		"polls", `SELECT ifnull(max(id), 0) FROM (SELECT id FROM polls WHERE id > ? ORDER BY id LIMIT ?)`, `
		SELECT id
		FROM polls
		WHERE id > ? AND id <= ? AND fetched_at IS NOT NULL AND octet_length(options) > 500`,
		cutPollRow,
	},
	{
		"chat_messages", `SELECT ifnull(max(id), 0) FROM (SELECT id FROM chat_messages WHERE id > ? ORDER BY id LIMIT ?)`, `
		SELECT id
		FROM chat_messages
		WHERE id > ? AND id <= ? AND emojis IS NOT NULL AND (octet_length(content) > 32000 OR octet_length(emojis) > 4000)`,
		cutMessageRow,
	},
}

// LargeRows returns the ids of rows that may be too large in the batch of a job, and the job for the next batch, nil after the last one.
func (r reader) LargeRows(ctx context.Context, w CutLargeRows) (large []int64, next *CutLargeRows, err error) {
	at := 0
	if w.Table != "" {
		at = slices.IndexFunc(largeTables, func(t largeTable) bool { return t.name == w.Table })
	}
	if at < 0 {
		return nil, nil, fmt.Errorf("large rows: there is no table %q", w.Table)
	}
	t := largeTables[at]
	end, err := ids[int64](ctx, r, "end of a batch", t.ends, w.After, largeRowsBatch)
	if err != nil {
		return nil, nil, err
	}
	if end[0] == 0 {
		if at++; at == len(largeTables) {
			return nil, nil, nil
		}
		return nil, &CutLargeRows{Table: largeTables[at].name}, nil
	}
	large, err = ids[int64](ctx, r, "large rows", t.large, w.After, end[0])
	return large, &CutLargeRows{Table: t.name, After: end[0]}, err
}

// CutLargeRow cuts a row of the table of a job, if it is too large.
func (tx *Tx) CutLargeRow(ctx context.Context, table string, id int64) error {
	ctx = withWholeRows(ctx)
	for _, t := range largeTables {
		if t.name == table || table == "" {
			return t.cut(ctx, tx, id)
		}
	}
	return fmt.Errorf("large rows: there is no table %q", table)
}

func cutAccountRow(ctx context.Context, tx *Tx, id int64) error {
	a, err := tx.Account(ctx, AccountID(id))
	if err != nil || !a.CutRemote() {
		return err
	}
	return tx.SaveAccount(ctx, a)
}

func cutStatusRow(ctx context.Context, tx *Tx, id int64) error {
	st, err := tx.Status(ctx, StatusID(id))
	if err != nil {
		return err
	}
	var poll *Poll
	if st.HasPoll {
		if poll, err = tx.PollOf(ctx, st.ID); err != nil {
			return err
		}
	}
	if !st.CutRemote(poll.Titles()...) {
		return nil
	}
	return tx.SaveStatus(ctx, st)
}

func cutEditRow(ctx context.Context, tx *Tx, id int64) error {
	v, err := get[StatusEdit](ctx, tx.reader, "status edit", `SELECT * FROM status_edits WHERE id = ?`, id)
	if err != nil {
		return err
	}
	st, err := tx.Status(ctx, v.StatusID)
	if err != nil || st.Local() || !v.CutRemote(st) {
		return err
	}
	return tx.exec(ctx, "cut status edit", `
		UPDATE status_edits
		SET spoiler_text = ?, content = ?, media = ?, poll = ?
		WHERE id = ?`, v.SpoilerText, v.Content, v.Media, v.Poll, v.ID)
}

func cutMediaRow(ctx context.Context, tx *Tx, id int64) error {
	m, err := get[Media](ctx, tx.reader, "media", `SELECT * FROM media WHERE id = ?`, id)
	if err != nil || !m.CutRemote() {
		return err
	}
	if err := tx.DescribeMedia(ctx, m); err != nil {
		return err
	}
	return tx.exec(ctx, "cut media type", `UPDATE media SET mime = ? WHERE id = ?`, m.Mime, m.ID)
}

func cutPollRow(ctx context.Context, tx *Tx, id int64) error {
	p, err := get[Poll](ctx, tx.reader, "poll", `SELECT * FROM polls WHERE id = ?`, id)
	if err != nil {
		return err
	}
	st, err := tx.Status(ctx, p.StatusID)
	if err != nil || st.Local() || !p.CutRemote() {
		return err
	}
	return tx.SavePoll(ctx, p)
}

func cutMessageRow(ctx context.Context, tx *Tx, id int64) error {
	m, err := get[ChatMessage](ctx, tx.reader, "chat message", `SELECT * FROM chat_messages WHERE id = ?`, id)
	if err != nil || m.Emojis == nil {
		return err
	}
	m.CutRemote()
	return tx.exec(ctx, "cut chat message", `UPDATE chat_messages SET content = ?, emojis = ? WHERE id = ?`, m.Content, m.Emojis, m.ID)
}
