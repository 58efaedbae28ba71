package oauth

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/server/rest"
	"svc/server/web"
	"svc/social"
	"svc/store"
)

// authorizeParams are the parameters of an authorization request, and of the answer of a user. They may be nested in
// authorization[…].
type authorizeParams struct {
	ClientID        string   `param:"client_id"`
	RedirectURI     string   `param:"redirect_uri"`
	ResponseType    string   `param:"response_type"`
	Scope           []string `param:"scope"`
	Scopes          []string `param:"scopes"`
	State           *string  `param:"state"`
	Challenge       string   `param:"code_challenge"`
	ChallengeMethod string   `param:"code_challenge_method"`
	Name            string   `param:"name"`
	Password        string   `param:"password"`
}

// Parameters that the forms of the pages add.
const (
	decisionParam = "decision"
	approve       = "approve"
	deny          = "deny"
	consentParam  = "consent"
	askConsent    = "ask" // ask for consent after signing in; a program that posts name and password consents thereby
)

// SwitchAccount is the decision to sign out and sign in to another account.
const SwitchAccount = "switch"

// wrongPasswordMessage is shown after a wrong name or password.
const wrongPasswordMessage = "Invalid Username/Password"

var challengePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// authorization is a validated authorization request of an app.
type authorization struct {
	issuer    string // of the server, as in its metadata
	app       *store.App
	redirect  string // registered by the app
	given     bool   // the request named the redirect URI
	scopes    store.Scopes
	state     *string // nil: absent
	challenge string
}

// bindAuthorization binds and validates an authorization request. A wrong app or redirect URI is an error for the user, because
// nobody may be redirected to a URI that is not the app's. refused is the redirect that tells the app of any other error.
func (s *Service) bindAuthorization(r *rest.Request) (z *authorization, p authorizeParams, refused any, err error) {
	var nested struct {
		In authorizeParams `param:"authorization"`
	}
	if err = r.Bind(&p); err == nil {
		err = r.Bind(&nested)
	}
	if err != nil {
		return nil, p, nil, err
	}
	p.merge(&nested.In)
	a, err := s.DB.AppByClientID(r.Context(), p.ClientID)
	if err != nil {
		return nil, p, nil, err
	}
	if a == nil {
		return nil, p, nil, errs.BadRequest("This server does not know the app that sent you here. Start again from the app.")
	}
	repeated, err := r.Repeated()
	switch {
	case err != nil:
		return nil, p, nil, err
	case repeated == "client_id" || repeated == "redirect_uri":
		return nil, p, nil, errs.BadRequest("The app has sent two values for %s. Start again from the app.", repeated)
	}
	z = &authorization{issuer: s.Settings.BaseURL, app: a, redirect: p.RedirectURI, given: p.RedirectURI != "", state: p.State, challenge: p.Challenge}
	registered := a.Redirects()
	if z.redirect == "" && len(registered) == 1 {
		z.redirect = registered[0]
	}
	if !slices.Contains(registered, z.redirect) {
		return nil, p, nil, errs.BadRequest("The app has not registered the address to which it wants to send you. Start again from the app.")
	}
	z.scopes = parseScopes(slices.Concat(p.Scope, p.Scopes))
	_, scopeErr := grantableScopes(a, z.scopes, &store.User{IsAdmin: true}) // the user is not known yet
	switch {
	case repeated != "":
		refused, err = z.refuse("invalid_request", "The app has sent two values for "+repeated+".")
	case p.ResponseType != "code":
		refused, err = z.refuse("unsupported_response_type", "The app asks for a response type that this server does not support.")
	case p.Challenge != "" && (p.ChallengeMethod != "S256" || !challengePattern.MatchString(p.Challenge)):
		refused, err = z.refuse("invalid_request", "The app must use the code challenge method S256.")
	case scopeErr != nil:
		refused, err = z.refuse("invalid_scope", "The app asks for permissions that it has not registered.")
	}
	return z, p, refused, err
}

// merge takes over the nested parameters.
func (p *authorizeParams) merge(in *authorizeParams) {
	for _, f := range []struct{ to, from *string }{
		{&p.ClientID, &in.ClientID}, {&p.RedirectURI, &in.RedirectURI}, {&p.ResponseType, &in.ResponseType},
		{&p.Challenge, &in.Challenge}, {&p.ChallengeMethod, &in.ChallengeMethod}, {&p.Name, &in.Name}, {&p.Password, &in.Password},
	} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	p.Scope = slices.Concat(p.Scope, in.Scope, in.Scopes)
	if in.State != nil {
		p.State = in.State
	}
}

