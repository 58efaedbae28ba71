package rest

import (
	"fmt"
	"net/http"
	"strings"
)

// Handler answers one request. The value becomes JSON; nil is {}. A value that is an http.Handler serves itself: a redirect, a 204,
// a file, a stream.
type Handler func(*Request) (any, error)

// Route is who may call an endpoint, and what answers. It is an alias, so that the tables of other packages need no field names.
type Route = struct {
	Access Access
	Handle Handler
}

// Routes is a table of endpoints by method and path, as in "GET /api/v1/statuses/:id". Paths are spelled as in the API
// documentation, with the name svc whatever api.name says. A path with the old prefix /api/svc/ also answers under the new one, and
// the other way round.
type Routes map[string]Route

// Always returns a handler that gives the same answer to every request.
func Always(value any) Handler {
	return func(*Request) (any, error) { return value, nil }
}

// endpoint is a route with what the router needs.
type endpoint struct {
	Route
	method    string
	path      string // as in the table
	segments  []string
	params    []string // names of the parameters, by position
	extension bool     // an extension or admin endpoint, whose refusals differ from those of the plain client API
	isAPI     bool     // counts in the rate limit of the whole API
	reads     []string // scopes of which one is needed to see the answer to a write
}

// deletes returns true if the endpoint only deletes or undoes something.
func (e *endpoint) deletes() bool { return e.method == http.MethodDelete || e.Access.deletes }

// endpoints reads the tables. It panics if two routes match the same requests, which is a mistake in the tables.
func endpoints(tables []Routes) []*endpoint {
	var list []*endpoint
	seen := make(map[string]string)
	for _, table := range tables {
		for key, rt := range table {
			e := newEndpoint(key, rt)
			place := e.method + " " + strings.Join(e.segments, "/")
			if other, ok := seen[place]; ok {
				panic(fmt.Sprintf("routes %q and %q are the same", other, key))
			}
			seen[place] = key
			list = append(list, e)
		}
	}
	return list
}

func newEndpoint(key string, rt Route) *endpoint {
	method, path, ok := strings.Cut(key, " ")
	if !ok || !strings.HasPrefix(path, "/") {
		panic(fmt.Sprintf("route %q is not of the form METHOD /path", key))
	}
	e := &endpoint{Route: rt, method: method, path: path}
	canonical := path
	if rest, ok := strings.CutPrefix(path, oldPrefix); ok {
		canonical = newPrefix + rest
	}
	for _, segment := range strings.Split(canonical[1:], "/") {
		// Parameters are named by position, so that two routes may name the same segment differently.
		if i := strings.IndexAny(segment, ":*"); i >= 0 {
			e.params = append(e.params, segment[i+1:])
			segment = fmt.Sprintf("%s%d", segment[:i+1], len(e.params))
		}
		e.segments = append(e.segments, segment)
	}
	e.extension = isExtension(canonical)
	e.isAPI = strings.HasPrefix(canonical, "/api/") || strings.HasPrefix(canonical, "/oauth/")
	if method != http.MethodGet {
		e.reads = rt.Access.readScopes(canonical)
	}
	return e
}
