package server

import (
	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/rest"
	"svc/store"
)

// directory serves the list of discoverable accounts, and the claims of OpenID Connect about the viewer.
type directory struct{ *parts }

func (h *directory) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/directory": {rest.Content("read:accounts").Optional(config.OptionalDirectory).Answers("[]Account"), h.list},
		"GET /oauth/userinfo":   {rest.User("profile", "read:accounts").Secret().Answers("Claims"), h.userInfo},
		"POST /oauth/userinfo":  {rest.User("profile", "read:accounts").Secret().Answers("Claims"), h.userInfo},
	}
}

// maxDirectoryOffset bounds the rows that are read before a page.
const maxDirectoryOffset = 10_000

// list lists discoverable accounts: those that posted last, or the newest ones.
func (h *directory) list(r *rest.Request) (any, error) {
	if !h.Settings.Load().Accounts.ProfileDirectory {
		return nil, errs.ErrRecordNotFound
	}
	var p struct {
		Order string `param:"order,word"`
		Local bool   `param:"local"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	page := r.Page(40, 80)
	if page.Offset > maxDirectoryOffset {
		return []any{}, nil
	}
	ids, err := h.DB.DirectoryAccounts(r.Context(), store.Directory{
		Viewer: viewerID(r), Local: p.Local, Newest: p.Order == "new", Offset: page.Offset, Limit: page.Limit,
	})
	if err != nil {
		return nil, err
	}
	return h.render.firstAccounts(r, ids)
}

// claims are those of OpenID Connect Core 5.1. The issuer is spelled as in the metadata of the authorization server.
type claims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Name     string `json:"name"`
	Username string `json:"preferred_username"`
	Profile  string `json:"profile"`
	Picture  string `json:"picture"`
}

// userInfo returns the claims about the viewer.
func (h *directory) userInfo(r *rest.Request) (any, error) {
	a := r.Viewer
	return claims{h.Settings.BaseURL, a.URI, a.DisplayName, a.Nickname, a.URL, h.Entities.Avatar(a)}, nil
}
