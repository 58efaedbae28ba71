// Package pages has the web interface: what visitors see, and what people and staff read and do in a browser. A page calls the endpoints of
// the API inside of the process (rest.Request.Call), decodes their answers into the entities of server/web and shows them by a template. A
// form is one such call, and leads back to a page. So rules, limits and access are those of the API.
//
// Limits: 16 MiB of posts as HTML, 16 MiB of pages of visitors with their gzip, and which of them 10 000 addresses show (visitors.go); what
// waits for 1 000 users (waiting.go).
//
// Every page works without JavaScript. Forms carry a token of their session, which server/rest checks.
package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc/internal/cache"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/oauth"
	"svc/server/rest"
	"svc/server/web"
	"svc/store"
)

// Config is what New needs.
type Config struct {
	Settings *config.Live
	OAuth    *oauth.Service
	Entities *entity.Builder
	Pages    *web.Pages
	Commits  func() uint64 // as store.DB.Commits
	Now      func() time.Time
	Waiting  func(context.Context, store.AccountID) (store.Waiting, error)                           // as store.DB.Waiting
	Markers  func(context.Context, store.AccountID) (markers []*store.Marker, unread int, err error) // as store.DB.Markers

	// Replaced returns true if a front end answers in place of the public pages. nil: none does.
	Replaced func(*http.Request) bool
}

// maxArticleBytes bounds the posts that are kept as HTML.
const maxArticleBytes = 16 << 20

// Handlers serve the pages.
type Handlers struct {
	Config
	articles *cache.Cache[articleKey, article]
	visitors *cache.Cache[version, web.VisitorPage]
	visits   *cache.Cache[visit, madePage]
	waiting  *cache.Cache[waitingKey, unread]
}

// New returns the handlers. Their routes are the same for an empty Config.
func New(c Config) *Handlers {
	articles := cache.NewWeighted[articleKey](maxArticleBytes, func(a article) int { return len(a.html) + cache.EntryBytes })
	return &Handlers{c, articles, newVisitorCache(), cache.New[visit, madePage](maxVisits), cache.New[waitingKey, unread](maxWaiting)}
}

// CacheStats returns the state of the caches by name.
func (h *Handlers) CacheStats() map[string]cache.Stats {
	return map[string]cache.Stats{"rendered_posts": h.articles.Stats(), "visitor_pages": h.visitors.Stats(), "visits": h.visits.Stats(), "waiting": h.waiting.Stats()}
}

// Routes returns the route tables of the pages below /web/.
func (h *Handlers) Routes() []rest.Routes {
	return append([]rest.Routes{
		h.sessionRoutes(), h.timelineRoutes(), h.composeRoutes(), h.formRoutes(), h.threadRoutes(),
		h.settingsRoutes(), h.securityRoutes(), h.dataRoutes(), h.featuredTagRoutes(), h.interactionPolicyRoutes(), h.collectionRoutes(),
		h.staffRoutes(), h.resourceRoutes(), h.settingGroupRoutes(), h.documentRoutes(), h.serverRoutes(), h.deliveryRoutes(), h.visitorRoutes(),
	}, h.peopleRoutes()...)
}

// page is a request for a page.
type page struct {
	*rest.Request
	*Handlers
	frame   web.Frame
	began   moment  // before anything was read
	seen    *digest // of what a visitor's page shows; nil: it is that of a signed-in user
	version version // of the visitor's page that is shown; zero: it is not kept
	unseen  unread  // by the signed-in user
}

var errNoPage = errs.NotFound("There is no page at this address.")

// page returns the handler of a page. An error that the user can understand is shown as a page, too; without a session, one that asks for
// authentication leads to the page for signing in.
func (h *Handlers) page(show func(*page) (any, error)) rest.Handler {
	return func(r *rest.Request) (any, error) {
		p, err := h.newPage(r)
		if err != nil {
			return nil, err
		}
		value, err := p.current(func() (any, error) { return show(p) })
		if r.Method != http.MethodPost && errs.IsNotFound(err) {
			err = errNoPage
		}
		if e := forUser(err); e != nil && !(e.Status == http.StatusUnauthorized && r.Viewer == nil) {
			return p.showError(e)
		}
		return value, err
	}
}

// NotFound answers a browser at an address where there is no page. The navigation leads on from there, for visitors and users alike.
func (h *Handlers) NotFound(r *rest.Request) (any, error) {
	sess, err := h.OAuth.Session(r)
	if err != nil {
		return h.OAuth.ErrorPage(r, errNoPage), nil
	}
	if sess != nil {
		r.Viewer, r.User, r.Token = sess.Account, sess.User, sess.Token
	}
	p, err := h.newPage(r)
	if err != nil {
		return h.OAuth.ErrorPage(r, errNoPage), nil
	}
	return p.errorPage(errNoPage)
}

