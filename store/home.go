package store

import (
	"context"
	"strings"
)

// backfillScanFactor is how many of an author's newest posts are looked at for each one that is wanted: those that the reader may not
// see do not count.
const backfillScanFactor = 5

// BackfillHome puts the newest posts and boosts of a followed account into a local follower's home: as many as limit, of those that
// FanOut would have put there and the follower may see.
func (tx *Tx) BackfillHome(ctx context.Context, f *Follow, limit int) error {
	h, err := tx.lookups(ctx, f.FollowerID)
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, "backfill home", `
		INSERT OR IGNORE INTO home (account_id, status_id)
		SELECT ?1, s.id
		FROM (
			SELECT id
			FROM statuses INDEXED BY statuses_account
			WHERE account_id = ?3
			ORDER BY id DESC
			LIMIT ?6) n
		CROSS JOIN statuses s ON s.id = n.id
		LEFT JOIN statuses o ON o.id = s.reblog_of_id
		WHERE s.visibility < 4
			AND (s.reblog_of_id IS NULL OR ?4 AND o.account_id <> ?1)
			AND NOT EXISTS (
				SELECT 1
				FROM list_members m CROSS JOIN lists l ON l.id = m.list_id
				WHERE m.account_id = ?3 AND l.account_id = ?1 AND l.exclusive = 1)
			AND `+inLanguage("?7", "ifnull(o.language, s.language)")+`
			AND `+visibleWithOriginal+`
		ORDER BY s.id DESC
		LIMIT ?5`, f.FollowerID, h, f.TargetID, f.ShowReblogs, limit, backfillScanFactor*limit, f.Languages)
	return err
}

// ClearHome takes an author's posts and boosts out of somebody's home, apart from those addressed to few (direct and list posts) and
// those with a hashtag that is followed, unless all is set.
func (tx *Tx) ClearHome(ctx context.Context, id, author AccountID, all bool) error {
	_, err := tx.exec(ctx, "clear home", `
		DELETE FROM home
		WHERE account_id = ?1 AND status_id IN (
			SELECT s.id
			FROM statuses s INDEXED BY statuses_account
			WHERE s.account_id = ?2 AND s.id >= (SELECT min(h.status_id) FROM home h WHERE h.account_id = ?1)
				AND (?3 OR s.visibility < 4 AND NOT (`+publicOrLocalPost+` AND `+followsTagOf+`)))`, id, author, all)
	return err
}

// ResetHome empties a local account's home, and puts into it what does not come by a follow: its own posts and boosts, and those
// posts that are addressed to few and to this account. Of each kind only the newest are looked at, as many as limit.
func (tx *Tx) ResetHome(ctx context.Context, id AccountID, limit int) error {
	if _, err := tx.exec(ctx, "empty home", `DELETE FROM home WHERE account_id = ?`, id); err != nil {
		return err
	}
	_, err := tx.exec(ctx, "restart home", `
		INSERT OR IGNORE INTO home (account_id, status_id)
		SELECT ?1, id
		FROM (SELECT id FROM statuses INDEXED BY statuses_account WHERE account_id = ?1 ORDER BY id DESC LIMIT ?2)
		UNION ALL
		SELECT ?1, s.id
		FROM (SELECT status_id FROM recipients INDEXED BY recipients_account WHERE account_id = ?1 ORDER BY status_id DESC LIMIT ?2) r
		CROSS JOIN statuses s ON s.id = r.status_id
		WHERE s.visibility >= 4`, id, limit)
	return err
}

// publicOrLocalPost is the condition that a post s of a followed hashtag belongs into homes: it is public, or for people here.
const publicOrLocalPost = `s.visibility IN (0, 2) AND s.reblog_of_id IS NULL`

// inExclusiveList is the condition that the home of ?1 is not for posts of the author of s, because they are in an exclusive list.
const inExclusiveList = `EXISTS (
				SELECT 1
				FROM list_members m CROSS JOIN lists l ON l.id = m.list_id
				WHERE m.account_id = s.account_id AND l.account_id = ?1 AND l.exclusive = 1)`

// reachesTagFollowers tells the same of a post.
func (s *Status) reachesTagFollowers() bool {
	return s.ReblogOfID == nil && (s.Visibility == Public || s.Visibility == Local)
}

// homesOfTagFollowers are the homes of those who follow a hashtag of the post ?1, but for those who keep its author, ?2, in an exclusive
// list.
const homesOfTagFollowers = `
		SELECT f.account_id, ?1
		FROM status_tags t CROSS JOIN tag_follows f ON f.tag_id = t.tag_id
		WHERE t.status_id = ?1 AND NOT EXISTS (
			SELECT 1
			FROM list_members m CROSS JOIN lists l ON l.id = m.list_id
			WHERE m.account_id = ?2 AND l.account_id = f.account_id AND l.exclusive = 1)`

var fanOutTags = intoHomes(homesOfTagFollowers)

