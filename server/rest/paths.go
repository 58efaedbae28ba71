package rest

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

const (
	oldPrefix = "/api/svc/"
	newPrefix = "/api/v1/svc/"

	standardName = "svc" // api.name as in the tables
)

// NumberedActors begins the paths of actors that Mastodon has named by a number, and of what belongs to them. They have the routes of /users/.
const NumberedActors = "/ap/users/"

// cleanPath returns the canonical form of an escaped path, which routes match: without a trailing slash, without the suffix .json on
// API paths, with the extension prefix as in the tables, with NumberedActors as /users/, and with the @ of a nickname as it is. name is api.name. ok is false for paths that
// respell another one (dot segments, doubled slashes, encoded dots), so that no check of one spelling is bypassed by another.
func cleanPath(path, name string) (clean string, ok bool) {
	if !plainPath(path) {
		return "", false
	}
	if len(path) > 1 && path[len(path)-1] == '/' {
		path = path[:len(path)-1]
	}
	if hasSuffixJSON(path) {
		path = path[:len(path)-len(".json")]
	}
	if rest, isAPI := strings.CutPrefix(path, "/api/"); isAPI {
		return cleanPrefix(path, rest, name)
	}
	if rest, numbered := strings.CutPrefix(path, NumberedActors); numbered {
		path = "/users/" + rest
	}
	return strings.ReplaceAll(path, "/%40", "/@"), true // some clients encode it
}

// plainPath returns true if a path is absolute and has no empty segments, dot segments, encoded dots or NUL bytes.
func plainPath(path string) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	for i := 0; i < len(path); i++ {
		switch path[i] {
		case '/':
			rest := path[i+1:]
			end := strings.IndexByte(rest, '/')
			if end < 0 {
				end = len(rest)
			}
			switch rest[:end] {
			case ".", "..":
				return false
			case "":
				if end < len(rest) {
					return false
				}
			}
		case '%':
			if i+2 < len(path) {
				switch path[i+1 : i+3] {
				case "2e", "2E", "00":
					return false
				}
			}
		}
	}
	return true
}

func hasSuffixJSON(path string) bool {
	return strings.HasSuffix(path, ".json") && !strings.HasSuffix(path, "/.json") &&
		(strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/nodeinfo/") || strings.HasPrefix(path, "/oauth_tokens"))
}

// cleanPrefix rewrites /api/NAME/… and /api/vN/NAME/… to /api/v1/svc/… and /api/vN/svc/…. If api.name is not svc, svc is a plain
// word under which there are no routes.
func cleanPrefix(path, rest, name string) (string, bool) {
	first, after, _ := strings.Cut(rest, "/")
	version := "v1"
	old := first == name || first == standardName
	word := first
	if !old {
		if len(first) != 2 || first[0] != 'v' || first[1] < '0' || first[1] > '9' {
			return path, true
		}
		version = first
		word, after, _ = strings.Cut(after, "/")
	}
	switch {
	case word == name:
		if !old && name == standardName || after == "" {
			return path, true
		}
		return "/api/" + version + "/" + standardName + "/" + after, true
	case word == standardName:
		return "", false
	}
	return path, true
}

// isExtension returns true if a cleaned path belongs to the extension or admin API.
func isExtension(path string) bool {
	rest, ok := strings.CutPrefix(path, "/api/v")
	if !ok {
		return strings.HasPrefix(path, "/api/oauth_tokens")
	}
	return len(rest) > 1 && strings.HasPrefix(rest[1:], "/"+standardName+"/")
}

// decodeSegment decodes the value of a path parameter. ok is false if it is empty or not UTF-8.
func decodeSegment(s string) (string, bool) {
	if strings.IndexByte(s, '%') >= 0 {
		var err error
		if s, err = url.PathUnescape(s); err != nil {
			return "", false
		}
	}
	return s, s != "" && utf8.ValidString(s)
}

// crossOriginPrefixes are the paths that scripts of other sites may read. The pages for signing in and consenting are not among
// them.
var crossOriginPrefixes = []string{
	"/api/", "/oauth/token", "/oauth/revoke", "/oauth/userinfo", "/oauth/mfa/challenge", "/.well-known/", "/nodeinfo/",
	"/media/", "/proxy/", "/emoji/", "/images/", "/instance/", "/users/", NumberedActors, "/objects/", "/activities/", "/contexts/", "/quote_authorizations/", "/internal/", "/relay",
}

func isCrossOrigin(path string) bool {
	for _, prefix := range crossOriginPrefixes {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}
