package server

import (
	"net/http"

	"svc/internal/errs"
	"svc/server/web"
)

// page returns a page as an answer.
func (s *Server) page(status int, p web.Page) (any, error) {
	text, err := web.Render(s.site(), p)
	if err != nil {
		return nil, err
	}
	return htmlPage{status, text}, nil
}

func (s *Server) site() web.Site {
	return web.Site{Name: s.settings.Instance.Name, Host: s.settings.Host()}
}

// htmlPage is an answer to a person's browser.
type htmlPage struct {
	status int
	text   []byte
}

func (p htmlPage) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", web.Policy)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(p.status)
	w.Write(p.text)
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
	text, err := web.Render(s.site(), m)
	if err != nil { // a template that fails for others, too
		text = []byte(http.StatusText(e.Status))
	}
	return htmlPage{e.Status, text}
}

// redirect is an answer that leads elsewhere. The address is used as it is, since it may be that of an app.
type redirect string

func (to redirect) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header()["Location"] = []string{string(to)}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusFound)
}
