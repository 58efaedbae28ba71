package rest

import (
	"net/http"
	"strings"
)

// Scripts of all sites may use the API, but without cookies: Access-Control-Allow-Credentials is not set.
var (
	corsOrigin  = []string{"*"}
	corsExposed = []string{"Link, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id, Idempotency-Key, " + AsyncRefreshHeader}
)

// AsyncRefreshHeader names a fetch that goes on after the answer.
const AsyncRefreshHeader = "Mastodon-Async-Refresh"

const (
	corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
	corsHeaders = "Authorization, Content-Type, Idempotency-Key, Accept, If-None-Match, User-Agent"
	corsMaxAge  = "86400"
)

// AllowCrossOrigin lets scripts of other sites read the answer.
func AllowCrossOrigin(h http.Header) { h["Access-Control-Allow-Origin"] = corsOrigin }

// exposeHeaders lets the script of another site that sent r read the headers of the answer, too. Apps that are no web pages send no
// Origin and need no such list.
func exposeHeaders(h http.Header, r *http.Request) {
	if r.Header["Origin"] != nil {
		h["Access-Control-Expose-Headers"] = corsExposed
	}
}

// preflight answers OPTIONS, in the same way for every path.
func preflight(w http.ResponseWriter, r *http.Request, crossOrigin bool) {
	h := w.Header()
	if crossOrigin {
		headers := r.Header.Get("Access-Control-Request-Headers")
		if headers == "" || len(headers) > 1024 || strings.ContainsFunc(headers, notInHeaderList) {
			headers = corsHeaders
		}
		h.Set("Access-Control-Allow-Headers", headers)
		h.Set("Access-Control-Allow-Methods", corsMethods)
		h.Set("Access-Control-Max-Age", corsMaxAge)
		h.Set("Vary", "Access-Control-Request-Headers")
	}
	w.WriteHeader(http.StatusNoContent)
}

func notInHeaderList(c rune) bool {
	return !strings.ContainsRune(idAlphabet+", ", c)
}
