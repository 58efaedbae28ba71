package store

import (
	"context"
	"fmt"

	"svc/internal/text"
)

// Refold is the job that stores again what earlier versions compared in another form: the keys of hashtags, and what accounts and posts are
// found by. It looks at a batch of rows of a table and queues itself for the next one.
type Refold struct {
	Table string `json:"table"` // "": the first
	After int64  `json:"after"` // id
}

func (Refold) Kind() JobKind {
	return JobKind{Name: "refold", Timeout: NoTimeout, Parallel: 1}
}

// Tables of Refold, in order.
const (
	refoldTags     = "tags"
	RefoldAccounts = "accounts"
	RefoldStatuses = "statuses"
)

// Sizes of the steps of Refold, so that others can write in between.
const (
	refoldBatch = 1000 // rows that the job looks at before it lets others run
	mergedUses  = 500  // uses of a hashtag that one transaction moves
)

const foldedLetters = `'` + text.FoldedLetters + `'`

// refoldTable is a table with rows that may have to be stored again.
type refoldTable struct {
	name string
	ends string // query of the last id of a batch after ?
	rows string // query of the ids after ? and up to ?
	next string
}

var refoldTables = map[string]refoldTable{
	refoldTags: {
		refoldTags, `SELECT ifnull(max(id), 0) FROM (SELECT id FROM tags WHERE id > ? ORDER BY id LIMIT ?)`,
		`SELECT id FROM tags WHERE id > ? AND id <= ? AND key GLOB '*[^ -~]*'`, RefoldAccounts,
	},
	RefoldAccounts: {
		RefoldAccounts, `SELECT ifnull(max(id), 0) FROM (SELECT id FROM accounts WHERE id > ? ORDER BY id LIMIT ?)`,
		`
		SELECT id
		FROM accounts
		WHERE id > ? AND id <= ? AND deleted_at IS NULL AND (nickname GLOB '*[^ -~]*' OR display_name GLOB '*[^ -~]*')`, RefoldStatuses,
	},
	RefoldStatuses: {
		RefoldStatuses, `SELECT ifnull(max(id), 0) FROM (SELECT id FROM statuses WHERE id > ? ORDER BY id LIMIT ?)`, `
		SELECT s.id
		FROM statuses s
		WHERE s.id > ? AND s.id <= ? AND s.reblog_of_id IS NULL AND (s.content GLOB ` + foldedLetters + ` OR s.spoiler_text GLOB ` + foldedLetters + `
			OR s.has_media = 1 AND EXISTS (SELECT 1 FROM media m WHERE m.status_id = s.id AND m.description GLOB ` + foldedLetters + `)
			OR s.has_poll = 1 AND EXISTS (SELECT 1 FROM polls p WHERE p.status_id = s.id AND p.options GLOB ` + foldedLetters + `))`, "",
	},
}

// RefoldBatch returns the table of a job and the ids of its rows that are to be stored again, and the job for the next batch, nil after the last
// one.
func (r reader) RefoldBatch(ctx context.Context, w Refold) (table string, rows []int64, next *Refold, err error) {
	if table = w.Table; table == "" {
		table = refoldTags
	}
	t, ok := refoldTables[table]
	if !ok {
		return "", nil, nil, fmt.Errorf("refold: there is no table %q", table)
	}
	end, err := ids[int64](ctx, r, "end of a batch", t.ends, w.After, refoldBatch)
	if err != nil {
		return "", nil, nil, err
	}
	if end[0] == 0 {
		if t.next == "" {
			return table, nil, nil, nil
		}
		return table, nil, &Refold{Table: t.next}, nil
	}
	rows, err = ids[int64](ctx, r, "rows to store again", t.rows, w.After, end[0])
	return table, rows, &Refold{Table: table, After: end[0]}, err
}

// tag is a hashtag.
type tag struct {
	ID        TagID
	Name, Key string
}