// newPage prepares what a page shows around its content.
func (h *Handlers) newPage(r *rest.Request) (*page, error) {
	p := &page{Request: r, Handlers: h, began: moment{h.Commits(), h.Settings.Load(), h.Now()}}
	if !h.Settings.Load().Web.Enabled {
		if belowWeb(r.URL.Path) {
			return nil, errNoPage
		}
		r.Viewer, r.User = nil, nil
	}
	frame, err := h.OAuth.FrameFor(r, r.User)
	if err != nil {
		return nil, err
	}
	p.frame = frame
	p.frame.Path = ownPath(r.URL)
	if done := r.URL.Query().Get(doneParam); donePattern.MatchString(done) {
		p.frame.Done = "done." + done
	}
	p.frame.Failed, _ = r.Context().Value(failedKey{}).(*web.FailedForm)
	if h.Replaced != nil && h.Replaced(r.Request) {
		p.frame.Base = "/web"
	}
	if r.Viewer == nil {
		p.frame.Closed = !h.Settings.Load().Web.Enabled
		p.seen = newDigest()
		return p, nil
	}
	if p.unseen, err = p.unread(); err != nil {
		return nil, err
	}
	p.frame.Viewer = &web.Viewer{
		Username: r.Viewer.Nickname, Avatar: h.Entities.Avatar(r.Viewer), Notifications: p.unseen.notifications,
		Staff: r.User.Staff(), FormToken: h.OAuth.FormTokenOf(r),
		Waiting: p.unseen.Waiting,
	}
	return p, nil
}

// belowWeb returns true for the paths of the web interface.
func belowWeb(path string) bool { return path == homePath || strings.HasPrefix(path, homePath+"/") }

// ownPath returns the path of a page with its query, without what the last form did.
func ownPath(u *url.URL) string {
	query := u.Query()
	if !query.Has(doneParam) {
		return u.RequestURI()
	}
	query.Del(doneParam)
	if len(query) == 0 {
		return u.EscapedPath()
	}
	return u.EscapedPath() + "?" + query.Encode()
}

// show answers with a page.
func (p *page) show(status int, content web.Content) (any, error) {
	if p.frame.Failed != nil {
		status = p.frame.Failed.Status
	}
	if p.Part() != "" {
		return p.Pages.ShowContent(status, p.frame, content)
	}
	return p.Pages.Show(status, p.frame, content)
}

// text returns a text of the messages.
func (p *page) text(key string, args ...any) string { return p.frame.Messages.Text(key, args...) }

// forUser returns an error that is meant for the user, with its reason as the message if it has one, and nil for others.
func forUser(err error) *errs.Error {
	var e *errs.Error
	if !errors.As(err, &e) || e.Status >= 500 && e.RetryAfter == 0 {
		return nil
	}
	if reason, ok := e.Details["reason"].(string); ok {
		shown := *e
		shown.Message = reason
		return &shown
	}
	return e
}

// failedKey is the key of the form that a page shows again, in the context of its request.
type failedKey struct{}

// showError shows an error: on the page of the form that was sent, where it can be sent again, else as a page of its own.
func (p *page) showError(e *errs.Error) (any, error) {
	u, err := url.Parse(backFrom(p.Request))
	if err != nil || u.Path == "" || p.Viewer == nil || p.Part() != "" || !correctable(e.Status) {
		return p.errorPage(e)
	}
	ctx := context.WithValue(p.Context(), failedKey{}, &web.FailedForm{Status: e.Status, Error: e.Message, Entered: p.Entered})
	a, err := p.ShowPage(ctx, u)
	if err != nil {
		return p.errorPage(e)
	}
	return a.Value, nil
}

// correctable returns true for errors after which the user may send the form with other values.
func correctable(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// errorPage shows an error.
func (p *page) errorPage(e *errs.Error) (any, error) {
	notice := p.frame.Messages.ErrorNotice(e)
	notice.Back = backFrom(p.Request)
	return p.show(e.Status, notice)
}

// backFrom returns the path of the page whose form was sent, "" if there is none.
func backFrom(r *rest.Request) string {
	if r.Method == http.MethodPost {
		return localPath(r.Query(backParam), "")
	}
	return ""
}

// localPath returns a path of this server, or the standard one if the text is anything else.
func localPath(text, standard string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.ContainsAny(text, "\\\r\n\t") {
		return standard
	}
	return text
}