// refuse redirects to the app with an error (RFC 6749 4.1.2.1), or returns it for the user if the app has no redirect URI.
func (z *authorization) refuse(code, description string) (any, error) {
	if z.redirect == social.OutOfBand {
		return nil, errs.BadRequest("%s", description)
	}
	return z.redirectBack("error", code, "error_description", description), nil
}

// redirectBack redirects to the app with parameters, with its state, and with the issuer, so that an app of several servers does not send the
// code of one to another (RFC 9207).
func (z *authorization) redirectBack(pairs ...string) rest.Redirect {
	if z.state != nil {
		pairs = append(pairs, "state", *z.state)
	}
	pairs = append(pairs, "iss", z.issuer)
	to := z.redirect
	for i := 0; i < len(pairs); i += 2 {
		separator := "?"
		if strings.Contains(to, "?") {
			separator = "&"
		}
		to += separator + pairs[i] + "=" + url.QueryEscape(pairs[i+1])
	}
	return rest.Redirect(to)
}

// formFields are hidden fields that carry the request through the forms of the pages.
func (z *authorization) formFields(more ...web.Field) []web.Field {
	fields := []web.Field{
		{Name: "client_id", Value: z.app.ClientID},
		{Name: "response_type", Value: "code"},
		{Name: "scope", Value: z.scopes.String()},
	}
	if z.given {
		fields = append(fields, web.Field{Name: "redirect_uri", Value: z.redirect})
	}
	if z.state != nil {
		fields = append(fields, web.Field{Name: "state", Value: *z.state})
	}
	if z.challenge != "" {
		fields = append(fields, web.Field{Name: "code_challenge", Value: z.challenge}, web.Field{Name: "code_challenge_method", Value: "S256"})
	}
	return append(fields, more...)
}

func (z *authorization) appInfo() web.App { return web.App{Name: z.app.Name, Website: z.app.Website} }

// targetName returns the name of where the redirect leads.
func (z *authorization) targetName() string {
	u, err := url.Parse(z.redirect)
	switch {
	case z.redirect == social.OutOfBand:
		return ""
	case err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http"):
		return u.Host
	}
	return z.app.Name
}