// FanOutTags puts a post into the homes of those who follow one of its hashtags, if it is open to them, but for those who keep its
// author in an exclusive list. FanOut does that too.
func (tx *Tx) FanOutTags(ctx context.Context, s *Status) error {
	if !s.reachesTagFollowers() {
		return nil
	}
	_, err := tx.exec(ctx, "fan out to followers of tags", fanOutTags, s.ID, s.AccountID)
	return err
}

// BackfillTag puts the newest posts with a hashtag into somebody's home, as many as limit, of those that FanOutTags would have put there
// and that they want to see.
func (tx *Tx) BackfillTag(ctx context.Context, id AccountID, tag TagID, limit int) error {
	h, err := tx.lookups(ctx, id)
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, "backfill tag", `
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
		WHERE `+publicOrLocalPost+`
			AND NOT `+inExclusiveList+`
			AND `+visible("s")+`
			AND `+notBlockedOrMuted+`
		ORDER BY s.id DESC
		LIMIT ?5`, id, h, false, tag, limit, backfillScanFactor*limit)
	return err
}

// ClearTag takes the posts out of somebody's home that only a hashtag which they follow no longer has brought there: neither their
// own, nor by those whom they follow, nor with another hashtag that they follow.
func (tx *Tx) ClearTag(ctx context.Context, id AccountID, tag TagID) error {
	_, err := tx.exec(ctx, "clear tag", `
		DELETE FROM home
		WHERE account_id = ?1 AND status_id IN (
			SELECT s.id
			FROM home h
			CROSS JOIN status_tags t ON t.tag_id = ?2 AND t.status_id = h.status_id
			CROSS JOIN statuses s ON s.id = h.status_id
			WHERE h.account_id = ?1 AND `+publicOrLocalPost+` AND s.account_id <> ?1
				AND NOT EXISTS (SELECT 1 FROM follows x WHERE x.follower_id = ?1 AND x.target_id = s.account_id AND x.pending = 0)
				AND NOT `+followsTagOf+`)`, id, tag)
	return err
}

// followsTagOf is the condition that ?1 follows a hashtag of s.
const followsTagOf = `EXISTS (
				SELECT 1
				FROM status_tags y CROSS JOIN tag_follows x ON x.account_id = ?1 AND x.tag_id = y.tag_id
				WHERE y.status_id = s.id)`

// TagFollowsAfter returns the hashtags that somebody follows whose ids come after one, in their order.
func (r reader) TagFollowsAfter(ctx context.Context, id AccountID, after TagID, limit int) ([]TagID, error) {
	return ids[TagID](ctx, r, "tag follows", `
		SELECT tag_id
		FROM tag_follows
		WHERE account_id = ? AND tag_id > ?
		ORDER BY tag_id
		LIMIT ?`, id, after, limit)
}

// The homes that a status, ?1, by ?2 belongs into. ?3 is the author of what it boosts, NULL if it is no boost; ?4 its language, or
// that of what it boosts; ?5 whether its author lives here.
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

// FanOut puts a status into the home timelines it belongs in: its author's, its local followers' unless they hide the author's
// boosts, want other languages or keep the author in an exclusive list, those of who follows a hashtag of it, for direct and list
// posts only those of the addressed; and into lists.
// original is what s boosts, nil if it is no boost; its author is not shown the boost.
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
	if _, err := tx.exec(ctx, "fan out", query, s.ID, s.AccountID, boosted, language, s.Local()); err != nil {
		return err
	}
	return tx.fanOutToLists(ctx, s)
}

// inLanguage is the condition that a language is among the JSON array of those that are wanted. An empty array is all of them, and
// what has no language is wanted by everybody; who wants pt wants pt-BR.
func inLanguage(wanted, language string) string {
	return strings.NewReplacer("WANTED", wanted, "LANGUAGE", language).Replace(`(WANTED = '[]' OR LANGUAGE = ''
				OR EXISTS (SELECT 1 FROM json_each(WANTED) l WHERE l.value = LANGUAGE OR LANGUAGE LIKE l.value || '-%'))`)
}

// fanOutToLists puts a status into the lists that have its author, as each list's policy on replies says, and takes it out of
// the home timelines of those whose list is exclusive.
func (tx *Tx) fanOutToLists(ctx context.Context, s *Status) error {
	if is, err := tx.exists(ctx, `SELECT 1 FROM list_members WHERE account_id = ? LIMIT 1`, s.AccountID); !is || err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "fan out to lists", `
		INSERT OR IGNORE INTO list_timeline (list_id, status_id)
		SELECT l.id, ?1
		FROM list_members m CROSS JOIN lists l ON l.id = m.list_id
		WHERE m.account_id = ?2 AND `+inList("?2", "?3"),
		s.ID, s.AccountID, s.InReplyToAccountID); err != nil {
		return err
	}
	_, err := tx.exec(ctx, "keep out of home", `
		DELETE FROM home
		WHERE status_id = ?1 AND account_id <> ?2 AND account_id IN (
			SELECT l.account_id
			FROM list_members m CROSS JOIN lists l ON l.id = m.list_id
			WHERE m.account_id = ?2 AND l.exclusive = 1)`, s.ID, s.AccountID)
	return err
}
