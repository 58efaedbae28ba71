package admin

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/social"
	"svc/store"
)

// App is an OAuth app with its secret (spec 2.20).
type App struct {
	ID           int64        `json:"id"`
	Name         string       `json:"name"`
	ClientID     string       `json:"client_id"`
	ClientSecret string       `json:"client_secret"`
	RedirectURI  string       `json:"redirect_uri"` // one a line
	Website      string       `json:"website"`
	Scopes       store.Scopes `json:"scopes"`
	Trusted      bool         `json:"trusted"`
}

// AppQuery selects a page of the apps. All conditions must hold.
type AppQuery struct {
	Name     string `json:"name"`      // "": any
	ClientID string `json:"client_id"` // "": any
	Trusted  *bool  `json:"trusted"`   // nil: any
	Limit    int    `json:"limit"`
	Offset   int    `json:"offset"`
}

// AppList is a page of apps, and how many there are in all.
type AppList struct {
	Apps  []*App `json:"apps"`
	Count int    `json:"count"`
}

// AppChange has the members of an app that are set or changed; the others are nil. ID is 0 for a new app.
type AppChange struct {
	ID           int64    `json:"id"`
	Name         *string  `json:"name"`
	RedirectURIs *string  `json:"redirect_uris"` // separated by white space
	Scopes       []string `json:"scopes"`
	Website      *string  `json:"website"`
	Trusted      *bool    `json:"trusted"` // registrations through the app need no captcha
}

const (
	maxAppsPage    = 500
	appDetachBatch = 2000 // posts in one transaction
)

// Apps returns a page of the apps, newest first.
func (s *Service) Apps(ctx context.Context, q AppQuery) (*AppList, error) {
	f := store.AppFilter{Name: q.Name, ClientID: q.ClientID, Trusted: q.Trusted}
	rows, err := s.db.StaffApps(ctx, f, min(max(q.Limit, 1), maxAppsPage), max(q.Offset, 0))
	if err != nil {
		return nil, err
	}
	list := &AppList{Apps: make([]*App, 0, len(rows))}
	for _, row := range rows {
		list.Apps = append(list.Apps, newApp(row))
	}
	list.Count, err = s.db.CountStaffApps(ctx, f)
	return list, err
}

// CreateApp creates an app. It belongs to the account of the staff, so that it is kept while nobody uses it.
func (s *Service) CreateApp(ctx context.Context, c AppChange) (*App, error) {
	row := &store.App{ClientID: keys.NewToken(), ClientSecret: keys.NewToken()}
	if s.actor != nil {
		row.OwnerID = &s.actor.ID
	}
	if err := c.apply(row); err != nil {
		return nil, err
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		if err := tx.AddApp(ctx, row); err != nil {
			return err
		}
		return s.recordApp(ctx, tx, "oauth_app_create", "created", row)
	})
	if err != nil {
		return nil, err
	}
	return newApp(row), nil
}

// UpdateApp changes an app. Tokens keep the scopes with which they were issued.
func (s *Service) UpdateApp(ctx context.Context, c AppChange) (*App, error) {
	var row *store.App
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if row, err = app(ctx, tx, c.ID); err != nil {
			return err
		}
		if err := c.apply(row); err != nil {
			return err
		}
		if err := tx.SaveApp(ctx, row); err != nil {
			return err
		}
		return s.recordApp(ctx, tx, "oauth_app_update", "updated", row)
	})
	if err != nil {
		return nil, err
	}
	return newApp(row), nil
}

// DeleteApp deletes an app and revokes its tokens. Its posts stay. They lose their app in small transactions first, because a popular app
// has many posts.
func (s *Service) DeleteApp(ctx context.Context, id int64) (*App, error) {
	for more := true; more; {
		err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
			more, err = tx.DetachApp(ctx, store.AppID(id), appDetachBatch)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	var row *store.App
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if row, err = app(ctx, tx, id); err != nil {
			return err
		}
		if err := tx.DeleteApp(ctx, row.ID); err != nil {
			return err
		}
		return s.recordApp(ctx, tx, "oauth_app_delete", "deleted", row)
	})
	if err != nil {
		return nil, err
	}
	return newApp(row), nil
}

func app(ctx context.Context, tx *store.Tx, id int64) (*store.App, error) {
	row, err := tx.App(ctx, store.AppID(id))
	if errs.IsNotFound(err) {
		return nil, errs.NotFound("There is no app %d", id)
	}
	return row, err
}

// apply changes a row. The error has a text for each invalid member.
func (c *AppChange) apply(row *store.App) error {
	if c.Name != nil {
		row.Name = strings.TrimSpace(*c.Name)
	}
	if c.RedirectURIs != nil {
		row.RedirectURIs = strings.Join(strings.Fields(*c.RedirectURIs), "\n")
	}
	if c.Website != nil {
		row.Website = strings.TrimSpace(*c.Website)
	}
	if c.Trusted != nil {
		row.Trusted = *c.Trusted
	}
	if c.Scopes != nil {
		row.Scopes = store.ParseScopes(strings.Join(c.Scopes, " "))
	}
	var texts []string
	invalid := errs.BadRequest("")
	for _, f := range social.CheckApp(row) {
		if f.Member == "scopes" {
			f.Text = "can't be blank"
		}
		texts, invalid = append(texts, f.Member+" "+f.Text), invalid.With(f.Member, f.Text)
	}
	if known := row.Scopes.Known(); c.Scopes != nil && len(known) < len(row.Scopes) {
		text := fmt.Sprintf("must be some of: %s", store.KnownScopes)
		texts, invalid = append(texts, "scopes "+text), invalid.With("scopes", text)
	}
	if len(texts) == 0 {
		return nil
	}
	invalid.Message = strings.Join(texts, ", ")
	return invalid
}

// recordApp adds an entry about an app to the moderation log, without its secret.
func (s *Service) recordApp(ctx context.Context, tx *store.Tx, action, done string, row *store.App) error {
	id := int64(row.ID)
	data := map[string]any{
		"subject": map[string]any{"id": id, "type": "oauth_app"}, "name": row.Name, "redirect_uris": row.RedirectURIs,
		"scopes": row.Scopes.String(), "trusted": row.Trusted,
	}
	return s.record(ctx, tx, action, done+" OAuth app #"+strconv.FormatInt(id, 10)+" "+strconv.Quote(row.Name), data)
}

func newApp(row *store.App) *App {
	return &App{
		ID: int64(row.ID), Name: row.Name, ClientID: row.ClientID, ClientSecret: row.ClientSecret, RedirectURI: row.RedirectURIs,
		Website: row.Website, Scopes: row.Scopes, Trusted: row.Trusted,
	}
}
