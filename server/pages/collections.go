package pages

import (
	"net/http"
	"net/url"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/rest"
	"svc/server/web"
)

const inCollectionsPath = "/web/in_collections"

func (h *Handlers) collectionRoutes() rest.Routes {
	return rest.Routes{
		"GET " + inCollectionsPath:      {rest.SignedIn, h.page((*page).inCollections)},
		"GET /web/collections":          {rest.SignedIn, h.page((*page).ownCollections)},
		"GET /web/collections/:id/edit": {rest.SignedIn, h.page((*page).editCollection)},
	}
}

// inCollections shows the collections that the viewer is in, to leave them.
func (p *page) inCollections() (any, error) {
	content := web.InCollections{Viewer: p.Viewer.ID.String()}
	a, err := p.list(accountPath(content.Viewer)+"/in_collections", p.cursors(postsPerPage), &content)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(http.StatusOK, content)
}

// ownCollections shows the collections that the viewer has made, and the form for a new one.
func (p *page) ownCollections() (any, error) {
	var content web.OwnCollections
	a, err := p.list(accountPath(p.Viewer.ID.String())+"/collections", p.cursors(postsPerPage), &content)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(http.StatusOK, content)
}

// profileCollections is how many collections a profile shows.
const profileCollections = "10"

// collectionsOf returns the newest collections of an account for its profile. An account that blocks the viewer shows none.
func (p *page) collectionsOf(a *web.Account) (content web.OwnCollections, err error) {
	return content, errs.IgnoreNotFound(p.get(accountPath(a.ID)+"/collections", url.Values{"limit": {profileCollections}}, &content))
}

// shownCollection returns the collection in the path of the page.
func (p *page) shownCollection() (c web.ShownCollection, err error) {
	if err := p.get("/api/v1/collections/"+url.PathEscape(p.Param("id")), nil, &c); err != nil {
		return c, err
	}
	if p.Viewer != nil {
		c.Viewer = p.Viewer.ID.String()
		c.Own, c.Item = c.Collection.AccountID == c.Viewer, c.Collection.Item(c.Viewer)
	}
	return c, nil
}

// collection shows a collection with its accounts, to follow them. Visitors are led to the server of a remote one.
func (p *page) collection() (any, error) {
	c, err := p.shownCollection()
	if err != nil {
		return nil, err
	}
	if p.Viewer == nil && !c.Collection.Local {
		return p.remotePage(c.Collection.URL)
	}
	c.Meta = web.Meta{
		Title: c.Collection.Name, Description: excerpt(text.HTMLToText(c.Collection.Description), 200), Canonical: c.Collection.URL, Type: "website",
		ActivityURL: c.Collection.URI,
	}
	if p.Viewer != nil {
		c.FollowedAll = web.FollowedAllIn(p.URL.Query())
	}
	return p.keep(func() (web.Content, error) { return &c, nil })
}

// accountsToAdd is how many accounts a search for accounts to add shows.
const accountsToAdd = "10"

// editCollection shows the forms for a collection of the viewer, and accounts that a search finds.
func (p *page) editCollection() (any, error) {
	c, err := p.shownCollection()
	if err != nil {
		return nil, err
	}
	if !c.Own {
		return nil, errNoPage
	}
	content := &web.EditCollection{ShownCollection: c, Text: text.HTMLToText(c.Collection.Description), Query: p.URL.Query().Get("q")}
	if content.Query != "" {
		if err := p.get("/api/v1/accounts/search", url.Values{"q": {content.Query}, "limit": {accountsToAdd}}, &content.Found); err != nil {
			return nil, err
		}
	}
	return p.show(http.StatusOK, content)
}
