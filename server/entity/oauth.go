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

// App is an OAuth app as others see it.
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

// OwnApp is an app as its owner sees it.
type OwnApp struct {
	App
	ClientID string `json:"client_id"`
}

// CredentialApp is an app for who has just registered it, and nobody else ever.
type CredentialApp struct {
	OwnApp
	ClientSecret          string `json:"client_secret"`
	ClientSecretExpiresAt int    `json:"client_secret_expires_at"` // 0: never
}

// Token is the answer to who obtained one.
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

// Session is a token as its owner sees it in the list of what is signed in.
type Session struct {
	ID         store.TokenID `json:"id"`
	AppName    string        `json:"app_name"`
	ValidUntil store.Time    `json:"valid_until"`
}
