package social

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"svc/store"
)

// OutOfBand is the redirect URI of apps without one: a page shows the code.
const OutOfBand = "urn:ietf:wg:oauth:2.0:oob"

// Limits of the metadata of an app.
const (
	maxAppName      = 200 // characters
	maxAppURL       = 2000
	maxAppRedirects = 20
	maxRedirectSize = 4096 // bytes of all redirect URIs
)

// AppFault is an error in a member of an app.
type AppFault struct {
	Member string // name, redirect_uris, website, scopes
	Text   string // continues the name of the member: "can't be blank"
}

// CheckApp returns the errors in an app, at most one a member.
func CheckApp(a *store.App) []AppFault {
	var faults []AppFault
	for _, member := range []struct{ name, fault string }{
		{"name", appNameFault(a.Name)},
		{"redirect_uris", redirectsFault(a.RedirectURIs, a.Redirects())},
		{"website", websiteFault(a.Website)},
		{"scopes", scopesFault(a.Scopes)},
	} {
		if member.fault != "" {
			faults = append(faults, AppFault{member.name, member.fault})
		}
	}
	return faults
}

func appNameFault(name string) string {
	switch {
	case name == "":
		return "can't be blank"
	case utf8.RuneCountInString(name) > maxAppName:
		return fmt.Sprintf("is too long (maximum is %d characters)", maxAppName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "must be a single line"
	}
	return ""
}

func redirectsFault(all string, redirects []string) string {
	switch {
	case len(redirects) == 0:
		return "can't be blank"
	case len(redirects) > maxAppRedirects:
		return fmt.Sprintf("has too many entries (maximum is %d)", maxAppRedirects)
	case len(all) > maxRedirectSize:
		return fmt.Sprintf("is too long (maximum is %d bytes for all)", maxRedirectSize)
	case !slices.ContainsFunc(redirects, func(address string) bool { return !isRedirect(address) }):
		return ""
	}
	return "must be an absolute URI"
}

func websiteFault(address string) string {
	u, err := url.Parse(address)
	if address == "" || err == nil && len(address) <= maxAppURL && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" {
		return ""
	}
	return "must be a valid URL"
}

func scopesFault(scopes store.Scopes) string {
	if len(scopes) == 0 {
		return "doesn't match configured on the server."
	}
	return ""
}

// forbiddenSchemes are schemes that a browser handles itself.
var forbiddenSchemes = []string{
	"about", "blob", "cid", "chrome", "chrome-extension", "data", "file", "filesystem", "ftp", "intent", "jar", "javascript", "livescript",
	"mailto", "mhtml", "mid", "mocha", "moz-extension", "resource", "sms", "tel", "urn", "vbscript", "view-source", "ws", "wss",
}

// isRedirect returns true if an app may redirect to a URI: of the web, of a scheme of its own, or OutOfBand.
func isRedirect(address string) bool {
	if address == OutOfBand {
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
