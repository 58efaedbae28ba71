package store

import (
	"context"
	"slices"

	"svc/internal/text"
)

// The names of hashtags are in lower case, as they are spelled (text.TagName). They are found by their keys (text.TagKey), whatever their spelling.

// TagFollow is an account's follow of a hashtag.
type TagFollow struct {
	ID        TagFollowID
	AccountID AccountID
	TagID     TagID
}

// FollowedTag is a hashtag that an account follows. Lists of them are paged by the id of the follow.
type FollowedTag struct {
	Cursor TagFollowID
	Name   string
}

// Bounds of a search for hashtags.
const (
	maxTagsScanned = 500 // names with the prefix
	maxTagUses     = 100 // latest uses of a hashtag, one of which must be visible
)

// usedInVisibleStatus is the condition that a status with the hashtag in alias tag is visible to the viewer ?1 with the lookups ?2, because
// hashtags of restricted posts must not leak. It reads at most ?4 uses.
func usedInVisibleStatus(tag string) string {
	return `EXISTS (
			SELECT 1
			FROM (SELECT status_id FROM status_tags WHERE tag_id = ` + tag + `.id ORDER BY status_id DESC LIMIT ?4) some_uses
			CROSS JOIN statuses s ON s.id = some_uses.status_id
			WHERE ` + visible("s") + `)`
}

// SearchTags returns the names of hashtags with the prefix name, without name itself, that are in statuses visible to the viewer, sorted.
func (r reader) SearchTags(ctx context.Context, viewer AccountID, name string, limit int) ([]string, error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	end, err := r.db.searchLimiter.acquire(ctx, viewer)
	if err != nil {
		return nil, err
	}
	defer end()
	return list[string](ctx, r, "search tags", `
		SELECT some_tags.name
		FROM (SELECT id, name FROM tags WHERE key > ?3 AND key < ?3 || char(1114111) ORDER BY key LIMIT ?5) some_tags
		WHERE `+usedInVisibleStatus("some_tags")+`
		LIMIT ?6`, viewer, l, text.TagKey(name), maxTagUses, maxTagsScanned, limit)
}

// UsedTags returns the names of those of the hashtags that are in statuses visible to the viewer, in no order.
func (r reader) UsedTags(ctx context.Context, viewer AccountID, names []string) ([]string, error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	return list[string](ctx, r, "used tags", `
		SELECT t.name
		FROM json_each(?3) j
		CROSS JOIN tags t ON t.key = j.value
		WHERE `+usedInVisibleStatus("t")+`
		LIMIT ?5`, viewer, l, jsonTexts(tagKeys(names)), maxTagUses, len(names))
}

// TagRelation is what an account does with a hashtag.
type TagRelation struct {
	Key       string
	Following bool
	Featuring bool // on its profile
}

// TagRelations returns what an account does with hashtags that have a row, in no order.
func (r reader) TagRelations(ctx context.Context, of AccountID, names []string) ([]TagRelation, error) {
	return list[TagRelation](ctx, r, "tag relations", `
		SELECT t.key,
			EXISTS (SELECT 1 FROM tag_follows f WHERE f.account_id = ?1 AND f.tag_id = t.id) AS following,
			EXISTS (SELECT 1 FROM featured_tags f WHERE f.account_id = ?1 AND f.tag_id = t.id) AS featuring
		FROM json_each(?2) j
		CROSS JOIN tags t ON t.key = j.value`, of, jsonTexts(tagKeys(names)))
}

