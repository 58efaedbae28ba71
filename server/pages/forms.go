package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"svc/internal/errs"
	"svc/server/oauth"
	"svc/server/rest"
	"svc/server/web"
)

// Parameters of forms beside those of the endpoint that they call.
const (
	backParam   = "back"     // the path of the page to go to afterwards
	doneParam   = "done"     // what the page says then: a key of the messages below "done."
	methodParam = "_method"  // of the endpoint; POST by default
	onceParam   = "once"     // keeps a form that is sent twice from acting twice
	askParam    = "ask"      // asks first: a key of the messages below "ask."; the other parameters are those of the address
	namedParam  = "ask_name" // what the question is about
	atParam     = "at"       // the post to show afterwards, of endpoints whose path does not name it
)

var donePattern = regexp.MustCompile(`^[a-z_]{1,40}$`)

// ownParams are the parameters that endpoints are not given.
var ownParams = []string{oauth.FormParam, backParam, doneParam, methodParam, onceParam, askParam, namedParam, atParam}

func (h *Handlers) formRoutes() rest.Routes {
	return rest.Routes{
		"POST /web/do/*path": {rest.SignedIn.Uploads(), h.page((*page).perform)},
	}
}

// perform calls the endpoint in the path with the parameters of the form, and leads back to the page.
func (p *page) perform() (any, error) {
	path := strings.TrimPrefix(p.URL.EscapedPath(), "/web/do")
	method := p.Query(methodParam)
	switch method {
	case "":
		method = http.MethodPost
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return nil, errs.BadRequest("The form has an unknown method.")
	}
	if !strings.HasPrefix(path, "/api/") {
		return nil, errNoPage
	}
	if p.URL.Query().Has(askParam) {
		return p.ask()
	}
	a, err := p.Forward(method, path, ownParams...)
	if err == nil {
		err = failure(a)
	}
	if err != nil {
		return nil, err
	}
	if part, err := p.changed(); part != nil || err != nil {
		return part, err
	}
	if at := p.Query(atParam); at != "" { // the form is part of a post, which is the same on all pages
		return p.leave(p.cameFrom("/web/statuses/"+url.PathEscape(at)), p.Query(doneParam), at), nil
	}
	back := cmp.Or(p.URL.Query().Get(backParam), p.Query(backParam)) // a button names a place on the page of its form
	return p.leave(localPath(back, homePath), p.Query(doneParam), statusIn(path)), nil
}

// cameFrom returns the path of the page of this server that led here, as the browser says, or another path.
func (p *page) cameFrom(otherwise string) string {
	u, err := url.Parse(p.Referer())
	if err != nil || u.Host != p.Settings.WebHost && u.Host != p.Host {
		return otherwise
	}
	return localPath(ownPath(u), otherwise)
}

// ask shows a page with a button that sends the form, because what it does cannot be undone. Only a form of the session leads here, so that
// nobody is led to the question by a link. A back in the address is the page to go to if the present one is deleted.
func (p *page) ask() (any, error) {
	query := p.URL.Query()
	key := "ask." + query.Get(askParam)
	title := p.text(key)
	if title == key || !donePattern.MatchString(query.Get(askParam)) {
		return nil, errs.BadRequest("The form has an unknown question.")
	}
	content := web.Confirmation{Title: title, Text: p.text(key + "_text"), About: query.Get(namedParam), Back: localPath(p.Query(backParam), homePath)}
	content.Next = localPath(query.Get(backParam), content.Back)
	p.frame.Done = ""
	query.Del(backParam)
	query.Del(askParam)
	query.Del(namedParam)
	content.Action = p.URL.EscapedPath() + "?" + query.Encode()
	return p.show(http.StatusOK, content)
}

// leave leads to a page after a form. done is what the page says, "" for nothing; status the post to show there, "" for the top.
func (p *page) leave(path, done, status string) http.Handler {
	return rest.Redirect(placeAfter(path, done, status))
}

// placeAfter returns the URL of the page to which leave leads.
func placeAfter(path, done, status string) string {
	u, err := url.Parse(path)
	if err != nil {
		return homePath
	}
	if done != "" {
		query := u.Query()
		query.Set(doneParam, done)
		u.RawQuery = query.Encode()
	}
	if status != "" && u.Fragment == "" {
		u.Fragment = "p" + status
	}
	return u.String()
}

var statusPattern = regexp.MustCompile(`/statuses/([0-9A-Za-z]+)(/|$)`)

// statusIn returns the id of the status that an endpoint's path names, "" if it names none.
func statusIn(path string) string {
	if m := statusPattern.FindStringSubmatch(path); m != nil {
		return m[1]
	}
	return ""
}
