package server_test

import (
	"strings"
	"testing"

	"svc/internal/text"
	"svc/server"
)

// TestRoutesAreUnique lists the routes, which panics on mistakes in the tables.
func TestRoutesAreUnique(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range server.Routes() {
		key := r.Method + " " + r.Path
		if seen[key] {
			t.Errorf("%s is listed twice", key)
		}
		seen[key] = true
	}
}

// TestRoutesAreNoNicknames checks that no nickname equals the last part of a route, because lookups by that name would find the route.
func TestRoutesAreNoNicknames(t *testing.T) {
	for _, r := range server.Routes() {
		name, ok := strings.CutPrefix(r.Path, "/api/v1/accounts/")
		if ok && !strings.ContainsAny(name, ":/") && !text.IsReserved(name, text.ReservedNicknames()) {
			t.Errorf("%q is not reserved", name)
		}
	}
}
