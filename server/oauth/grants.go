package oauth

import (
	"context"
	"net/http"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// oauthRoutes issue and revoke tokens.
func (s *Service) oauthRoutes() rest.Routes {
	return rest.Routes{
		"GET /oauth/authorize":                        {rest.Anonymous.HTML().Secret(), s.showAuthorize},
		"POST /oauth/authorize":                       {rest.Anonymous.HTML().Limit("authentication").Secret(), s.authorize},
		"POST /oauth/token":                           {rest.Anonymous.Secret().Answers("Token"), s.createToken},
		"POST /oauth/revoke":                          {rest.Anonymous.Deletes().Secret().Answers("empty"), s.revokeTokenByValue},
		"GET /.well-known/oauth-authorization-server": {rest.Anonymous, s.showMetadata},
		"GET /api/oauth_tokens":                       {rest.User("read:security").Answers("[]Session"), s.listTokens},
		"DELETE /api/oauth_tokens/:id":                {rest.User("write:security").Answers("any"), s.deleteToken},
	}
}

// oauthError returns an error as in RFC 6749 5.2.
func oauthError(status int, code, description string) *errs.Error {
	return errs.New(status, "%s", code).With("error_description", description)
}

// checkRepeated refuses requests with a parameter that was sent more than once, so that no two programs take different values of it (RFC
// 6749 3.2).
func checkRepeated(r *rest.Request) error {
	name, err := r.Repeated()
	if err != nil || name == "" {
		return err
	}
	return oauthError(http.StatusBadRequest, "invalid_request", name+" was sent more than once")
}

var (
	errInvalidClient = oauthError(http.StatusUnauthorized, "invalid_client", "The client is unknown, or its secret is wrong")
	errInvalidScope  = oauthError(http.StatusBadRequest, "invalid_scope", "The scope is unknown or exceeds those of the app")
	errForeignToken  = oauthError(http.StatusForbidden, "unauthorized_client", "The token was issued to another client")
	errWrongPassword = oauthError(http.StatusBadRequest, "invalid_grant", "The user name or the password is wrong")
	errBadCode       = oauthError(http.StatusBadRequest, "invalid_grant", "The code is invalid, expired, used, or was issued for something else")
	errBadRefresh    = oauthError(http.StatusBadRequest, "invalid_grant", "The refresh token is invalid")
)

// grantableScopes returns the scopes that an app is granted: those requested, or all of the app's if none are. Scopes beyond those
// of the app are an error. Admin scopes are omitted for users without a role, and for apps without a user (nil).
func grantableScopes(a *store.App, requested store.Scopes, user *store.User) (store.Scopes, error) {
	scopes := requested.Known()
	if len(requested) == 0 {
		scopes = a.Scopes
	}
	if !scopes.Within(a.Scopes) {
		return nil, errInvalidScope
	}
	var granted store.Scopes
	for _, scope := range scopes {
		if user != nil && user.Staff() || !(store.Scopes{"admin"}).Allow(scope) {
			granted = append(granted, scope)
		}
	}
	if len(granted) == 0 {
		return nil, errInvalidScope
	}
	return granted, nil
}

// issueToken issues a token of an app for an account, or for the app itself if account is nil. also runs in the transaction; it may
// be nil.
func (s *Service) issueToken(ctx context.Context, a *store.App, account *store.Account, scopes store.Scopes, also func(*store.Tx, *store.Token) error) (*entity.Token, error) {
	t := &store.Token{AppID: &a.ID, Scopes: scopes}
	if account != nil {
		t.AccountID = &account.ID
	}
	access, refresh := s.rotateToken(t)
	err := s.DB.Update(ctx, func(tx *store.Tx) error {
		if err := tx.AddToken(ctx, t); err != nil {
			return err
		}
		if account != nil {
			if err := tx.ClaimApp(ctx, a.ID, account.ID); err != nil {
				return err
			}
		}
		if also != nil {
			return also(tx, t)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	answer := entity.NewToken(t, access, refresh, s.Settings.Load().OAuth.TokenLifetime, account)
	return &answer, nil
}

// rotateToken sets new tokens of t. A token without an account has no refresh token, because the app has its secret (RFC 6749
// 4.4.3).
func (s *Service) rotateToken(t *store.Token) (access, refresh string) {
	access = keys.NewToken()
	t.Hash, t.RefreshHash, t.ExpiresAt = keys.HashToken(access), nil, nil
	if t.AccountID != nil {
		refresh = keys.NewToken()
		t.RefreshHash = keys.HashToken(refresh)
	}
	if lifetime := s.Settings.Load().OAuth.TokenLifetime; lifetime > 0 {
		at := store.At(s.Now().Add(lifetime))
		t.ExpiresAt = &at
	}
	return access, refresh
}

// showMetadata returns the authorization server metadata (RFC 8414).
func (s *Service) showMetadata(*rest.Request) (any, error) {
	return struct {
		Issuer        string       `json:"issuer"`
		Authorization string       `json:"authorization_endpoint"`
		Token         string       `json:"token_endpoint"`
		Revocation    string       `json:"revocation_endpoint"`
		UserInfo      string       `json:"userinfo_endpoint"`
		Registration  string       `json:"app_registration_endpoint"`
		Scopes        store.Scopes `json:"scopes_supported"`
		Responses     []string     `json:"response_types_supported"`
		Modes         []string     `json:"response_modes_supported"`
		Grants        []string     `json:"grant_types_supported"`
		Methods       []string     `json:"token_endpoint_auth_methods_supported"`
		Challenges    []string     `json:"code_challenge_methods_supported"`
		NamesIssuer   bool         `json:"authorization_response_iss_parameter_supported"` // RFC 9207
	}{
		Issuer:        s.Settings.BaseURL,
		Authorization: s.Settings.BaseURL + "/oauth/authorize",
		Token:         s.Settings.BaseURL + "/oauth/token",
		Revocation:    s.Settings.BaseURL + "/oauth/revoke",
		UserInfo:      s.Settings.BaseURL + "/oauth/userinfo",
		Registration:  s.Settings.BaseURL + "/api/v1/apps",
		Scopes:        store.KnownScopes,
		Responses:     []string{"code"},
		Modes:         []string{"query"},
		Grants:        []string{"authorization_code", "client_credentials", "password", "refresh_token"},
		Methods:       []string{"client_secret_basic", "client_secret_post"},
		Challenges:    []string{"S256"},
		NamesIssuer:   true,
	}, nil
}
