package server

import (
	"crypto/hmac"
	"encoding/base64"
	"errors"
	"net/http"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/keys"
	"svc/server/oauth"
	"svc/server/rest"
	"svc/server/web"
	"svc/social"
)

// setupPage serves the page on which the first admin creates an account. Only the operator knows its URL.
type setupPage struct{ *parts }

func (h *setupPage) routes() rest.Routes {
	return rest.Routes{
		"GET /setup/:token":  {rest.Anonymous.HTML().Secret(), h.showSetup},
		"POST /setup/:token": {rest.Anonymous.HTML().Limit("authentication").Secret(), h.setup},
	}
}

// SetupURL returns the URL of the setup page. It is invalid once there is an admin.
func SetupURL(c *config.Config, k *keys.Keys) string { return c.URL().String() + setupPath(k) }

func setupPath(k *keys.Keys) string {
	return "/setup/" + base64.RawURLEncoding.EncodeToString(k.Secret("set-up page"))
}

var errSetupDone = errs.New(http.StatusGone, "This link is no longer valid: the server has an administrator.")

// checkSetup returns an error if the token is wrong or there is an admin.
func (h *setupPage) checkSetup(r *rest.Request) error {
	if !hmac.Equal([]byte("/setup/"+r.Param("token")), []byte(setupPath(h.Keys))) {
		return errs.NotFound("There is no page at this address.")
	}
	has, err := h.DB.HasAdmin(r.Context())
	if err == nil && has {
		err = errSetupDone
	}
	return err
}

func (h *setupPage) showSetup(r *rest.Request) (any, error) {
	if err := h.checkSetup(r); err != nil {
		return nil, err
	}
	return h.oauth.Page(r, http.StatusOK, web.SignUp{FirstAdmin: true, Action: setupPath(h.Keys)})
}

// setup creates the first admin and signs the browser in.
func (h *setupPage) setup(r *rest.Request) (any, error) {
	if !r.SameOrigin() {
		return nil, rest.ErrCrossSite
	}
	if err := h.checkSetup(r); err != nil {
		return nil, err
	}
	var p struct {
		Nickname string `param:"nickname"`
		Email    string `param:"email"`
		Password string `param:"password"`
		Again    string `param:"password_confirmation"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	again := func(faults social.FieldErrors) (any, error) {
		return h.oauth.Page(r, http.StatusUnprocessableEntity, web.SignUp{
			FirstAdmin: true, Action: setupPath(h.Keys), Nickname: p.Nickname, Email: p.Email, Errors: oauth.SignUpErrors(faults),
		})
	}
	if p.Password != p.Again {
		return again(social.FieldErrors{{Field: "password_confirmation", Code: "ERR_INVALID", Message: "is not the same as the first"}})
	}
	account, user, err := h.Social.SignUp(r.Context(), social.Registration{
		Nickname: p.Nickname, Email: p.Email, Password: p.Password,
		Admin: true, Confirmed: true, Approved: true, FirstAdmin: true,
	})
	var fields social.FieldErrors
	switch {
	case errors.As(err, &fields):
		return again(fields)
	case errors.Is(err, social.ErrHasAdmin):
		return nil, errSetupDone
	case err != nil:
		return nil, err
	}
	if err := h.oauth.StartSession(r, user); err != nil {
		return nil, err
	}
	if h.oauth.Settings.Load().Web.Enabled {
		return rest.Redirect(web.WelcomePath), nil
	}
	return h.oauth.Page(r, http.StatusOK, web.Registered{FirstAdmin: true, Nickname: account.Nickname})
}
