package entity

import (
	"time"

	"svc/store"
)

// Token is the answer to a token request.
type Token struct {
	ID           store.TokenID `json:"id"`
	AccessToken  string        `json:"access_token"`
	TokenType    string        `json:"token_type"`
	Scope        string        `json:"scope"`
	CreatedAt    int64         `json:"created_at"` // Unix seconds
	ExpiresIn    int64         `json:"expires_in,omitempty"`
	RefreshToken string        `json:"refresh_token,omitempty"`
	Me           string        `json:"me,omitempty"` // ActivityPub id of the account; "": an app's own token
}

// NewToken renders a token. lifetime is 0 for one that never expires, account nil for an app's own.
func NewToken(t *store.Token, access, refresh string, lifetime time.Duration, account *store.Account) Token {
	e := Token{
		ID:           t.ID,
		AccessToken:  access,
		TokenType:    "Bearer",
		Scope:        t.Scopes.String(),
		CreatedAt:    t.CreatedAt.Time().Unix(),
		ExpiresIn:    int64(lifetime.Seconds()),
		RefreshToken: refresh,
	}
	if account != nil {
		e.Me = account.URI
	}
	return e
}

// Session is a token for its owner, in the list of sessions.
type Session struct {
	ID         store.TokenID `json:"id"`
	AppName    string        `json:"app_name"`
	ValidUntil store.Time    `json:"valid_until"`
}
