package rest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/julienschmidt/httprouter"
)

// router finds the endpoint of a cleaned path. httprouter has no literal beside a parameter (/accounts/relationships,
// /accounts/:id), so there are several: each route is in the first one that it does not conflict with, literals before parameters,
// and a request tries them in order.
type router struct {
	layers []*httprouter.Router
}

// newRouter arranges the endpoints.
func newRouter(list []*endpoint) *router {
	rt := new(router)
	var placed [][]*endpoint // by layer
	for _, e := range slices.SortedFunc(slices.Values(list), literalFirst) {
		layer := slices.IndexFunc(placed, func(others []*endpoint) bool {
			return !slices.ContainsFunc(others, e.conflictsWith)
		})
		if layer < 0 {
			layer = len(placed)
			placed = append(placed, nil)
			rt.layers = append(rt.layers, httprouter.New())
		}
		placed[layer] = append(placed[layer], e)
		rt.layers[layer].Handle(e.method, "/"+strings.Join(e.segments, "/"),
			func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) { w.(*match).endpoint = e })
	}
	return rt
}

// match receives the endpoint from the handle that httprouter found.
type match struct {
	http.ResponseWriter // nil
	endpoint            *endpoint
}

// substitutes are the methods whose endpoint serves a request where there is none of the request's own method. net/http omits the body of an
// answer to HEAD. The reference server serves its updates by PUT and PATCH, although its documentation names one, and clients use either;
// those of the extension API are as documented.
var substitutes = map[string]string{http.MethodHead: http.MethodGet, http.MethodPut: http.MethodPatch, http.MethodPatch: http.MethodPut}

// find returns the endpoint of a path, nil if there is none, and the values of its parameters, still encoded.
func (rt *router) find(method, path string) (*endpoint, httprouter.Params) {
	e, values := rt.findExactly(method, path)
	if other := substitutes[method]; e == nil && other != "" {
		if e, values = rt.findExactly(other, path); e != nil && e.extension && other != http.MethodGet {
			return nil, nil
		}
	}
	return e, values
}

func (rt *router) findExactly(method, path string) (*endpoint, httprouter.Params) {
	for _, layer := range rt.layers {
		if handle, values, _ := layer.Lookup(method, path); handle != nil {
			m := new(match)
			handle(m, nil, nil)
			return m.endpoint, values
		}
	}
	return nil, nil
}

// allowed returns the methods of a path, for the Allow header of a 405 (RFC 9110, 15.5.6); nil if the path has no endpoint.
func (rt *router) allowed(path string) []string {
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		e, _ := rt.find(method, path)
		switch {
		case e == nil:
		case method == http.MethodGet:
			methods = append(methods, method, http.MethodHead)
		default:
			methods = append(methods, method)
		}
	}
	if methods != nil {
		methods = append(methods, http.MethodOptions)
	}
	return methods
}

// literalFirst orders endpoints so that of two that match the same path the more literal one comes first.
func literalFirst(a, b *endpoint) int {
	if c := strings.Compare(a.method, b.method); c != 0 {
		return c
	}
	for i := range min(len(a.segments), len(b.segments)) {
		x, y := a.segments[i], b.segments[i]
		if c := cmp.Or(cmp.Compare(wildcardRank(x), wildcardRank(y)), strings.Compare(x, y)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a.segments), len(b.segments))
}

// wildcardRank orders segments: literals, then parameters, those with a longer literal prefix first, then the rest of a path.
func wildcardRank(segment string) int {
	const param, rest = 1 << 20, 1 << 21
	switch i := strings.IndexAny(segment, ":*"); {
	case i < 0:
		return 0
	case segment[i] == ':':
		return param - i
	default:
		return rest - i
	}
}

// conflictsWith returns true if one httprouter cannot hold both endpoints: where their paths differ, one has a parameter that
// matches the other's literal.
func (e *endpoint) conflictsWith(other *endpoint) bool {
	if e.method != other.method {
		return false
	}
	for i := range min(len(e.segments), len(other.segments)) {
		x, y := e.segments[i], other.segments[i]
		if x != y {
			return paramMatches(x, y) || paramMatches(y, x)
		}
	}
	return false
}

// paramMatches returns true if the parameter of pattern matches segment s.
func paramMatches(pattern, s string) bool {
	i := strings.IndexAny(pattern, ":*")
	return i >= 0 && strings.HasPrefix(s, pattern[:i])
}
