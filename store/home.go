package store

import (
	"context"
	"strings"
)

// backfillScanFactor is how many newest posts of an author a backfill reads for each wanted one, because some are not visible to the owner.
const backfillScanFactor = 5

// BackfillHome adds up to limit of the newest posts and boosts of a followed account to a local follower's home: those that FanOut would
// have added and that are visible. Ids below oldest are left out.
func (tx *Tx) BackfillHome(ctx context.Context, f *Follow, limit int, oldest StatusID) error {
	l, err := tx.lookups(ctx, f.FollowerID)
	if err != nil {
		return err
	}
	return tx.exec(ctx, "backfill home", `
		INSERT OR IGNORE INTO home (account_id, status_id)
		SELECT ?1, s.id
		FROM (
			SELECT id
			FROM statuses INDEXED BY statuses_account
			WHERE account_id = ?3 AND id >= ?8
			ORDER BY id DESC
			LIMIT ?6) n
		CROSS JOIN statuses s ON s.id = n.id
		LEFT JOIN statuses o ON o.id = s.reblog_of_id
		WHERE s.visibility < 4
			AND `+notImported+`
			AND (s.reblog_of_id IS NULL OR ?4 AND o.account_id <> ?1)
			AND NOT EXISTS (
				SELECT 1
				FROM list_members m CROSS JOIN lists l ON l.id = m.list_id
				WHERE m.account_id = ?3 AND l.account_id = ?1 AND l.exclusive = 1)
			AND `+inLanguage("?7", "ifnull(o.language, s.language)")+`
			AND `+visibleWithOriginal+`
		ORDER BY s.id DESC
		LIMIT ?5`, f.FollowerID, l, f.TargetID, f.ShowReblogs, limit, backfillScanFactor*limit, f.Languages, oldest)
}

// NewestStatusIDs returns the ids of the newest posts and boosts of an account.
func (r reader) NewestStatusIDs(ctx context.Context, account AccountID, limit int) ([]StatusID, error) {
	return ids[StatusID](ctx, r, "newest statuses", `
		SELECT id
		FROM statuses INDEXED BY statuses_account
		WHERE account_id = ?
		ORDER BY id DESC
		LIMIT ?`, account, limit)
}

// ClearHome removes an author's posts and boosts from a home. Unless all is set, direct and list posts and posts with a followed hashtag
// stay.
func (tx *Tx) ClearHome(ctx context.Context, id, author AccountID, all bool) error {
	return tx.exec(ctx, "clear home", `
		DELETE FROM home
		WHERE account_id = ?1 AND status_id IN (
			SELECT s.id
			FROM statuses s INDEXED BY statuses_account
			WHERE s.account_id = ?2 AND s.id >= (SELECT min(h.status_id) FROM home h WHERE h.account_id = ?1)
				AND (?3 OR s.visibility < 4 AND NOT (`+publicOrLocalPost+` AND `+followsTagOf+`)))`, id, author, all)
}

// ResetHome replaces the home of a local account by the entries that do not depend on a follow: its own posts and boosts, and direct and list
// posts addressed to it. It considers the newest of each kind, as many as limit.
func (tx *Tx) ResetHome(ctx context.Context, id AccountID, limit int) error {
	if err := tx.exec(ctx, "empty home", `DELETE FROM home WHERE account_id = ?`, id); err != nil {
		return err
	}
	return tx.exec(ctx, "reset home", `
		INSERT OR IGNORE INTO home (account_id, status_id)
		SELECT ?1, id
		FROM (SELECT id, unfederated, reblog_of_id FROM statuses INDEXED BY statuses_account WHERE account_id = ?1 ORDER BY id DESC LIMIT ?2) s
		WHERE `+notImported+`
		UNION ALL
		SELECT ?1, s.id
		FROM (SELECT status_id FROM recipients INDEXED BY recipients_account WHERE account_id = ?1 ORDER BY status_id DESC LIMIT ?2) r
		CROSS JOIN statuses s ON s.id = r.status_id
		WHERE s.visibility >= 4`, id, limit)
}

// publicOrLocalPost is the condition that a post s with a followed hashtag belongs into homes.
const publicOrLocalPost = `s.visibility IN (0, 2) AND s.reblog_of_id IS NULL`

