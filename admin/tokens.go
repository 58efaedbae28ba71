package admin

import (
	"context"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// Token is an access of an app to an account.
type Token struct {
	ID         int64      `json:"id"`
	App        string     `json:"app"` // "": a session of the pages of this server
	Scopes     string     `json:"scopes"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt time.Time  `json:"last_used_at"` // exact to a day
	ExpiresAt  *time.Time `json:"expires_at"`   // nil: never
}

func newToken(t *store.TokenSummary) *Token {
	token := &Token{ID: int64(t.ID), Scopes: t.Scopes.String(), CreatedAt: t.CreatedAt.Time(), LastUsedAt: t.LastUsedAt.Time()}
	if t.AppName != nil {
		token.App = *t.AppName
	}
	if t.ExpiresAt != nil {
		at := t.ExpiresAt.Time()
		token.ExpiresAt = &at
	}
	return token
}

// Tokens returns the tokens of a local account, newest first.
func (s *Service) Tokens(ctx context.Context, name string) ([]*Token, error) {
	account, _, err := s.findUser(ctx, s.db, name)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.TokensOf(ctx, account.ID)
	list := []*Token{}
	for _, row := range rows {
		list = append(list, newToken(row))
	}
	return list, err
}

// TokenKey names a token of a local account.
type TokenKey struct {
	User string `json:"user"`
	ID   int64  `json:"id"`
}

// RevokeToken revokes one token of a local account.
func (s *Service) RevokeToken(ctx context.Context, k TokenKey) (token *Token, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		account, _, err := s.findUser(ctx, tx, k.User)
		if err != nil {
			return err
		}
		rows, err := tx.TokensOf(ctx, account.ID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(rows, func(t *store.TokenSummary) bool { return int64(t.ID) == k.ID })
		if i < 0 {
			return errs.NotFound("@%s has no token %d", account.Nickname, k.ID)
		}
		token = newToken(rows[i])
		if err := tx.RevokeOwnToken(ctx, account.ID, rows[i].ID); err != nil {
			return err
		}
		return s.recordUsers(ctx, tx, "revoke_token", "revoked a token of users", account)
	})
	return token, err
}

// SignOutUsers revokes all tokens of local accounts. Changed is false for those that have none.
func (s *Service) SignOutUsers(ctx context.Context, names []string) ([]*ChangedUser, error) {
	return s.changeUsers(ctx, names, true, "sign_out", "signed out users", func(tx *store.Tx, t *target) (bool, error) {
		rows, err := tx.TokensOf(ctx, t.account.ID)
		if err != nil {
			return false, err
		}
		return len(rows) > 0, tx.RevokeTokens(ctx, t.account.ID)
	})
}
