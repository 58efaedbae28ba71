package store

import "context"

// OneTimeToken is the secret of a link that works once. The secret itself is not kept, only its hash.
type OneTimeToken struct {
	Hash      []byte
	Kind      OneTimeKind
	AccountID AccountID
	ExpiresAt Time
}

// OneTimeKind is what a link is for.
type OneTimeKind string

const (
	ResetPassword  OneTimeKind = "reset"
	ConfirmAddress OneTimeKind = "confirm"
)

// OneTimeToken returns the token of a kind whose SHA-256 is hash, nil if there is none or its time is over.
func (r reader) OneTimeToken(ctx context.Context, kind OneTimeKind, hash []byte) (*OneTimeToken, error) {
	return one[OneTimeToken](ctx, r, "one-time token", `
		SELECT *
		FROM one_time_tokens
		WHERE hash = ? AND kind = ? AND expires_at > ?`, hash, kind, At(r.db.now()))
}

// SetOneTimeToken inserts a token in place of those that the account has of the kind.
func (tx *Tx) SetOneTimeToken(ctx context.Context, t *OneTimeToken) error {
	if err := tx.DropOneTimeTokens(ctx, t.AccountID, t.Kind); err != nil {
		return err
	}
	_, err := tx.exec(ctx, "add one-time token", `
		INSERT INTO one_time_tokens (hash, kind, account_id, expires_at)
		VALUES (?, ?, ?, ?)`, t.Hash, t.Kind, t.AccountID, t.ExpiresAt)
	return err
}

// DropOneTimeTokens removes an account's tokens of a kind.
func (tx *Tx) DropOneTimeTokens(ctx context.Context, account AccountID, kind OneTimeKind) error {
	_, err := tx.exec(ctx, "drop one-time tokens", `DELETE FROM one_time_tokens WHERE account_id = ? AND kind = ?`, account, kind)
	return err
}

// SetPasswordHash gives a user another password, which ends a demand to set one.
func (tx *Tx) SetPasswordHash(ctx context.Context, account AccountID, hash string) error {
	_, err := tx.exec(ctx, "set password", `
		UPDATE users
		SET password_hash = ?, reset_required = 0
		WHERE account_id = ?`, hash, account)
	tx.invalidateAccount(account)
	return err
}

// PasswordIs tells whether the hash of an account's password is still the one that a password was compared with.
func (r reader) PasswordIs(ctx context.Context, account AccountID, hash string) (bool, error) {
	is, err := one[bool](ctx, r, "password", `SELECT EXISTS (SELECT 1 FROM users WHERE account_id = ? AND password_hash = ?)`, account, hash)
	return err == nil && *is, err
}

// RehashPassword replaces the hash of a password by another of the same password, unless it has been changed meanwhile.
func (tx *Tx) RehashPassword(ctx context.Context, account AccountID, old, hash string) error {
	_, err := tx.exec(ctx, "rehash password", `
		UPDATE users
		SET password_hash = ?
		WHERE account_id = ? AND password_hash = ?`, hash, account, old)
	tx.invalidateAccount(account)
	return err
}