// notImported is the condition that s is not an imported post, which is in no home. A boost of one is.
const notImported = `(s.unfederated = 0 OR s.reblog_of_id IS NOT NULL)`

// inExclusiveList is the condition that the author of s is in an exclusive list of ?1, whose posts are not in home.
const inExclusiveList = `EXISTS (
				SELECT 1
				FROM list_members m CROSS JOIN lists l ON l.id = m.list_id
				WHERE m.account_id = s.account_id AND l.account_id = ?1 AND l.exclusive = 1)`

// reachesTagFollowers is publicOrLocalPost for a status in memory.
func (s *Status) reachesTagFollowers() bool {
	return s.ReblogOfID == nil && (s.Visibility == Public || s.Visibility == Local)
}

// homesOfTagFollowers selects the followers of hashtags of the post ?1, without those that have its author ?2 in an exclusive list.
const homesOfTagFollowers = `
		SELECT f.account_id, ?1
		FROM status_tags t CROSS JOIN tag_follows f ON f.tag_id = t.tag_id
		WHERE t.status_id = ?1 AND NOT EXISTS (
			SELECT 1
			FROM list_members m CROSS JOIN lists l ON l.id = m.list_id
			WHERE m.account_id = ?2 AND l.account_id = f.account_id AND l.exclusive = 1)`

var fanOutTags = intoHomes(homesOfTagFollowers)

// FanOutTags adds a public or local post to the homes of followers of its hashtags, unless they have its author in an exclusive list.
// FanOut includes it.
func (tx *Tx) FanOutTags(ctx context.Context, s *Status) error {
	if !s.reachesTagFollowers() {
		return nil
	}
	return tx.exec(ctx, "fan out to followers of tags", fanOutTags, s.ID, s.AccountID)
}

// BackfillTag adds up to limit of the newest posts with a hashtag to a home: those that FanOutTags would have added and that the owner has
// not hidden.
func (tx *Tx) BackfillTag(ctx context.Context, id AccountID, tag TagID, limit int) error {
	l, err := tx.lookups(ctx, id)
	if err != nil {
		return err
	}
	return tx.exec(ctx, "backfill tag", `
		INSERT OR IGNORE INTO home (account_id, status_id)
		SELECT ?1, s.id
		FROM (
			SELECT status_id AS id
			FROM status_tags
			WHERE tag_id = ?4
			ORDER BY status_id DESC
			LIMIT ?6) n
		CROSS JOIN statuses s ON s.id = n.id
		LEFT JOIN statuses o ON o.id = s.reblog_of_id
		WHERE `+publicOrLocalPost+` AND `+notImported+`
			AND NOT `+inExclusiveList+`
			AND `+visible("s")+`
			AND `+notBlockedOrMuted+`
		ORDER BY s.id DESC
		LIMIT ?5`, id, l, false, tag, limit, backfillScanFactor*limit)
}

// ClearTag removes the posts from a home that are there only because of a hashtag that is no longer followed: not the owner's, nor by a
// followed account, nor with another followed hashtag.
func (tx *Tx) ClearTag(ctx context.Context, id AccountID, tag TagID) error {
	return tx.exec(ctx, "clear tag", `
		DELETE FROM home
		WHERE account_id = ?1 AND status_id IN (
			SELECT s.id
			FROM home h
			CROSS JOIN status_tags t ON t.tag_id = ?2 AND t.status_id = h.status_id
			CROSS JOIN statuses s ON s.id = h.status_id
			WHERE h.account_id = ?1 AND `+publicOrLocalPost+` AND s.account_id <> ?1
				AND NOT EXISTS (SELECT 1 FROM follows x WHERE x.follower_id = ?1 AND x.target_id = s.account_id AND x.pending = 0)
				AND NOT `+followsTagOf+`)`, id, tag)
}

// followsTagOf is the condition that ?1 follows a hashtag of s.
const followsTagOf = `EXISTS (
				SELECT 1
				FROM status_tags y CROSS JOIN tag_follows x ON x.account_id = ?1 AND x.tag_id = y.tag_id
				WHERE y.status_id = s.id)`

