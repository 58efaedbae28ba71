package pages

import (
	"net/http"
	"net/url"

	"svc/internal/keys"
	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) timelineRoutes() rest.Routes {
	return rest.Routes{
		"GET /web":       {rest.SignedIn, h.page((*page).home)},
		"GET /web/local": {rest.Browser, h.page((*page).local)},
		"GET /web/known": {rest.Browser, h.page((*page).known)},
	}
}

// home shows the home timeline with a short form for a post.
func (p *page) home() (any, error) {
	compose, err := p.quickPost()
	if err != nil {
		return nil, err
	}
	return p.timeline("/api/v1/timelines/home", nil, web.Timeline{Title: "home.title", Stream: "user", Compose: compose})
}

func (p *page) local() (any, error) {
	return p.timeline("/api/v1/timelines/public", url.Values{"local": {"true"}}, web.Timeline{Title: "local.title", Stream: "public:local"})
}

func (p *page) known() (any, error) {
	return p.timeline("/api/v1/timelines/public", nil, web.Timeline{Title: "known.title", Stream: "public"})
}

// postsPerPage is the length of a list of posts.
const postsPerPage = "20"

// timeline shows the list of statuses of an endpoint on a page.
func (p *page) timeline(path string, arguments url.Values, content web.Timeline) (any, error) {
	query := p.cursors(postsPerPage)
	for name, values := range arguments {
		query[name] = values
	}
	a, err := p.Call("GET", path, query)
	if err != nil {
		return nil, err
	}
	if content.Posts, err = p.posts(a.Value); err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(http.StatusOK, content)
}

// quickPost prepares the short form for a post.
func (p *page) quickPost() (*web.Compose, error) {
	return &web.Compose{
		Once: keys.NewToken(), Visibility: p.User.DefaultVisibility.String(), Visibilities: visibilities, MaxCharacters: p.Settings.Load().Statuses.MaxLength,
	}, nil
}

var visibilities = []string{"public", "unlisted", "private", "direct", "local"}
