package oauth

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"svc/internal/captcha"
	"svc/server/rest"
	"svc/server/web"
	"svc/social"
	"svc/store"
)

// signUpRoutes are the pages on which visitors register in a browser, with the rules of registrations by apps.
func (s *Service) signUpRoutes() rest.Routes {
	return rest.Routes{
		"GET " + signUpPath:        {rest.Anonymous.HTML().Secret(), s.showSignUp},
		"POST " + signUpPath:       {rest.Anonymous.HTML().Limit("registration").Secret(), s.signUp},
		"GET /registration/:token": {rest.Anonymous.HTML().Secret(), s.showSignUp},
	}
}

const signUpPath = "/auth/sign_up"

// signUpForm is the form of the page.
type signUpForm struct {
	Nickname  string  `param:"nickname"`
	Email     string  `param:"email"`
	Password  string  `param:"password"`
	Again     string  `param:"password_confirmation"`
	Reason    string  `param:"reason"`
	Birthday  string  `param:"birthday"`
	Agreement bool    `param:"agreement"`
	Invite    string  `param:"token"`
	Continue  string  `param:"continue"` // where to go after the registration
	Solution  *string `param:"captcha_solution"`
	Token     *string `param:"captcha_token"`
	Data      *string `param:"captcha_answer_data"`
}

// SignUpURL returns the path of the page if registration is open, else "". to is a path of this server to continue at, or "".
func (s *Service) SignUpURL(to string) string {
	if !s.Settings.Load().Instance.RegistrationsOpen {
		return ""
	}
	if to == "" {
		return signUpPath
	}
	return signUpPath + "?continue=" + url.QueryEscape(to)
}

// continuation returns a path of this server to continue at, "" if it is not one that links to the page.
func continuation(path string) string {
	if strings.HasPrefix(path, "/oauth/authorize?") {
		return path
	}
	return ""
}

// showSignUp shows the form. An invite is in the path.
func (s *Service) showSignUp(r *rest.Request) (any, error) {
	var f signUpForm
	if err := r.Bind(&f); err != nil {
		return nil, err
	}
	if token := r.Param("token"); token != "" {
		f.Invite = token
	}
	if err := s.Social.CheckRegistrationOpen(r.Context(), f.Invite); err != nil {
		return s.registrationClosed(r, err, f.Invite)
	}
	f.Password, f.Again = "", ""
	return s.signUpPage(r, http.StatusOK, &f, nil)
}

// registrationClosed explains why the visitor cannot register.
func (s *Service) registrationClosed(r *rest.Request, err error, invite string) (any, error) {
	title, text := "sign_up.closed", "sign_up.closed_text"
	switch {
	case !errors.Is(err, social.ErrInviteExpired) && !errors.Is(err, social.ErrInviteUnknown):
		return nil, err
	case invite != "":
		title, text = "sign_up.bad_invite", "sign_up.bad_invite_text"
	case s.Settings.Load().Instance.InvitesEnabled:
		text = "sign_up.by_invitation"
	}
	return s.Notice(r, http.StatusForbidden, title, text)
}

// signUp registers an account and signs the browser in, if the account needs neither confirmation nor approval.
func (s *Service) signUp(r *rest.Request) (any, error) {
	if !r.SameOrigin() {
		return nil, rest.ErrCrossSite
	}
	var f signUpForm
	if err := r.Bind(&f); err != nil {
		return nil, err
	}
	if f.Solution != nil {
		*f.Solution = strings.TrimSpace(*f.Solution)
	}
	account, user, err := s.Social.SignUp(r.Context(), social.Registration{
		Nickname: f.Nickname, Email: f.Email, Password: f.Password, Reason: f.Reason, Birthday: f.Birthday, Locale: s.browserLanguage(r),
		Visitor: &social.Visitor{
			Agreement: f.Agreement, PasswordAgain: &f.Again, Invite: f.Invite, Address: clientNetwork(r),
			Captcha: captcha.Solution{Text: f.Solution, Token: f.Token, AnswerData: f.Data},
		},
	})
	var faults social.FieldErrors
	switch {
	case errors.As(err, &faults):
		return s.signUpPage(r, http.StatusUnprocessableEntity, &f, faults)
	case err != nil:
		return s.registrationClosed(r, err, f.Invite)
	}
	return s.signedUp(r, account, user, continuation(f.Continue))
}

