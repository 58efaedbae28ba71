package store

import (
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
)

// Scopes are the OAuth scopes of a token or app, such as "read write:statuses".
type Scopes []string

// KnownScopes are all scopes that an app may ask for.
var KnownScopes = func() Scopes {
	s := Scopes{"read", "write", "follow", "push", "profile", "admin", "admin:read", "admin:write"}
	for _, name := range strings.Fields("accounts backups blocks bookmarks chats collections favourites filters follows lists media mutes notifications reports search security statuses") {
		s = append(s, "read:"+name)
	}
	for _, name := range strings.Fields("accounts backups blocks bookmarks chats collections conversations favourites filters follow follows lists media mutes notifications reports security statuses") {
		s = append(s, "write:"+name)
	}
	for _, name := range strings.Fields("accounts apps canonical_email_blocks chats domain_allows domain_blocks email_domain_blocks follows invites ip_blocks media_proxy_caches reports statuses") {
		s = append(s, "admin:read:"+name, "admin:write:"+name)
	}
	return s
}()

// maxScopes bounds how many scopes are read: there are fewer, and each is compared with all others.
const maxScopes = 200

// ParseScopes splits text at spaces, commas and plus signs, and removes duplicates.
func ParseScopes(text string) Scopes {
	var s Scopes
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '+' || r == '\n' || r == '\t' || r == '\r' }) {
		if len(s) == maxScopes {
			break
		}
		if !slices.Contains(s, name) {
			s = append(s, name)
		}
	}
	return s
}

// Allow returns true if the scopes include one: by its name, by a parent's (read includes read:lists), or by follow, which includes reading
// and writing blocks, follows and mutes.
func (s Scopes) Allow(scope string) bool {
	for _, have := range s {
		if have == scope || len(scope) > len(have) && scope[len(have)] == ':' && scope[:len(have)] == have {
			return true
		}
		if have == "follow" {
			switch scope {
			case "read:blocks", "write:blocks", "read:follows", "write:follows", "read:mutes", "write:mutes":
				return true
			}
		}
		if have == "profile" && scope == "read:accounts:self" {
			return true
		}
	}
	return false
}

// Known returns the scopes without unknown ones.
func (s Scopes) Known() Scopes {
	return slices.DeleteFunc(slices.Clone(s), func(name string) bool { return !slices.Contains(KnownScopes, name) })
}

// Within returns true if outer includes all scopes.
func (s Scopes) Within(outer Scopes) bool {
	return !slices.ContainsFunc(s, func(name string) bool { return !outer.Allow(name) })
}

func (s Scopes) String() string { return strings.Join(s, " ") }

// Value stores the scopes separated by spaces.
func (s Scopes) Value() (driver.Value, error) { return s.String(), nil }

// Scan reads the scopes.
func (s *Scopes) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("scopes from %T", src)
	}
	*s = ParseScopes(text)
	return nil
}
