package release

import (
	"fmt"
	"strings"
)

// IsKnownKey returns true if a list has a public key. The list has one a line, in minisign's form without its comment; empty lines and lines that begin
// with "#" or "untrusted comment:" are no keys. Another line that is no key is an error, and so is a key that is none.
func IsKnownKey(list, key string) (bool, error) {
	public, err := parseKey(key)
	if err != nil {
		return false, err
	}
	known := false
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "untrusted comment:") {
			continue
		}
		k, err := parseKey(line)
		if err != nil {
			return false, fmt.Errorf("%q in the list of known keys: %w", line, err)
		}
		known = known || k.Equal(public)
	}
	return known, nil
}
