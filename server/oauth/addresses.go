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
		"POST /api/v1/svc/accounts/confirmation_resend":  {rest.Anonymous.Limit("password_reset"), s.requestMail(store.MailConfirmation)},
		"GET " + forgotPath:                              {rest.Anonymous.HTML(), s.showForgotPassword},
		"POST " + forgotPath:                             {rest.Anonymous.HTML().Limit("password_reset"), s.forgotPassword},
		"GET /api/account/confirm_email/:user_id/:token": {rest.Anonymous.HTML(), s.confirmAddress},
		"GET " + confirmedPath:                           {rest.Anonymous.HTML(), s.showConfirmed},
		"POST /api/v1/svc/change_email":                  {rest.User("write:accounts"), s.changeEmail},
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
func (s *Service) showForgotPassword(*rest.Request) (any, error) {
	if !s.Settings.Load().Mail.Enabled {
		return s.Pages.Page(http.StatusOK, web.Message{Title: "Forgot password?", Paragraphs: []string{
			"This server sends no mail. Ask its administrators for a link to set a new password."}})
	}
	return s.Pages.Page(http.StatusOK, web.ForgotPassword{Action: forgotPath})
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
		return s.Pages.Page(http.StatusUnprocessableEntity, web.ForgotPassword{Action: forgotPath, Error: "Enter your nickname or your e-mail address."})
	}
	if err := s.Social.RequestMail(r.Context(), store.MailPasswordReset, p.Name); err != nil {
		return nil, err
	}
	return s.Pages.Page(http.StatusOK, web.Message{Title: "Check your mail", Paragraphs: []string{
		"If there is an account with this name or address, a mail with a link to set a new password is on its way.",
		"It can take some minutes. Look into the folder for junk mail, too."}})
}

// confirmAddress confirms the address that a link was sent to, and redirects, so that reloading the page does not use the link again.
func (s *Service) confirmAddress(r *rest.Request) (any, error) {
	if r.Method == http.MethodHead { // a program that checks links
		return rest.NoContent, nil
	}
	confirmed, err := s.Social.ConfirmAddress(r.Context(), store.ParseID[store.AccountID](r.Param("user_id")), r.Param("token"))
	if errors.Is(err, social.ErrConfirmationToken) {
		return s.Pages.Page(http.StatusNotFound, web.Message{Title: "This link is not valid", Paragraphs: []string{
			"It was used already, is too old, or was replaced by a newer one.", "If you opened it before, your address is confirmed."}})
	}
	if err != nil {
		return nil, err
	}
	state := "active"
	switch {
	case confirmed.Changed:
		state = "changed"
	case confirmed.User.ApprovedAt == nil:
		state = "approval"
	}
	return rest.Redirect(s.baseURL + confirmedPath + "?state=" + state), nil
}

// confirmedTexts are the paragraphs after a confirmation, by what follows.
var confirmedTexts = map[string]string{
	"active":   "Your account is ready. Sign in with your app or your browser.",
	"approval": "The moderators look at your account now. You get a mail when they have decided.",
	"changed":  "This is the address of your account now.",
}

// showConfirmed tells that an address is confirmed.
func (s *Service) showConfirmed(r *rest.Request) (any, error) {
	m := web.Message{Title: "Address confirmed"}
	if text := confirmedTexts[r.Query("state")]; text != "" {
		m.Paragraphs = []string{text}
	}
	return s.Pages.Page(http.StatusOK, m)
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
