package server

import (
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// scrobbles serves what users listen to.
type scrobbles struct{ *parts }

func (h *scrobbles) routes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/svc/scrobble":              {rest.User("write").Limit("status_actions").Written().Answers("Scrobble"), h.createScrobble},
		"GET /api/v1/svc/accounts/:id/scrobbles": {rest.Content("read").Answers("[]Scrobble"), h.listScrobbles},
	}
}

// createScrobble records what the viewer listens to.
func (h *scrobbles) createScrobble(r *rest.Request) (any, error) {
	var p struct {
		Title        string `param:"title"`
		Artist       string `param:"artist"`
		Album        string `param:"album"`
		Length       int    `param:"length"`
		ExternalLink string `param:"externalLink"`
		Visibility   string `param:"visibility,word"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	l := social.ScrobbleDraft{Title: p.Title, Artist: p.Artist, Album: p.Album, Length: p.Length, ExternalLink: p.ExternalLink}
	if p.Visibility != "" {
		v, ok := store.ParseVisibility(p.Visibility)
		if !ok {
			return nil, errs.BadRequest("Invalid visibility")
		}
		l.Visibility = v
	}
	row, err := h.Social.Scrobble(r.Context(), r.Viewer, l)
	if err != nil {
		return nil, err
	}
	account, err := h.Entities.Account(r.Context(), row.AccountID)
	if err != nil {
		return nil, err
	}
	return entity.NewScrobble(row, account), nil
}

// listScrobbles lists what an account, named by id or nickname, listened to.
func (h *scrobbles) listScrobbles(r *rest.Request) (any, error) {
	id, _, err := h.lookup.accountIDOrNickname(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(20, 40)
	rows, err := h.DB.Scrobbles(r.Context(), viewerID(r), id, page.Page)
	if err != nil {
		return nil, err
	}
	account, err := h.Entities.Account(r.Context(), id)
	if err != nil {
		return nil, err
	}
	show := func(rows []*store.Scrobble) ([]entity.Scrobble, error) {
		return entity.Map(rows, func(row *store.Scrobble) entity.Scrobble { return entity.NewScrobble(row, account) }), nil
	}
	return rest.List(r, page, rows, func(i int) string { return rows[i].ID.String() }, "", show)
}