// signedUp answers a registration.
func (s *Service) signedUp(r *rest.Request, account *store.Account, user *store.User, to string) (any, error) {
	if !user.CanSignIn() {
		return s.Page(r, http.StatusOK, web.Registered{
			Nickname: account.Nickname, Email: user.Email, Unconfirmed: user.ConfirmedAt == nil, Unapproved: user.ApprovedAt == nil,
		})
	}
	if err := s.StartSession(r, user); err != nil {
		return nil, err
	}
	if to != "" {
		return rest.Redirect(s.Settings.BaseURL + to), nil
	}
	if s.Settings.Load().Web.Enabled {
		return rest.Redirect(web.WelcomePath), nil
	}
	return s.Page(r, http.StatusOK, web.Registered{Nickname: account.Nickname})
}

// browserLanguage returns the first language that the browser prefers, or the language of the page if that is another one than the standard:
// mail is in the language in which the form was read.
func (s *Service) browserLanguage(r *rest.Request) string {
	first, _, _ := strings.Cut(r.Header.Get("Accept-Language"), ",")
	first, _, _ = strings.Cut(first, ";")
	first = strings.TrimSpace(first)
	base, _, _ := strings.Cut(first, "-")
	if shown := s.Frame(r).Messages.Language; shown != web.StandardLanguage && shown != base {
		return shown
	}
	return first
}

// signUpPage shows the form.
func (s *Service) signUpPage(r *rest.Request, status int, f *signUpForm, faults social.FieldErrors) (any, error) {
	c := s.Settings.Load()
	page := web.SignUp{
		Action: signUpPath, Nickname: f.Nickname, Email: f.Email, Reason: f.Reason, Birthday: f.Birthday, Agreement: f.Agreement,
		EmailRequired: c.Instance.AccountActivationRequired, AskReason: c.Instance.AccountApprovalRequired, AskBirthday: c.Accounts.BirthdayRequired,
		MinAge: c.Accounts.BirthdayMinAge, Errors: SignUpErrors(faults),
	}
	if f.Invite != "" {
		page.HiddenFields = append(page.HiddenFields, web.Field{Name: "token", Value: f.Invite})
	}
	if to := continuation(f.Continue); to != "" {
		page.HiddenFields = append(page.HiddenFields, web.Field{Name: "continue", Value: to})
	}
	if err := s.addCaptcha(r, &page, f, faults); err != nil {
		return nil, err
	}
	return s.Page(r, status, page)
}

// addCaptcha adds a captcha to the page, if registrations need one. A captcha that the visitor has solved stays, because a refused
// registration does not use it up.
func (s *Service) addCaptcha(r *rest.Request, page *web.SignUp, f *signUpForm, faults social.FieldErrors) error {
	wrong := func(e social.FieldError) bool { return e.Field == "captcha" }
	if s.Social.Captcha() != nil && len(faults) > 0 && !slices.ContainsFunc(faults, wrong) {
		page.CaptchaSolved = true
		page.HiddenFields = append(page.HiddenFields, web.Field{Name: "captcha_token", Value: *f.Token},
			web.Field{Name: "captcha_answer_data", Value: *f.Data}, web.Field{Name: "captcha_solution", Value: *f.Solution})
		return nil
	}
	c, err := s.newCaptcha(r.Context())
	if c == nil || err != nil {
		return err
	}
	page.HiddenFields = append(page.HiddenFields, web.Field{Name: "captcha_token", Value: c.Token}, web.Field{Name: "captcha_answer_data", Value: c.AnswerData})
	page.Captcha = &web.Captcha{URL: template.URL(c.URL), Text: c.Text}
	return nil
}

// subjects begin the sentences of validation errors.
var subjects = map[string]string{
	"nickname": "The nickname", "email": "The e-mail address", "password": "The password", "password_confirmation": "The second password",
	"registration_reason": "The reason", "birthday": "The birthday", "agreement": "The agreement", "name": "The name", "bio": "The bio",
}

// SignUpErrors turns validation errors into sentences, in the order of the form.
func SignUpErrors(faults social.FieldErrors) []web.FormError {
	var list []web.FormError
	for _, f := range faults {
		text := subjects[f.Field] + " " + f.Message
		switch {
		case f.Field == "captcha":
			text = "The digits are not right, or the picture was too old: type those of the new one"
		case f.Message == "Invalid nickname":
			text = "The nickname is reserved"
		case f.Message == "Invalid email":
			text = "E-mail addresses of this provider cannot be used here"
		}
		list = append(list, web.FormError{Field: f.Field, Text: text})
	}
	position := func(e web.FormError) int { return slices.Index(web.SignUpFields, e.Field) }
	slices.SortStableFunc(list, func(a, b web.FormError) int { return position(a) - position(b) })
	return list
}
