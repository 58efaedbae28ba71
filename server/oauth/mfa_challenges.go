package oauth

import (
	"errors"
	"net/http"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
	"svc/social"
	"svc/store"
)

// challengeRoutes take the second factor after the password: one is for apps, the other for the page.
func (s *Service) challengeRoutes() rest.Routes {
	return rest.Routes{
		"POST /oauth/mfa/challenge": {rest.Anonymous.Secret().Answers("Token"), s.answerChallenge},
		"POST /oauth/mfa/verify":    {rest.Anonymous.HTML().Limit("authentication").Secret(), s.verifyChallenge},
	}
}

var errBadChallenge = errs.BadRequest("Invalid code")

// createChallenge records that the password was right, for an app or, if app is nil, a page of this server. It returns the token
// with which the second factor is sent.
func (s *Service) createChallenge(r *rest.Request, user *store.User, a *store.App, purpose store.MFAPurpose) (token string, err error) {
	token = keys.NewToken()
	c := &store.MFAChallenge{Hash: keys.HashToken(token), AccountID: user.AccountID}
	if a != nil {
		c.AppID = &a.ID
	}
	c.Purpose.V = purpose
	err = s.DB.Update(r.Context(), func(tx *store.Tx) error {
		if err := checkCredentialsUnchanged(r.Context(), tx, user); err != nil {
			return err
		}
		return tx.AddMFAChallenge(r.Context(), c)
	})
	return token, err
}

// mfaRequired is the answer to an app that sent the right password.
func mfaRequired(token string) error {
	return errs.Forbidden("mfa_required").With("mfa_token", token).With("supported_challenge_types", "totp,recovery")
}

// completeChallenge deletes a challenge if the second factor is right, and returns its user. Wrong codes count like wrong passwords.
// Every failure is errBadChallenge.
func (s *Service) completeChallenge(r *rest.Request, token string, page bool, kind social.SecondFactor, code string) (*store.User, error) {
	hash := keys.HashToken(token)
	c, err := s.DB.MFAChallenge(r.Context(), hash)
	if err != nil {
		return nil, err
	}
	if c == nil || c.Purpose.V.Page != page {
		return nil, errBadChallenge
	}
	refund, err := s.loginLimits.secondFactor(c.AccountID, r.Network()).reserve(r.Context())
	if err != nil {
		return nil, err
	}
	user, err := s.Social.VerifyMFAChallenge(r.Context(), hash, kind, code)
	if errors.Is(err, social.ErrSecondFactor) {
		return nil, errBadChallenge
	}
	refund()
	if err != nil {
		return nil, err
	}
	if problem := problemOf(user); problem != nil {
		return nil, problem.signInError()
	}
	return user, nil
}

// answerChallenge issues a token to an app that sent a password before.
func (s *Service) answerChallenge(r *rest.Request) (any, error) {
	r.ResponseHeader().Set("Cache-Control", "no-store")
	r.ResponseHeader().Set("Pragma", "no-cache")
	var p struct {
		ClientID     string              `param:"client_id"`
		ClientSecret string              `param:"client_secret"`
		Token        string              `param:"mfa_token"`
		Type         social.SecondFactor `param:"challenge_type"`
		Code         string              `param:"code"`
	}
	if err := checkRepeated(r); err != nil {
		return nil, err
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	a, err := s.client(r, p.ClientID, p.ClientSecret)
	if err != nil {
		return nil, err
	}
	c, err := s.DB.MFAChallenge(r.Context(), keys.HashToken(p.Token))
	if err != nil {
		return nil, err
	}
	if c == nil || c.AppID == nil || *c.AppID != a.ID {
		return nil, errBadChallenge
	}
	user, err := s.completeChallenge(r, p.Token, false, p.Type, p.Code)
	if err != nil {
		return nil, err
	}
	answer, err := s.issueTokenFor(r, a, user, c.Purpose.V.Scopes)
	if err != nil {
		return nil, err
	}
	setCookieIfSameOrigin(r, answer.AccessToken)
	return answer, nil
}

// issueTokenFor issues a token for an authenticated user.
func (s *Service) issueTokenFor(r *rest.Request, a *store.App, user *store.User, scopes store.Scopes) (*entity.Token, error) {
	account, err := s.DB.Account(r.Context(), user.AccountID)
	if err != nil {
		return nil, err
	}
	return s.issueToken(r.Context(), a, account, scopes, func(tx *store.Tx, _ *store.Token) error {
		if err := checkCredentialsUnchanged(r.Context(), tx, user); err != nil {
			return err
		}
		return s.Social.NoteLoginIn(r.Context(), tx, user, r.ClientIP(), a.Name)
	})
}

// challengePage asks for the second factor. z is nil for a page of this server.
func (s *Service) challengePage(r *rest.Request, status int, z *authorization, token, message string) (any, error) {
	app := web.App{Name: s.Settings.Load().Instance.Name}
	if z != nil {
		app = z.appInfo()
	}
	return s.Page(r, status, web.Challenge{App: app, Token: token, Error: message})
}

// verifyChallenge takes the second factor from the page, and completes the authorization of an app or the sign-in to a page.
func (s *Service) verifyChallenge(r *rest.Request) (any, error) {
	if !r.SameOrigin() {
		return nil, rest.ErrCrossSite
	}
	var p struct {
		MFA struct {
			Token string              `param:"mfa_token"`
			Type  social.SecondFactor `param:"challenge_type"`
			Code  string              `param:"code"`
		} `param:"mfa"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	c, err := s.DB.MFAChallenge(r.Context(), keys.HashToken(p.MFA.Token))
	if err != nil {
		return nil, err
	}
	if c == nil {
		return s.Notice(r, http.StatusUnauthorized, "challenge.failed", "challenge.restart")
	}
	z, err := s.pendingAuthorization(r, c)
	if err != nil {
		return nil, err
	}
	kind := p.MFA.Type
	if kind == "" { // the page accepts both
		kind = factorType(p.MFA.Code)
	}
	user, err := s.completeChallenge(r, p.MFA.Token, true, kind, p.MFA.Code)
	if errors.Is(err, errBadChallenge) {
		return s.challengePage(r, http.StatusUnauthorized, z, p.MFA.Token, s.Text(r, "challenge.failed"))
	}
	if err != nil {
		return nil, err
	}
	if z == nil {
		return s.finishSignIn(r, user, c.Purpose.V.Path)
	}
	return s.completeSignIn(r, z, user, c.Purpose.V.NeedsConsent)
}

// pendingAuthorization returns the authorization request of a challenge, nil if it is for a page of this server.
func (s *Service) pendingAuthorization(r *rest.Request, c *store.MFAChallenge) (*authorization, error) {
	if c.AppID == nil {
		return nil, nil
	}
	apps, err := s.DB.Apps(r.Context(), []store.AppID{*c.AppID})
	if err == nil && len(apps) == 0 {
		err = errBadChallenge
	}
	if err != nil {
		return nil, err
	}
	p := c.Purpose.V
	return &authorization{issuer: s.Settings.BaseURL, app: apps[0], redirect: p.RedirectURI, given: p.RedirectGiven, scopes: p.Scopes, state: p.State, challenge: p.CodeChallenge}, nil
}

// factorType returns the type of a code: TOTP codes are digits.
func factorType(code string) social.SecondFactor {
	for _, c := range code {
		if c != ' ' && (c < '0' || c > '9') {
			return social.Recovery
		}
	}
	return social.TOTP
}
