package entity

import (
	"strconv"
	"time"

	"svc/internal/cache"
	"svc/store"
)

// Application is the app that a status was posted with.
type Application struct {
	Name    string  `json:"name"`
	Website *string `json:"website"`
}

func (a *Application) size() int {
	if a.Website == nil {
		return cache.EntryBytes + len(a.Name)
	}
	return cache.EntryBytes + len(a.Name) + len(*a.Website)
}

// App is an OAuth app for other users.
type App struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Website      *string      `json:"website"`
	RedirectURI  string       `json:"redirect_uri"`
	RedirectURIs []string     `json:"redirect_uris"`
	Scopes       store.Scopes `json:"scopes"`
	VAPIDKey     string       `json:"vapid_key"`
}

// NewApp renders an app. vapidKey is the server's public key for push messages.
func NewApp(a *store.App, vapidKey string) App {
	e := App{
		ID:           strconv.FormatInt(int64(a.ID), 10),
		Name:         a.Name,
		RedirectURI:  a.RedirectURIs,
		RedirectURIs: a.Redirects(),
		Scopes:       a.Scopes,
		VAPIDKey:     vapidKey,
	}
	if a.Website != "" {
		e.Website = &a.Website
	}
	return e
}

// OwnApp is an app for its owner.
type OwnApp struct {
	App
	ClientID string `json:"client_id"`
}

// CredentialApp is an app with its secret, for the answer to its registration only.
type CredentialApp struct {
	OwnApp
	ClientSecret          string `json:"client_secret"`
	ClientSecretExpiresAt int    `json:"client_secret_expires_at"` // 0: never
}

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
