package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// tokenParams are the parameters of the token endpoint.
type tokenParams struct {
	GrantType    string   `param:"grant_type"`
	ClientID     string   `param:"client_id"`
	ClientSecret string   `param:"client_secret"`
	Code         string   `param:"code"`
	RedirectURI  string   `param:"redirect_uri"`
	CodeVerifier string   `param:"code_verifier"`
	Username     string   `param:"username"`
	Name         string   `param:"name"` // an alias
	Password     string   `param:"password"`
	RefreshToken string   `param:"refresh_token"`
	Scope        []string `param:"scope"`
}

// createToken issues a token for a code, a password, a refresh token, or the secret of an app.
func (s *Service) createToken(r *rest.Request) (any, error) {
	r.ResponseHeader().Set("Cache-Control", "no-store")
	r.ResponseHeader().Set("Pragma", "no-cache")
	if err := checkRepeated(r); err != nil {
		return nil, err
	}
	var p tokenParams
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	a, err := s.client(r, p.ClientID, p.ClientSecret)
	if err != nil {
		return nil, err
	}
	var answer *entity.Token
	switch p.GrantType {
	case "authorization_code":
		answer, err = s.tokenByCode(r.Context(), a, &p)
	case "password":
		answer, err = s.tokenByPassword(r, a, &p)
	case "refresh_token":
		answer, err = s.tokenByRefresh(r.Context(), a, &p)
	case "client_credentials":
		answer, err = s.tokenByClientCredentials(r.Context(), a, &p)
	case "":
		err = oauthError(http.StatusBadRequest, "invalid_request", "grant_type is missing")
	default:
		err = oauthError(http.StatusBadRequest, "unsupported_grant_type", "grant_type is unknown")
	}
	if err != nil {
		return nil, err
	}
	if answer.Me != "" {
		setCookieIfSameOrigin(r, answer.AccessToken)
	}
	return answer, nil
}

// client returns the app that the secret authenticates, in the Authorization header (RFC 6749 2.3.1) or in the parameters.
func (s *Service) client(r *rest.Request, id, secret string) (*store.App, error) {
	if user, password, ok := r.BasicAuth(); ok {
		id, secret = user, password
	}
	a, err := s.DB.AppByClientID(r.Context(), id)
	if err != nil {
		return nil, err
	}
	if a == nil || subtle.ConstantTimeCompare([]byte(a.ClientSecret), []byte(secret)) != 1 {
		return nil, errInvalidClient
	}
	return a, nil
}

// tokenByClientCredentials issues a token for the app itself.
func (s *Service) tokenByClientCredentials(ctx context.Context, a *store.App, p *tokenParams) (*entity.Token, error) {
	scopes, err := grantableScopes(a, parseScopes(p.Scope), nil)
	if err != nil {
		return nil, err
	}
	return s.issueToken(ctx, a, nil, scopes, nil)
}

// tokenByPassword issues a token for name and password. If the user has a second factor, it returns the token of a challenge as an
// error.
func (s *Service) tokenByPassword(r *rest.Request, a *store.App, p *tokenParams) (*entity.Token, error) {
	name := p.Username
	if name == "" {
		name = p.Name
	}
	user, err := s.signIn(r.Context(), name, p.Password, r.Network())
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, errWrongPassword
	}
	if problem := problemOf(user); problem != nil {
		return nil, problem.signInError()
	}
	scopes, err := grantableScopes(a, parseScopes(p.Scope), user)
	if err != nil {
		return nil, err
	}
	if user.HasMFA() {
		token, err := s.createChallenge(r, user, a, store.MFAPurpose{Scopes: scopes})
		if err == nil {
			err = mfaRequired(token)
		}
		return nil, err
	}
	return s.issueTokenFor(r, a, user, scopes)
}

// errCodeUsed rolls back a grant if the code was redeemed concurrently.
var errCodeUsed = errors.New("the code has been used")

// tokenByCode redeems a code. If the code was redeemed before, one of both callers has stolen it, so the token that was issued for
// it is revoked.
func (s *Service) tokenByCode(ctx context.Context, a *store.App, p *tokenParams) (*entity.Token, error) {
	hash := keys.HashToken(p.Code)
	code, err := s.DB.AuthorizationCode(ctx, hash)
	if err != nil {
		return nil, err
	}
	if !s.redeemable(code, a, p) {
		return nil, errBadCode
	}
	account, err := s.activeAccount(ctx, code.AccountID)
	if err != nil {
		return nil, err
	}
	answer, err := s.issueToken(ctx, a, account, code.Scopes, func(tx *store.Tx, t *store.Token) error {
		now, err := tx.AuthorizationCode(ctx, hash)
		if err != nil {
			return err
		}
		if now == nil || now.TokenID != nil {
			return errCodeUsed
		}
		return tx.RedeemAuthorizationCode(ctx, hash, t.ID)
	})
	if errors.Is(err, errCodeUsed) {
		if err = s.revokeRedeemed(ctx, hash); err == nil {
			err = errBadCode
		}
	}
	return answer, err
}

