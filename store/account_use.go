package store

import "context"

// HasStatusesAndFollowers tells whether anything that an account posted is known here, and whether anybody here follows it.
func (r reader) HasStatusesAndFollowers(ctx context.Context, id AccountID) (posted, followed bool, err error) {
	bits, err := ids[int64](ctx, r, "standing", `
		SELECT EXISTS (SELECT 1 FROM statuses WHERE account_id = ?1)
			+ 2 * EXISTS (SELECT 1 FROM follows WHERE target_id = ?1 AND pending = 0 AND follower_local = 1)`, id)
	if err != nil || len(bits) == 0 {
		return false, false, err
	}
	return bits[0]&1 != 0, bits[0]&2 != 0, nil
}
