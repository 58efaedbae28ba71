package oauth

import (
	"errors"
	"net/http"

	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
	"svc/social"
)

// passwordRoutes change a password, or reset a forgotten one by a link.
func (s *Service) passwordRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/svc/change_password":      {rest.User("write:accounts").Answers("Done|Error"), s.changePassword},
		"GET /api/v1/svc/password_reset/:token": {rest.Anonymous.HTML().Secret(), s.showPasswordReset},
		"POST /api/v1/svc/password_reset":       {rest.Anonymous.HTML().Limit("password_reset").Secret(), s.resetPassword},
	}
}

// changePassword changes the password, and revokes all tokens of the account.
func (s *Service) changePassword(r *rest.Request) (any, error) {
	var p struct {
		Password string `param:"password"`
		New      string `param:"new_password"`
		Again    string `param:"new_password_confirmation"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.New != p.Again {
		return entity.Failure("New password does not match confirmation."), nil
	}
	ok, err := s.CheckPassword(r, p.Password)
	if err != nil {
		return nil, err
	}
	if !ok {
		return entity.Failure("Invalid password."), nil
	}
	if err := s.Social.CheckPassword(p.New, r.Viewer.Nickname, r.User.Email); err != nil {
		return entity.Failure("New password " + err.Error() + "."), nil
	}
	err = s.Social.ChangePassword(r.Context(), r.Viewer, r.User, p.New)
	if errors.Is(err, social.ErrPasswordChanged) {
		return entity.Failure("Invalid password."), nil
	}
	if err != nil {
		return nil, err
	}
	if r.SessionCookie() != "" {
		clearSessionCookie(r)
	}
	return entity.Success, nil
}

// showPasswordReset asks for a new password. The page of an invalid link has status 200, too (extension API 7).
func (s *Service) showPasswordReset(r *rest.Request) (any, error) {
	return s.passwordPage(r, r.Param("token"), "")
}

func (s *Service) passwordPage(r *rest.Request, token, message string) (any, error) {
	account, _, err := s.Social.PasswordResetAccount(r.Context(), token)
	if errors.Is(err, social.ErrResetToken) {
		return s.Notice(r, http.StatusOK, "password.invalid", "password.invalid_text", "password.invalid_hint")
	}
	if err != nil {
		return nil, err
	}
	action := "/api/v1/" + s.Settings.Load().API.Name + "/password_reset"
	return s.Page(r, http.StatusOK, web.NewPassword{Action: action, Token: token, Nickname: account.Nickname, Error: message})
}

// resetPassword sets the password from the page.
func (s *Service) resetPassword(r *rest.Request) (any, error) {
	var p struct {
		Data struct {
			Token    string `param:"token"`
			Password string `param:"password"`
			Again    string `param:"password_confirmation"`
		} `param:"data"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.Data.Password != p.Data.Again {
		return s.passwordPage(r, p.Data.Token, s.Text(r, "password.different"))
	}
	account, user, err := s.Social.PasswordResetAccount(r.Context(), p.Data.Token)
	if err == nil {
		if err := s.Social.CheckPassword(p.Data.Password, account.Nickname, user.Email); err != nil {
			return s.passwordPage(r, p.Data.Token, "Password reset failed: the password "+err.Error()+".")
		}
		err = s.Social.ResetPassword(r.Context(), p.Data.Token, p.Data.Password)
	}
	if errors.Is(err, social.ErrResetToken) {
		return s.Notice(r, http.StatusOK, "password.failed", "password.invalid_text")
	}
	if err != nil {
		return nil, err
	}
	return s.Notice(r, http.StatusOK, "password.changed", "password.changed_text")
}
