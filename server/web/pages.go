package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"svc/internal/cache"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/rest"
)

// Site is what every page shows of the server.
type Site struct {
	Name        string
	Host        string // the part of handles after the @
	SendsMail   bool   // forgotten passwords can be reset by mail
	MinPassword int    // length in characters
	Look        Look
	Accent      string // the colour that the operator has chosen; "": none
	API         string // the name of the extension API, which names of events begin with
}

// Pages renders pages with the name and the content security policy of one server.
type Pages struct {
	settings *config.Live
	policy   *config.View[string]
	accent   *config.View[Accent]
	look     lookFinder

	navigations *cache.Cache[navigationKey, Navigation]
}

// NewPages returns the Pages of a server with these settings. static is the folder of the operator's files, "" if there is none.
func NewPages(c *config.Live, static string) *Pages {
	return &Pages{
		settings: c, policy: config.NewView(c, func(c *config.Config) string { return Policy(mediaSources(c)...) }), look: lookFinder{dir: static},
		accent: config.NewView(c, newAccent), navigations: newNavigations(),
	}
}

// Error returns the page of an error.
func (p *Pages) Error(f Frame, e *errs.Error) http.Handler {
	page, err := p.Show(e.Status, f, f.Messages.ErrorNotice(e))
	if err != nil { // a template is broken
		return answer{e.Status, []byte(http.StatusText(e.Status)), *p.policy.Load()}
	}
	return page
}

// Decode decodes what an endpoint returned into one of the entities of this package, as clients do.
func (p *Pages) Decode(value, dst any) error {
	text, err := rest.AppendJSON(nil, value)
	if err != nil {
		return err
	}
	if name := p.settings.Load().API.Name; name != "svc" {
		// Quotes are escaped in texts, so this is a key.
		text = bytes.ReplaceAll(text, []byte(`"`+name+`":{`), []byte(`"svc":{`))
	}
	if err := json.Unmarshal(text, dst); err != nil {
		return fmt.Errorf("page: decode %T: %w", dst, err)
	}
	return nil
}

func (p *Pages) site() Site {
	c := p.settings.Load()
	return Site{
		Name: c.Instance.Name, Host: p.settings.Host, SendsMail: c.Mail.Enabled, MinPassword: c.Accounts.PasswordMinLength, Look: p.look.find(), API: c.API.Name,
		Accent: c.Web.AccentColour,
	}
}

// Policy returns the Content-Security-Policy of all pages. sources are further hosts of media. It has no form-action, because browsers
// would apply that to the redirect to an app, too.
func Policy(sources ...string) string {
	media := strings.Join(append([]string{"'self'"}, sources...), " ")
	return "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; img-src " + media + " data:; media-src " + media +
		"; base-uri 'none'; frame-ancestors 'none'"
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
	rest.WriteText(w, a.status, a.html)
}

// mediaSources returns the hosts from which pages load media directly, past the media proxy, and that of captcha pictures.
func mediaSources(c *config.Config) []string {
	sources := proxyExceptions(c)
	if source := c.MediaRedirectOrigin(); source != "" { // of redirects, too
		sources = append(sources, source)
	}
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
