package remote

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"svc/internal/fetch"
)

// names is a DNS server with addresses set by a test: each query of a name gets the next address, and in the end the last one again.
type names struct {
	mu        sync.Mutex
	addresses map[string][]string
	queries   map[string]int
}

// useNames makes this process resolve all names by a table until the test ends.
func useNames(t *testing.T, addresses map[string][]string) *names {
	t.Helper()
	n := &names{addresses: addresses, queries: make(map[string]int)}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go n.serve(conn)
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = before
		conn.Close()
	})
	return n
}

func (n *names) serve(conn net.PacketConn) {
	buffer := make([]byte, 1500)
	for {
		size, from, err := conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buffer[:size]) != nil || len(m.Questions) != 1 {
			continue
		}
		m.Response, m.Additionals = true, nil
		q := m.Questions[0]
		if address, ok := n.next(q); ok {
			h := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}
			switch {
			case address.Is4() && q.Type == dnsmessage.TypeA:
				m.Answers = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.AResource{A: address.As4()}}}
			case address.Is6() && q.Type == dnsmessage.TypeAAAA:
				m.Answers = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.AAAAResource{AAAA: address.As16()}}}
			}
		}
		if reply, err := m.Pack(); err == nil {
			conn.WriteTo(reply, from)
		}
	}
}

// next returns the address for a question.
func (n *names) next(q dnsmessage.Question) (netip.Addr, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	name := strings.TrimSuffix(strings.ToLower(q.Name.String()), ".")
	list := n.addresses[name]
	if len(list) == 0 {
		return netip.Addr{}, false
	}
	i := n.queries[name]
	if q.Type == dnsmessage.TypeA {
		n.queries[name]++
	}
	return netip.MustParseAddr(list[min(i, len(list)-1)]), true
}

// TestGuardedNames checks that no name that resolves to a private address is fetched, also if its address changes between queries (case 115).
func TestGuardedNames(t *testing.T) {
	a := newHarness(t)
	var reached atomic.Int32
	privateServer := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	privateServer.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			reached.Add(1)
		}
	}
	privateServer.StartTLS()
	t.Cleanup(privateServer.Close)
	port := privateServer.URL[strings.LastIndexByte(privateServer.URL, ':'):]
	roots := x509.NewCertPool()
	roots.AddCert(privateServer.Certificate())
	a.Reader.Settings.AllowLoopback = false
	a.Fetcher.client = fetch.New(fetch.Options{UserAgent: "svc", RootCAs: roots})
	n := useNames(t, map[string][]string{
		"loopback.example": {"127.0.0.1"}, "private.example": {"10.0.0.1"}, "loopback6.example": {"::1"}, "mapped.example": {"::ffff:127.0.0.1"},
		"nat64.example": {"64:ff9b::7f00:1"}, "any.example": {"0.0.0.0"}, "cloud.example": {"169.254.169.254"}, "local.example": {"fe80::1"},
		"rebinding.example": {"169.254.169.254", "127.0.0.1", "10.0.0.1", "127.0.0.1"},
	})
	for name := range n.addresses {
		t.Run(name, func(t *testing.T) {
			id := "https://" + name + port + "/users/bob"
			for what, fetchIt := range map[string]func() error{
				"actor": func() error { _, err := a.Actors.Actor(t.Context(), id); return err },
				"post":  func() error { _, err := a.Statuses.Status(t.Context(), id+"/1"); return err },
				"key":   func() error { _, err := a.Verifier.fetchKey(t.Context(), id+"#main-key", nil); return err },
				"handle": func() error {
					_, err := a.Actors.Lookup(t.Context(), "bob@"+name+port)
					return err
				},
			} {
				for range 2 {
					a.Fetcher.failures = newFailureCache()
					if err := fetchIt(); !errors.Is(err, fetch.ErrRefused) {
						t.Errorf("%s: got %v, want ErrRefused", what, err)
					}
				}
			}
			n.mu.Lock()
			defer n.mu.Unlock()
			if n.queries[name] == 0 {
				t.Error("the name was not resolved")
			}
		})
	}
	if got := reached.Load(); got > 0 {
		t.Errorf("a server on this machine was reached %d times", got)
	}
	if _, err := net.Dial("tcp", "loopback.example"+port); err != nil { // the server is reachable without the check
		t.Errorf("the names do not resolve: %v", err)
	}
}
