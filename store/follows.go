package store

import "context"

// Follow is one account following another, or asking to.
type Follow struct {
	ID            FollowID
	FollowerID    AccountID
	TargetID      AccountID
	Pending       bool
	FollowerLocal bool
	ShowReblogs   bool
	Languages     JSON[[]string]
	URI           *string
}

// Follows tells whether follower follows target; asking to does not count.
func (r reader) Follows(ctx context.Context, follower, target AccountID) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM follows WHERE follower_id = ? AND target_id = ? AND pending = 0`, follower, target)
}

// Blocks tells whether account blocks target.
func (r reader) Blocks(ctx context.Context, account, target AccountID) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM blocks WHERE account_id = ? AND target_id = ?`, account, target)
}
