package server

import (
	"html/template"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/entity"
	"svc/server/pages"
	"svc/server/rest"
	"svc/server/web"
	"svc/store"
)

// publicPages serves the pages of server/pages that stand outside of /web, unless a front end answers in their place.
type publicPages struct {
	frontends *frontends
	documents *activityPub // for other servers that request a page
	ui        *pages.Handlers
}

func (h *publicPages) routes() rest.Routes {
	access := rest.Browser.Limit(rest.ApiBucket)
	routes := rest.Routes{"GET /": {access, h.frontends.orPage(h.ui.Front)}}
	for path, page := range h.ui.Public() {
		switch path {
		case "/terms", "/privacy": // of the server, whatever front end it has
		default:
			page = h.frontends.orPage(page)
		}
		switch path {
		case "/@:nickname":
			page = h.ui.OrFeed(h.documents.pageOrDocument(page, h.documents.actorDocument))
		case "/@:nickname/:id":
			page = h.documents.pageOrDocument(page, h.documents.pageObjectDocument)
		case "/tags/:name":
			page = h.ui.OrFeed(page)
		}
		routes["GET "+path] = rest.Route{Access: access, Handle: page}
	}
	return routes
}

var errNoPage = errs.NotFound("There is no page at this address.")

// webPost prepares a status without its media for a page.
func webPost(b *entity.Builder, st *store.Status, author *store.Account) web.Post {
	return web.Post{
		Name: author.DisplayName, Handle: "@" + author.Acct(), ProfileURL: author.URL, AvatarURL: b.Avatar(author), URL: st.URL,
		CreatedAt: st.CreatedAt.String(), Date: st.CreatedAt.Time().Format("2 January 2006"),
		SpoilerText: st.SpoilerText, Content: sanitized(st.Content), Sensitive: st.Sensitive,
	}
}

// webAttachment prepares a media attachment for a page.
func webAttachment(b *entity.Builder, m *store.Media) web.Attachment {
	file, preview := b.MediaFile(m)
	return web.Attachment{Type: m.Type, URL: file, PreviewURL: preview, Description: m.Description}
}

// sanitized cleans HTML once more, because on a page it would run with the origin of this server.
func sanitized(html string) template.HTML { return template.HTML(text.Sanitize(html)) }
