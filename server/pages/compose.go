package pages

import (
	"net/http"

	"svc/internal/keys"
	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) composeRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/compose":  {rest.SignedIn, h.page((*page).showCompose)},
		"POST /web/compose": {rest.SignedIn.Uploads(), h.page((*page).compose)},
	}
}

func (p *page) showCompose() (any, error) {
	form, err := p.quickPost()
	if err != nil {
		return nil, err
	}
	form.Title, form.Action, form.Back = "compose.title", "/web/compose", homePath
	return p.show(http.StatusOK, *form)
}

// compose publishes a post, or shows the form again with what is wrong.
func (p *page) compose() (any, error) {
	p.Header.Set("Idempotency-Key", p.Query(onceParam))
	_, err := p.Forward("POST", "/api/v1/statuses", ownParams...)
	if e := forUser(err); e != nil {
		form := web.Compose{
			Title: "compose.title", Action: "/web/compose", Back: localPath(p.Query(backParam), homePath), Error: e.Message, Once: keys.NewToken(),
			Text: p.Query("status"), SpoilerText: p.Query("spoiler_text"), Visibility: p.Query("visibility"), Visibilities: visibilities,
			MaxCharacters: p.Settings.Load().Statuses.MaxLength,
		}
		return p.show(e.Status, form)
	}
	if err != nil {
		return nil, err
	}
	return p.leave(localPath(p.Query(backParam), homePath), "posted", ""), nil
}
