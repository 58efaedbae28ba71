package staff

import (
	"net/http"

	"svc/admin"
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// appRoutes are the OAuth apps with which users sign in.
func (h *Handlers) appRoutes() rest.Routes {
	write := rest.Admin("admin:write")
	return rest.Routes{
		"GET /api/v1/svc/admin/oauth_app":        {write.Secret().Answers("AdminApps"), h.listApps},
		"POST /api/v1/svc/admin/oauth_app":       {write.Written().Secret().Answers("AdminApp"), h.createApp},
		"PATCH /api/v1/svc/admin/oauth_app/:id":  {write.Secret().Answers("AdminApp"), h.updateApp},
		"DELETE /api/v1/svc/admin/oauth_app/:id": {write.Answers("204 nothing"), h.deleteApp},
	}
}

// appList is the answer of listApps.
type appList struct {
	PageSize int                `json:"page_size"`
	Count    int                `json:"count"`
	Apps     []*entity.AdminApp `json:"apps"`
}

// listApps lists apps, newest first. Without the parameter trusted it lists trusted and other ones.
func (h *Handlers) listApps(r *rest.Request) (any, error) {
	var p struct {
		Name     string `param:"name"`
		ClientID string `param:"client_id"`
		Trusted  *bool  `param:"trusted"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	page := pageOf(r, 50)
	found, err := h.Admin.Apps(r.Context(), admin.AppQuery{
		Name: p.Name, ClientID: p.ClientID, Trusted: p.Trusted, Limit: page.size, Offset: page.offset(),
	})
	if err != nil {
		return nil, err
	}
	return appList{page.size, found.Count, entity.Map(found.Apps, h.Entities.AdminApp)}, nil
}

// bindApp binds the members of an app. A list of redirect URIs is accepted, too.
func bindApp(r *rest.Request) (admin.AppChange, error) {
	var p struct {
		Name         *string  `param:"name"`
		RedirectURIs *string  `param:"redirect_uris"`
		Scopes       []string `param:"scopes"`
		Website      *string  `param:"website"`
		Trusted      *bool    `param:"trusted"`
	}
	err := r.Bind(&p)
	return admin.AppChange{Name: p.Name, RedirectURIs: p.RedirectURIs, Scopes: p.Scopes, Website: p.Website, Trusted: p.Trusted}, err
}

// createApp creates an app.
func (h *Handlers) createApp(r *rest.Request) (any, error) {
	c, err := bindApp(r)
	if err != nil {
		return nil, err
	}
	created, err := h.as(r).CreateApp(r.Context(), c)
	if err != nil {
		return nil, err
	}
	return h.Entities.AdminApp(created), nil
}

// updateApp changes the members of an app that are given.
func (h *Handlers) updateApp(r *rest.Request) (any, error) {
	c, err := bindApp(r)
	if err != nil {
		return nil, err
	}
	c.ID = store.ParseDecimal(r.Param("id"))
	updated, err := h.as(r).UpdateApp(r.Context(), c)
	if err != nil {
		return invalidParameters(r, err)
	}
	return h.Entities.AdminApp(updated), nil
}

// deleteApp deletes an app and revokes its tokens.
func (h *Handlers) deleteApp(r *rest.Request) (any, error) {
	if _, err := h.as(r).DeleteApp(r.Context(), store.ParseDecimal(r.Param("id"))); err != nil {
		return invalidParameters(r, err)
	}
	return rest.NoContent, nil
}

// invalidParameters replaces a 404 by the answer of the spec for an app that does not exist.
func invalidParameters(r *rest.Request, err error) (any, error) {
	if !errs.IsNotFound(err) {
		return nil, err
	}
	r.SetStatus(http.StatusBadRequest)
	return "Invalid parameters", nil
}
