package pages

import (
	"net/http"
	"net/url"

	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) featuredTagRoutes() rest.Routes {
	return rest.Routes{
		"GET " + featuredTagsPath:  {rest.SignedIn, h.page((*page).featuredTags)},
		"POST " + featuredTagsPath: {rest.SignedIn, h.page((*page).featureTag)},
	}
}

const featuredTagsPath = "/web/settings/featured_tags"

// featuredTags shows the hashtags on the viewer's profile, and those that the viewer often uses.
func (p *page) featuredTags() (any, error) { return p.featuredTagsPage(http.StatusOK, "", "") }

func (p *page) featuredTagsPage(status int, entered, message string) (any, error) {
	content := web.FeaturedTags{Entered: entered, Error: message}
	if err := p.get("/api/v1/featured_tags", nil, &content.Tags); err != nil {
		return nil, err
	}
	if err := p.get("/api/v1/featured_tags/suggestions", nil, &content.Suggestions); err != nil {
		return nil, err
	}
	return p.show(status, content)
}

// featureTag puts the hashtag that was entered on the profile.
func (p *page) featureTag() (any, error) {
	name := tagName(p.Query("name"))
	_, err := p.Call(http.MethodPost, "/api/v1/featured_tags", url.Values{"name": {name}})
	if e := forUser(err); e != nil {
		return p.featuredTagsPage(e.Status, name, e.Message)
	}
	if err != nil {
		return nil, err
	}
	return p.leave(featuredTagsPath, "saved", ""), nil
}