// redeemable returns true if the code is the app's, has not expired, and comes with the redirect URI and verifier that it is bound
// to. A redirect URI that the authorization request named is required (RFC 6749 4.1.3), and a verifier without challenge is refused: the
// challenge may have been removed on the way (RFC 9700 2.1.1).
func (s *Service) redeemable(code *store.AuthorizationCode, a *store.App, p *tokenParams) bool {
	return code != nil && code.AppID == a.ID && code.ExpiresAt.Time().After(s.Now()) &&
		(p.RedirectURI == code.RedirectURI || p.RedirectURI == "" && !code.RedirectGiven) &&
		(p.CodeVerifier == "" && code.CodeChallenge == "" || codeChallenge(p.CodeVerifier) == code.CodeChallenge)
}

// codeChallenge returns the challenge of a verifier (RFC 7636, S256).
func codeChallenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (s *Service) revokeRedeemed(ctx context.Context, hash []byte) error {
	return s.DB.Update(ctx, func(tx *store.Tx) error {
		code, err := tx.AuthorizationCode(ctx, hash)
		if err != nil || code == nil || code.TokenID == nil {
			return err
		}
		return tx.RevokeToken(ctx, *code.TokenID)
	})
}

// tokenByRefresh replaces a token and its refresh token by new ones.
func (s *Service) tokenByRefresh(ctx context.Context, a *store.App, p *tokenParams) (*entity.Token, error) {
	hash := keys.HashToken(p.RefreshToken)
	t, err := s.DB.TokenByRefreshHash(ctx, hash)
	if err != nil {
		return nil, err
	}
	if t == nil || t.AppID == nil || *t.AppID != a.ID || t.AccountID == nil {
		return nil, errBadRefresh
	}
	account, err := s.activeAccount(ctx, *t.AccountID)
	if err != nil {
		return nil, err
	}
	access, refresh := s.rotateToken(t)
	sealed := s.Keys.Seal(keys.PushTokens, []byte(access))
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		now, err := tx.TokenByRefreshHash(ctx, hash)
		if err != nil {
			return err
		}
		if now == nil {
			return errBadRefresh
		}
		return tx.RenewToken(ctx, t, sealed)
	})
	if err != nil {
		return nil, err
	}
	answer := entity.NewToken(t, access, refresh, s.Settings.Load().OAuth.TokenLifetime, account)
	return &answer, nil
}

// activeAccount returns an account that is not unavailable.
func (s *Service) activeAccount(ctx context.Context, id store.AccountID) (*store.Account, error) {
	user, err := s.DB.User(ctx, id)
	if err != nil {
		return nil, err
	}
	if problem := problemOf(user); problem != nil {
		return nil, problem.signInError()
	}
	return s.DB.Account(ctx, id)
}

// revokeTokenByValue revokes a token of the app that authenticates, or the one of a refresh token. An unknown token is not an error (RFC
// 7009 2.2).
func (s *Service) revokeTokenByValue(r *rest.Request) (any, error) {
	var p struct {
		ClientID     string `param:"client_id"`
		ClientSecret string `param:"client_secret"`
		Token        string `param:"token"`
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
	if p.Token == "" {
		return nil, oauthError(http.StatusBadRequest, "invalid_request", "token is missing")
	}
	hash := keys.HashToken(p.Token)
	t, err := s.DB.TokenByHash(r.Context(), hash)
	if t == nil && err == nil {
		t, err = s.DB.TokenByRefreshHash(r.Context(), hash)
	}
	if t == nil || err != nil {
		return nil, err
	}
	if t.AppID == nil || *t.AppID != a.ID {
		return nil, errForeignToken
	}
	clearCookieOf(r, t.Hash)
	return nil, s.revokeToken(r.Context(), t.ID)
}

// noExpiry is the lifetime shown for tokens that do not expire.
const noExpiry = 100 * 365 * 24 * time.Hour

// listTokens returns the tokens of the viewer's account, newest first.
func (s *Service) listTokens(r *rest.Request) (any, error) {
	rows, err := s.DB.TokensOf(r.Context(), r.Viewer.ID)
	if err != nil {
		return nil, err
	}
	list := make([]entity.Session, 0, len(rows))
	for _, t := range rows {
		e := entity.Session{ID: t.ID, AppName: s.Settings.Load().Instance.Name, ValidUntil: store.At(t.CreatedAt.Time().Add(noExpiry))}
		if t.AppName != nil {
			e.AppName = *t.AppName
		}
		if t.ExpiresAt != nil {
			e.ValidUntil = *t.ExpiresAt
		}
		list = append(list, e)
	}
	return list, nil
}

// deleteToken revokes a token of the viewer. A token of another account is ignored.
func (s *Service) deleteToken(r *rest.Request) (any, error) {
	id := store.ParseDecimal(r.Param("id"))
	if id == 0 {
		return nil, errs.BadRequest("Invalid parameters")
	}
	if token := r.SessionCookie(); token != "" {
		t, err := s.DB.TokenByHash(r.Context(), keys.HashToken(token))
		if err != nil {
			return nil, err
		}
		if t != nil && t.ID == store.TokenID(id) && t.AccountID != nil && *t.AccountID == r.Viewer.ID {
			clearSessionCookie(r)
		}
	}
	err := s.DB.Update(r.Context(), func(tx *store.Tx) error {
		return tx.RevokeOwnToken(r.Context(), r.Viewer.ID, store.TokenID(id))
	})
	r.SetStatus(http.StatusCreated)
	return nil, err
}
