package pages

import (
	"net/http"
	"net/url"

	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) sessionRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/sign_in":      {rest.Browser.Secret(), h.page((*page).showSignIn)},
		"POST /web/sign_in":     {rest.Browser.Limit("authentication").Secret(), h.page((*page).signIn)},
		"POST /web/sign_out":    {rest.SignedIn, h.page((*page).signOut)},
		"GET /web/assets/*path": {rest.File.WhenClosed(), serveAsset},
		"GET /web/sw.js":        {rest.File, serveWorker},
		"GET " + offlinePath:    {rest.Browser, h.page((*page).offline)},
		"GET /web/accent.css":   {rest.File.WhenClosed(), h.serveAccent},
	}
}

func serveAsset(r *rest.Request) (any, error) {
	if a, ok := web.AssetAt(r.Param("path")); ok {
		return a, nil
	}
	return nil, errNoPage
}

// serveWorker serves the service worker, which controls the home page as well as those below it.
func serveWorker(r *rest.Request) (any, error) {
	r.ResponseHeader().Set("Service-Worker-Allowed", homePath)
	return web.ServiceWorker(), nil
}

// offlinePath is the page that the service worker keeps for when the server is not reached.
const offlinePath = "/web/offline"

// offline shows what a browser can do without a connection. It has nothing of the viewer but the language and the look.
func (p *page) offline() (any, error) {
	p.frame.Viewer, p.frame.Plain, p.frame.Done = nil, true, ""
	return p.show(http.StatusOK, web.Offline{})
}

// forget makes the browser delete what it keeps of this server: drafts, the service worker with its files and push subscription, and pages that the
// Back button would show. The session that ends takes the server's side of the subscription with it.
func (p *page) forget() { p.ResponseHeader().Set("Clear-Site-Data", `"cache", "storage"`) }

// serveAccent serves the style of the operator's accent colour. Its address has the colour, so that browsers may keep it.
func (h *Handlers) serveAccent(r *rest.Request) (any, error) {
	accent := h.Pages.Accent()
	switch {
	case accent.Colour == "":
		return nil, errNoPage
	case "#"+r.URL.Query().Get("v") != accent.Colour:
		return rest.Redirect("/web/accent.css?v=" + accent.Colour[1:]), nil
	}
	return accent.Asset, nil
}

// homePath is where a signed-in browser begins.
const homePath = "/web"

// SignIn sends a browser to the page for signing in, and back to the page that it asked for.
func (h *Handlers) SignIn(r *rest.Request) http.Handler {
	if !h.Settings.Load().Web.Enabled {
		return h.OAuth.ErrorPage(r, errNoPage)
	}
	back := homePath
	switch {
	case r.Method == http.MethodGet:
		back = ownPath(r.URL)
	case r.URL.Path == sharePath:
		back = shareLink(r)
	}
	return rest.Redirect("/web/sign_in?" + url.Values{backParam: {back}}.Encode())
}

func (p *page) showSignIn() (any, error) {
	back := localPath(p.URL.Query().Get(backParam), homePath)
	if p.Viewer != nil {
		return rest.Redirect(back), nil
	}
	return p.signInPage(http.StatusOK, back, "", "")
}

func (p *page) signInPage(status int, back, name, message string) (any, error) {
	p.frame.Narrow = true
	return p.show(status, web.SignIn{Action: "/web/sign_in", HiddenFields: []web.Field{{Name: backParam, Value: back}}, Nickname: name, Error: message, SignUpURL: p.OAuth.SignUpURL("")})
}

func (p *page) signIn() (any, error) {
	var form struct {
		Name     string `param:"name"`
		Password string `param:"password"`
		Back     string `param:"back"`
	}
	if err := p.Bind(&form); err != nil {
		return nil, err
	}
	back := localPath(form.Back, homePath)
	return p.OAuth.SignInPage(p.Request, back, form.Name, form.Password, func(status int, message string) (any, error) {
		return p.signInPage(status, back, form.Name, message)
	})
}

func (p *page) signOut() (any, error) {
	sess, err := p.OAuth.Session(p.Request)
	if err != nil || sess == nil {
		return rest.Redirect("/"), err
	}
	p.forget()
	return rest.Redirect("/"), p.OAuth.EndSession(p.Request, sess)
}
