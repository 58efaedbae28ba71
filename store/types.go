package store

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"svc/internal/errs"
)

var notFound = errs.ErrRecordNotFound

// Visibility is who a status is for.
type Visibility int

const (
	Public   Visibility = iota // everyone
	Unlisted                   // everyone, but in no public timeline
	Local                      // everyone with an account here; never leaves the server
	Private                    // followers and the mentioned
	Direct                     // the mentioned
	ListOnly                   // the members of one of the author's lists
)

var visibilityNames = []string{"public", "unlisted", "local", "private", "direct", "list"}

// String returns the client API's name.
func (v Visibility) String() string {
	if v < 0 || int(v) >= len(visibilityNames) {
		return fmt.Sprintf("visibility(%d)", int(v))
	}
	return visibilityNames[v]
}

// MarshalText is String for JSON.
func (v Visibility) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *Visibility) UnmarshalText(b []byte) error {
	read, ok := ParseVisibility(string(b))
	if !ok {
		return fmt.Errorf("no visibility: %q", b)
	}
	*v = read
	return nil
}

// ParseVisibility reads the client API's name.
func ParseVisibility(name string) (Visibility, bool) {
	i := slices.Index(visibilityNames, name)
	return Visibility(i), i >= 0
}

// Unrestricted tells whether a status may be seen by people whom it is not addressed to and who do not follow its author.
func (v Visibility) Unrestricted() bool { return v <= Local }

// Federated tells whether a status of this visibility may leave the server.
func (v Visibility) Federated() bool { return v != Local }

// Wider tells whether v reaches people whom w does not.
func (v Visibility) Wider(w Visibility) bool { return v.breadth() > w.breadth() }

// breadth orders the visibilities; list and direct are alike, both name their recipients.
func (v Visibility) breadth() int { return [...]int{4, 3, 2, 1, 0, 0}[v] }

// Scopes are what a token may do, as in "read write:statuses".
type Scopes []string

// KnownScopes are the scopes that an app can ask for, apart from those below admin.
var KnownScopes = func() Scopes {
	s := Scopes{"read", "write", "follow", "push", "profile", "admin", "admin:read", "admin:write"}
	for _, name := range strings.Fields("accounts backups blocks bookmarks chats favourites filters follows lists media mutes notifications reports search security statuses") {
		s = append(s, "read:"+name)
	}
	for _, name := range strings.Fields("accounts backups blocks bookmarks chats conversations favourites filters follow follows lists media mutes notifications reports security statuses") {
		s = append(s, "write:"+name)
	}
	for _, name := range strings.Fields("accounts apps chats follows invites media_proxy_caches reports statuses") {
		s = append(s, "admin:read:"+name, "admin:write:"+name)
	}
	return s
}()

// ParseScopes splits text at blanks, commas and plus signs, and drops repetitions.
func ParseScopes(text string) Scopes {
	var s Scopes
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '+' || r == '\n' || r == '\t' || r == '\r' }) {
		if !slices.Contains(s, name) {
			s = append(s, name)
		}
	}
	return s
}

// Allow tells whether the scopes cover one: by its own name, by a parent's (read covers read:lists), or by follow, which covers
// reading and writing blocks, follows and mutes.
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

// Known returns those of the scopes that exist.
func (s Scopes) Known() Scopes {
	return slices.DeleteFunc(slices.Clone(s), func(name string) bool { return !slices.Contains(KnownScopes, name) })
}

// Within tells whether the scopes are all covered by outer.
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

// JSON is a column that holds a value as JSON text.
type JSON[T any] struct{ V T }

// Value stores the JSON text.
func (j JSON[T]) Value() (driver.Value, error) {
	b, err := json.Marshal(j.V)
	return string(b), err
}

// Scan reads the JSON text.
func (j *JSON[T]) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("JSON from %T", src)
	}
	return json.Unmarshal([]byte(text), &j.V)
}

// jsonArray encodes ids for json_each(?), which keeps the text of a query the same whatever their number.
func jsonArray[T ~int64](ids []T) string {
	b := make([]byte, 0, 2+18*len(ids))
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%d", int64(id))
	}
	return string(append(b, ']'))
}
