package oauth

import (
	"encoding/json"
	"errors"

	"svc/internal/errs"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// registrationRoutes register accounts by apps.
func (s *Service) registrationRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/accounts": {rest.App("write:accounts").Limit("registration"), s.register},
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
)

// register registers an account for the user of an app. It returns a token if the account is active at once.
func (s *Service) register(r *rest.Request) (any, error) {
	if r.Viewer != nil || r.Token == nil || r.Token.AppID == nil {
		return nil, errs.Forbidden("Invalid credentials")
	}
	var p struct {
		Username  string `param:"username"`
		Email     string `param:"email"`
		Password  string `param:"password"`
		Agreement bool   `param:"agreement"`
		Locale    string `param:"locale"`
		Language  string `param:"language"` // an alias
		Reason    string `param:"reason"`
		FullName  string `param:"fullname"`
		Bio       string `param:"bio"`
		Invite    string `param:"token"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if !s.Settings.Instance.RegistrationsOpen {
		if p.Invite == "" {
			return nil, errs.BadRequest("Expired token")
		}
		return nil, errs.BadRequest("Invalid token")
	}
	if !p.Agreement {
		return nil, registrationError(social.FieldErrors{{Field: "agreement", Code: "ERR_ACCEPTED", Message: "must be accepted"}})
	}
	if p.Locale == "" {
		p.Locale = p.Language
	}
	account, user, err := s.Social.SignUp(r.Context(), social.Registration{
		Nickname:  p.Username,
		Email:     p.Email,
		Password:  p.Password,
		Name:      p.FullName,
		Bio:       p.Bio,
		Reason:    p.Reason,
		Locale:    p.Locale,
		Confirmed: !s.Settings.Instance.AccountActivationRequired,
		Approved:  !s.Settings.Instance.AccountApprovalRequired,
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
	a, err := s.DB.App(r.Context(), *r.Token.AppID)
	if err != nil {
		return nil, err
	}
	scopes, err := grantableScopes(a, nil, user)
	if err != nil {
		return nil, err
	}
	answer, err := s.issueToken(r.Context(), a, account, scopes, func(tx *store.Tx, _ *store.Token) error {
		return s.Social.NoteSignIn(r.Context(), tx, user, r.ClientIP(), a.Name)
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
