package oauth

import (
	"net/url"

	"svc/internal/errs"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// mfaRoutes set up a second factor. Its use is in mfa_challenges.go.
func (s *Service) mfaRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/accounts/mfa":                  {rest.User("read:security").Answers("object"), s.showMFA},
		"GET /api/v1/svc/accounts/mfa/setup/:method":    {rest.User("write:security").Changing().Secret().Answers("object"), s.setUpMFA},
		"POST /api/v1/svc/accounts/mfa/confirm/:method": {rest.User("write:security").Secret().Answers("any"), s.confirmMFA},
		"DELETE /api/v1/svc/accounts/mfa/:method":       {rest.User("write:security").Answers("any"), s.disableMFA},
		"GET /api/v1/svc/accounts/mfa/backup_codes":     {rest.User("write:security").Changing().Secret().Answers("object"), s.newBackupCodes},
	}
}

// mfaSettings are rendered at two levels: that of the spec, and the one that front ends read.
type mfaSettings struct {
	Enabled  bool         `json:"enabled"`
	TOTP     bool         `json:"totp"`
	Settings *mfaSettings `json:"settings,omitempty"`
}

// showMFA returns whether the viewer has a second factor.
func (s *Service) showMFA(r *rest.Request) (any, error) {
	is := r.User.HasMFA()
	return mfaSettings{is, is, &mfaSettings{Enabled: is, TOTP: is}}, nil
}

// setUpMFA returns a new secret for an authenticator app.
func (s *Service) setUpMFA(r *rest.Request) (any, error) {
	if r.Param("method") != string(social.TOTP) {
		return nil, errs.BadRequest("undefined method")
	}
	key, err := s.Social.SetUpTOTP(r.Context(), r.Viewer.ID)
	if err != nil {
		return nil, err
	}
	name := r.User.Email
	if name == "" {
		name = r.Viewer.Nickname
	}
	r.ResponseHeader().Set("Cache-Control", "no-store")
	uri := url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + name, RawQuery: url.Values{
		"secret": {key}, "issuer": {s.Settings.Load().Instance.Name}, "digits": {"6"}, "period": {"30"},
	}.Encode()}
	return struct {
		Key             string `json:"key"`
		ProvisioningURI string `json:"provisioning_uri"`
	}{key, uri.String()}, nil
}

// confirmMFA enables the second factor. It revokes all other tokens of the account.
func (s *Service) confirmMFA(r *rest.Request) (any, error) {
	var p struct {
		Password string `param:"password"`
		Code     string `param:"code"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if r.Param("method") != string(social.TOTP) || p.Password == "" || p.Code == "" {
		return nil, errs.BadRequest("undefined mfa method")
	}
	if err := s.requirePassword(r, p.Password); err != nil {
		return nil, err
	}
	return nil, s.Social.ConfirmTOTP(r.Context(), r.Viewer.ID, p.Code, tokenID(r))
}

// disableMFA disables the second factor. It revokes all other tokens of the account.
func (s *Service) disableMFA(r *rest.Request) (any, error) {
	if method := r.Param("method"); method != string(social.TOTP) && method != "mfa" {
		return nil, errs.BadRequest("undefined mfa method")
	}
	if err := s.requirePassword(r, r.Query("password")); err != nil {
		return nil, err
	}
	return nil, s.Social.DisableMFA(r.Context(), r.Viewer.ID, tokenID(r))
}

// newBackupCodes returns new backup codes. They are not shown again.
func (s *Service) newBackupCodes(r *rest.Request) (any, error) {
	codes, err := s.Social.NewBackupCodes(r.Context(), r.Viewer.ID)
	if err != nil {
		return nil, err
	}
	r.ResponseHeader().Set("Cache-Control", "no-store")
	return map[string][]string{"codes": codes}, nil
}

// tokenID returns the id of the request's token, 0 for a password.
func tokenID(r *rest.Request) store.TokenID {
	if r.Token == nil {
		return 0
	}
	return r.Token.ID
}

// requirePassword fails unless the password is the viewer's.
func (s *Service) requirePassword(r *rest.Request, password string) error {
	ok, err := s.CheckPassword(r, password)
	if err == nil && !ok {
		err = errs.Invalid("Invalid password.")
	}
	return err
}
