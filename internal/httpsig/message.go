package httpsig

import (
	"net/http"
	"strconv"
	"strings"
)

// message is what signatures cover of a request.
type message struct {
	method    string
	scheme    string
	target    string // path and query, as they stand in the request line
	header    http.Header
	body      []byte
	ownHosts  []hostForm // our host, in the ways a signer may have written it
	otherHost *hostForm  // the Host of the request, if it is not ours
}

// hostForm is a host as a header field has it, and in its normal form.
type hostForm struct{ header, authority string }

func newMessage(r *http.Request, p Policy) *message {
	m := &message{method: r.Method, scheme: p.Base.Scheme, target: requestTarget(r), header: r.Header, body: p.Body}
	own := canonicalHost(p.Base.Scheme, p.Base.Host)
	asked := canonicalHost(p.Base.Scheme, r.Host)
	switch {
	case r.Host == own:
		m.ownHosts = []hostForm{{own, own}}
	case asked == own: // with other letter case, or the default port
		m.ownHosts = []hostForm{{r.Host, own}, {own, own}}
	default:
		m.ownHosts = []hostForm{{own, own}}
		m.otherHost = &hostForm{r.Host, asked}
	}
	return m
}

// requestTarget returns the path and query of a request as they came over the wire. Proxies may be sent whole URLs (RFC 9112,
// 3.2.2), of which scheme and host are not believed.
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

// canonicalHost returns a host in lower case, without the port that its scheme implies (RFC 9421, 2.2.3).
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

// needsDigest tells whether a signature has to cover the body.
func (m *message) needsDigest() bool {
	return len(m.body) > 0 || m.method != http.MethodGet && m.method != http.MethodHead
}

// field returns the value of a header field, several of one name joined (RFC 9421, 2.1). Names are in lower case. The length
// is that of the body we have, if a proxy took the header away.
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
