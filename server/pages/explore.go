package pages

import (
	"net/http"
	"net/url"
	"strconv"

	"svc/server/rest"
	"svc/server/web"
)

const explorePath = "/web/explore"

func (h *Handlers) exploreRoutes() rest.Routes {
	return rest.Routes{"GET " + explorePath: {rest.SignedIn, h.page((*page).explore)}}
}

// exploreKinds are the tabs of the page, by the parameter that chooses one.
var exploreKinds = []string{"", "tags", "people", "links", "packs"}

const (
	exploredPosts = 20
	exploredTags  = 20
	exploredLinks = 20
)

// explore shows trends and suggestions: posts, hashtags, accounts, links or starter packs.
func (p *page) explore() (any, error) {
	content := web.Explore{Kind: p.URL.Query().Get("show")}
	found := false
	for _, kind := range exploreKinds {
		tab := web.Tab{Title: "explore.posts", URL: explorePath, Current: kind == content.Kind}
		if kind != "" {
			tab.Title, tab.URL = "explore."+kind, explorePath+"?"+url.Values{"show": {kind}}.Encode()
		}
		found = found || tab.Current
		content.Tabs = append(content.Tabs, tab)
	}
	if !found {
		return nil, errNoPage
	}
	if err := p.fillExplore(&content); err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, content)
}

func (p *page) fillExplore(c *web.Explore) (err error) {
	limit := func(n int) url.Values { return url.Values{"limit": {strconv.Itoa(n)}} }
	switch c.Kind {
	case "tags":
		return p.get("/api/v1/trends/tags", limit(exploredTags), &c.Tags)
	case "people":
		c.People, err = p.suggestedAccounts(manySuggestions)
	case "links":
		return p.get("/api/v1/trends/links", limit(exploredLinks), &c.Links)
	case "packs":
		c.Collections, err = p.listedCollections(manyCollections)
	default:
		a, err := p.Call(http.MethodGet, "/api/v1/trends/statuses", limit(exploredPosts))
		if err != nil {
			return err
		}
		c.Posts, err = p.posts(a.Value)
		return err
	}
	return err
}
