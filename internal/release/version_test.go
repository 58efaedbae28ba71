package release_test

import (
	"testing"

	"svc/internal/release"
)

// TestCompare compares each version of a list with each other one, in the order of Semantic Versioning.
func TestCompare(t *testing.T) {
	list := []string{"0.1.0-alpha", "0.1.0-alpha.1", "0.1.0-alpha.beta", "0.1.0-beta.2", "0.1.0-beta.11", "0.1.0-rc.1", "0.1.0", "0.1.9", "0.1.10", "0.2.0-1", "0.2.0", "10.0.0"}
	for i, a := range list {
		for j, b := range list {
			want := 0
			if i != j {
				want = 1
				if i < j {
					want = -1
				}
			}
			if got := release.Compare(a, b); got != want {
				t.Errorf("%s and %s: got %d, want %d", a, b, got, want)
			}
		}
	}
}
