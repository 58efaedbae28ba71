package store

import (
	"context"
	"time"
)

// Code is what an app gets when somebody lets it act for them, to be redeemed for a token. The code itself is not kept, only
// its hash.
type Code struct {
	Hash          []byte
	AppID         AppID
	AccountID     AccountID
	RedirectURI   string
	Scopes        Scopes
	CodeChallenge string // PKCE, S256; "": none
	ExpiresAt     Time
	TokenID       *TokenID // what it was redeemed for
}

// CodeTime is how long an app may take to redeem a code.
const CodeTime = 10 * time.Minute

// AddCode inserts a code. Its ExpiresAt is set.
func (tx *Tx) AddCode(ctx context.Context, c *Code) error {
	c.ExpiresAt = At(tx.db.now().Add(CodeTime))
	_, err := tx.exec(ctx, "add code", `
		INSERT INTO oauth_codes (hash, app_id, account_id, redirect_uri, scopes, code_challenge, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, c.Hash, c.AppID, c.AccountID, c.RedirectURI, c.Scopes, c.CodeChallenge, c.ExpiresAt)
	return err
}

// Code returns the code whose SHA-256 is hash, nil if there is none.
func (r reader) Code(ctx context.Context, hash []byte) (*Code, error) {
	return one[Code](ctx, r, "code", `SELECT * FROM oauth_codes WHERE hash = ?`, hash)
}

// RedeemCode notes which token a code was redeemed for. The code is gone as soon as the token is.
func (tx *Tx) RedeemCode(ctx context.Context, hash []byte, token TokenID) error {
	_, err := tx.exec(ctx, "redeem code", `UPDATE oauth_codes SET token_id = ? WHERE hash = ?`, token, hash)
	return err
}
