package store

import "context"

// Limits of GroupOf.
const (
	maxGroupLevels = "100" // posts above that are looked at
	maxGroupBoosts = "20"  // first boosts of each, because a group boosts at once
)

// GroupOf returns the remote group in whose thread a post is, 0 if there is none: the group that the post or the nearest one above it is
// addressed to, or that has boosted it (FEP-1b12).
func (r reader) GroupOf(ctx context.Context, id StatusID) (AccountID, error) {
	found, err := ids[AccountID](ctx, r, "group of a thread", `
		WITH RECURSIVE up (id, level) AS (
			SELECT ?1, 0
			UNION ALL
			SELECT s.in_reply_to_id, up.level + 1
			FROM up
			CROSS JOIN statuses s ON s.id = up.id
			WHERE s.in_reply_to_id IS NOT NULL AND up.level < `+maxGroupLevels+`
		)
		SELECT ifnull((
				SELECT a.id
				FROM recipients r
				CROSS JOIN accounts a ON a.id = r.account_id
				WHERE r.status_id = up.id AND a.actor_type = 'Group' AND a.domain <> '' AND a.unavailable = 0
				LIMIT 1), (
				SELECT a.id
				FROM (
					SELECT b.account_id AS id
					FROM statuses b INDEXED BY statuses_reblogged_by
					WHERE b.reblog_of_id = up.id AND b.reblog_of_id IS NOT NULL
					ORDER BY b.id
					LIMIT `+maxGroupBoosts+`) first
				CROSS JOIN accounts a ON a.id = first.id
				WHERE a.actor_type = 'Group' AND a.domain <> '' AND a.unavailable = 0
				LIMIT 1)) AS found
		FROM up
		WHERE found IS NOT NULL
		LIMIT 1`, id)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}
