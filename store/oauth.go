package store

import (
	"context"
	"strings"
	"time"
)

// App is an OAuth client.
type App struct {
	ID           AppID
	ClientID     string
	ClientSecret string
	Name         string
	Website      string
	RedirectURIs string // separated by newlines
	Scopes       Scopes
	Trusted      bool
	OwnerID      *AccountID // who registered it or was the first to sign in with it
	CreatedAt    Time
}

// Redirects returns the redirect URIs of the app.
func (a *App) Redirects() []string { return strings.Fields(a.RedirectURIs) }

// Token is an access token of an account or app. Only its hash is stored.
type Token struct {
	ID          TokenID
	Hash        []byte
	RefreshHash []byte
	AppID       *AppID     // nil: a session of this server's pages
	AccountID   *AccountID // nil: the app itself
	Scopes      Scopes
	CreatedAt   Time
	LastUsedAt  Time
	ExpiresAt   *Time
}

// Bounds of tokens. The least recently used are removed first.
const (
	TokensPerAccount = 500
	TokensPerApp     = 100 // of the app itself
)

// Apps returns the apps that have one of the ids, in no order.
func (r reader) Apps(ctx context.Context, ids []AppID) ([]*App, error) {
	return list[*App](ctx, r, "apps", `
		SELECT a.*
		FROM json_each(?) j
		CROSS JOIN oauth_apps a ON a.id = j.value`, jsonArray(ids))
}

// App returns an app, and errs.ErrRecordNotFound if there is none.
func (r reader) App(ctx context.Context, id AppID) (*App, error) {
	return get[App](ctx, r, "app", `SELECT * FROM oauth_apps WHERE id = ?`, id)
}

// AppByClientID returns the app with a client id, nil if there is none.
func (r reader) AppByClientID(ctx context.Context, clientID string) (*App, error) {
	return one[App](ctx, r, "app by client id", `SELECT * FROM oauth_apps WHERE client_id = ?`, clientID)
}

// AppsOf returns the apps of an owner, newest first, up to limit.
func (r reader) AppsOf(ctx context.Context, owner AccountID, limit int) ([]*App, error) {
	return list[*App](ctx, r, "apps of an account", `
		SELECT *
		FROM oauth_apps
		WHERE owner_id = ?
		ORDER BY id DESC
		LIMIT ?`, owner, limit)
}

// AddApp inserts an app. Its ID and CreatedAt are set.
func (tx *Tx) AddApp(ctx context.Context, a *App) error {
	a.CreatedAt = At(tx.db.now())
	var err error
	a.ID, err = value[AppID](ctx, tx.reader, "add app", insertApp.text, insertApp.args(a)...)
	return err
}

// ClaimApp makes the first account that signs in with an app its owner.
func (tx *Tx) ClaimApp(ctx context.Context, id AppID, owner AccountID) error {
	return tx.exec(ctx, "claim app", `UPDATE oauth_apps SET owner_id = ? WHERE id = ? AND owner_id IS NULL`, owner, id)
}

// TokenByHash returns the token with a SHA-256 hash, nil if there is none.
func (r reader) TokenByHash(ctx context.Context, hash []byte) (*Token, error) {
	return one[Token](ctx, r, "token", `SELECT * FROM oauth_tokens WHERE hash = ?`, hash)
}

// TokenByRefreshHash returns the token whose refresh token has a SHA-256 hash, nil if there is none.
func (r reader) TokenByRefreshHash(ctx context.Context, hash []byte) (*Token, error) {
	return one[Token](ctx, r, "refresh token", `SELECT * FROM oauth_tokens WHERE refresh_hash = ?`, hash)
}

// TokenSummary is a token in the list of its owner.
type TokenSummary struct {
	ID         TokenID
	AppName    *string // nil: a session of this server's pages
	Scopes     Scopes
	CreatedAt  Time
	LastUsedAt Time // exact to a day
	ExpiresAt  *Time
}

// TokensOf returns all tokens of an account, newest first.
func (r reader) TokensOf(ctx context.Context, account AccountID) ([]*TokenSummary, error) {
	return list[*TokenSummary](ctx, r, "tokens of an account", `
		SELECT t.id, a.name AS app_name, t.scopes, t.created_at, t.last_used_at, t.expires_at
		FROM oauth_tokens t
		LEFT JOIN oauth_apps a ON a.id = t.app_id
		WHERE t.account_id = ?
		ORDER BY t.id DESC
		LIMIT ?`, account, TokensPerAccount)
}

// AddToken inserts a token, and removes the least recently used one if there are too many. Its ID and times are set.
func (tx *Tx) AddToken(ctx context.Context, t *Token) error {
	now := At(tx.db.now())
	t.CreatedAt, t.LastUsedAt = now, now
	id, err := one[TokenID](ctx, tx.reader, "add token", insertToken.text, insertToken.args(t)...)
	if err != nil {
		return err
	}
	t.ID = *id
	return tx.trimTokens(ctx, t)
}

