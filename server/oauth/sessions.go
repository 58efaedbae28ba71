package oauth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/server/rest"
	"svc/store"
)

// sessionLifetime is how long a browser stays signed in.
const sessionLifetime = 30 * 24 * time.Hour

// Session is a browser that is signed in to the server's own pages. Its token belongs to no app and may do what the user may.
type Session struct {
	rest.Identity
	token string
}

// Session returns the session of a browser, nil if it is not signed in. A cookie with the token of an app does not count: the app
// knows the token, and could use the pages to gain more scopes than it has.
func (s *Service) Session(r *rest.Request) (*Session, error) {
	token := r.SessionCookie()
	if token == "" {
		return nil, nil
	}
	id, err := s.IdentityByToken(r.Context(), token)
	var e *errs.Error
	if errors.As(err, &e) && e.Status == http.StatusForbidden { // the account is unavailable
		return nil, nil
	}
	if err != nil || id.Account == nil || id.Token.AppID != nil {
		return nil, err
	}
	return &Session{id, token}, nil
}

// StartSession signs the browser in to the server's own pages, and ends the session that it had.
func (s *Service) StartSession(r *rest.Request, user *store.User) error {
	_, err := s.startSession(r, user)
	return err
}

// startSession is StartSession. It returns the token in the cookie.
func (s *Service) startSession(r *rest.Request, user *store.User) (token string, err error) {
	token = keys.NewToken()
	scopes := store.Scopes{"read", "write", "follow", "push"}
	if user.Staff() {
		scopes = append(scopes, "admin")
	}
	expires := store.At(s.Now().Add(sessionLifetime))
	before, err := s.Session(r)
	if err != nil {
		return "", err
	}
	err = s.DB.Update(r.Context(), func(tx *store.Tx) error {
		if err := checkCredentialsUnchanged(r.Context(), tx, user); err != nil {
			return err
		}
		if err := s.Social.NoteLoginIn(r.Context(), tx, user, r.ClientIP(), ""); err != nil {
			return err
		}
		if before != nil {
			if err := tx.RevokeToken(r.Context(), before.Token.ID); err != nil {
				return err
			}
		}
		return tx.AddToken(r.Context(), &store.Token{
			Hash: keys.HashToken(token), AccountID: &user.AccountID, Scopes: scopes, ExpiresAt: &expires,
		})
	})
	if err == nil {
		setSessionCookie(r, token)
	}
	return token, err
}

// EndSession signs the browser out.
func (s *Service) EndSession(r *rest.Request, sess *Session) error {
	clearSessionCookie(r)
	return s.revokeToken(r.Context(), sess.Token.ID)
}

func (s *Service) revokeToken(ctx context.Context, id store.TokenID) error {
	return s.DB.Update(ctx, func(tx *store.Tx) error { return tx.RevokeToken(ctx, id) })
}

func setSessionCookie(r *rest.Request, token string) {
	r.SetSessionCookie(token, int(sessionLifetime.Seconds()))
}

func clearSessionCookie(r *rest.Request) { r.SetSessionCookie("", -1) }

// setCookieIfSameOrigin also gives the token that an app obtained to the browser as a session cookie, if the app is a front end that
// this server serves. A page of another site must not sign a browser in.
func setCookieIfSameOrigin(r *rest.Request, token string) {
	if r.SameOrigin() {
		setSessionCookie(r, token)
	}
}

// clearCookieOf removes the cookie if it holds the token with that hash.
func clearCookieOf(r *rest.Request, hash []byte) {
	if token := r.SessionCookie(); token != "" && hmac.Equal(keys.HashToken(token), hash) {
		clearSessionCookie(r)
	}
}

// FormParam is the parameter in which forms send a FormToken of their session.
const FormParam = "form_token"

// FormToken returns what a form of a session must send back, so that no other site can submit the form. It differs at each call, so that the sizes
// of compressed pages do not reveal it (BREACH): a random pad, followed by the exclusive or of the pad and the hash of the session.
func (s *Service) FormToken(sess *Session) string { return s.formToken(sess.token) }

func (s *Service) formToken(session string) string {
	token := make([]byte, 2*sha256.Size)
	pad, masked := token[:sha256.Size], token[sha256.Size:]
	rand.Read(pad)
	subtle.XORBytes(masked, s.sessionHash(session), pad)
	return base64.RawURLEncoding.EncodeToString(token)
}

// sessionHash returns what all form tokens of a session hide.
func (s *Service) sessionHash(session string) []byte {
	mac := hmac.New(sha256.New, s.Keys.Secret("forms"))
	mac.Write([]byte(session))
	return mac.Sum(nil)
}

// CheckForm fails unless the request has a FormToken of the session.
func (s *Service) CheckForm(r *rest.Request, sess *Session) error {
	if !hmac.Equal(unmasked(r.Query(FormParam)), s.sessionHash(sess.token)) {
		return rest.ErrCrossSite
	}
	return nil
}

// unmasked returns the hash in a form token, nil if it is none. A page that was open during the update from a version without pads sends the
// hash alone. That reveals nothing, because no page has it any more.
func unmasked(text string) []byte {
	if len(text) > base64.RawURLEncoding.EncodedLen(2*sha256.Size) {
		return nil
	}
	token, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil
	}
	if len(token) == 2*sha256.Size {
		pad, masked := token[:sha256.Size], token[sha256.Size:]
		subtle.XORBytes(masked, masked, pad)
		return masked
	}
	return token
}

// Browsers are the sessions of browsers for rest.Config. signIn answers requests that need one.
func (s *Service) Browsers(signIn func(*rest.Request) http.Handler) rest.Sessions {
	return browsers{s, signIn}
}

type browsers struct {
	*Service
	signIn func(*rest.Request) http.Handler
}

// Identify is documented at rest.Sessions.
func (b browsers) Identify(r *rest.Request) (rest.Identity, error) {
	sess, err := b.Session(r)
	if sess == nil || err != nil {
		return rest.Identity{}, err
	}
	return sess.Identity, nil
}

// CheckForm is documented at rest.Sessions.
func (b browsers) CheckForm(r *rest.Request) error {
	return b.Service.CheckForm(r, &Session{token: r.SessionCookie()})
}

// SignIn is documented at rest.Sessions.
func (b browsers) SignIn(r *rest.Request) http.Handler { return b.signIn(r) }

// FormTokenOf returns a FormToken of the session that identified a request.
func (s *Service) FormTokenOf(r *rest.Request) string { return s.formToken(r.SessionCookie()) }