// RefoldTag gives a hashtag of an earlier version the key of this one. If another hashtag has that key, it moves some of the uses there, and
// returns true as long as there may be more.
func (tx *Tx) RefoldTag(ctx context.Context, id TagID) (more bool, err error) {
	t, err := one[tag](ctx, tx.reader, "tag", `SELECT * FROM tags WHERE id = ?`, id)
	if t == nil || err != nil {
		return false, err
	}
	key := text.TagKey(t.Name)
	if key == t.Key {
		return false, nil
	}
	into, err := one[tag](ctx, tx.reader, "tag with the key", `SELECT * FROM tags WHERE key = ?`, key)
	switch {
	case err != nil:
		return false, err
	case into == nil:
		return false, tx.exec(ctx, "set key of tag", `UPDATE tags SET key = ? WHERE id = ?`, key, id)
	}
	return tx.mergeTag(ctx, t, into)
}

// mergeTag moves follows and some uses of a hashtag to another one, and deletes it after the last one.
func (tx *Tx) mergeTag(ctx context.Context, from, into *tag) (more bool, err error) {
	for _, query := range []string{
		`UPDATE OR IGNORE tag_follows SET tag_id = ?2 WHERE tag_id = ?1`,
		`DELETE FROM tag_follows WHERE tag_id = ?1`,
		`UPDATE OR IGNORE featured_tags SET tag_id = ?2 WHERE tag_id = ?1`,
		`DELETE FROM featured_tags WHERE tag_id = ?1`,
	} {
		if err := tx.exec(ctx, "merge tags", query, from.ID, into.ID); err != nil {
			return false, err
		}
	}
	uses, err := ids[StatusID](ctx, tx.reader, "uses of tag", `SELECT status_id FROM status_tags WHERE tag_id = ? ORDER BY status_id LIMIT ?`, from.ID, mergedUses)
	if err != nil {
		return false, err
	}
	if len(uses) > 0 {
		return true, tx.moveTagUses(ctx, from, into, uses)
	}
	for _, query := range []string{`DELETE FROM account_tags WHERE tag_id = ?`, `DELETE FROM tags WHERE id = ?`} {
		if err := tx.exec(ctx, "delete merged tag", query, from.ID); err != nil {
			return false, err
		}
	}
	return false, nil
}

// moveTagUses moves uses of a hashtag to another one, each with the spelling that it has.
func (tx *Tx) moveTagUses(ctx context.Context, from, into *tag, uses []StatusID) error {
	// The counters of from go with it. A post that has both hashtags is counted already.
	if err := tx.exec(ctx, "count merged tags", `
		INSERT INTO account_tags (account_id, tag_id, statuses_count, last_status_id)
		SELECT s.account_id, ?1, count(*), max(s.id)
		FROM json_each(?2) j
		CROSS JOIN statuses s ON s.id = j.value
		CROSS JOIN users u ON u.account_id = s.account_id
		WHERE s.reblog_of_id IS NULL AND s.visibility IN (?3, ?4)
			AND NOT EXISTS (SELECT 1 FROM status_tags x WHERE x.tag_id = ?1 AND x.status_id = s.id)
		GROUP BY s.account_id
		ON CONFLICT (account_id, tag_id) DO UPDATE
		SET statuses_count = statuses_count + excluded.statuses_count, last_status_id = max(last_status_id, excluded.last_status_id)`,
		into.ID, jsonArray(uses), Public, Unlisted); err != nil {
		return err
	}
	if err := tx.exec(ctx, "move tags", `
		INSERT OR IGNORE INTO status_tags (tag_id, status_id, position, visibility, name)
		SELECT ?1, x.status_id, x.position, x.visibility, CASE WHEN x.name <> '' THEN x.name WHEN ?3 = ?4 THEN '' ELSE ?3 END
		FROM json_each(?5) j
		CROSS JOIN status_tags x ON x.tag_id = ?2 AND x.status_id = j.value`, into.ID, from.ID, from.Name, into.Name, jsonArray(uses)); err != nil {
		return err
	}
	return tx.exec(ctx, "remove moved tags", `
		DELETE FROM status_tags
		WHERE tag_id = ?1 AND status_id IN (SELECT value FROM json_each(?2))`, from.ID, jsonArray(uses))
}
