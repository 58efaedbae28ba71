package store

import "context"

// SuggestedAccounts returns the available accounts that staff suggest, newest first.
func (r reader) SuggestedAccounts(ctx context.Context, limit int) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "suggested accounts", `
		SELECT id
		FROM accounts INDEXED BY accounts_suggested
		WHERE suggested = 1 AND unavailable = 0
		ORDER BY id DESC
		LIMIT ?`, limit)
}

// Limits of FriendsOfFriends: together they are within scanBudget.
const (
	maxFriends   = "40" // latest follows of the viewer
	maxOfAFriend = "20" // latest follows of each
)

// FriendsOfFriends returns the accounts that followed accounts of the viewer follow, first those with most of these followers. Accounts that are not
// discoverable or hide their follows are neither used nor returned, nor are those whose followers are hidden.
func (r reader) FriendsOfFriends(ctx context.Context, viewer AccountID, limit int) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "friends of friends", `
		SELECT a.id
		FROM (
			SELECT f.target_id
			FROM follows f INDEXED BY follows_following
			WHERE f.follower_id = ?1 AND f.pending = 0
			ORDER BY f.target_id DESC
			LIMIT `+maxFriends+`) some
		CROSS JOIN accounts friend ON friend.id = some.target_id AND friend.discoverable = 1 AND friend.hide_follows = 0 AND friend.unavailable = 0
		CROSS JOIN json_each((
			SELECT json_group_array(target_id)
			FROM (
				SELECT g.target_id
				FROM follows g INDEXED BY follows_following
				WHERE g.follower_id = friend.id AND g.pending = 0
				ORDER BY g.target_id DESC
				LIMIT `+maxOfAFriend+`))) k
		CROSS JOIN accounts a ON a.id = k.value
		WHERE a.id <> ?1 AND a.discoverable = 1 AND a.hide_follows = 0 AND a.hide_followers = 0 AND a.unavailable = 0 AND a.moved_to_id IS NULL
			AND NOT EXISTS (SELECT 1 FROM follows h WHERE h.follower_id = ?1 AND h.target_id = a.id)
		GROUP BY a.id
		ORDER BY count(*) DESC, a.id DESC
		LIMIT ?2`, viewer, limit)
}
