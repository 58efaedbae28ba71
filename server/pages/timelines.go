package pages

import (
	"maps"
	"net/http"
	"net/url"

	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) timelineRoutes() rest.Routes {
	return rest.Routes{
		"GET /web":              {rest.SignedIn, h.page((*page).home)},
		"GET /web/stream/:name": {rest.Browser, h.stream},
		"GET /web/local":        {rest.Browser, h.page((*page).local)},
		"GET /web/known":        {rest.SignedIn, h.page((*page).known)},
	}
}

// home shows the home timeline with a short form for a post.
func (p *page) home() (any, error) {
	content := web.Timeline{Title: "home.title", Stream: "user", Compose: p.quickPost(), Tabs: p.timelineTabs(homePath)}
	statuses, err := p.fill(&content, "/api/v1/timelines/home", nil)
	if err != nil {
		return nil, err
	}
	if content.New, err = p.newAnnouncements(); err != nil {
		return nil, err
	}
	if content.Newest == "" {
		if content.Arrival, err = p.arrival(); err != nil {
			return nil, err
		}
	}
	if err := p.moveHomeMarker(&content, statuses); err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, content)
}

// moveHomeMarker records that the posts of the page were read. Posts between the marker and the first page were not: as long as there are
// some, the marker stays, and the page has a link to them.
func (p *page) moveHomeMarker(content *web.Timeline, list entity.List[*entity.Status]) error {
	if len(list) == 0 || p.URL.Query().Has("max_id") {
		return nil
	}
	newest, oldest := list[0].ID(), list[len(list)-1].ID()
	switch read := p.unseen.home; {
	case read >= newest:
		return nil
	case read != 0 && read < oldest && content.Older != "" && content.Newest == "":
		content.Unread, content.Read = homePath+"?min_id="+read.String(), newest.String()
		return nil
	}
	_, err := p.Call(http.MethodPost, "/api/v1/markers", url.Values{"home[last_read_id]": {newest.String()}})
	return err
}

func (p *page) local() (any, error) {
	if p.Viewer == nil {
		return p.publicTimeline()
	}
	return p.timeline("/api/v1/timelines/public", url.Values{"local": {"true"}},
		web.Timeline{Title: "local.title", Stream: "local", Tabs: p.timelineTabs("/web/local")})
}

func (p *page) known() (any, error) {
	return p.timeline("/api/v1/timelines/public", nil, web.Timeline{Title: "known.title", Stream: "public", Tabs: p.timelineTabs("/web/known")})
}

// timelineTabs returns the links between the timelines, without those that visitors do not have.
func (p *page) timelineTabs(current string) []web.Tab {
	tabs := []web.Tab{{Title: "home.title", URL: homePath}, {Title: "local.title", URL: "/web/local"}, {Title: "known.title", URL: "/web/known"}}
	for i := range tabs {
		tabs[i].Current = tabs[i].URL == current
	}
	if p.Viewer == nil {
		return tabs[1:]
	}
	return tabs
}

const (
	postsPerPage    = "20"
	accountsPerPage = "40"
)

// timeline shows the list of statuses of an endpoint on a page.
func (p *page) timeline(path string, arguments url.Values, content web.Timeline) (any, error) {
	if _, err := p.fill(&content, path, arguments); err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, content)
}

// fill adds the list of statuses of an endpoint to a page, and returns it.
func (p *page) fill(content *web.Timeline, path string, arguments url.Values) (entity.List[*entity.Status], error) {
	query := p.cursors(postsPerPage)
	maps.Copy(query, arguments)
	a, err := p.Call("GET", path, query)
	if err != nil {
		return nil, err
	}
	if content.Posts, err = p.posts(a.Value); err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	if query.Has("max_id") || query.Has("min_id") || query.Has("since_id") {
		content.Newest = p.link(url.Values{})
	}
	list, _ := a.Value.(entity.List[*entity.Status]) // p.posts has checked the type
	return list, nil
}
