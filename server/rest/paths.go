package rest

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

const (
	oldPrefix = "/api/svc/"
	newPrefix = "/api/v1/svc/"

	standardName = "svc" // what the tables call the service
)

// cleanPath returns the one form of an escaped path on which routing works: without a trailing slash, on API paths without
// the suffix .json, and with the extension prefix spelled as in the tables. name is what the server calls its interface.
//
// ok is false for paths that are several spellings of something else (dot segments, doubled slashes, encoded dots): they name
// nothing here, so that no check made on one spelling can be passed by in another.
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
	return path, true
}

// plainPath tells whether a path is absolute and has no empty segments, dot segments, encoded dots or NUL bytes.
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

// cleanPrefix rewrites /api/NAME/… and /api/vN/NAME/… to /api/v1/svc/… and /api/vN/svc/…. Where the interface has another
// name, svc is a word like any other, and there is nothing under it.
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

// isExtension tells whether a cleaned path is of the extension or admin API.
func isExtension(path string) bool {
	rest, ok := strings.CutPrefix(path, "/api/v")
	if !ok {
		return strings.HasPrefix(path, "/api/oauth_tokens")
	}
	return len(rest) > 1 && strings.HasPrefix(rest[1:], "/"+standardName+"/")
}

// decodeSegment decodes the value of a path parameter. What is no text is no value.
func decodeSegment(s string) (string, bool) {
	if strings.IndexByte(s, '%') >= 0 {
		var err error
		if s, err = url.PathUnescape(s); err != nil {
			return "", false
		}
	}
	return s, s != "" && utf8.ValidString(s)
}

// crossOriginPrefixes are the paths that scripts of other sites may read. The pages on which people sign in and consent are
// not among them.
var crossOriginPrefixes = []string{
	"/api/", "/oauth/token", "/oauth/revoke", "/oauth/mfa/challenge", "/.well-known/", "/nodeinfo/",
	"/media/", "/proxy/", "/emoji/", "/images/", "/instance/", "/users/", "/objects/", "/activities/", "/contexts/", "/quote_authorizations/", "/internal/", "/relay",
}

func isCrossOrigin(path string) bool {
	for _, prefix := range crossOriginPrefixes {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}
