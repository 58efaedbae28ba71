package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) searchRoutes() rest.Routes {
	return rest.Routes{"GET /web/search": {rest.SignedIn, h.page((*page).search)}}
}

// searchTypes are the kinds of results, as tabs.
var searchTypes = []string{"", "accounts", "statuses", "hashtags"}

// resultsPerPage is the length of a page of one kind of results.
const resultsPerPage = 20

// search shows what a text finds. A handle or a URL is looked up on its server, too.
func (p *page) search() (any, error) {
	query := p.URL.Query()
	content := web.Search{Query: strings.TrimSpace(query.Get("q")), Type: query.Get("type")}
	for _, name := range searchTypes {
		tab := url.Values{"q": {content.Query}}
		if name != "" {
			tab.Set("type", name)
		}
		content.Tabs = append(content.Tabs, web.Tab{Title: "search." + cmp.Or(name, "all"), URL: "/web/search?" + tab.Encode(), Current: name == content.Type})
	}
	if content.Query == "" {
		content.Tabs = nil
		return p.show(http.StatusOK, content)
	}
	offset, err := strconv.Atoi(query.Get("offset"))
	if err != nil || offset < 0 || content.Type == "" {
		offset = 0
	}
	limit := resultsPerPage
	if content.Type == "" {
		limit = 5
	}
	arguments := url.Values{
		"q": {content.Query}, "resolve": {"true"}, "limit": {strconv.Itoa(limit)}, "offset": {strconv.Itoa(offset)}, "with_relationships": {"true"},
	}
	if content.Type != "" {
		arguments.Set("type", content.Type)
	}
	a, err := p.Call(http.MethodGet, "/api/v2/search", arguments)
	if err != nil {
		return nil, err
	}
	found, ok := a.Value.(interface {
		Statuses() entity.List[*entity.Status]
	})
	if !ok {
		return nil, fmt.Errorf("page: %T has no results of a search", a.Value)
	}
	if content.Posts, err = p.posts(found.Statuses()); err != nil {
		return nil, err
	}
	if err := p.decode(a.Value, &content.Found); err != nil {
		return nil, err
	}
	n := len(content.Found.Accounts) + len(content.Posts) + len(content.Found.Tags)
	content.Nothing = n == 0
	if content.Type != "" && offset > 0 {
		content.Newer = p.link(url.Values{"offset": {strconv.Itoa(max(0, offset-resultsPerPage))}})
	}
	if content.Type != "" && n >= resultsPerPage {
		content.Older = p.link(url.Values{"offset": {strconv.Itoa(offset + resultsPerPage)}})
	}
	return p.show(http.StatusOK, content)
}
