package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"svc/internal/text"
	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
)

// threadLimit bounds the posts on the page of a post: two fifths above it, the others below.
const threadLimit = 100

func (h *Handlers) threadRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/statuses/:id": {rest.Browser, h.page((*page).openStatus)},
	}
}

// openStatus leads to the permalink of a status, or returns it as a part of a page.
func (p *page) openStatus() (any, error) {
	if part, err := p.changed(); part != nil || err != nil {
		return part, err
	}
	var st web.Status
	if err := p.get(statusPath(p.Param("id")), nil, &st); err != nil {
		return nil, err
	}
	return rest.Redirect(p.postLink(st.Shown())), nil
}

func statusPath(id string) string { return "/api/v1/statuses/" + url.PathEscape(id) }

// permalink returns the path of a status's page.
func (p *page) permalink(st *web.Status) string {
	return p.frame.Base + "/@" + st.Account.Acct + "/" + st.ID
}

// postLink returns the path of a status's page, at the status.
func (p *page) postLink(st *web.Status) string { return p.permalink(st) + st.Fragment() }

// status fetches the status of the path, which also names its author. answer is not nil if the page has another address, or is not shown to
// visitors.
func (p *page) status() (status *entity.Status, st *web.Status, answer any, err error) {
	a, err := p.fetch(statusPath(p.Param("id")), nil)
	if err != nil {
		return nil, nil, nil, err
	}
	status, st = a.Value.(*entity.Status), new(web.Status)
	if err := p.decode(status, st); err != nil {
		return nil, nil, nil, err
	}
	switch {
	case !text.SameNick(p.Param("nickname"), st.Account.Acct):
		return nil, nil, nil, errNoPage
	case st.Reblog != nil:
		return nil, nil, rest.Redirect(p.permalink(st.Reblog)), nil
	case p.Viewer == nil && !st.Account.Local():
		answer, err = p.remotePage(cmp.Or(st.URL, st.URI))
	}
	return status, st, answer, err
}

// thread shows a status with the posts above it, and those below it as a tree.
func (p *page) thread() (any, error) {
	status, st, answer, err := p.status()
	if answer != nil || err != nil {
		return answer, err
	}
	a, err := p.fetch(statusPath(st.ID)+"/context", url.Values{"limit": {strconv.Itoa(threadLimit)}})
	if err != nil {
		return nil, err
	}
	return p.keep(func() (web.Content, error) {
		c := web.Conversation{Meta: p.statusMeta(st), Remote: p.remoteForm(st.Visibility != "local", web.Field{Name: "status_id", Value: st.ID})}
		thread := a.Value.(entity.Context)
		c.Fetching = a.Header.Get(rest.AsyncRefreshHeader) != ""
		if c.Ancestors, err = p.posts(thread.Ancestors); err != nil {
			return nil, err
		}
		if c.Replies, err = p.branches(st.ID, thread.Descendants); err != nil {
			return nil, err
		}
		c.Cut = thread.Cut || len(thread.Ancestors) >= threadLimit*2/5 || len(thread.Descendants) >= threadLimit*3/5
		c.Post, err = p.post(status, web.Article{Main: true})
		return c, err
	})
}

// statusMeta returns what the head of a status's page says. Nothing of the status is in it but what its author warns of, if there is a warning.
func (p *page) statusMeta(st *web.Status) web.Meta {
	plain := text.HTMLToText(st.Content)
	name := cmp.Or(st.Account.DisplayName, st.Account.Username)
	m := web.Meta{
		Title:       p.text("post.title_of", name, excerpt(cmp.Or(st.SpoilerText, plain, st.CreatedAt.Format(time.DateOnly)), 60)),
		Description: excerpt(cmp.Or(st.SpoilerText, plain), 200),
		Canonical:   st.URL, ActivityURL: st.URI, Type: "article", Published: &st.CreatedAt, Handle: p.handle(&st.Account),
		Index: st.Account.Indexable && st.Visibility == "public",
		Image: st.Account.AvatarStatic,
	}
	if st.Visibility == "public" || st.Visibility == "unlisted" {
		m.OEmbedURL = p.Settings.BaseURL + "/api/oembed?url=" + url.QueryEscape(st.URL)
	}
	if len(st.MediaAttachments) > 0 && !st.Sensitive && st.MediaAttachments[0].PreviewURL != "" {
		m.Image, m.ImageText, m.LargeImage = st.MediaAttachments[0].PreviewURL, st.MediaAttachments[0].Description, true
	}
	return m
}

// remoteForm returns the form by which visitors go on at their own server, nil for users and if the server does not federate.
func (p *page) remoteForm(federated bool, subject web.Field) *web.Remote {
	if p.Viewer != nil || !federated || !p.Settings.Load().Federation.Enabled {
		return nil
	}
	return &web.Remote{HiddenFields: []web.Field{subject}}
}

// remotePage tells visitors that a page of another server is shown to signed-in people only.
func (p *page) remotePage(address string) (any, error) {
	p.frame.Narrow = true
	return p.show(http.StatusOK, web.RemotePage{URL: address, SignInURL: "/web/sign_in?" + url.Values{backParam: {p.frame.Path}}.Encode()})
}

// excerpt returns the beginning of a text, at most n characters.
func excerpt(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}
