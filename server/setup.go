package server

import (
	"crypto/hmac"
	"encoding/base64"
	"errors"
	"net/http"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/keys"
	"svc/server/rest"
	"svc/server/web"
	"svc/social"
)

// setupRoutes are the page on which the first administrator makes an account. Only who runs the server knows its address.
func (s *Server) setupRoutes() rest.Routes {
	return rest.Routes{
		"GET /setup/:token":  {rest.Anonymous.HTML(), s.showSetup},
		"POST /setup/:token": {rest.Anonymous.HTML().Limit("authentication"), s.setup},
	}
}

// SetupURL returns the address of the set-up page. It leads nowhere once there is an administrator.
func SetupURL(c *config.Config, k *keys.Keys) string { return c.URL().String() + setupPath(k) }

func setupPath(k *keys.Keys) string {
	return "/setup/" + base64.RawURLEncoding.EncodeToString(k.Secret("set-up page"))
}

var errSetupDone = errs.New(http.StatusGone, "This link has done its work: the server has an administrator.")

// checkSetup checks the address, and whether there is anything to set up.
func (s *Server) checkSetup(r *rest.Request) error {
	if !hmac.Equal([]byte("/setup/"+r.Param("token")), []byte(setupPath(s.keys))) {
		return errs.NotFound("There is no page at this address.")
	}
	has, err := s.db.HasAdmin(r.Context())
	if err == nil && has {
		err = errSetupDone
	}
	return err
}

// showSetup asks for the account of the first administrator.
func (s *Server) showSetup(r *rest.Request) (any, error) {
	if err := s.checkSetup(r); err != nil {
		return nil, err
	}
	return s.pages.Page(http.StatusOK, web.Setup{Action: setupPath(s.keys)})
}

// setup makes the account of the first administrator, and signs the browser in to it.
func (s *Server) setup(r *rest.Request) (any, error) {
	if !r.SameOrigin() {
		return nil, rest.ErrCrossSite
	}
	if err := s.checkSetup(r); err != nil {
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
	again := web.Setup{Action: setupPath(s.keys), Nickname: p.Nickname, Email: p.Email, Faults: make(map[string][]string)}
	if p.Password != p.Again {
		again.Faults["password_confirmation"] = []string{"is not the same as the first"}
		return s.pages.Page(http.StatusUnprocessableEntity, again)
	}
	account, user, err := s.social.SignUp(r.Context(), social.Registration{
		Nickname: p.Nickname, Email: p.Email, Password: p.Password,
		Admin: true, Confirmed: true, Approved: true, FirstAdmin: true,
	})
	var faults social.FieldErrors
	switch {
	case errors.As(err, &faults):
		for _, f := range faults {
			again.Faults[f.Field] = append(again.Faults[f.Field], f.Message)
		}
		return s.pages.Page(http.StatusUnprocessableEntity, again)
	case errors.Is(err, social.ErrHasAdmin):
		return nil, errSetupDone
	case err != nil:
		return nil, err
	}
	if err := s.oauth.StartSession(r, user); err != nil {
		return nil, err
	}
	return s.pages.Page(http.StatusOK, web.Welcome{Nickname: account.Nickname})
}
