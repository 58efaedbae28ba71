package store

import "context"

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
