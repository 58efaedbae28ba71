package pages

import (
	"net/http"
	"net/url"

	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) listRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/lists":             {rest.SignedIn, h.page((*page).lists)},
		"GET /web/lists/:id":         {rest.SignedIn, h.page((*page).listTimeline)},
		"GET /web/lists/:id/edit":    {rest.SignedIn, h.page((*page).editList)},
		"GET /web/lists/:id/members": {rest.SignedIn, h.page((*page).listMembers)},
	}
}

// lists shows the viewer's lists, and the form for a new one.
func (p *page) lists() (any, error) {
	var content web.Lists
	if err := p.get("/api/v1/lists", nil, &content.Lists); err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, content)
}

// ownList returns the list in the path of the page.
func (p *page) ownList() (l web.List, err error) {
	return l, p.get("/api/v1/lists/"+url.PathEscape(p.Param("id")), nil, &l)
}

func (p *page) listTimeline() (any, error) {
	l, err := p.ownList()
	if err != nil {
		return nil, err
	}
	base := "/web/lists/" + l.ID
	return p.timeline("/api/v1/timelines/list/"+l.ID, nil, web.Timeline{
		Heading: l.Title, Stream: "list?list=" + l.ID,
		Tabs: []web.Tab{{Title: "lists.posts", URL: base, Current: true}, {Title: "lists.members", URL: base + "/members"}, {Title: "lists.edit", URL: base + "/edit"}},
	})
}

func (p *page) editList() (any, error) {
	l, err := p.ownList()
	if err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, web.EditList{List: l})
}

// listMembers shows the members of a list, and followed accounts that a search finds.
func (p *page) listMembers() (any, error) {
	l, err := p.ownList()
	if err != nil {
		return nil, err
	}
	content := web.ListMembers{List: l, Query: p.URL.Query().Get("q")}
	a, err := p.list("/api/v1/lists/"+l.ID+"/accounts", p.cursors(accountsPerPage), &content.Members)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	if content.Query != "" {
		found := url.Values{"q": {content.Query}, "following": {"true"}, "limit": {"10"}}
		if err := p.get("/api/v1/accounts/search", found, &content.Found); err != nil {
			return nil, err
		}
	}
	return p.show(http.StatusOK, content)
}
