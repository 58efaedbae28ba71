package store

import "context"

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

// FollowsAfter returns the follows by an account of others whose ids come after one, in their order; no requests.
func (r reader) FollowsAfter(ctx context.Context, id, after AccountID, limit int) ([]*Follow, error) {
	return list[*Follow](ctx, r, "follows", `
		SELECT *
		FROM follows INDEXED BY follows_following
		WHERE follower_id = ? AND target_id > ? AND pending = 0
		ORDER BY target_id
		LIMIT ?`, id, after, limit)
}
