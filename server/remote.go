package server

import (
	"errors"
	"net/http"
	"strings"

	"svc/federation/remote"
	"svc/internal/errs"
	"svc/server/rest"
	"svc/server/web"
	"svc/store"
)

// remoteInteractions sends users of other servers to their own server, where they can follow or reply.
type remoteInteractions struct{ *parts }

func (h *remoteInteractions) routes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/svc/remote_interaction": {rest.Anonymous.Limit("search").Answers("object"), h.remoteInteraction},
		"GET /main/ostatus":                   {rest.Anonymous.HTML(), h.showRemote},
		"POST /main/ostatus":                  {rest.Anonymous.HTML().Limit("search"), h.submitRemote},
	}
}

// The errors of remote interactions (extension API 27).
const (
	userNotFound  = "Couldn't find user"
	remoteFailure = "Something went wrong"
)

// remoteInteraction returns the page of the user's own server for interacting with an object.
func (h *remoteInteractions) remoteInteraction(r *rest.Request) (any, error) {
	var p struct {
		ID      string `param:"ap_id,required"`
		Profile string `param:"profile,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	page, failure := h.remoteInteractionURL(r, p.Profile, p.ID)
	if failure != "" {
		return map[string]string{"error": failure}, nil
	}
	return map[string]string{"url": page}, nil
}

// remoteInteractionURL fetches the URL of that page, or returns the error text for the client.
func (h *remoteInteractions) remoteInteractionURL(r *rest.Request, profile, uri string) (page, failure string) {
	if !h.lookup.federates() || len(profile) > maxAddressBytes || len(uri) > maxAddressBytes {
		return "", userNotFound
	}
	page, err := h.Federation.Resolver.InteractionPage(r.Context(), profile, uri)
	switch {
	case errors.Is(err, remote.ErrNoInteractionPage):
		return "", userNotFound
	case err != nil:
		h.Log.Debug("remote interaction", "profile", profile, "err", err)
		return "", remoteFailure
	}
	return page, ""
}

// maxAddressBytes bounds URLs and handles in parameters.
const maxAddressBytes = 2048

// remoteParams name the account or status of a request, and the user's handle. They are sent plain, or as user[…] and status[…].
type remoteParams struct {
	Nickname string         `param:"nickname"`
	StatusID store.StatusID `param:"status_id"`
	Profile  string         `param:"profile"`
}

// bindRemote returns the form for a request, the ActivityPub id of its account or status, and the user's handle.
func (h *remoteInteractions) bindRemote(r *rest.Request) (form web.Remote, uri, profile string, err error) {
	var p remoteParams
	var nested struct {
		User   remoteParams `param:"user"`
		Status remoteParams `param:"status"`
	}
	if err = r.Bind(&p); err == nil {
		err = r.Bind(&nested)
	}
	if err != nil {
		return form, "", "", err
	}
	for _, in := range []remoteParams{nested.User, nested.Status} {
		if in.Nickname != "" {
			p.Nickname = in.Nickname
		}
		if in.StatusID != 0 {
			p.StatusID = in.StatusID
		}
		if in.Profile != "" {
			p.Profile = in.Profile
		}
	}
	form.Handle = p.Profile
	if p.StatusID != 0 {
		st, err := h.DB.VisibleStatus(r.Context(), 0, p.StatusID)
		if errs.IsNotFound(err) || err == nil && (!st.Federated() || !h.Settings.Load().Instance.Public) {
			err = errNoPage
		}
		if err != nil {
			return form, "", "", err
		}
		form.Subject = h.oauth.Text(r, "remote.interact")
		form.HiddenFields = []web.Field{{Name: "status_id", Value: st.ID.String()}}
		return form, st.URI, p.Profile, nil
	}
	a, err := h.DB.AccountByName(r.Context(), strings.TrimPrefix(p.Nickname, "@"), "")
	if errs.IsNotFound(err) || err == nil && a.Unavailable {
		err = errNoPage
	}
	if err != nil {
		return form, "", "", err
	}
	form.Subject = h.oauth.Text(r, "remote.follow", a.Nickname+"@"+h.Settings.Host)
	form.HiddenFields = []web.Field{{Name: "nickname", Value: a.Nickname}}
	return form, a.URI, p.Profile, nil
}

// showRemote asks a user of another server for their handle.
func (h *remoteInteractions) showRemote(r *rest.Request) (any, error) {
	form, _, _, err := h.bindRemote(r)
	if err != nil {
		return nil, err
	}
	return h.oauth.Page(r, http.StatusOK, form)
}

// submitRemote redirects to the user's own server. Forms of other sites are rejected, so that they cannot use it as an open redirect.
func (h *remoteInteractions) submitRemote(r *rest.Request) (any, error) {
	if !r.SameOrigin() {
		return nil, rest.ErrCrossSite
	}
	form, uri, profile, err := h.bindRemote(r)
	if err != nil {
		return nil, err
	}
	page, failure := h.remoteInteractionURL(r, profile, uri)
	switch failure {
	case "":
		return rest.Redirect(page), nil
	case userNotFound:
		form.Error = h.oauth.Text(r, "remote.no_page")
	default:
		form.Error = h.oauth.Text(r, "remote.no_answer")
	}
	return h.oauth.Page(r, http.StatusOK, form)
}
