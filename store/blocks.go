package store

import "context"

// Blocks returns true if account blocks target.
func (r reader) Blocks(ctx context.Context, account, target AccountID) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM blocks WHERE account_id = ? AND target_id = ?`, account, target)
}

// BlocksAccountOrDomain returns true if an account blocks another one, or blocks its domain without following it.
func (r reader) BlocksAccountOrDomain(ctx context.Context, account AccountID, other *Account) (bool, error) {
	return r.exists(ctx, `
		SELECT 1 FROM blocks WHERE account_id = ?1 AND target_id = ?2
		UNION ALL
		SELECT 1
		FROM domain_blocks
		WHERE account_id = ?1 AND domain = ?3
			AND NOT EXISTS (SELECT 1 FROM follows WHERE follower_id = ?1 AND target_id = ?2 AND pending = 0)`, account, other.ID, other.Domain)
}

// BlockBetween returns true if one of two accounts blocks the other.
func (r reader) BlockBetween(ctx context.Context, one, other AccountID) (bool, error) {
	return r.exists(ctx, `
		SELECT 1 FROM blocks WHERE account_id = ?1 AND target_id = ?2
		UNION ALL
		SELECT 1 FROM blocks WHERE account_id = ?2 AND target_id = ?1`, one, other)
}

var blockedAccounts = newAccountList(`b.target_id`, `blocks b`, `b.account_id = ?1`)

// BlockedAccounts returns the accounts that an account blocks, paged by account id.
func (r reader) BlockedAccounts(ctx context.Context, id AccountID, p Page) (Part[AccountID], error) {
	return readAccounts(ctx, r, blockedAccounts, id, p)
}

// AddBlock adds a block, and returns false if there was one.
func (tx *Tx) AddBlock(ctx context.Context, account, target AccountID) (added bool, err error) {
	n, err := tx.execRows(ctx, "add block", `INSERT OR IGNORE INTO blocks (account_id, target_id) VALUES (?, ?)`, account, target)
	tx.invalidateRelations(account, target)
	return n > 0, err
}

// SetBlockURI stores the id of the Block activity, unless it is that of another block.
func (tx *Tx) SetBlockURI(ctx context.Context, account, target AccountID, uri string) error {
	return tx.exec(ctx, "set block uri", `UPDATE OR IGNORE blocks SET uri = ? WHERE account_id = ? AND target_id = ?`, uri, account, target)
}

// BlockByURI returns the account that the Block activity of account blocks, 0 if there is none.
func (r reader) BlockByURI(ctx context.Context, account AccountID, uri string) (AccountID, error) {
	target, err := one[AccountID](ctx, r, "block by uri", `SELECT target_id FROM blocks WHERE uri = ? AND account_id = ?`, uri, account)
	if target == nil {
		return 0, err
	}
	return *target, err
}

// RemoveBlock removes a block, and returns the id of its Block activity, "" if that is unknown. It returns false if there was none.
func (tx *Tx) RemoveBlock(ctx context.Context, account, target AccountID) (uri string, removed bool, err error) {
	tx.invalidateRelations(account, target)
	of, err := one[string](ctx, tx.reader, "remove block", `
		DELETE FROM blocks
		WHERE account_id = ? AND target_id = ?
		RETURNING ifnull(uri, '') AS uri`, account, target)
	if of == nil || err != nil {
		return "", false, err
	}
	return *of, true, nil
}

// DomainBlocks returns the domains that an account blocks, sorted.
func (r reader) DomainBlocks(ctx context.Context, id AccountID) ([]string, error) {
	return list[string](ctx, r, "domain blocks", `SELECT domain FROM domain_blocks WHERE account_id = ? ORDER BY domain`, id)
}

// BlocksDomain returns true if an account blocks a domain.
func (r reader) BlocksDomain(ctx context.Context, id AccountID, domain string) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM domain_blocks WHERE account_id = ? AND domain = ?`, id, domain)
}

// AddDomainBlock adds a domain block. Repeating it is not an error.
func (tx *Tx) AddDomainBlock(ctx context.Context, id AccountID, domain string) error {
	tx.invalidateRelations(id)
	return tx.exec(ctx, "add domain block", `INSERT OR IGNORE INTO domain_blocks (account_id, domain) VALUES (?, ?)`, id, domain)
}

// RemoveDomainBlock removes a domain block.
func (tx *Tx) RemoveDomainBlock(ctx context.Context, id AccountID, domain string) error {
	tx.invalidateRelations(id)
	return tx.exec(ctx, "remove domain block", `DELETE FROM domain_blocks WHERE account_id = ? AND domain = ?`, id, domain)
}

// Mute hides the statuses of an account from another one.
type Mute struct {
	AccountID         AccountID
	TargetID          AccountID
	HideNotifications bool
	ExpiresAt         *Time // nil: no expiry
}

var muteList = newAccountList(`m.target_id`, `mutes m`, `m.account_id = ?1`)

// MutedAccounts returns the accounts that an account mutes, paged by account id.
func (r reader) MutedAccounts(ctx context.Context, id AccountID, p Page) (Part[AccountID], error) {
	return readAccounts(ctx, r, muteList, id, p)
}

// MutesAmong returns the mutes of the accounts by an account, in no order.
func (r reader) MutesAmong(ctx context.Context, id AccountID, accounts []AccountID) ([]*Mute, error) {
	return list[*Mute](ctx, r, "mutes", `
		SELECT m.*
		FROM json_each(?2) j
		CROSS JOIN mutes m ON m.account_id = ?1 AND m.target_id = j.value`, id, jsonArray(accounts))
}

// MuteOf returns the mute of target by account, nil if there is none.
func (r reader) MuteOf(ctx context.Context, account, target AccountID) (*Mute, error) {
	return one[Mute](ctx, r, "mute", `SELECT * FROM mutes WHERE account_id = ? AND target_id = ?`, account, target)
}

// SetMute adds a mute or replaces it.
func (tx *Tx) SetMute(ctx context.Context, m *Mute) error {
	tx.invalidateRelations(m.AccountID)
	return tx.exec(ctx, "mute", saveMute.text, saveMute.args(m)...)
}

// RemoveMute removes a mute. It is not an error if there is none.
func (tx *Tx) RemoveMute(ctx context.Context, account, target AccountID) error {
	tx.invalidateRelations(account)
	return tx.exec(ctx, "unmute", `DELETE FROM mutes WHERE account_id = ? AND target_id = ?`, account, target)
}
