package httpsig

import (
	"net/http"
	"strconv"
	"strings"
)

// message is the signed part of a request.
type message struct {
	method    string
	scheme    string
	target    string // path and query as in the request line
	header    http.Header
	body      []byte
	ownHosts  []hostForm // host of this server, in the forms that a signer may have used
	otherHost *hostForm  // Host of the request if it is not this server
}

// hostForm is a host as in a header and in canonical form.
type hostForm struct{ header, authority string }

func newMessage(r *http.Request, p Policy) *message {
	m := &message{method: r.Method, scheme: p.Base.Scheme, target: requestTarget(r), header: r.Header, body: p.Body}
	own := canonicalHost(p.Base.Scheme, p.Base.Host)
	asked := canonicalHost(p.Base.Scheme, r.Host)
	switch {
	case r.Host == own:
		m.ownHosts = []hostForm{{own, own}}
	case asked == own: // different case, or with the default port
		m.ownHosts = []hostForm{{r.Host, own}, {own, own}}
	default:
		m.ownHosts = []hostForm{{own, own}}
		m.otherHost = &hostForm{r.Host, asked}
	}
	return m
}

// requestTarget returns the path and query of a request as received. Requests to proxies have whole URLs (RFC 9112, 3.2.2), whose
// scheme and host are not trusted.
func requestTarget(r *http.Request) string {
	target := r.RequestURI
	if target == "" {
		return r.URL.RequestURI()
	}
	if strings.HasPrefix(target, "/") {
		return target
	}
	_, rest, ok := strings.Cut(target, "://")
	if !ok {
		return target
	}
	i := strings.IndexAny(rest, "/?")
	switch {
	case i < 0:
		return "/"
	case rest[i] == '?':
		return "/" + rest[i:]
	}
	return rest[i:]
}

// canonicalHost returns a host in lower case without the default port of the scheme (RFC 9421, 2.2.3).
func canonicalHost(scheme, host string) string {
	host = strings.ToLower(host)
	switch scheme {
	case "https":
		host = strings.TrimSuffix(host, ":443")
	case "http":
		host = strings.TrimSuffix(host, ":80")
	}
	return host
}

// needsDigest returns whether a signature must cover the body.
func (m *message) needsDigest() bool {
	return len(m.body) > 0 || m.method != http.MethodGet && m.method != http.MethodHead
}

// field returns the value of a header; several of one name are joined (RFC 9421, 2.1). Names are in lower case. A missing
// Content-Length is that of the body, because a proxy may have removed it.
func (m *message) field(name string) (string, bool) {
	values := m.header[http.CanonicalHeaderKey(name)]
	switch {
	case len(values) == 1:
		return strings.TrimSpace(values[0]), true
	case len(values) > 1:
		trimmed := make([]string, len(values))
		for i, v := range values {
			trimmed[i] = strings.TrimSpace(v)
		}
		return strings.Join(trimmed, ", "), true
	case name == "content-length":
		return strconv.Itoa(len(m.body)), true
	}
	return "", false
}

// present returns those of the headers that are set.
func (m *message) present(names []string) (set []string) {
	for _, name := range names {
		if m.header.Get(name) != "" {
			set = append(set, name)
		}
	}
	return set
}
