package oauth

import (
	"slices"
	"strings"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

func (s *Service) appRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/apps":                   {rest.Anyone.Limit("app_registration").Secret().Answers("any"), s.createApp},
		"GET /api/v1/apps/verify_credentials": {rest.App().Answers("App"), s.showOwnApp},
		"GET /api/v1/svc/apps":                {rest.User("follow", "read").Answers("[]App"), s.listApps},
	}
}

const maxAppsListed = 100

// createApp registers an app. It ignores unknown scopes, which newer clients request.
func (s *Service) createApp(r *rest.Request) (any, error) {
	var p struct {
		Name      string   `param:"client_name"`
		Redirects []string `param:"redirect_uris"`
		Scopes    []string `param:"scopes"`
		Scope     []string `param:"scope"` // an alias that some clients use
		Website   string   `param:"website"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	a := &store.App{
		ClientID:     keys.NewToken(),
		ClientSecret: keys.NewToken(),
		Name:         strings.TrimSpace(p.Name),
		Website:      strings.TrimSpace(p.Website),
	}
	a.RedirectURIs = strings.Join(strings.Fields(strings.Join(p.Redirects, "\n")), "\n")
	wanted := slices.Concat(p.Scopes, p.Scope)
	if a.Scopes = parseScopes(wanted).Known(); len(parseScopes(wanted)) == 0 {
		a.Scopes = store.Scopes{"read"}
	}
	if faults := social.CheckApp(a); len(faults) > 0 {
		return nil, errs.Invalid("Validation failed: %s %s", appLabels[faults[0].Member], faults[0].Text)
	}
	if r.Viewer != nil {
		a.OwnerID = &r.Viewer.ID
	}
	if err := s.DB.Update(r.Context(), func(tx *store.Tx) error { return tx.AddApp(r.Context(), a) }); err != nil {
		return nil, err
	}
	return entity.CredentialApp{OwnApp: s.ownApp(a), ClientSecret: a.ClientSecret}, nil
}

// parseScopes parses a list of scopes whose elements may be lists themselves.
func parseScopes(list []string) store.Scopes { return store.ParseScopes(strings.Join(list, " ")) }

// appLabels are the names of members of an app in errors.
var appLabels = map[string]string{"name": "Name", "redirect_uris": "Redirect URI", "website": "Website", "scopes": "Scopes"}

// showOwnApp returns the app of the token.
func (s *Service) showOwnApp(r *rest.Request) (any, error) {
	if r.Token == nil || r.Token.AppID == nil { // a password, or a session of a browser
		return nil, rest.ErrInvalidToken
	}
	a, err := s.DB.App(r.Context(), *r.Token.AppID)
	if err != nil {
		return nil, err
	}
	return entity.NewApp(a, s.Keys.VAPIDPublic()), nil
}

// listApps returns the apps that the viewer registered or was the first to sign in with. It omits their secrets, because an app that
// serves many users belongs to one of them by chance only.
func (s *Service) listApps(r *rest.Request) (any, error) {
	rows, err := s.DB.AppsOf(r.Context(), r.Viewer.ID, maxAppsListed)
	if err != nil {
		return nil, err
	}
	return entity.Map(rows, s.ownApp), nil
}

func (s *Service) ownApp(a *store.App) entity.OwnApp {
	return entity.OwnApp{App: entity.NewApp(a, s.Keys.VAPIDPublic()), ClientID: a.ClientID}
}
