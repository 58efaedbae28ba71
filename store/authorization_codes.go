package store

import (
	"context"
	"time"
)

// AuthorizationCode is what an app gets when somebody lets it act for them, to be redeemed for a token. The code itself is not kept, only
// its hash.
type AuthorizationCode struct {
	Hash          []byte
	AppID         AppID
	AccountID     AccountID
	RedirectURI   string
	Scopes        Scopes
	CodeChallenge string // PKCE, S256; "": none
	ExpiresAt     Time
	TokenID       *TokenID // what it was redeemed for
}

// AuthorizationCodeTTL is how long an app may take to redeem a code.
const AuthorizationCodeTTL = 10 * time.Minute

// AddAuthorizationCode inserts a code. Its ExpiresAt is set.
func (tx *Tx) AddAuthorizationCode(ctx context.Context, c *AuthorizationCode) error {
	c.ExpiresAt = At(tx.db.now().Add(AuthorizationCodeTTL))
	_, err := tx.exec(ctx, "add code", `
		INSERT INTO oauth_codes (hash, app_id, account_id, redirect_uri, scopes, code_challenge, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, c.Hash, c.AppID, c.AccountID, c.RedirectURI, c.Scopes, c.CodeChallenge, c.ExpiresAt)
	return err
}

// AuthorizationCode returns the code whose SHA-256 is hash, nil if there is none.
func (r reader) AuthorizationCode(ctx context.Context, hash []byte) (*AuthorizationCode, error) {
	return one[AuthorizationCode](ctx, r, "code", `SELECT * FROM oauth_codes WHERE hash = ?`, hash)
}

// RedeemAuthorizationCode notes which token a code was redeemed for. The code is gone as soon as the token is.
func (tx *Tx) RedeemAuthorizationCode(ctx context.Context, hash []byte, token TokenID) error {
	_, err := tx.exec(ctx, "redeem code", `UPDATE oauth_codes SET token_id = ? WHERE hash = ?`, token, hash)
	return err
}
