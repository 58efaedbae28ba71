package store

import (
	"fmt"
	"slices"
)

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
