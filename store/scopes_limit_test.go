package store_test

import (
	"fmt"
	"strings"
	"testing"

	"svc/store"
)

// TestManyScopes checks that a long list of scopes, which anyone can send, is not compared with itself.
func TestManyScopes(t *testing.T) {
	var list strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&list, "s%d ", i)
	}
	if n := len(store.ParseScopes(list.String())); n > 200 {
		t.Errorf("%d scopes were read, want 200 at most", n)
	}
	if n := len(store.ParseScopes(strings.Join(store.KnownScopes, " "))); n != len(store.KnownScopes) {
		t.Errorf("%d of %d known scopes were read", n, len(store.KnownScopes))
	}
}
