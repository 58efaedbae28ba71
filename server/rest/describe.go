package rest

import (
	"cmp"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// RouteInfo describes an endpoint for `svc routes` and for the description of the API.
type RouteInfo struct {
	Method  string `json:"method"`
	Path    string `json:"path"`
	Access  string `json:"access"`  // "anyone", "user write:statuses", "staff:users_read admin:read", "session" of a browser; alternatives are joined by |
	Deletes bool   `json:"deletes"` // served while the disk is full

	endpoint *endpoint
}

// Describe lists the endpoints of all tables, sorted by path and method.
func Describe(tables ...Routes) []RouteInfo {
	var list []RouteInfo
	for _, e := range endpoints(tables) {
		list = append(list, RouteInfo{Method: e.method, Path: e.path, Access: e.Access.String(), Deletes: e.deletes(), endpoint: e})
	}
	slices.SortFunc(list, func(a, b RouteInfo) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Method, b.Method))
	})
	return list
}

// Answers says what the handler answers with, as a shape (see Shapes). A status other than 200 stands before it, as in "202 Media".
func (a Access) Answers(shape string) Access {
	a.answer = shape
	return a
}

// InDescription returns whether the description of the API has the endpoint: pages for browsers are left out.
func (r RouteInfo) InDescription() bool {
	a := &r.endpoint.Access
	return r.endpoint.isAPI && !a.html && !a.session
}

// Answer returns the status and the shape of the answer if all is well.
func (r RouteInfo) Answer() (status int, shape string) { return r.endpoint.answers() }

// reducedShape is the entity that a write answers with if the token may not read what it has written (Request.Readable).
const reducedShape = "Reduced"

func (e *endpoint) answers() (status int, shape string) {
	status, shape = http.StatusOK, e.Access.answer
	if code, rest, ok := strings.Cut(shape, " "); ok {
		status, _ = strconv.Atoi(code)
		shape = rest
	}
	if isEntity := strings.IndexFunc(shape, unicode.IsUpper) >= 0; isEntity && len(e.reads) > 0 {
		shape += "|" + reducedShape
	}
	return status, shape
}

// Observation is what a handler reads of a request or answers. Tests compare it with the description of the API.
type Observation struct {
	Method, Path      string       // of the route
	Form              reflect.Type // that parameters were bound to; nil: none
	Parameter         string       // that was read by its name; "": none
	Flag              bool         // the parameter is a boolean
	Standard, Maximum int          // entries of a part of a list; 0: none was asked for
	Status            int          // of an answer in JSON; 0: this is none
	Answer            []byte       // nil: the status is an error
}

// observe tells the observer of the server what a handler does.
func (r *Request) observe(o Observation) {
	if r.server == nil || r.server.observe == nil {
		return
	}
	o.Method, o.Path = r.endpoint.method, r.endpoint.path
	r.server.observe(o)
}
