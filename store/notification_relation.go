package store

import (
	"context"
	"fmt"
)

// NotificationRelation is what a local account wants of another's deeds.
type NotificationRelation struct {
	Follows              bool
	Blocks               bool
	BlockedBy            bool
	BlocksDomain         bool
	MutesNotifications   bool
	MutesThread          bool
	OnlyFromFollowed     bool // wants nothing of who is not followed
	Unavailable          bool // the other account is not to be seen
	HasHideFilters       bool // has filters that hide posts
	HasPushSubscriptions bool // has push subscriptions
}

// NotificationRelation returns what account wants of other's deeds in a conversation (0: none), and errs.ErrRecordNotFound if account does not
// live here.
func (r reader) NotificationRelation(ctx context.Context, account, other AccountID, in ConversationID) (NotificationRelation, error) {
	rows, err := r.q.QueryContext(ctx, `
		SELECT
			EXISTS (SELECT 1 FROM follows x WHERE x.follower_id = ?1 AND x.target_id = a.id AND x.pending = 0)
			+ 2 * EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = ?1 AND x.target_id = a.id)
			+ 4 * EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = a.id AND x.target_id = ?1)
			+ 8 * (a.domain <> '' AND EXISTS (SELECT 1 FROM domain_blocks x WHERE x.account_id = ?1 AND x.domain = a.domain))
			+ 16 * EXISTS (SELECT 1 FROM mutes x WHERE x.account_id = ?1 AND x.target_id = a.id AND x.hide_notifications = 1)
			+ 32 * (?3 > 0 AND EXISTS (SELECT 1 FROM thread_mutes x WHERE x.account_id = ?1 AND x.conversation_id = ?3))
			+ 64 * u.block_from_strangers
			+ 128 * a.unavailable
			+ 256 * EXISTS (SELECT 1 FROM filters x WHERE x.account_id = ?1 AND x.action = 'hide')
			+ 512 * EXISTS (SELECT 1 FROM push_subscriptions x WHERE x.account_id = ?1)
		FROM users u
		CROSS JOIN accounts a ON a.id = ?2
		WHERE u.account_id = ?1`, account, other, in)
	if err != nil {
		return NotificationRelation{}, fmt.Errorf("stance: %w", err)
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return NotificationRelation{}, fmt.Errorf("stance: %w", err)
		}
		return NotificationRelation{}, notFound
	}
	var bits int64
	if err := rows.Scan(&bits); err != nil {
		return NotificationRelation{}, fmt.Errorf("stance: %w", err)
	}
	return NotificationRelation{
		Follows: bits&1 != 0, Blocks: bits&2 != 0, BlockedBy: bits&4 != 0, BlocksDomain: bits&8 != 0, MutesNotifications: bits&16 != 0,
		MutesThread: bits&32 != 0, OnlyFromFollowed: bits&64 != 0, Unavailable: bits&128 != 0,
		HasHideFilters: bits&256 != 0, HasPushSubscriptions: bits&512 != 0,
	}, nil
}
