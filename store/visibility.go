package store

import (
	"fmt"

	"svc/internal/enum"
)

// Visibility is the audience of a status.
type Visibility int

const (
	Public   Visibility = iota // anyone
	Unlisted                   // anyone, but not in public timelines
	Local                      // local accounts; not federated
	Private                    // followers and recipients
	Direct                     // recipients
	ListOnly                   // members of a list of the author
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
	i, err := enum.Index(b, visibilityNames)
	if err == nil {
		*v = Visibility(i)
	}
	return err
}

// ParseVisibility reads the client API's name. A parameter that must be a visibility has this type instead (rest.Request.Bind).
func ParseVisibility(name string) (v Visibility, ok bool) {
	err := v.UnmarshalText([]byte(name))
	return v, err == nil
}

// Unrestricted returns true if others than followers and recipients may see a status.
func (v Visibility) Unrestricted() bool { return v <= Local }

// Counted returns true if public counters include a status. They leave out what not everybody can see, which they would reveal.
func (v Visibility) Counted() bool { return v <= Unlisted }

// Federated returns true if statuses with this visibility may be federated. Status.Federated is the whole rule.
func (v Visibility) Federated() bool { return v != Local }

// Wider returns true if v has a wider audience than w.
func (v Visibility) Wider(w Visibility) bool { return v.breadth() > w.breadth() }

// breadth orders the visibilities; list and direct are equal, because both have recipients only.
func (v Visibility) breadth() int { return [...]int{4, 3, 2, 1, 0, 0}[v] }