// tagKeys returns the distinct keys of hashtags.
func tagKeys(names []string) []string {
	keys := make([]string, 0, len(names))
	for _, name := range names {
		if key := text.TagKey(name); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

var followedTags = newKeyset(`
		SELECT f.id AS cursor, t.name
		FROM tag_follows f INDEXED BY tag_follows_account
		CROSS JOIN tags t ON t.id = f.tag_id
		WHERE f.account_id = ?1 AND f.id < ?2 AND f.id > ?3
		ORDER BY f.id DESC
		LIMIT ?4`)

// FollowedTags returns the hashtags that an account follows, latest first, paged by the ids of the follows.
func (r reader) FollowedTags(ctx context.Context, by AccountID, p Page) ([]FollowedTag, error) {
	return rowPage[FollowedTag](ctx, r, "followed tags", followedTags, by, p)
}

// CountFollowedTags counts the hashtags that an account follows.
func (r reader) CountFollowedTags(ctx context.Context, by AccountID) (int, error) {
	return value[int](ctx, r, "count followed tags", `SELECT count(*) FROM tag_follows WHERE account_id = ?`, by)
}

// AddTagFollow follows a hashtag. added is false if it is followed already.
func (tx *Tx) AddTagFollow(ctx context.Context, by AccountID, name string) (id TagID, added bool, err error) {
	if id, err = tx.addTag(ctx, name); err != nil {
		return 0, false, err
	}
	n, err := tx.execRows(ctx, "follow tag", `
		INSERT OR IGNORE INTO tag_follows (id, account_id, tag_id)
		VALUES (?, ?, ?)`, tx.newID(), by, id)
	return id, n > 0, err
}

// RemoveTagFollow unfollows a hashtag, and returns its id, 0 if it was not followed. An unused name is deleted.
func (tx *Tx) RemoveTagFollow(ctx context.Context, by AccountID, name string) (TagID, error) {
	id, err := one[TagID](ctx, tx.reader, "followed tag", `
		SELECT f.tag_id
		FROM tags t CROSS JOIN tag_follows f ON f.account_id = ?1 AND f.tag_id = t.id
		WHERE t.key = ?2`, by, text.TagKey(name))
	if id == nil || err != nil {
		return 0, err
	}
	if err := tx.exec(ctx, "unfollow tag", `DELETE FROM tag_follows WHERE account_id = ? AND tag_id = ?`, by, *id); err != nil {
		return 0, err
	}
	return *id, tx.removeUnusedTag(ctx, *id)
}

// addTag returns the id of a hashtag, which need not exist.
func (tx *Tx) addTag(ctx context.Context, name string) (TagID, error) {
	key := text.TagKey(name)
	if err := tx.exec(ctx, "add tag", `INSERT OR IGNORE INTO tags (name, key) VALUES (?, ?)`, name, key); err != nil {
		return 0, err
	}
	id, err := get[TagID](ctx, tx.reader, "tag", `SELECT id FROM tags WHERE key = ?`, key)
	if err != nil {
		return 0, err
	}
	return *id, nil
}

// removeUnusedTag deletes a hashtag that no row refers to.
func (tx *Tx) removeUnusedTag(ctx context.Context, id TagID) error {
	return tx.exec(ctx, "delete tag", `
		DELETE FROM tags
		WHERE id = ?1
			AND NOT EXISTS (SELECT 1 FROM status_tags WHERE tag_id = ?1)
			AND NOT EXISTS (SELECT 1 FROM tag_follows WHERE tag_id = ?1)
			AND NOT EXISTS (SELECT 1 FROM account_tags WHERE tag_id = ?1)
			AND NOT EXISTS (SELECT 1 FROM featured_tags WHERE tag_id = ?1)`, id)
}

// StatusTag is a hashtag of a status, as it is spelled there.
type StatusTag struct {
	StatusID StatusID
	Name     string
}

// StatusTags returns the hashtags of the statuses, in order of status and appearance.
func (r reader) StatusTags(ctx context.Context, ids []StatusID) ([]StatusTag, error) {
	return list[StatusTag](ctx, r, "status tags", `
		SELECT st.status_id, iif(st.name <> '', st.name, t.name) AS name
		FROM json_each(?) j
		CROSS JOIN status_tags st ON st.status_id = j.value
		CROSS JOIN tags t ON t.id = st.tag_id
		ORDER BY j.key, st.position`, jsonArray(ids))
}

// AddTags adds hashtags to a status without hashtags, in this order. Most of them exist already.
func (tx *Tx) AddTags(ctx context.Context, s *Status, names []string) error {
	var added []string // keys
	for i, name := range names {
		key := text.TagKey(name)
		if slices.Contains(added, key) {
			continue
		}
		added = append(added, key)
		tag := func() (int64, error) {
			return tx.execRows(ctx, "tag status", `
				INSERT OR IGNORE INTO status_tags (tag_id, status_id, position, visibility, name)
				SELECT id, ?1, ?2, ?3, iif(name = ?4, '', ?4) FROM tags WHERE key = ?5`, s.ID, i, s.Visibility, name, key)
		}
		tagged, err := tag()
		if err != nil {
			return err
		}
		if tagged > 0 {
			continue
		}
		if err := tx.exec(ctx, "add tag", `INSERT OR IGNORE INTO tags (name, key) VALUES (?, ?)`, name, key); err != nil {
			return err
		}
		if _, err := tag(); err != nil {
			return err
		}
	}
	return tx.countTags(ctx, s)
}

// SetTags replaces the hashtags of a status.
func (tx *Tx) SetTags(ctx context.Context, s *Status, names []string) error {
	if err := tx.uncountTags(ctx, s); err != nil {
		return err
	}
	if err := tx.exec(ctx, "clear tags", `DELETE FROM status_tags WHERE status_id = ?`, s.ID); err != nil {
		return err
	}
	return tx.AddTags(ctx, s, names)
}

// tagIDs returns the ids of those of the hashtags that exist.
func (r reader) tagIDs(ctx context.Context, names []string) ([]int64, error) {
	var ids []int64
	for _, key := range tagKeys(names) {
		id, err := one[int64](ctx, r, "tag", `SELECT id FROM tags WHERE key = ?`, key)
		if err != nil {
			return nil, err
		}
		if id != nil {
			ids = append(ids, *id)
		}
	}
	return ids, nil
}
