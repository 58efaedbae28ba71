package server_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"svc/internal/text"
	"svc/server"
)

// site is a server on a port of its own.
type site struct {
	http.Client
	t       *testing.T
	address string
	stop    func()     // as SIGTERM does
	done    chan error // what Serve returned
}

// serve runs s until the test ends.
func serve(t *testing.T, s *server.Server) *site {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	st := &site{t: t, address: ln.Addr().String(), stop: stop, done: make(chan error, 1)}
	ended := make(chan struct{})
	go func() {
		st.done <- s.Serve(ctx, ln)
		close(ended)
	}()
	t.Cleanup(func() {
		stop()
		st.CloseIdleConnections()
		<-ended
	})
	return st
}

func (st *site) Get(path string) (*http.Response, error) {
	return st.Client.Get("http://" + st.address + path)
}

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
