package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/netip"

	"svc/internal/errs"
	"svc/server/rest"
	"svc/store"
)

// accountProblem is why an account is unavailable.
type accountProblem struct {
	identifier    string // for programs
	signInMessage string // for signing in
	tokenMessage  string // for requests with a token
}

// problemOf returns why an account is unavailable, nil if it is available. The order is that of the extension API (4.4).
func problemOf(u *store.User) *accountProblem {
	switch {
	case u.DeactivatedAt != nil:
		return &accountProblem{"account_is_disabled", "Your account is currently disabled", "Your login is currently disabled"}
	case u.ResetRequired:
		return &accountProblem{"password_reset_required", "Password reset is required", "Password reset is required"}
	case u.ApprovedAt == nil:
		return &accountProblem{"awaiting_approval", "Your account is awaiting approval.", "Your login is currently pending approval"}
	case u.ConfirmedAt == nil:
		return &accountProblem{"missing_confirmed_email", "Your login is missing a confirmed e-mail address",
			"Your login is missing a confirmed e-mail address"}
	}
	return nil
}

// signInError is the error of signing in to the account.
func (p *accountProblem) signInError() *errs.Error {
	return errs.Forbidden("%s", p.signInMessage).With("identifier", p.identifier)
}

// tokenError is the error of requests with a token of the account.
func (p *accountProblem) tokenError() *errs.Error {
	return errs.Forbidden("%s", p.tokenMessage).With("identifier", p.identifier)
}

// signIn returns the user of a nickname or e-mail address and a password, also of an unavailable account; nil if they are wrong. It
// takes as long for an unknown name as for a wrong password. After too many failures it fails without checking, or takes longer.
func (s *Service) signIn(ctx context.Context, name, password string, from netip.Addr) (*store.User, error) {
	user, err := s.Social.UserByLogin(ctx, name)
	if err != nil {
		return nil, err
	}
	hash := ""
	if user != nil {
		hash = user.PasswordHash
	}
	ok, newHash, err := s.checkPassword(ctx, s.loginLimits.password(user, name, from), hash, password)
	if !ok || err != nil {
		return nil, err
	}
	if newHash != "" {
		err = s.DB.Update(ctx, func(tx *store.Tx) error { return tx.RehashPassword(ctx, user.AccountID, hash, newHash) })
		user.PasswordHash = newHash
	}
	return user, err
}

// SignInPage signs the browser in by name and password, asking for a second factor if there is one, and redirects to a path of this
// server. retry shows the form again with a message.
func (s *Service) SignInPage(r *rest.Request, path, name, password string, retry func(status int, message string) (any, error)) (any, error) {
	user, err := s.signIn(r.Context(), name, password, r.Network())
	if err != nil {
		return nil, err
	}
	if user == nil {
		return retry(http.StatusUnauthorized, wrongPasswordMessage)
	}
	if problem := problemOf(user); problem != nil {
		return retry(http.StatusForbidden, problem.signInMessage)
	}
	if !user.HasMFA() {
		return s.finishSignIn(r, user, path)
	}
	challenge, err := s.createChallenge(r, user, nil, store.MFAPurpose{Page: true, Path: path})
	if errors.Is(err, errWrongPassword) {
		return retry(http.StatusUnauthorized, wrongPasswordMessage)
	}
	if err != nil {
		return nil, err
	}
	return s.challengePage(r, http.StatusOK, nil, challenge, "")
}

// finishSignIn starts the session of an authenticated user and redirects to a path of this server.
func (s *Service) finishSignIn(r *rest.Request, user *store.User, path string) (any, error) {
	if err := s.StartSession(r, user); err != nil {
		return nil, err
	}
	return rest.Redirect(s.Settings.BaseURL + path), nil
}

// checkCredentialsUnchanged fails if the password or the second factor of the user has changed since it was checked, or the account was
// deactivated. This revokes only the tokens that exist then, so none may be issued afterwards for the old state.
func checkCredentialsUnchanged(ctx context.Context, tx *store.Tx, checked *store.User) error {
	now, err := tx.User(ctx, checked.AccountID)
	if errs.IsNotFound(err) || err == nil && (now.PasswordHash != checked.PasswordHash || now.TOTPSecret != checked.TOTPSecret || now.DeactivatedAt != nil) {
		return errWrongPassword
	}
	return err
}

// CheckPassword returns true if the password is the viewer's. Failures count like those of signing in.
func (s *Service) CheckPassword(r *rest.Request, password string) (bool, error) {
	ok, _, err := s.checkPassword(r.Context(), s.loginLimits.confirmation(r.User, r.Network()), r.User.PasswordHash, password)
	return ok, err
}

// checkPassword waits for a slot and compares a password with its hash. newHash replaces an outdated hash.
func (s *Service) checkPassword(ctx context.Context, attempt loginAttempt, hash, password string) (ok bool, newHash string, err error) {
	for {
		admitted, err := attempt.admit(ctx)
		if err != nil {
			return false, "", err
		}
		checked, ok, newHash, err := s.checkAdmitted(ctx, admitted, hash, password)
		if checked || err != nil {
			return ok, newHash, err
		}
	}
}

// checkAdmitted does not check the password if the admission is not valid any more once there is a slot.
func (s *Service) checkAdmitted(ctx context.Context, admitted *admission, hash, password string) (checked, ok bool, newHash string, err error) {
	defer admitted.release()
	slot, err := s.passwords.Acquire(ctx)
	if err != nil {
		return false, false, "", err
	}
	defer slot.Release()
	if !admitted.valid() {
		return false, false, "", nil
	}
	ok, outdated := slot.Verify(hash, password)
	switch {
	case !ok:
		admitted.fail()
	case outdated:
		newHash = slot.Hash(password)
	}
	return true, ok, newHash, nil
}
