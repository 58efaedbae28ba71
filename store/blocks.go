package store

import "context"

// Blocks tells whether account blocks target.
func (r reader) Blocks(ctx context.Context, account, target AccountID) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM blocks WHERE account_id = ? AND target_id = ?`, account, target)
}

// BlocksAccountOrDomain tells whether an account blocks another one, or blocks its domain without following it.
func (r reader) BlocksAccountOrDomain(ctx context.Context, account AccountID, other *Account) (bool, error) {
	return r.exists(ctx, `
		SELECT 1 FROM blocks WHERE account_id = ?1 AND target_id = ?2
		UNION ALL
		SELECT 1
		FROM domain_blocks
		WHERE account_id = ?1 AND domain = ?3
			AND NOT EXISTS (SELECT 1 FROM follows WHERE follower_id = ?1 AND target_id = ?2 AND pending = 0)`, account, other.ID, other.Domain)
}

// BlockBetween tells whether either of two accounts blocks the other.
func (r reader) BlockBetween(ctx context.Context, one, other AccountID) (bool, error) {
	return r.exists(ctx, `
		SELECT 1 FROM blocks WHERE account_id = ?1 AND target_id = ?2
		UNION ALL
		SELECT 1 FROM blocks WHERE account_id = ?2 AND target_id = ?1`, one, other)
}

var blockedAccounts = newKeyset(`
		SELECT b.target_id
		FROM blocks b
		WHERE b.account_id = ?1 AND b.target_id < ?2 AND b.target_id > ?3 AND ` + accountAvailable("b.target_id") + `
		ORDER BY b.target_id DESC
		LIMIT ?4`)

// BlockedAccounts returns whom an account blocks, paged by account id.
func (r reader) BlockedAccounts(ctx context.Context, id AccountID, p Page) ([]AccountID, error) {
	return idPage[AccountID](ctx, r, "blocked accounts", blockedAccounts, id, p)
}

// AddBlock has account block target, and tells whether it did not before.
func (tx *Tx) AddBlock(ctx context.Context, account, target AccountID) (added bool, err error) {
	n, err := tx.exec(ctx, "add block", `INSERT OR IGNORE INTO blocks (account_id, target_id) VALUES (?, ?)`, account, target)
	tx.invalidateRelations(account, target)
	return n > 0, err
}

// SetBlockURI notes by which activity account, who lives elsewhere, blocks target. An activity that another block is of is left to that.
func (tx *Tx) SetBlockURI(ctx context.Context, account, target AccountID, uri string) error {
	_, err := tx.exec(ctx, "set block uri", `UPDATE OR IGNORE blocks SET uri = ? WHERE account_id = ? AND target_id = ?`, uri, account, target)
	return err
}

// BlockByURI returns whom account blocks by an activity, 0 if nobody.
func (r reader) BlockByURI(ctx context.Context, account AccountID, uri string) (AccountID, error) {
	target, err := one[AccountID](ctx, r, "block by uri", `SELECT target_id FROM blocks WHERE uri = ? AND account_id = ?`, uri, account)
	if target == nil {
		return 0, err
	}
	return *target, err
}

// RemoveBlock ends a block. One that is not there is no error.
func (tx *Tx) RemoveBlock(ctx context.Context, account, target AccountID) error {
	_, err := tx.exec(ctx, "remove block", `DELETE FROM blocks WHERE account_id = ? AND target_id = ?`, account, target)
	tx.invalidateRelations(account, target)
	return err
}

// RemoveNotificationsFrom takes back all that account was told of from's deeds.
func (tx *Tx) RemoveNotificationsFrom(ctx context.Context, account, from AccountID) error {
	_, err := tx.exec(ctx, "remove notifications", `
		DELETE FROM notifications INDEXED BY notifications_once
		WHERE account_id = ? AND from_id = ? AND type IN ('mention', 'follow', 'follow_request', 'reblog', 'favourite', 'poll', 'move',
			'status', 'update', 'emoji_reaction', 'chat_mention', 'report')`, account, from)
	return err
}
