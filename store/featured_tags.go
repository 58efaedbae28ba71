package store

import (
	"context"

	"svc/internal/text"
)

// FeaturedTag is a hashtag on the profile of a local account.
type FeaturedTag struct {
	ID        FeaturedTagID
	AccountID AccountID
	TagID     TagID
}

// FeaturedTagUse is a featured hashtag with the account's public and unlisted posts that have it.
type FeaturedTagUse struct {
	ID            FeaturedTagID
	Name          string
	StatusesCount int
	LastStatusID  *StatusID // nil: none
}

// FeaturedTags returns the featured hashtags of an account, the first one first.
func (r reader) FeaturedTags(ctx context.Context, account AccountID, limit int) ([]FeaturedTagUse, error) {
	return list[FeaturedTagUse](ctx, r, "featured tags", `
		SELECT some_featured.id, t.name, ifnull(a.statuses_count, 0) AS statuses_count, a.last_status_id
		FROM (SELECT id, tag_id FROM featured_tags WHERE account_id = ?1 LIMIT ?2) some_featured
		CROSS JOIN tags t ON t.id = some_featured.tag_id
		LEFT JOIN account_tags a ON a.account_id = ?1 AND a.tag_id = some_featured.tag_id`, account, limit)
}

// FrequentTags returns the hashtags that an account uses most and does not feature.
func (r reader) FrequentTags(ctx context.Context, account AccountID, limit int) ([]string, error) {
	return list[string](ctx, r, "frequent tags", `
		SELECT t.name
		FROM account_tags a INDEXED BY account_tags_count
		CROSS JOIN tags t ON t.id = a.tag_id
		WHERE a.account_id = ?1
			AND NOT EXISTS (SELECT 1 FROM featured_tags f WHERE f.account_id = ?1 AND f.tag_id = a.tag_id)
		ORDER BY a.statuses_count DESC, a.last_status_id DESC
		LIMIT ?2`, account, limit)
}

// AddFeaturedTag features a hashtag. Repeating it is not an error. It returns 0 if the account has max others.
func (tx *Tx) AddFeaturedTag(ctx context.Context, account AccountID, name string, max int) (FeaturedTagID, error) {
	tag, err := tx.addTag(ctx, name)
	if err != nil {
		return 0, err
	}
	if err := tx.exec(ctx, "feature tag", `
		INSERT OR IGNORE INTO featured_tags (id, account_id, tag_id)
		SELECT ?1, ?2, ?3
		WHERE (SELECT count(*) FROM featured_tags WHERE account_id = ?2) < ?4`, tx.newID(), account, tag, max); err != nil {
		return 0, err
	}
	return value[FeaturedTagID](ctx, tx.reader, "featured tag", `
		SELECT ifnull((SELECT id FROM featured_tags WHERE account_id = ? AND tag_id = ?), 0)`, account, tag)
}

// FeaturedTagID returns the id of a featured hashtag of an account, 0 if there is none.
func (r reader) FeaturedTagID(ctx context.Context, account AccountID, name string) (FeaturedTagID, error) {
	return value[FeaturedTagID](ctx, r, "featured tag", `
		SELECT ifnull((
			SELECT f.id
			FROM tags t
			CROSS JOIN featured_tags f ON f.account_id = ? AND f.tag_id = t.id
			WHERE t.key = ?), 0) AS id`, account, text.TagKey(name))
}

// RemoveFeaturedTag removes a featured hashtag of an account, and returns false if there was none. An unused name is deleted.
func (tx *Tx) RemoveFeaturedTag(ctx context.Context, account AccountID, id FeaturedTagID) (removed bool, err error) {
	row, err := one[FeaturedTag](ctx, tx.reader, "featured tag", `SELECT * FROM featured_tags WHERE id = ? AND account_id = ?`, id, account)
	if row == nil || err != nil {
		return false, err
	}
	if err := tx.exec(ctx, "remove featured tag", `DELETE FROM featured_tags WHERE id = ?`, id); err != nil {
		return false, err
	}
	return true, tx.removeUnusedTag(ctx, row.TagID)
}

// countsTags returns true if the hashtags of a status are counted: those that everyone can see, of local accounts.
func (s *Status) countsTags() bool {
	return s.Local() && s.ReblogOfID == nil && s.Visibility.Counted()
}

// countTags adds a status to the counters of its hashtags.
func (tx *Tx) countTags(ctx context.Context, s *Status) error {
	if !s.countsTags() {
		return nil
	}
	return tx.exec(ctx, "count tags", `
		INSERT INTO account_tags (account_id, tag_id, statuses_count, last_status_id)
		SELECT ?1, tag_id, 1, ?2
		FROM status_tags
		WHERE status_id = ?2
		ON CONFLICT (account_id, tag_id) DO UPDATE
		SET statuses_count = statuses_count + 1, last_status_id = max(last_status_id, excluded.last_status_id)`, s.AccountID, s.ID)
}

// maxOlderTagged is how many older statuses of an account are searched for the newest with a hashtag.
const maxOlderTagged = "1000"

// uncountTags removes a status from the counters of its hashtags. If it is the newest with one, it looks for the next among the account's
// older statuses. If the next is not among the first of them, the date of the last of these stands for it: it is not later.
func (tx *Tx) uncountTags(ctx context.Context, s *Status) error {
	if !s.countsTags() {
		return nil
	}
	if err := tx.exec(ctx, "uncount tags", `
		UPDATE account_tags
		SET statuses_count = statuses_count - 1
		WHERE account_id = ?1 AND tag_id IN (SELECT tag_id FROM status_tags WHERE status_id = ?2)`, s.AccountID, s.ID); err != nil {
		return err
	}
	if err := tx.exec(ctx, "remove unused tags", `
		DELETE FROM account_tags
		WHERE account_id = ?1 AND statuses_count <= 0 AND tag_id IN (SELECT tag_id FROM status_tags WHERE status_id = ?2)`, s.AccountID, s.ID); err != nil {
		return err
	}
	return tx.exec(ctx, "last status with tags", `
		UPDATE account_tags
		SET last_status_id = ifnull((
			SELECT max(s.id)
			FROM (
				SELECT x.id, x.visibility
				FROM statuses x INDEXED BY statuses_account
				WHERE x.account_id = ?1 AND x.id < ?2
				ORDER BY x.id DESC
				LIMIT `+maxOlderTagged+`) s
			WHERE s.visibility IN (?3, ?4)
				AND EXISTS (SELECT 1 FROM status_tags t WHERE t.tag_id = account_tags.tag_id AND t.status_id = s.id)), ifnull((
			SELECT x.id
			FROM statuses x INDEXED BY statuses_account
			WHERE x.account_id = ?1 AND x.id < ?2
			ORDER BY x.id DESC
			LIMIT 1 OFFSET `+maxOlderTagged+`), last_status_id))
		WHERE account_id = ?1 AND last_status_id = ?2 AND tag_id IN (SELECT tag_id FROM status_tags WHERE status_id = ?2)`,
		s.AccountID, s.ID, Public, Unlisted)
}
