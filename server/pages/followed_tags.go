package pages

import (
	"net/http"
	"net/url"
	"strings"

	"svc/internal/errs"
	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) followedTagRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/tags":         {rest.SignedIn, h.page((*page).followedTags)},
		"POST /web/tags/follow": {rest.SignedIn, h.page((*page).followTag)},
		"GET /web/menu":         {rest.SignedIn, h.page((*page).menu)},
	}
}

// followedTags shows the hashtags that the viewer follows.
func (p *page) followedTags() (any, error) { return p.followedTagsPage(http.StatusOK, "", "") }

func (p *page) followedTagsPage(status int, name, message string) (any, error) {
	content := web.FollowedTags{Entered: name, Error: message}
	a, err := p.list("/api/v1/followed_tags", p.cursors("40"), &content.Tags)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(status, content)
}

// followTag follows the hashtag that was entered.
func (p *page) followTag() (any, error) {
	name := tagName(p.Query("name"))
	if name == "" {
		return p.followedTagsPage(http.StatusUnprocessableEntity, "", p.text("tags.missing"))
	}
	_, err := p.Call(http.MethodPost, tagPath(name)+"/follow", nil)
	if errs.IsNotFound(err) {
		return p.followedTagsPage(http.StatusUnprocessableEntity, name, p.text("tags.invalid"))
	}
	if e := forUser(err); e != nil {
		return p.followedTagsPage(e.Status, name, e.Message)
	}
	if err != nil {
		return nil, err
	}
	return p.leave("/web/tags", "saved", ""), nil
}

// menu shows the navigation, for screens that have no room for it beside the content.
func (p *page) menu() (any, error) { return p.show(http.StatusOK, web.Menu{}) }

// tagName returns a hashtag without the number sign.
func tagName(text string) string { return strings.TrimLeft(strings.TrimSpace(text), "#＃") }

func tagPath(name string) string { return "/api/v1/tags/" + url.PathEscape(name) }
