package store

import (
	"context"
	"time"
)

// MFAChallenge waits for a second factor after the right password. Only the hash of its token is stored.
type MFAChallenge struct {
	Hash      []byte
	AccountID AccountID
	AppID     *AppID // nil: sign-in to a page of this server
	Purpose   JSON[MFAPurpose]
	Failures  int
	ExpiresAt Time
}

// MFAPurpose is what follows after the second factor.
type MFAPurpose struct {
	Scopes Scopes `json:"scopes"`

	// For the page that authorizes an app.
	Page          bool    `json:"page,omitempty"`
	NeedsConsent  bool    `json:"needs_consent,omitempty"` // the user has not consented yet
	RedirectURI   string  `json:"redirect_uri,omitempty"`
	RedirectGiven bool    `json:"redirect_given,omitempty"` // the authorization request named the URI
	State         *string `json:"state,omitempty"`
	CodeChallenge string  `json:"code_challenge,omitempty"`

	// For other pages: where to continue.
	Path string `json:"path,omitempty"`
}

const (
	challengeTTL         = 5 * time.Minute
	maxChallengeFailures = 5
	maxChallenges        = 20 // per account
)

// MFAChallenge returns the challenge with a SHA-256 hash, nil if there is none, it has expired or has failed too often.
func (r reader) MFAChallenge(ctx context.Context, hash []byte) (*MFAChallenge, error) {
	return one[MFAChallenge](ctx, r, "challenge", `
		SELECT *
		FROM mfa_challenges
		WHERE hash = ? AND expires_at > ? AND failures < ?`, hash, At(r.db.now()), maxChallengeFailures)
}

// AddMFAChallenge inserts a challenge, and deletes the oldest over the limit. Its ExpiresAt is set.
func (tx *Tx) AddMFAChallenge(ctx context.Context, c *MFAChallenge) error {
	c.ExpiresAt = At(tx.db.now().Add(challengeTTL))
	if err := tx.exec(ctx, "add challenge", insertMFAChallenge.text, insertMFAChallenge.args(c)...); err != nil {
		return err
	}
	return tx.exec(ctx, "drop challenges", `
		DELETE FROM mfa_challenges
		WHERE account_id = ?1 AND hash NOT IN (
			SELECT hash FROM mfa_challenges WHERE account_id = ?1 ORDER BY expires_at DESC LIMIT ?2)`, c.AccountID, maxChallenges)
}

// CountMFAFailure counts a wrong code.
func (tx *Tx) CountMFAFailure(ctx context.Context, hash []byte) error {
	return tx.exec(ctx, "fail challenge", `UPDATE mfa_challenges SET failures = failures + 1 WHERE hash = ?`, hash)
}

// RemoveMFAChallenge removes a challenge.
func (tx *Tx) RemoveMFAChallenge(ctx context.Context, hash []byte) error {
	return tx.exec(ctx, "remove challenge", `DELETE FROM mfa_challenges WHERE hash = ?`, hash)
}

// SetTOTP writes the TOTP columns of a user.
func (tx *Tx) SetTOTP(ctx context.Context, u *User) error {
	tx.invalidateAccount(u.AccountID)
	return tx.exec(ctx, "set TOTP", updateTOTP.text, updateTOTP.args(u)...)
}

// SetBackupCodes replaces the backup codes of a user by those with the hashes.
func (tx *Tx) SetBackupCodes(ctx context.Context, account AccountID, hashes [][]byte) error {
	if err := tx.exec(ctx, "drop backup codes", `DELETE FROM backup_codes WHERE account_id = ?`, account); err != nil {
		return err
	}
	for _, h := range hashes {
		if err := tx.exec(ctx, "add backup code", `INSERT INTO backup_codes (account_id, hash) VALUES (?, ?)`, account, h); err != nil {
			return err
		}
	}
	return nil
}

// UseBackupCode deletes a backup code. It returns false if the user does not have it.
func (tx *Tx) UseBackupCode(ctx context.Context, account AccountID, hash []byte) (bool, error) {
	n, err := tx.execRows(ctx, "use backup code", `DELETE FROM backup_codes WHERE account_id = ? AND hash = ?`, account, hash)
	return n > 0, err
}

// OneTimeToken is the secret of a link that works once. Only its hash is stored.
type OneTimeToken struct {
	Hash      []byte
	Kind      OneTimeKind
	AccountID AccountID
	ExpiresAt Time
}

// OneTimeKind is the purpose of a one-time token.
type OneTimeKind string

const (
	ResetPassword  OneTimeKind = "reset"
	ConfirmAddress OneTimeKind = "confirm" // of a new account
	ChangeAddress  OneTimeKind = "change"  // to the pending address
)

// OneTimeToken returns the token of a kind with a SHA-256 hash, nil if there is none or it has expired.
func (r reader) OneTimeToken(ctx context.Context, kind OneTimeKind, hash []byte) (*OneTimeToken, error) {
	return one[OneTimeToken](ctx, r, "one-time token", `
		SELECT *
		FROM one_time_tokens
		WHERE hash = ? AND kind = ? AND expires_at > ?`, hash, kind, At(r.db.now()))
}

// SetOneTimeToken replaces the account's tokens of the kind.
func (tx *Tx) SetOneTimeToken(ctx context.Context, t *OneTimeToken) error {
	if err := tx.DropOneTimeTokens(ctx, t.AccountID, t.Kind); err != nil {
		return err
	}
	return tx.exec(ctx, "add one-time token", insertOneTimeToken.text, insertOneTimeToken.args(t)...)
}

// DropOneTimeTokens deletes an account's tokens of a kind, "": of all kinds.
func (tx *Tx) DropOneTimeTokens(ctx context.Context, account AccountID, kind OneTimeKind) error {
	return tx.exec(ctx, "drop one-time tokens", `DELETE FROM one_time_tokens WHERE account_id = ?1 AND (?2 = '' OR kind = ?2)`, account, kind)
}

// SetPasswordHash changes the password of a user. A required reset is done, and a pending change of the address ends, because it
// may not be the user's.
func (tx *Tx) SetPasswordHash(ctx context.Context, account AccountID, hash string) error {
	tx.invalidateAccount(account)
	return tx.exec(ctx, "set password", `
		UPDATE users
		SET password_hash = ?, reset_required = 0, pending_email = ''
		WHERE account_id = ?`, hash, account)
}

// PasswordIs returns true if the hash of an account's password is unchanged.
func (r reader) PasswordIs(ctx context.Context, account AccountID, hash string) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM users WHERE account_id = ? AND password_hash = ?`, account, hash)
}

// RehashPassword replaces the hash of a password, unless the password was changed meanwhile.
func (tx *Tx) RehashPassword(ctx context.Context, account AccountID, old, hash string) error {
	tx.invalidateAccount(account)
	return tx.exec(ctx, "rehash password", `
		UPDATE users
		SET password_hash = ?
		WHERE account_id = ? AND password_hash = ?`, hash, account, old)
}