// trimTokens removes tokens over the bounds, but not the new one.
func (tx *Tx) trimTokens(ctx context.Context, t *Token) error {
	condition, owner, bound := `app_id = ? AND account_id IS NULL`, any(t.AppID), TokensPerApp
	if t.AccountID != nil {
		condition, owner, bound = `account_id = ?`, *t.AccountID, TokensPerAccount
	}
	deleted, err := list[TokenID](ctx, tx.reader, "trim tokens", `
		DELETE FROM oauth_tokens
		WHERE id IN (
			SELECT id
			FROM oauth_tokens
			WHERE `+condition+` AND id <> ?
			ORDER BY last_used_at DESC, id DESC
			LIMIT -1 OFFSET ?)
		RETURNING id`, owner, t.ID, bound-1)
	if len(deleted) > 0 {
		tx.Emit(TokensRevoked{Tokens: deleted})
	}
	return err
}

// RenewToken gives a token new hashes and a new expiry. The old hashes become invalid. sealed replaces the token in its push subscription.
func (tx *Tx) RenewToken(ctx context.Context, t *Token, sealed []byte) error {
	t.CreatedAt = At(tx.db.now())
	err := tx.exec(ctx, "renew token", renewToken.text, renewToken.args(t)...)
	tx.Emit(TokensRevoked{Tokens: []TokenID{t.ID}})
	if err != nil {
		return err
	}
	return tx.exec(ctx, "renew push token", `UPDATE push_subscriptions SET token = ? WHERE token_id = ?`, sealed, t.ID)
}

// RevokeToken deletes a token, with the code that it came from.
func (tx *Tx) RevokeToken(ctx context.Context, id TokenID) error {
	tx.Emit(TokensRevoked{Tokens: []TokenID{id}})
	return tx.exec(ctx, "revoke token", `DELETE FROM oauth_tokens WHERE id = ?`, id)
}

// RevokeOwnToken deletes a token if it is the account's.
func (tx *Tx) RevokeOwnToken(ctx context.Context, account AccountID, id TokenID) error {
	n, err := tx.execRows(ctx, "revoke own token", `DELETE FROM oauth_tokens WHERE id = ? AND account_id = ?`, id, account)
	if n > 0 {
		tx.Emit(TokensRevoked{Tokens: []TokenID{id}})
	}
	return err
}

// RevokeTokens deletes all tokens, codes and challenges of an account.
func (tx *Tx) RevokeTokens(ctx context.Context, account AccountID) error {
	if err := tx.revokePending(ctx, account); err != nil {
		return err
	}
	tx.Emit(TokensRevoked{AccountID: account})
	return tx.exec(ctx, "revoke tokens", `DELETE FROM oauth_tokens WHERE account_id = ?`, account)
}

// RevokeOtherTokens deletes the tokens of an account except one, 0: all, and its codes and challenges.
func (tx *Tx) RevokeOtherTokens(ctx context.Context, account AccountID, kept TokenID) error {
	if err := tx.revokePending(ctx, account); err != nil {
		return err
	}
	deleted, err := list[TokenID](ctx, tx.reader, "revoke other tokens", `
		DELETE FROM oauth_tokens
		WHERE account_id = ? AND id <> ?
		RETURNING id`, account, kept)
	if len(deleted) > 0 {
		tx.Emit(TokensRevoked{Tokens: deleted})
	}
	return err
}

// revokePending deletes the codes and challenges of an account.
func (tx *Tx) revokePending(ctx context.Context, account AccountID) error {
	if err := tx.exec(ctx, "revoke codes", `DELETE FROM oauth_codes WHERE account_id = ?`, account); err != nil {
		return err
	}
	return tx.exec(ctx, "revoke challenges", `DELETE FROM mfa_challenges WHERE account_id = ?`, account)
}

// MarkTokenUsed stores that a token was used. It is called at most once a day and token.
func (tx *Tx) MarkTokenUsed(ctx context.Context, id TokenID) error {
	return tx.exec(ctx, "mark token used", `UPDATE oauth_tokens SET last_used_at = ? WHERE id = ?`, At(tx.db.now()), id)
}

// AuthorizationCode is an OAuth authorization code. Only its hash is stored.
type AuthorizationCode struct {
	Hash          []byte
	AppID         AppID
	AccountID     AccountID
	RedirectURI   string
	RedirectGiven bool // the authorization request named the URI
	Scopes        Scopes
	CodeChallenge string // PKCE, S256; "": none
	ExpiresAt     Time
	TokenID       *TokenID // what it was redeemed for
}

// AuthorizationCodeTTL is how long an authorization code is valid.
const AuthorizationCodeTTL = 10 * time.Minute

// AddAuthorizationCode inserts a code. Its ExpiresAt is set.
func (tx *Tx) AddAuthorizationCode(ctx context.Context, c *AuthorizationCode) error {
	c.ExpiresAt = At(tx.db.now().Add(AuthorizationCodeTTL))
	return tx.exec(ctx, "add code", insertCode.text, insertCode.args(c)...)
}

// AuthorizationCode returns the code with a SHA-256 hash, nil if there is none.
func (r reader) AuthorizationCode(ctx context.Context, hash []byte) (*AuthorizationCode, error) {
	return one[AuthorizationCode](ctx, r, "code", `SELECT * FROM oauth_codes WHERE hash = ?`, hash)
}

// RedeemAuthorizationCode stores the token of a redeemed code. The code is deleted with the token.
func (tx *Tx) RedeemAuthorizationCode(ctx context.Context, hash []byte, token TokenID) error {
	return tx.exec(ctx, "redeem code", `UPDATE oauth_codes SET token_id = ? WHERE hash = ?`, token, hash)
}
