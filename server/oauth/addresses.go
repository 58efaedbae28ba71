package oauth

import (
	"errors"
	"net/http"
	"strings"

	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
	"svc/social"
	"svc/store"
)

// Paths of pages about mail addresses and passwords.
const (
	forgotPath    = "/auth/forgot_password"
	confirmedPath = "/auth/confirmed"
)

// addressRoutes change and confirm mail addresses, and send the mail for a forgotten password. What anonymous requests name is looked up by a
// job, so that neither the answer nor its time shows which accounts exist.
func (s *Service) addressRoutes() rest.Routes {
	return rest.Routes{
		"POST /auth/password":                            {rest.Anonymous.Limit("password_reset"), s.requestMail(store.MailPasswordReset)},
		"POST /api/v1/svc/accounts/confirmation_resend":  {rest.Anonymous.Limit("password_reset").Answers("204 nothing"), s.requestMail(store.MailConfirmation)},
		"GET " + forgotPath:                              {rest.Anonymous.HTML(), s.showForgotPassword},
		"POST " + forgotPath:                             {rest.Anonymous.HTML().Limit("password_reset"), s.forgotPassword},
		"GET /api/account/confirm_email/:user_id/:token": {rest.Anonymous.HTML(), s.confirmAddress},
		"GET " + confirmedPath:                           {rest.Anonymous.HTML(), s.showConfirmed},
		"POST /api/v1/emails/confirmations":              {rest.User("write:accounts").Limit("password_reset").Answers("empty"), s.resendAddressChange},
		"POST /api/v1/svc/change_email":                  {rest.User("write:accounts").Answers("Done|Error"), s.changeEmail},
	}
}

// requestMail returns a handler that asks for a mail to the user with an address or a nickname. It answers 204 in any case.
func (s *Service) requestMail(kind store.MailKind) rest.Handler {
	return func(r *rest.Request) (any, error) {
		var p struct {
			Email    string `param:"email"`
			Nickname string `param:"nickname"`
		}
		if err := r.Bind(&p); err != nil {
			return nil, err
		}
		login := p.Email
		if strings.TrimSpace(login) == "" {
			login = p.Nickname
		}
		return rest.NoContent, s.Social.RequestMail(r.Context(), kind, login)
	}
}

// showForgotPassword shows the form that asks for a password reset link.
func (s *Service) showForgotPassword(r *rest.Request) (any, error) {
	if !s.Settings.Load().Mail.Enabled {
		return s.Notice(r, http.StatusOK, "sign_in.forgot", "forgot.no_mail")
	}
	return s.Page(r, http.StatusOK, web.ForgotPassword{Action: forgotPath})
}

// forgotPassword sends a password reset link from the page.
func (s *Service) forgotPassword(r *rest.Request) (any, error) {
	if !r.SameOrigin() {
		return nil, rest.ErrCrossSite
	}
	var p struct {
		Name string `param:"name"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if strings.TrimSpace(p.Name) == "" {
		return s.Page(r, http.StatusUnprocessableEntity, web.ForgotPassword{Action: forgotPath, Error: s.Text(r, "forgot.empty")})
	}
	if err := s.Social.RequestMail(r.Context(), store.MailPasswordReset, p.Name); err != nil {
		return nil, err
	}
	return s.Notice(r, http.StatusOK, "forgot.sent", "forgot.sent_text", "forgot.sent_hint")
}

// confirmAddress confirms the address that a link was sent to, and redirects, so that reloading the page does not use the link again.
func (s *Service) confirmAddress(r *rest.Request) (any, error) {
	if r.Method == http.MethodHead { // a program that checks links
		return rest.NoContent, nil
	}
	confirmed, err := s.Social.ConfirmAddress(r.Context(), store.ParseID[store.AccountID](r.Param("user_id")), r.Param("token"))
	if errors.Is(err, social.ErrConfirmationToken) {
		return s.Notice(r, http.StatusNotFound, "confirmed.invalid", "confirmed.invalid_text", "confirmed.invalid_hint")
	}
	if err != nil {
		return nil, err
	}
	state := stateActive
	switch {
	case confirmed.Changed:
		state = stateChanged
	case confirmed.User.ApprovedAt == nil:
		state = stateApproval
	}
	return rest.Redirect(s.Settings.BaseURL + confirmedPath + "?state=" + state), nil
}

// What follows on the confirmation of an address: keys of the catalogue below "confirmed.".
const (
	stateActive   = "active"
	stateApproval = "approval"
	stateChanged  = "changed"
)

// showConfirmed tells that an address is confirmed.
func (s *Service) showConfirmed(r *rest.Request) (any, error) {
	switch state := r.Query("state"); state {
	case stateActive, stateApproval, stateChanged:
		return s.Notice(r, http.StatusOK, "confirmed.title", "confirmed."+state)
	}
	return s.Notice(r, http.StatusOK, "confirmed.title")
}

// changeEmail changes the address of the account, at once or after its confirmation.
func (s *Service) changeEmail(r *rest.Request) (any, error) {
	var p struct {
		Password *string `param:"password"`
		Email    *string `param:"email"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	switch {
	case p.Password == nil:
		return nil, errs.BadRequest("Missing field: password.")
	case p.Email == nil:
		return nil, errs.BadRequest("Missing field: email.")
	}
	ok, err := s.CheckPassword(r, *p.Password)
	if err != nil {
		return nil, err
	}
	if !ok {
		return entity.Failure("Invalid password."), nil
	}
	err = s.Social.ChangeEmail(r.Context(), r.User, *p.Email)
	var e *errs.Error
	if errors.As(err, &e) && e.Status < http.StatusInternalServerError {
		return entity.Failure(e.Message), nil
	}
	if err != nil {
		return nil, err
	}
	return entity.Success, nil
}

// errNotAwaiting is the reference's answer to users without an address that waits for confirmation. New accounts have no token before they
// confirm theirs: for them there is confirmation_resend.
var errNotAwaiting = errs.Forbidden("This method is only available while the e-mail is awaiting confirmation")

// resendAddressChange sends the mail that confirms the user's new address again.
func (s *Service) resendAddressChange(r *rest.Request) (any, error) {
	var p struct {
		Email string `param:"email"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if r.User.PendingEmail == "" {
		return nil, errNotAwaiting
	}
	if p.Email != "" && !strings.EqualFold(strings.TrimSpace(p.Email), r.User.PendingEmail) {
		return nil, errs.Invalid("Validation failed: Email is not the one that awaits confirmation, and another one needs the password")
	}
	sent, err := s.Social.ResendAddressChange(r.Context(), r.Viewer.ID)
	if err == nil && !sent {
		err = errNotAwaiting
	}
	return nil, err
}
