package server

import (
	"net/http"
	"strings"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/web"
)

// pageRoutes are pages for people that belong to nothing else.
var pageRoutes = routes{
	"GET /": {anonymous.asHTML(), (*Server).homePage},
}

// homePage is the front door: what this is, and how to come in.
func (s *Server) homePage(*Request) (any, error) {
	i := s.settings.Instance
	description := i.ShortDescription
	if description == "" {
		description = text.HTMLToText(i.Description)
	}
	return s.page(http.StatusOK, web.Home{
		Name: i.Name, Description: description, Host: s.settings.Host(),
		Open: i.RegistrationsOpen, Approval: i.AccountApprovalRequired, Contact: i.Email,
	})
}

// pageNotFound is what a browser is shown where there is nothing.
var pageNotFound = &endpoint{path: "lost", route: route{anonymous.asHTML(), func(*Server, *Request) (any, error) {
	return nil, errs.NotFound("There is no page at this address.")
}}}

// wantsPage tells whether a request comes from somebody who looks at pages.
func wantsPage(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// page returns a page as an answer.
func (s *Server) page(status int, p web.Page) (any, error) {
	html, err := web.Render(s.site(), p)
	if err != nil {
		return nil, err
	}
	return htmlPage{status, html, s.pagePolicy}, nil
}

func (s *Server) site() web.Site {
	return web.Site{Name: s.settings.Instance.Name, Host: s.settings.Host()}
}

// htmlPage is an answer to a person's browser.
type htmlPage struct {
	status int
	html   []byte
	policy string
}

func (p htmlPage) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", p.policy)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(p.status)
	w.Write(p.html)
}

// mediaSources returns where pages load pictures and the like from that are not shown through this server.
func mediaSources(c *config.Config) []string {
	schemes := []string{"https:"}
	if c.Federation.AllowLoopback {
		schemes = append(schemes, "http:")
	}
	if !c.MediaProxy.Enabled {
		return schemes
	}
	var sources []string
	for _, host := range c.MediaProxy.DirectHosts {
		for _, scheme := range schemes {
			sources = append(sources, scheme+"//"+host+":*", scheme+"//*."+host+":*")
		}
	}
	return sources
}

// errorPage tells a person of an error.
func (s *Server) errorPage(e *errs.Error) http.Handler {
	m := web.Message{Title: "That did not work", Text: []string{e.Message}}
	switch e.Status {
	case http.StatusNotFound:
		m = web.Message{Title: "Nothing here", Text: []string{e.Message}}
	case http.StatusTooManyRequests:
		m = web.Message{Title: "Too many tries", Text: []string{"Please wait a few minutes before you try again."}}
	}
	html, err := web.Render(s.site(), m)
	if err != nil { // a template that fails for others, too
		html = []byte(http.StatusText(e.Status))
	}
	return htmlPage{e.Status, html, s.pagePolicy}
}

// redirect is an answer that leads elsewhere. The address is used as it is, since it may be that of an app.
type redirect string

func (to redirect) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header()["Location"] = []string{string(to)}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusFound)
}
