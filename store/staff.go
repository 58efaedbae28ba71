package store

import "context"

// LocalAccounts returns accounts that live here and are not deleted, the oldest first, from after an id on.
func (r reader) LocalAccounts(ctx context.Context, after AccountID, limit int) ([]*Account, error) {
	return list[*Account](ctx, r, "local accounts", `
		SELECT *
		FROM accounts INDEXED BY accounts_local
		WHERE domain = '' AND deleted_at IS NULL AND id > ?
		ORDER BY id
		LIMIT ?`, after, limit)
}

// IsLastAdmin tells whether an account is the only one left that can administer the server.
func (r reader) IsLastAdmin(ctx context.Context, id AccountID) (bool, error) {
	const admin = `(is_admin = 1 OR is_moderator = 1) AND is_admin = 1 AND deactivated_at IS NULL`
	is, err := r.exists(ctx, `SELECT 1 FROM users WHERE account_id = ? AND `+admin, id)
	if err != nil || !is {
		return false, err
	}
	others, err := r.exists(ctx, `SELECT 1 FROM users WHERE account_id <> ? AND `+admin+` LIMIT 1`, id)
	return !others, err
}
