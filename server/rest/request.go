package rest

import (
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"svc/store"
)

// Request is a request that reached an endpoint, and who it comes from.
type Request struct {
	*http.Request
	Viewer *store.Account // who is signed in; nil: the anonymous, or an app by itself
	User   *store.User    // the private side of Viewer
	Token  *store.Token   // nil: the anonymous, or signed in by password
	ID     string         // goes into the log and to the client, so that a complaint can be found

	server   *Server
	endpoint *endpoint
	values   []string // of the path's parameters, by position
	address  netip.Addr
	body     *body
	params   *params // nil until somebody asks
	invalid  error   // why the parameters cannot be read
	header   http.Header
	status   int
	start    time.Time
	started  bool // an http.Handler has begun to answer
}

// Param returns a parameter of the path by the name that the route table gives it, decoded. It is never empty.
func (r *Request) Param(name string) string {
	for i, n := range r.endpoint.params {
		if n == name {
			return r.values[i]
		}
	}
	return ""
}

// Query returns one parameter as text, "" if there is none. Like Bind it does not mind whether it came in the query or in the
// body.
func (r *Request) Query(name string) string { return r.textParam(name) }

// ClientIP returns the address of the client: the one that speaks to the nearest proxy that the settings trust.
func (r *Request) ClientIP() netip.Addr { return r.address }

// Network returns what counts as one client: its address, or the /64 network of an IPv6 address.
func (r *Request) Network() netip.Addr { return network(r.address) }

// FromProxy returns true if the client's address is that of a trusted proxy or of this machine, so that many clients may share it.
func (r *Request) FromProxy() bool { return r.address.IsLoopback() || r.server.trusts(r.address) }

// Route returns the path of the endpoint as its route table has it.
func (r *Request) Route() string { return r.endpoint.path }

// ResponseHeader returns the headers that the answer will have, to be set before the handler returns.
func (r *Request) ResponseHeader() http.Header { return r.header }

// SetStatus has the value that the handler returns sent with another status than 200.
func (r *Request) SetStatus(code int) { r.status = code }

// clientAddress returns the address of the client. Forwarding headers count only as far as they were written by trusted
// proxies: from the right, up to and including the first address that is not trusted.
func (s *Server) clientAddress(r *http.Request) netip.Addr {
	peer := parseAddress(r.RemoteAddr)
	if peer.IsValid() && !s.trusts(peer) { // a Unix socket has no address: whoever may open it is a proxy
		return peer
	}
	client := peer
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop := parseAddress(strings.TrimSpace(hops[i]))
		if !hop.IsValid() {
			break
		}
		client = hop
		if !s.trusts(hop) {
			break
		}
	}
	return client
}

func (s *Server) trusts(a netip.Addr) bool {
	for _, p := range s.proxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// parseAddress reads an address with or without a port and brackets.
func parseAddress(text string) netip.Addr {
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap().WithZone("")
	}
	a, _ := netip.ParseAddr(strings.Trim(text, "[]"))
	return a.Unmap().WithZone("")
}

// network returns what is counted as one client: an address, or for IPv6 the /64 that a customer has at the least.
func network(a netip.Addr) netip.Addr {
	if a.Is6() {
		p, _ := a.Prefix(64)
		return p.Addr()
	}
	return a
}

// requestID returns the id that a proxy gave the request, or a new one.
func requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); len(id) >= 8 && len(id) <= 64 && strings.Trim(id, idAlphabet) == "" {
		return id
	}
	return strconv.FormatUint(rand.Uint64()|1<<60, 32) // the high bit keeps the length
}

const idAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
