package store

import "context"

// Stance is what one account wants of another's deeds.
type Stance struct {
	Follows            bool
	Blocks             bool
	BlockedBy          bool
	BlocksDomain       bool
	MutesNotifications bool
	Withheld           bool // the other account is not to be seen
}

// StanceOn returns what account wants of other's deeds.
func (r reader) StanceOn(ctx context.Context, account, other AccountID) (Stance, error) {
	s, err := one[Stance](ctx, r, "stance", `
		SELECT
			EXISTS (SELECT 1 FROM follows x WHERE x.follower_id = ?1 AND x.target_id = a.id AND x.pending = 0) AS follows,
			EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = ?1 AND x.target_id = a.id) AS blocks,
			EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = a.id AND x.target_id = ?1) AS blocked_by,
			a.domain <> '' AND EXISTS (SELECT 1 FROM domain_blocks x WHERE x.account_id = ?1 AND x.domain = a.domain) AS blocks_domain,
			EXISTS (SELECT 1 FROM mutes x WHERE x.account_id = ?1 AND x.target_id = a.id AND x.hide_notifications = 1) AS mutes_notifications,
			a.withheld
		FROM accounts a
		WHERE a.id = ?2`, account, other)
	if s == nil && err == nil {
		err = notFound
	}
	if err != nil {
		return Stance{}, err
	}
	return *s, nil
}
