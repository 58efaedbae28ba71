package server

import (
	"svc/internal/errs"
	"svc/server/rest"
)

// publicPages serves the pages of server/pages that stand outside of /web, unless a front end answers in their place.
type publicPages struct{ *parts }

func (h *publicPages) routes() rest.Routes {
	access, documents := rest.Browser.Limit(rest.ApiBucket), &activityPub{h.parts} // for other servers that request a page
	routes := rest.Routes{"GET /": {access, h.frontends.orPage(h.ui.Front)}}
	for path, page := range h.ui.Public() {
		switch path {
		case "/terms", "/privacy": // of the server, whatever front end it has
		default:
			page = h.frontends.orPage(page)
		}
		switch path {
		case "/@:nickname":
			page = h.ui.OrFeed(documents.pageOrDocument(page, documents.actorDocument))
		case "/@:nickname/:id":
			page = documents.pageOrDocument(page, documents.pageObjectDocument)
		case "/collections/:id":
			page = documents.pageOrDocument(page, documents.collectionDocument)
		case "/tags/:name":
			page = h.ui.OrFeed(page)
		}
		routes["GET "+path] = rest.Route{Access: access, Handle: page}
	}
	return routes
}

var errNoPage = errs.NotFound("There is no page at this address.")
