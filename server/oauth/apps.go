package oauth

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

func (s *Service) appRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/apps":                   {rest.Anyone.Limit("app_registration"), s.createApp},
		"GET /api/v1/apps/verify_credentials": {rest.App(), s.showOwnApp},
		"GET /api/v1/svc/apps":                {rest.User("follow", "read"), s.listApps},
	}
}

// outOfBand is the redirect URI of apps without one: a page shows the code.
const outOfBand = "urn:ietf:wg:oauth:2.0:oob"

// Limits of the metadata of an app.
const (
	maxAppName      = 200 // characters
	maxAppURL       = 2000
	maxAppRedirects = 20
	maxAppsListed   = 100
)

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
	redirects := strings.Fields(strings.Join(p.Redirects, "\n"))
	a.RedirectURIs = strings.Join(redirects, "\n")
	wanted := slices.Concat(p.Scopes, p.Scope)
	if a.Scopes = parseScopes(wanted).Known(); len(parseScopes(wanted)) == 0 {
		a.Scopes = store.Scopes{"read"}
	}
	if err := checkApp(a, redirects); err != nil {
		return nil, err
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

func checkApp(a *store.App, redirects []string) error {
	switch {
	case a.Name == "":
		return errs.Invalid("Validation failed: Name can't be blank")
	case utf8.RuneCountInString(a.Name) > maxAppName:
		return errs.Invalid("Validation failed: Name is too long (maximum is %d characters)", maxAppName)
	case strings.ContainsFunc(a.Name, unicode.IsControl):
		return errs.Invalid("Validation failed: Name must be a single line")
	case len(redirects) == 0:
		return errs.Invalid("Validation failed: Redirect URI can't be blank")
	case len(redirects) > maxAppRedirects:
		return errs.Invalid("Validation failed: Redirect URI has too many entries (maximum is %d)", maxAppRedirects)
	case a.Website != "" && !isWebURL(a.Website):
		return errs.Invalid("Validation failed: Website must be a valid URL")
	case len(a.Scopes) == 0:
		return errs.Invalid("Validation failed: Scopes doesn't match configured on the server.")
	}
	for _, address := range redirects {
		if !isRedirect(address) {
			return errs.Invalid("Validation failed: Redirect URI must be an absolute URI")
		}
	}
	return nil
}

// isWebURL returns true if a URL can be linked to.
func isWebURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && len(address) <= maxAppURL && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != ""
}

// forbiddenSchemes are schemes that a browser handles itself.
var forbiddenSchemes = []string{
	"about", "blob", "cid", "chrome", "chrome-extension", "data", "file", "filesystem", "ftp", "intent", "jar", "javascript", "livescript",
	"mailto", "mhtml", "mid", "mocha", "moz-extension", "resource", "sms", "tel", "urn", "vbscript", "view-source", "ws", "wss",
}

// isRedirect returns true if an app may redirect to a URI: of the web, of a scheme of its own, or outOfBand.
func isRedirect(address string) bool {
	if address == outOfBand {
		return true
	}
	u, err := url.Parse(address)
	if err != nil || len(address) > maxAppURL || !utf8.ValidString(address) || strings.Contains(address, "#") ||
		strings.ContainsFunc(address, func(c rune) bool { return unicode.IsControl(c) || c == '\\' }) {
		return false
	}
	switch u.Scheme {
	case "":
		return false
	case "http", "https":
		return u.Opaque == "" && u.Hostname() != "" && u.User == nil
	}
	return !slices.Contains(forbiddenSchemes, u.Scheme) // url.Parse returns lower-case schemes
}

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
