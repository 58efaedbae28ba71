// Package server is HTTP in: route tables, who may call what, how parameters are read, how answers and errors are written,
// and behind each route a handler that binds, acts and renders. What people do happens in social, what staff do in admin, what
// other servers want in federation; the JSON itself is built by server/entity.
//
// Two rules. A route stands in exactly one table, with its access beside it, and nothing about access or rate limits is decided
// by looking at a path: both hang on the route that was found. And a handler returns a value and an error; status, headers, JSON
// and log line are the adapter's business.
package rest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// handler answers one request. The value becomes JSON; nil is {}. A value that is an http.Handler serves itself: a redirect,
// a 204, a file, a stream.
type Handler func(*Request) (any, error)

// Route is who may call an endpoint, and what answers. It is an alias, so that the tables of other packages need no field names.
type Route = struct {
	Access Access
	Handle Handler
}

// routes are a table of endpoints, keyed by method and path, as in "GET /api/v1/statuses/:id". The keys spell paths as the
// API documentation does, with the name svc whatever the server calls its interface. A path with the old prefix /api/svc/
// answers under the new one too, and the other way round.
type Routes map[string]Route

// always returns a handler that gives the same answer to everyone.
func Always(value any) Handler {
	return func(*Request) (any, error) { return value, nil }
}

// RouteInfo describes an endpoint to people.
type RouteInfo struct {
	Method string
	Path   string
	Access string // "anyone", "user write:statuses", "admin admin:read"; alternatives are joined by |
}

// describe lists the endpoints of all tables, sorted by path and method.
func Describe(tables ...Routes) []RouteInfo {
	var list []RouteInfo
	for _, e := range endpoints(tables) {
		list = append(list, RouteInfo{Method: e.method, Path: e.path, Access: e.Access.String()})
	}
	slices.SortFunc(list, func(a, b RouteInfo) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Method, b.Method))
	})
	return list
}

// endpoint is a route as the router has it.
type endpoint struct {
	Route
	method    string
	path      string // as the table has it
	segments  []string
	params    []string // the table's names of the parameters, by position
	extension bool     // an extension or admin endpoint: refusals follow other conventions than the plain client API's
	isAPI     bool     // counts as a request of the API for the rate limits
}

// endpoints reads tables. It panics if two routes answer the same requests: that is a mistake in the tables.
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
		// Parameters are named by position, so that two routes may call one and the same segment differently.
		if i := strings.IndexAny(segment, ":*"); i >= 0 {
			e.params = append(e.params, segment[i+1:])
			segment = fmt.Sprintf("%s%d", segment[:i+1], len(e.params))
		}
		e.segments = append(e.segments, segment)
	}
	e.extension = isExtension(canonical)
	e.isAPI = strings.HasPrefix(canonical, "/api/") || strings.HasPrefix(canonical, "/oauth/")
	return e
}
