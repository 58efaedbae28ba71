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
		"GET /web/assets/*path": {rest.File, serveAsset},
		"GET /web/accent.css":   {rest.File, h.serveAccent},
		"GET /web/sw.js":        {rest.File, func(*rest.Request) (any, error) { return web.ServiceWorker, nil }},
	}
}

func serveAsset(r *rest.Request) (any, error) {
	if a, ok := web.AssetAt(r.Param("path")); ok {
		return a, nil
	}
	return nil, errNoPage
}

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
	if r.Method == http.MethodGet {
		back = ownPath(r.URL)
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
	return rest.Redirect("/"), p.OAuth.EndSession(p.Request, sess)
}
