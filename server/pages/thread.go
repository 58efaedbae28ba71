package pages

import (
	"cmp"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"svc/internal/text"
	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
)

// threadLimit bounds the posts above and below a post on its page.
const threadLimit = "100"

// StatusPage shows a status with its thread, at its permalink.
func (h *Handlers) StatusPage(r *rest.Request) (any, error) { return h.page((*page).thread)(r) }

func (h *Handlers) threadRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/statuses/:id":   {rest.Browser, h.page((*page).openStatus)},
		"GET /web/@:nickname/:id": {rest.Browser, h.page((*page).thread)},
	}
}

// openStatus leads to the permalink of a status.
func (p *page) openStatus() (any, error) {
	var st web.Status
	if err := p.get(statusPath(p.Param("id")), nil, &st); err != nil {
		return nil, err
	}
	return rest.Redirect(p.permalink(st.Shown())), nil
}

func statusPath(id string) string { return "/api/v1/statuses/" + url.PathEscape(id) }

// permalink returns the path of a status's page.
func (p *page) permalink(st *web.Status) string {
	return p.frame.Base + "/@" + st.Account.Acct + "/" + st.ID
}

// thread shows a status with the posts above it, and those below it as a tree.
func (p *page) thread() (any, error) {
	a, err := p.Call("GET", statusPath(p.Param("id")), nil)
	if err != nil {
		return nil, err
	}
	status := a.Value.(*entity.Status)
	var st web.Status
	if err := p.decode(status, &st); err != nil {
		return nil, err
	}
	switch {
	case !strings.EqualFold(p.Param("nickname"), st.Account.Acct):
		return nil, errNoPage
	case st.Reblog != nil:
		return rest.Redirect(p.permalink(st.Reblog)), nil
	}
	if p.Viewer == nil && !st.Account.Local() {
		return p.elsewhere(st.URL)
	}
	content, err := p.conversation(&st)
	if err != nil {
		return nil, err
	}
	content.Post, err = p.post(status, web.Article{Main: true})
	if err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, content)
}

// conversation returns the page of a status but for the status itself.
func (p *page) conversation(st *web.Status) (c web.Conversation, err error) {
	a, err := p.Call("GET", statusPath(st.ID)+"/context", url.Values{"limit": {threadLimit}})
	if err != nil {
		return c, err
	}
	thread := a.Value.(entity.Context)
	if c.Ancestors, err = p.posts(thread.Ancestors); err != nil {
		return c, err
	}
	if c.Replies, err = p.branches(st.ID, thread.Descendants); err != nil {
		return c, err
	}
	plain := text.HTMLToText(st.Content)
	c.Title = p.text("post.title_of", cmp.Or(st.Account.DisplayName, st.Account.Username), excerpt(cmp.Or(st.SpoilerText, plain, st.CreatedAt.Format("2006-01-02")), 60))
	c.Summary = excerpt(cmp.Or(st.SpoilerText, plain), 200)
	c.Canonical, c.ActivityURL = st.URL, st.URI
	c.OEmbedURL = p.BaseURL + "/api/oembed?url=" + url.QueryEscape(st.URL)
	c.Indexable = st.Account.Indexable && st.Visibility == "public"
	c.Image = st.Account.AvatarStatic
	if len(st.MediaAttachments) > 0 && !st.Sensitive && st.MediaAttachments[0].PreviewURL != "" {
		c.Image, c.LargeImage = st.MediaAttachments[0].PreviewURL, true
	}
	if p.Viewer == nil && p.Settings.Load().Federation.Enabled && st.Visibility != "local" {
		c.Remote = &web.Remote{HiddenFields: []web.Field{{Name: "status_id", Value: st.ID}}}
	}
	return c, nil
}

// branches arranges the replies to a status as a tree. A reply whose parent is not among them stands at the top.
func (p *page) branches(root string, list entity.List[*entity.Status]) ([]web.Branch, error) {
	type node struct {
		html     template.HTML
		children []int
	}
	nodes := make([]node, len(list))
	index := make(map[string]int, len(list))
	var top []int
	for i, s := range list {
		html, err := p.post(s, web.Article{InThread: true})
		if err != nil {
			return nil, err
		}
		nodes[i].html = html
		index[s.ID().String()] = i
		if parent, ok := index[s.ParentID().String()]; ok && s.ParentID().String() != root {
			nodes[parent].children = append(nodes[parent].children, i)
		} else {
			top = append(top, i)
		}
	}
	var grow func([]int) []web.Branch
	grow = func(list []int) []web.Branch {
		var branches []web.Branch
		for _, i := range list {
			branches = append(branches, web.Branch{Post: nodes[i].html, Replies: grow(nodes[i].children)})
		}
		return branches
	}
	return grow(top), nil
}

// elsewhere tells visitors that a page of another server is shown to signed-in people only.
func (p *page) elsewhere(address string) (any, error) {
	p.frame.Narrow = true
	return p.show(http.StatusOK, web.Elsewhere{URL: address, SignInURL: "/web/sign_in?" + url.Values{backParam: {p.frame.Path}}.Encode()})
}

// excerpt returns the beginning of a text, at most n characters.
func excerpt(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}
