package store

import (
	"context"
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
	OwnerID      *AccountID
	CreatedAt    Time
}

// Token is what somebody, or an app, authenticates with. The token itself is not kept, only its hash.
type Token struct {
	ID          TokenID
	Hash        []byte
	RefreshHash []byte
	AppID       *AppID     // nil: a session of the server's own pages
	AccountID   *AccountID // nil: the app itself
	Scopes      Scopes
	CreatedAt   Time
	LastUsedAt  Time
	ExpiresAt   *Time
}

// Apps returns the apps that have one of the ids, in no order.
func (r reader) Apps(ctx context.Context, ids []AppID) ([]*App, error) {
	return list[*App](ctx, r, "apps", `
		SELECT a.*
		FROM json_each(?) j
		CROSS JOIN oauth_apps a ON a.id = j.value`, jsonArray(ids))
}

// TokenByHash returns the token whose SHA-256 is hash, nil if there is none.
func (r reader) TokenByHash(ctx context.Context, hash []byte) (*Token, error) {
	return one[Token](ctx, r, "token", `SELECT * FROM oauth_tokens WHERE hash = ?`, hash)
}

// AddToken inserts a token. Its ID and times are set.
func (tx *Tx) AddToken(ctx context.Context, t *Token) error {
	now := At(tx.db.now())
	t.CreatedAt, t.LastUsedAt = now, now
	id, err := one[TokenID](ctx, tx.reader, "add token", `
		INSERT INTO oauth_tokens (hash, refresh_hash, app_id, account_id, scopes, created_at, last_used_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		RETURNING id`, t.Hash, t.RefreshHash, t.AppID, t.AccountID, t.Scopes, t.CreatedAt, t.LastUsedAt, t.ExpiresAt)
	if err != nil {
		return err
	}
	t.ID = *id
	return nil
}

// MarkTokenUsed notes that a token was used. It is called at most once a day and token.
func (tx *Tx) MarkTokenUsed(ctx context.Context, id TokenID) error {
	_, err := tx.exec(ctx, "mark token used", `UPDATE oauth_tokens SET last_used_at = ? WHERE id = ?`, At(tx.db.now()), id)
	return err
}
