package oauth

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/netip"

	"svc/internal/captcha"
	"svc/internal/errs"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// registrationRoutes register accounts by apps.
func (s *Service) registrationRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/accounts": {rest.App("write:accounts").Limit("registration").Secret().Answers("Token|object"), s.register},
	}
}

// registered is the answer for an account that is unconfirmed or pending approval.
type registered struct {
	Message    string `json:"message"`
	Identifier string `json:"identifier"`
}

var (
	unconfirmedAccount = registered{"You have been registered. Please check your email for further instructions.", "missing_confirmed_email"}
	unapprovedAccount  = registered{"You have been registered. You'll be able to log in once your account is approved.", "awaiting_approval"}
	signInByHand       = registered{"You have been registered. Please log in to continue.", "manual_login_required"}
)

// registrationForm are the parameters of a registration.
type registrationForm struct {
	Username    string `param:"username"`
	Email       string `param:"email"`
	Password    string `param:"password"`
	Agreement   bool   `param:"agreement"`
	Locale      string `param:"locale"`
	Language    string `param:"language"` // an alias
	Reason      string `param:"reason"`
	FullName    string `param:"fullname"`
	Bio         string `param:"bio"`
	Birthday    string `param:"birthday"`
	DateOfBirth string `param:"date_of_birth"` // the same in the client API
	Invite      string `param:"token"`

	CaptchaSolution   *string `param:"captcha_solution"`
	CaptchaToken      *string `param:"captcha_token"`
	CaptchaAnswerData *string `param:"captcha_answer_data"`
}

// register registers an account for the user of an app. It returns a token if the account is active at once.
func (s *Service) register(r *rest.Request) (any, error) {
	if r.Viewer != nil || r.Token == nil || r.Token.AppID == nil {
		return nil, errs.Forbidden("Invalid credentials")
	}
	var p registrationForm
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	a, err := s.DB.App(r.Context(), *r.Token.AppID)
	if err != nil {
		return nil, err
	}
	account, user, err := s.Social.SignUp(r.Context(), social.Registration{
		Nickname: p.Username,
		Email:    p.Email,
		Password: p.Password,
		Name:     p.FullName,
		Bio:      p.Bio,
		Reason:   p.Reason,
		Locale:   cmp.Or(p.Locale, p.Language),
		Birthday: cmp.Or(p.Birthday, p.DateOfBirth),
		Visitor: &social.Visitor{
			Agreement: p.Agreement, Invite: p.Invite, Trusted: a.Trusted, Address: clientNetwork(r),
			Captcha: captcha.Solution{Text: p.CaptchaSolution, Token: p.CaptchaToken, AnswerData: p.CaptchaAnswerData},
		},
	})
	var fieldErrors social.FieldErrors
	if errors.As(err, &fieldErrors) {
		return nil, registrationError(fieldErrors)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case user.ConfirmedAt == nil:
		return unconfirmedAccount, nil
	case user.ApprovedAt == nil:
		return unapprovedAccount, nil
	}
	return s.tokenForNewUser(r, a, account, user)
}

// clientNetwork returns the address of the client, which is not valid if it is that of a proxy.
func clientNetwork(r *rest.Request) netip.Addr {
	if r.FromProxy() {
		return netip.Addr{}
	}
	return r.ClientIP()
}

// tokenForNewUser issues a token with the scopes of the app. If the app has no scopes that a user may grant, the user has to sign in.
func (s *Service) tokenForNewUser(r *rest.Request, a *store.App, account *store.Account, user *store.User) (any, error) {
	scopes, err := grantableScopes(a, nil, user)
	if err != nil {
		return signInByHand, nil
	}
	answer, err := s.issueToken(r.Context(), a, account, scopes, func(tx *store.Tx, _ *store.Token) error {
		return s.Social.NoteLoginIn(r.Context(), tx, user, r.ClientIP(), a.Name)
	})
	if err != nil {
		return nil, err
	}
	setCookieIfSameOrigin(r, answer.AccessToken)
	return answer, nil
}

// fieldNames are the fields of the client API whose names differ in the extension API.
var fieldNames = map[string]string{
	"nickname":            "username",
	"name":                "fullname",
	"registration_reason": "reason",
	"birthday":            "date_of_birth",
}

// registrationError returns the errors in both forms that front ends read: as JSON in the error text, and as details.
func registrationError(fieldErrors social.FieldErrors) error {
	type detail struct {
		Error       string `json:"error"`
		Description string `json:"description"`
	}
	messages, details := make(map[string][]string), make(map[string][]detail)
	for _, f := range fieldErrors {
		messages[f.Field] = append(messages[f.Field], f.Message)
		name := f.Field
		if other := fieldNames[name]; other != "" {
			name = other
		}
		details[name] = append(details[name], detail{f.Code, f.Message})
	}
	text, err := json.Marshal(messages)
	if err != nil {
		return err
	}
	return errs.BadRequest("%s", text).With("details", details)
}
