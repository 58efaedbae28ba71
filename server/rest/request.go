package rest

import (
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"svc/internal/limit"
	"svc/store"
)

// Request is a request for an endpoint, and who it comes from.
type Request struct {
	*http.Request
	Viewer *store.Account // nil: anonymous, or an app without a user
	User   *store.User    // the login of Viewer
	Token  *store.Token   // nil: anonymous, or a password
	ID     string         // in the log and in the answer, so that a report can be traced

	server    *Server
	endpoint  *endpoint
	values    []string // of the path's parameters, by position
	address   netip.Addr
	body      *body
	queryHold *bodyHold // of a query that takes much memory; else nil
	params    *params   // nil until they are read
	invalid   error     // the error of reading the parameters
	header    http.Header
	status    int
	start     time.Time
	started   bool // an http.Handler has begun the answer
	streamed  bool // the answer is sent in pieces, as long as the client likes
	secret    bool // the endpoint, or one that it called, is marked with Secret; only of a client's request

	outer       *Request    // that called this one (Call); nil: a client
	memory      *limit.Hold // of the answer; only of a client's request
	large       bool        // the answer is rendered in pieces, with memory for one
	retried     bool        // the handler will be called again if it reads too much or the answer has no memory
	noMemory    bool        // it is retried because its answer has no memory
	entityBytes int         // JSON of the entities of the answer, and of those that it called for
	counted     int         // what of them outer has counted
}

// Param returns a parameter of the path, decoded, by its name in the route table. It is never empty.
func (r *Request) Param(name string) string {
	for i, n := range r.endpoint.params {
		if n == name {
			return r.values[i]
		}
	}
	return ""
}

// reads returns whether the request changes nothing.
func (r *Request) reads() bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// Query returns one parameter of the query or the body as text, "" if there is none.
func (r *Request) Query(name string) string {
	r.observe(Observation{Parameter: name})
	return r.textParam(name)
}

// Flag returns one parameter of the query or the body as a boolean, false if there is none. It only selects what is read (ParseBool).
func (r *Request) Flag(name string) bool {
	r.observe(Observation{Parameter: name, Flag: true})
	return ParseBool(r.textParam(name))
}

// ClientIP returns the address of the client, as the last trusted proxy reports it.
func (r *Request) ClientIP() netip.Addr { return r.address }

// Network returns what counts as one client: its address, or the /64 network of an IPv6 address.
func (r *Request) Network() netip.Addr { return network(r.address) }

// FromProxy returns true if the client's address is that of a trusted proxy or of this machine, so that many clients may share it.
func (r *Request) FromProxy() bool { return r.address.IsLoopback() || r.server.trusts(r.address) }

// Route returns the path of the endpoint as its route table has it.
func (r *Request) Route() string { return r.endpoint.path }

// ResponseHeader returns the headers of the answer, to be set before the handler returns.
func (r *Request) ResponseHeader() http.Header { return r.header }

// SetStatus sets the status of the answer for the value that the handler returns; 200 by default.
func (r *Request) SetStatus(code int) { r.status = code }

// Limits of forwarding headers.
const (
	maxHops        = 32 // proxies
	maxAddressText = 64 // characters
)

// clientAddress returns the address of the client. Forwarding headers count only if trusted proxies wrote them: from the right, up
// to and including the first address that is not trusted.
func (s *Server) clientAddress(r *http.Request) netip.Addr {
	peer := parseAddress(r.RemoteAddr)
	if peer.IsValid() && !s.trusts(peer) { // a Unix socket has no address: only a proxy can open it
		return peer
	}
	client := peer
	hops := strings.Join(r.Header.Values("X-Forwarded-For"), ",")
	for range maxHops {
		before := strings.LastIndexByte(hops, ',')
		hop := parseAddress(strings.TrimSpace(hops[before+1:]))
		if !hop.IsValid() {
			break
		}
		client = hop
		if before < 0 || !s.trusts(hop) {
			break
		}
		hops = hops[:before]
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

// parseAddress parses an address with or without a port and brackets.
func parseAddress(text string) netip.Addr {
	if len(text) > maxAddressText {
		return netip.Addr{}
	}
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap().WithZone("")
	}
	a, _ := netip.ParseAddr(strings.Trim(text, "[]"))
	return a.Unmap().WithZone("")
}

// network returns what counts as one client: an address, or for IPv6 the /64 that a customer gets at least.
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
	return strconv.FormatUint(rand.Uint64()|1<<60, 32) // the high bit fixes the length
}

const idAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
