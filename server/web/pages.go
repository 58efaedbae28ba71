package web

import (
	"net/http"
	"net/url"

	"svc/internal/config"
	"svc/internal/errs"
)

// Pages renders pages with the name and the content security policy of one server.
type Pages struct {
	settings *config.Live
	policy   *config.View[string]
}

// NewPages returns the Pages of a server with these settings.
func NewPages(c *config.Live) *Pages {
	return &Pages{c, config.NewView(c, func(c *config.Config) string { return Policy(mediaSources(c)...) })}
}

// Page returns a handler that serves a page.
func (p *Pages) Page(status int, page Page) (http.Handler, error) {
	html, err := p.render(page)
	if err != nil {
		return nil, err
	}
	return answer{status, html, *p.policy.Load()}, nil
}

// Error returns the page of an error.
func (p *Pages) Error(e *errs.Error) http.Handler {
	m := Message{Title: "Error", Paragraphs: []string{e.Message}}
	switch e.Status {
	case http.StatusNotFound:
		m = Message{Title: "Not found", Paragraphs: []string{e.Message}}
	case http.StatusTooManyRequests:
		m = Message{Title: "Too many attempts", Paragraphs: []string{"Please wait a few minutes before you try again."}}
	}
	html, err := p.render(m)
	if err != nil { // the layout is broken
		html = []byte(http.StatusText(e.Status))
	}
	return answer{e.Status, html, *p.policy.Load()}
}

func (p *Pages) render(page Page) ([]byte, error) {
	return Render(p.site(), page)
}

func (p *Pages) site() Site {
	c := p.settings.Load()
	return Site{
		Name: c.Instance.Name, Host: p.settings.Host(), SendsMail: c.Mail.Enabled, MinPassword: c.Accounts.PasswordMinLength,
	}
}

// answer is a rendered page.
type answer struct {
	status int
	html   []byte
	policy string
}

func (a answer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", a.policy)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(a.status)
	w.Write(a.html)
}

// mediaSources returns the hosts from which pages load media directly, past the media proxy, and that of captcha pictures.
func mediaSources(c *config.Config) []string {
	sources := proxyExceptions(c)
	if c.Captcha.Enabled && c.Captcha.Provider == config.CaptchaKocaptcha {
		if u, err := url.Parse(c.Captcha.Endpoint); err == nil {
			sources = append(sources, u.Scheme+"://"+u.Host)
		}
	}
	return sources
}

// proxyExceptions returns the hosts whose media do not go through the media proxy.
func proxyExceptions(c *config.Config) []string {
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
