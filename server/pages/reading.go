package pages

import (
	"net/http"
	"net/url"

	"svc/server/rest"
	"svc/server/web"
)

const shortcutsPath = "/web/shortcuts"

func (h *Handlers) readingRoutes() rest.Routes {
	return rest.Routes{
		"GET " + shortcutsPath: {rest.SignedIn, h.page((*page).shortcuts)},
		"GET /web/hover_card":  {rest.SignedIn, h.page((*page).hoverCard)},
	}
}

// shortcuts lists the keyboard shortcuts.
func (p *page) shortcuts() (any, error) {
	return p.show(http.StatusOK, web.Shortcuts{Off: p.frame.NoKeys})
}

// hoverCard shows an account in short, for the script that puts it beside a link to the account. Nothing is fetched from other servers for it.
func (p *page) hoverCard() (any, error) {
	a := new(web.Account)
	if err := p.get("/api/v1/accounts/lookup", url.Values{"acct": {p.URL.Query().Get("acct")}, "with_relationships": {"true"}}, a); err != nil {
		return nil, err
	}
	html, err := p.frame.Messages.HoverCard(a, p.frame.Base)
	return p.Pages.Part(html), err
}