// TagFollowsAfter returns the hashtags after an id that an account follows, in their order.
func (r reader) TagFollowsAfter(ctx context.Context, id AccountID, after TagID, limit int) ([]TagID, error) {
	return ids[TagID](ctx, r, "tag follows", `
		SELECT tag_id
		FROM tag_follows
		WHERE account_id = ? AND tag_id > ?
		ORDER BY tag_id
		LIMIT ?`, id, after, limit)
}

// Homes of the status ?1 by ?2. ?3 is the author of the original, NULL if it is no boost; ?4 the language of the status or original; ?5
// whether its author is local.
var (
	homesOfFollowers = `
		SELECT follower_id, ?1
		FROM follows INDEXED BY follows_local
		WHERE target_id = ?2 AND pending = 0 AND follower_local = 1
			AND (?3 IS NULL OR show_reblogs = 1 AND follower_id <> ?3)
			AND ` + inLanguage("languages", "?4")

	homesOfAddressed = `
		SELECT r.account_id, ?1
		FROM recipients r CROSS JOIN users u ON u.account_id = r.account_id
		WHERE r.status_id = ?1`

	homeOfAuthor = `
		SELECT ?2, ?1
		WHERE ?5`

	fanOut          = intoHomes(homesOfFollowers, homeOfAuthor)
	fanOutPublic    = intoHomes(homesOfFollowers, homeOfAuthor, homesOfTagFollowers)
	fanOutAddressed = intoHomes(homesOfAddressed, homeOfAuthor)
)

func intoHomes(homes ...string) string {
	return `
		INSERT OR IGNORE INTO home (account_id, status_id)` + strings.Join(homes, `
		UNION ALL`)
}

// FanOut adds a status to homes and lists. Homes are those of the author, of local followers unless they hide boosts, want other languages
// or have the author in an exclusive list, and of followers of its hashtags; for direct and list posts only those of the recipients.
// original is nil if s is no boost; its author does not get the boost.
func (tx *Tx) FanOut(ctx context.Context, s, original *Status) error {
	var boosted *AccountID
	language := s.Language
	if original != nil {
		boosted, language = &original.AccountID, original.Language
	}
	query := fanOut
	switch {
	case s.Visibility == Direct || s.Visibility == ListOnly:
		query = fanOutAddressed
	case s.reachesTagFollowers():
		query = fanOutPublic
	}
	if err := tx.exec(ctx, "fan out", query, s.ID, s.AccountID, boosted, language, s.Local()); err != nil {
		return err
	}
	return tx.fanOutToLists(ctx, s)
}

// inLanguage is the condition that a language is in the JSON array of wanted languages. An empty array has all languages. A status without
// a language is always in it, and pt includes pt-BR.
func inLanguage(wanted, language string) string {
	return strings.NewReplacer("WANTED", wanted, "LANGUAGE", language).Replace(`(WANTED = '[]' OR LANGUAGE = ''
				OR EXISTS (SELECT 1 FROM json_each(WANTED) l WHERE l.value = LANGUAGE OR LANGUAGE LIKE l.value || '-%'))`)
}

// fanOutToLists adds a status to the lists that have its author, as the replies policy of each list says, and removes it from the homes of
// owners whose list is exclusive.
func (tx *Tx) fanOutToLists(ctx context.Context, s *Status) error {
	if is, err := tx.exists(ctx, `SELECT 1 FROM list_members WHERE account_id = ? LIMIT 1`, s.AccountID); !is || err != nil {
		return err
	}
	if err := tx.exec(ctx, "fan out to lists", `
		INSERT OR IGNORE INTO list_timeline (list_id, status_id)
		SELECT l.id, ?1
		FROM list_members m CROSS JOIN lists l ON l.id = m.list_id
		WHERE m.account_id = ?2 AND `+inList("?2", "?3"),
		s.ID, s.AccountID, s.InReplyToAccountID); err != nil {
		return err
	}
	return tx.exec(ctx, "remove from home", `
		DELETE FROM home
		WHERE status_id = ?1 AND account_id <> ?2 AND account_id IN (
			SELECT l.account_id
			FROM list_members m CROSS JOIN lists l ON l.id = m.list_id
			WHERE m.account_id = ?2 AND l.exclusive = 1)`, s.ID, s.AccountID)
}
