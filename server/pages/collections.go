package pages

import (
	"net/http"

	"svc/server/rest"
	"svc/server/web"
)

const collectionsPath = "/web/in_collections"

func (h *Handlers) collectionRoutes() rest.Routes {
	return rest.Routes{"GET " + collectionsPath: {rest.SignedIn, h.page((*page).inCollections)}}
}

// inCollections shows the collections that the viewer is in, to leave them.
func (p *page) inCollections() (any, error) {
	var content web.InCollections
	a, err := p.list("/api/v1/accounts/"+p.Viewer.ID.String()+"/in_collections", p.cursors(postsPerPage), &content)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(http.StatusOK, content)
}
