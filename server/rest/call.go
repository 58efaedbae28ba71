package rest

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"svc/internal/errs"
)

// Answer is what an endpoint returned to Call.
type Answer struct {
	Value  any // as of a Handler
	Status int
	Header http.Header
}

// Next returns the parameters of the next page of a list, Prev those of the previous one; nil if there is none.
func (a *Answer) Next() url.Values { return a.linked("next") }

// Prev is documented at Next.
func (a *Answer) Prev() url.Values { return a.linked("prev") }

// linked returns the query of a link in the Link header, as LinkPart writes it.
func (a *Answer) linked(relation string) url.Values {
	for _, link := range strings.Split(a.Header.Get("Link"), ", ") {
		target, ok := strings.CutSuffix(link, `>; rel="`+relation+`"`)
		if !ok {
			continue
		}
		if u, err := url.Parse(strings.TrimPrefix(target, "<")); err == nil {
			return u.Query()
		}
	}
	return nil
}

// Call runs the handler of another endpoint for the caller of r, with the access rules and the limits of its route; the limit of all
// requests of the API does not count it. The path is spelled as in the route tables, with values escaped. An error is that of the handler.
func (r *Request) Call(method, path string, arguments url.Values) (*Answer, error) {
	p := &params{alias: r.server.paramAlias}
	for key, texts := range arguments {
		for _, text := range texts {
			if err := p.addText(key, text); err != nil {
				return nil, err
			}
		}
	}
	return r.call(method, path, arguments.Encode(), p)
}

// Internal returns true for a request that a page of this server makes (Call).
func (r *Request) Internal() bool { return r.outer != nil }

// Forward is Call with the parameters of r, uploads included, but for those that are left out.
func (r *Request) Forward(method, path string, without ...string) (*Answer, error) {
	return r.ForwardWith(method, path, nil, without...)
}

// ForwardWith is Forward with values in place of some of the parameters.
func (r *Request) ForwardWith(method, path string, changed url.Values, without ...string) (*Answer, error) {
	own, err := r.parameters()
	if err != nil {
		return nil, err
	}
	p := &params{alias: own.alias, keys: own.keys, fields: maps.Clone(own.fields)}
	for _, name := range without {
		delete(p.fields, name)
	}
	for name, texts := range changed {
		delete(p.fields, name)
		for _, text := range texts {
			if err := p.addText(name, text); err != nil {
				return nil, err
			}
		}
	}
	return r.call(method, path, "", p)
}

// CallJSON is Call with a JSON object as the body.
func (r *Request) CallJSON(method, path string, body any) (*Answer, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	p := &params{alias: r.server.paramAlias}
	if err := p.addJSON(text); err != nil {
		return nil, err
	}
	return r.call(method, path, "", p)
}

// CallFile is Call with a file of this request as the parameter file.
func (r *Request) CallFile(method, path string, file *Upload) (*Answer, error) {
	p := &params{alias: r.server.paramAlias, keys: 1, fields: map[string]*value{"file": {kind: fileValue, file: file}}}
	return r.call(method, path, "", p)
}

func (r *Request) call(method, path, query string, p *params) (*Answer, error) {
	if e, _ := r.server.router.find(method, canonicalPath(path)); e == nil || e.Access.session {
		return nil, errs.ErrRecordNotFound
	}
	return r.run(r.Context(), method, path, query, p)
}

// ShowPage runs the handler of a page for the browser of r, whose session is that of r. ctx is the context of the inner request.
func (r *Request) ShowPage(ctx context.Context, u *url.URL) (*Answer, error) {
	path := u.EscapedPath()
	if e, _ := r.server.router.find(http.MethodGet, path); e == nil || !e.Access.session || !r.endpoint.Access.session {
		return nil, errs.ErrRecordNotFound
	}
	return r.run(ctx, http.MethodGet, path, u.RawQuery, &params{alias: r.server.paramAlias})
}

// run runs a handler. Its parameters are p, query is what its URL shows.
func (r *Request) run(ctx context.Context, method, path, query string, p *params) (*Answer, error) {
	s := r.server
	if !plainPath(path) {
		return nil, errs.ErrRecordNotFound
	}
	e, values := s.router.find(method, canonicalPath(path))
	target := &url.URL{Path: path, RawQuery: query}
	if plain, err := url.PathUnescape(path); err == nil && plain != path {
		target.Path, target.RawPath = plain, path
	}
	inner := (&http.Request{
		Method: method, URL: target, Proto: r.Proto, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor,
		Header: r.Header, Host: r.Host, RemoteAddr: r.RemoteAddr, Body: http.NoBody,
	}).WithContext(ctx)
	c := &Request{
		Request: inner, ID: r.ID, Viewer: r.Viewer, User: r.User, Token: r.Token,
		server: s, endpoint: e, address: r.address, params: p, header: make(http.Header), status: http.StatusOK, start: r.start,
		outer: r,
	}
	if e.Access.secret {
		r.root().secret = true
	}
	if err := c.setPathValues(values); err != nil {
		return nil, err
	}
	if _, err := s.limits.countRoute(c, s.now()); err != nil {
		return nil, err
	}
	value, err := s.handleAdmitted(c, nil)
	if err != nil {
		return nil, err
	}
	return &Answer{Value: value, Status: c.status, Header: c.header}, nil
}

// canonicalPath returns the path under which the router knows an endpoint.
func canonicalPath(path string) string {
	if rest, ok := strings.CutPrefix(path, oldPrefix); ok {
		return newPrefix + rest
	}
	return path
}