// showAuthorize asks the user to sign in or, if the browser is signed in, to consent.
func (s *Service) showAuthorize(r *rest.Request) (any, error) {
	z, _, refused, err := s.bindAuthorization(r)
	if err != nil || refused != nil {
		return refused, err
	}
	var p struct {
		ForceLogin bool `param:"force_login"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	sess, err := s.Session(r)
	if err != nil {
		return nil, err
	}
	if sess == nil || p.ForceLogin {
		return s.loginPage(r, z, http.StatusOK, "", "")
	}
	return s.consentPage(r, z, sess.Account, sess.User, sess.token)
}

// authorize handles the forms of both pages.
func (s *Service) authorize(r *rest.Request) (any, error) {
	if !r.SameOrigin() { // programs that are not browsers send no origin
		return nil, rest.ErrCrossSite
	}
	z, p, refused, err := s.bindAuthorization(r)
	if err != nil || refused != nil {
		return refused, err
	}
	if p.Name != "" || p.Password != "" {
		return s.authorizeByPassword(r, z, p.Name, p.Password)
	}
	decision := r.Query(decisionParam)
	if decision == deny {
		if z.redirect == social.OutOfBand {
			return s.Notice(r, http.StatusOK, "consent.denied", "consent.denied_text")
		}
		return z.refuse("access_denied", "The account may not be used")
	}
	sess, err := s.Session(r)
	if err != nil {
		return nil, err
	}
	if sess == nil {
		return s.loginPage(r, z, http.StatusOK, "", s.Text(r, "sign_in.cookies"))
	}
	if err := s.CheckForm(r, sess); err != nil {
		return nil, err
	}
	switch decision {
	case approve:
		return s.issueCode(r, z, sess.Account, sess.User)
	case SwitchAccount:
		if err := s.EndSession(r, sess); err != nil {
			return nil, err
		}
		return s.loginPage(r, z, http.StatusOK, "", "")
	}
	return s.consentPage(r, z, sess.Account, sess.User, sess.token)
}

// authorizeByPassword checks name and password, then the second factor if there is one, and goes on to the consent of the user.
func (s *Service) authorizeByPassword(r *rest.Request, z *authorization, name, password string) (any, error) {
	user, err := s.signIn(r.Context(), name, password, r.Network())
	if err != nil {
		return nil, err
	}
	if user == nil {
		return s.loginPage(r, z, http.StatusUnauthorized, name, wrongPasswordMessage)
	}
	if problem := problemOf(user); problem != nil {
		return s.loginPage(r, z, http.StatusForbidden, name, problem.signInMessage)
	}
	needsConsent := r.Query(consentParam) == askConsent
	if !user.HasMFA() {
		return s.completeSignIn(r, z, user, needsConsent)
	}
	challenge, err := s.createChallenge(r, user, z.app, store.MFAPurpose{
		Scopes: z.scopes, Page: true, NeedsConsent: needsConsent, RedirectURI: z.redirect, RedirectGiven: z.given, State: z.state, CodeChallenge: z.challenge,
	})
	if errors.Is(err, errWrongPassword) {
		return s.loginPage(r, z, http.StatusUnauthorized, name, wrongPasswordMessage)
	}
	if err != nil {
		return nil, err
	}
	return s.challengePage(r, http.StatusOK, z, challenge, "")
}

// completeSignIn starts the session of an authenticated user and asks for consent, or issues the code.
func (s *Service) completeSignIn(r *rest.Request, z *authorization, user *store.User, consent bool) (any, error) {
	account, err := s.DB.Account(r.Context(), user.AccountID)
	if err != nil {
		return nil, err
	}
	token, err := s.startSession(r, user)
	if errors.Is(err, errWrongPassword) {
		return s.loginPage(r, z, http.StatusUnauthorized, "", wrongPasswordMessage)
	}
	if err != nil {
		return nil, err
	}
	if consent {
		return s.consentPage(r, z, account, user, token)
	}
	return s.issueCode(r, z, account, user)
}

func (s *Service) loginPage(r *rest.Request, z *authorization, status int, name, message string) (any, error) {
	query := make(url.Values)
	for _, f := range z.formFields() {
		query.Set(f.Name, f.Value)
	}
	app := z.appInfo()
	return s.Page(r, status, web.SignIn{
		App: &app, Action: "/oauth/authorize", Nested: true, HiddenFields: z.formFields(web.Field{Name: consentParam, Value: askConsent}),
		Nickname: name, Error: message, SignUpURL: s.SignUpURL("/oauth/authorize?" + query.Encode()),
	})
}

func (s *Service) consentPage(r *rest.Request, z *authorization, account *store.Account, user *store.User, session string) (any, error) {
	scopes, err := grantableScopes(z.app, z.scopes, user)
	if err != nil {
		return nil, errs.Forbidden("%s", rest.ErrScope.Message)
	}
	f := s.Frame(r)
	return s.Pages.Show(http.StatusOK, f, web.Consent{
		App: z.appInfo(), Acct: account.Acct(), Scopes: f.Messages.Scopes(scopes), Target: z.targetName(),
		HiddenFields: z.formFields(web.Field{Name: FormParam, Value: s.formToken(session)}),
	})
}

// issueCode issues a code for the account to the app.
func (s *Service) issueCode(r *rest.Request, z *authorization, account *store.Account, user *store.User) (any, error) {
	scopes, err := grantableScopes(z.app, z.scopes, user)
	if err != nil {
		return nil, errs.Forbidden("%s", rest.ErrScope.Message)
	}
	code := keys.NewToken()
	err = s.DB.Update(r.Context(), func(tx *store.Tx) error {
		if err := checkCredentialsUnchanged(r.Context(), tx, user); err != nil {
			return err
		}
		return tx.AddAuthorizationCode(r.Context(), &store.AuthorizationCode{
			Hash: keys.HashToken(code), AppID: z.app.ID, AccountID: account.ID, RedirectURI: z.redirect, RedirectGiven: z.given,
			Scopes: scopes, CodeChallenge: z.challenge,
		})
	})
	if errors.Is(err, errWrongPassword) {
		return s.loginPage(r, z, http.StatusUnauthorized, "", wrongPasswordMessage)
	}
	if err != nil {
		return nil, err
	}
	if z.redirect == social.OutOfBand {
		return s.Page(r, http.StatusOK, web.Code{App: z.appInfo(), Code: code})
	}
	return z.redirectBack("code", code), nil
}
