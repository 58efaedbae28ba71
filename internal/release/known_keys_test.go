package release_test

import (
	"strings"
	"testing"

	"svc/internal/release"
)

// TestIsKnownKey checks which keys are those of earlier releases.
func TestIsKnownKey(t *testing.T) {
	mine, _ := newKey(t)
	other, _ := newKey(t)
	_, line, _ := strings.Cut(mine, "\n")
	for _, tt := range []struct {
		name, list, key string
		known, fails    bool
	}{
		{"in the list", "# keys\n\n" + line + "\n", mine, true, false},
		{"in the list, with its comment", other + "\n" + mine + "\n", line, true, false},
		{"not in the list", other + "\n", mine, false, false},
		{"in a comment", "#" + line + "\n", mine, false, false},
		{"an empty list", "# none yet\n", mine, false, false},
		{"a list with something else", line + "\nRWQ\n", mine, false, true},
		{"no key", line, "RWQ", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			known, err := release.IsKnownKey(tt.list, tt.key)
			if known != tt.known || (err != nil) != tt.fails {
				t.Errorf("got %v, %v", known, err)
			}
		})
	}
}
