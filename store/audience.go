package store

import "context"

// Who is to be told of what happens to a status, beside the mentioned.

// Subscribers returns the local accounts that want to be told of each post of the author of s, may see this one, and are not
// mentioned in it.
func (r reader) Subscribers(ctx context.Context, s *Status) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "subscribers", `
		SELECT x.account_id
		FROM subscriptions x INDEXED BY subscriptions_target
		CROSS JOIN users u ON u.account_id = x.account_id
		LEFT JOIN recipients r ON r.status_id = ?2 AND r.account_id = x.account_id
		WHERE x.target_id = ?1 AND ifnull(r.mentioned, 0) = 0
			AND (?3 OR r.account_id IS NOT NULL OR ?4 AND EXISTS (
				SELECT 1 FROM follows f WHERE f.follower_id = x.account_id AND f.target_id = ?1 AND f.pending = 0))`,
		s.AccountID, s.ID, s.Visibility.Unrestricted(), s.Visibility == Private)
}

// LocalRebloggers returns the local accounts that boosted a status.
func (r reader) LocalRebloggers(ctx context.Context, id StatusID) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "local boosters", `
		SELECT account_id
		FROM statuses INDEXED BY statuses_reblogged_by
		WHERE reblog_of_id = ? AND domain = ''`, id)
}
