package entity

import (
	"context"
	"strconv"

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

// loadApps loads the apps of statuses.
func (b *Builder) loadApps(ctx context.Context, ids []store.AppID) (map[store.AppID]*Application, error) {
	apps := make(map[store.AppID]*Application)
	missing, generation := b.apps.GetAll(unique(ids), apps)
	if len(missing) == 0 {
		return apps, nil
	}
	rows, err := b.db.Apps(ctx, missing)
	for _, row := range rows {
		a := &Application{Name: row.Name}
		if row.Website != "" {
			a.Website = &row.Website
		}
		apps[row.ID] = a
		b.apps.Put(row.ID, a, generation)
	}
	return apps, err
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
