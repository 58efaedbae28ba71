package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
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

// startSession signs the browser in to the server's own pages, and out of what it was signed in to. Its cookie holds a token that
// belongs to no app, and so it may do what the person may.
func (s *Server) startSession(r *rest.Request, user *store.User) (token string, err error) {
	token = keys.NewToken()
	scopes := store.Scopes{"read", "write", "follow", "push"}
	if user.Staff() {
		scopes = append(scopes, "admin")
	}
	expires := store.At(s.now().Add(sessionLifetime))
	before, _, err := s.session(r)
	if err != nil {
		return "", err
	}
	err = s.db.Update(r.Context(), func(tx *store.Tx) error {
		if err := checkCredentialsUnchanged(r.Context(), tx, user); err != nil {
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
		s.setSessionCookie(r, token)
	}
	return token, err
}

// session returns who is signed in to the server's own pages, and by which token; nil if nobody is. A cookie that holds the token
// of an app does not count: the app knows it, and could give itself leave for more than it has.
func (s *Server) session(r *rest.Request) (id *rest.Identity, token string, err error) {
	if token = r.SessionCookie(); token == "" {
		return nil, "", nil
	}
	id, err = s.identityByToken(r.Context(), token)
	var e *errs.Error
	if errors.As(err, &e) && e.Status == http.StatusForbidden { // an account that cannot be used
		return nil, "", nil
	}
	if id == nil || err != nil || id.Account == nil || id.Token.AppID != nil {
		return nil, "", err
	}
	return id, token, nil
}

// setSessionCookie has the browser keep a token.
func (s *Server) setSessionCookie(r *rest.Request, token string) {
	r.SetSessionCookie(token, int(sessionLifetime.Seconds()))
}

// setCookieIfSameOrigin gives the token that somebody obtained to the browser as a cookie, for front ends that are served from here. A page
// of another site must not sign a browser in.
func (s *Server) setCookieIfSameOrigin(r *rest.Request, token string) {
	if r.SameOrigin() {
		s.setSessionCookie(r, token)
	}
}

// clearCookieOf removes the cookie if it holds the token of that hash.
func (s *Server) clearCookieOf(r *rest.Request, hash []byte) {
	if token := r.SessionCookie(); token != "" && hmac.Equal(keys.HashToken(token), hash) {
		s.clearSessionCookie(r)
	}
}

// clearSessionCookie removes the cookie.
func (s *Server) clearSessionCookie(r *rest.Request) { r.SetSessionCookie("", -1) }

// endSession signs the browser out.
func (s *Server) endSession(r *rest.Request, id store.TokenID) error {
	s.clearSessionCookie(r)
	return s.revokeToken(r.Context(), id)
}

func (s *Server) revokeToken(ctx context.Context, id store.TokenID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.RevokeToken(ctx, id) })
}

// formToken is what a form of a session has to bring along, so that no other site can send it.
func (s *Server) formToken(session string) string {
	mac := hmac.New(sha256.New, s.keys.Secret("forms"))
	mac.Write([]byte(session))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
