package store

import "context"

// Limits of GroupOf.
const (
	maxGroupLevels = "100" // posts above that are read
	maxGroupBoosts = "20"  // first boosts of each, because a group boosts at once
)

// GroupOf returns the remote group in whose thread a post is, 0 if there is none: the group that the post or the nearest one above it is
// addressed to, or that has boosted it (FEP-1b12). It makes no query on a server that knows no group.
func (r reader) GroupOf(ctx context.Context, id StatusID) (AccountID, error) {
	if !r.db.knowsGroups.Load() {
		return 0, nil
	}
	found, err := ids[AccountID](ctx, r, "group of a thread", `
		WITH RECURSIVE up (id, parent_id, boosts, level) AS (
			SELECT s.id, s.in_reply_to_id, s.reblogs_count, 0
			FROM statuses s
			WHERE s.id = ?1
			UNION ALL
			SELECT s.id, s.in_reply_to_id, s.reblogs_count, up.level + 1
			FROM up
			CROSS JOIN statuses s ON s.id = up.parent_id
			WHERE up.level < `+maxGroupLevels+`
		)
		SELECT ifnull((
				SELECT a.id
				FROM recipients r
				CROSS JOIN accounts a INDEXED BY accounts_groups ON a.id = r.account_id
				WHERE r.status_id = up.id AND a.actor_type = 'Group' AND a.domain <> '' AND a.unavailable = 0
				LIMIT 1),
			CASE WHEN up.boosts > 0 THEN (
				SELECT a.id
				FROM (
					SELECT b.account_id AS id
					FROM statuses b INDEXED BY statuses_reblogged_by
					WHERE b.reblog_of_id = up.id AND b.reblog_of_id IS NOT NULL
					ORDER BY b.id
					LIMIT `+maxGroupBoosts+`) first
				CROSS JOIN accounts a INDEXED BY accounts_groups ON a.id = first.id
				WHERE a.actor_type = 'Group' AND a.domain <> '' AND a.unavailable = 0
				LIMIT 1) END) AS found
		FROM up
		WHERE found IS NOT NULL
		LIMIT 1`, id)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}

// findGroups sets knowsGroups. A database that cannot be read may have some.
func (db *DB) findGroups(ctx context.Context) {
	known, err := db.exists(ctx, `SELECT 1 FROM accounts a INDEXED BY accounts_groups WHERE a.actor_type = 'Group' AND a.domain <> '' LIMIT 1`)
	db.knowsGroups.Store(known || err != nil)
}

// noteGroup sets knowsGroups if an account is a remote group. It stays set if the transaction is rolled back, which costs queries only.
func (tx *Tx) noteGroup(a *Account) {
	if a.ActorType == "Group" && a.Domain != "" {
		tx.db.knowsGroups.Store(true)
	}
}
