package rest

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"svc/internal/errs"
	"svc/store"
)

// Identity is the user or app of a credential. The zero Identity is anonymous.
type Identity struct {
	Account *store.Account // nil: an app without a user
	User    *store.User    // the login of Account
	Token   *store.Token   // nil: a password, which has all scopes
}

// Authenticator returns the identity of a credential: the zero Identity if the token is unknown or expired or the password is wrong. An
// errs.Error with status 401 or 403, such as for a deactivated account, is the answer of endpoints that need a user.
type Authenticator func(context.Context, Credential) (Identity, error)

// Credential is what a request sent to prove who it comes from.
type Credential struct {
	Kind     CredentialKind
	Token    string     // of Bearer, or the value of Cookie
	Name     string     // of Basic: a nickname or an e-mail address
	Password string     // of Basic
	Network  netip.Addr // the client's, as by Request.Network
}

// CredentialKind is where a credential was found.
type CredentialKind int

// The kinds of credentials. Browsers send the last two by themselves, also in requests that other sites cause.
const (
	NoCredential CredentialKind = iota
	Bearer
	Cookie
	Basic
)

var ErrCrossSite = errs.Forbidden("This request comes from another site")

// identify authenticates the request by what stands before its body, unless its endpoint ignores credentials. refused is the error to answer if
// nobody is identified and the endpoint requires a user or app.
func (s *Server) identify(r *Request) (refused, err error) {
	if r.endpoint.Access.session {
		return nil, s.identifyBrowser(r)
	}
	if r.endpoint.Access.caller == callerAnonymous {
		return nil, nil
	}
	return s.identifyBy(r, r.headerCredential())
}

func (s *Server) identifyBy(r *Request, credential Credential) (refused, err error) {
	if credential.Kind == NoCredential || s.authenticate == nil {
		return nil, nil
	}
	if credential.Kind != Bearer && r.changesState() && !r.sameOrigin(credential.Kind) {
		return ErrCrossSite, nil
	}
	id, err := s.authenticate(r.Context(), credential)
	if err != nil {
		var e *errs.Error
		if !errors.As(err, &e) || e.Status != http.StatusUnauthorized && e.Status != http.StatusForbidden {
			return nil, err
		}
		if r.endpoint.extension && credential.Kind != Basic {
			return errInvalidCredentials, nil
		}
		return e, nil
	}
	r.Viewer, r.User, r.Token = id.Account, id.User, id.Token
	return nil, nil
}

// identifyByBody authenticates the request by a token in its body, which counts more than a cookie or a password. The request is counted for its
// user instead of the network then. refused is what identify returned.
func (s *Server) identifyByBody(r *Request, refused error) (error, error) {
	a := &r.endpoint.Access
	switch {
	case a.session:
		return nil, s.checkForm(r)
	case a.caller == callerAnonymous || !r.mayHoldToken() || RequestToken(r.Request) != "":
		return refused, nil
	}
	if err := r.bodyError(); err != nil {
		return nil, err
	}
	token := r.textParam(tokenParam)
	if token == "" {
		return refused, nil
	}
	before := r.Viewer
	r.Viewer, r.User, r.Token = nil, nil, nil
	refused, err := s.identifyBy(r, Credential{Kind: Bearer, Token: token})
	if err != nil || before != nil || r.Viewer == nil {
		return refused, err
	}
	return refused, s.limits.recount(r, s.now())
}

// bodyError returns the error of a body that is too large, too slow, or for which there is no room. What is wrong with its content is the matter of
// the handler.
func (r *Request) bodyError() error {
	_, err := r.parameters()
	var e *errs.Error
	if errors.As(err, &e) {
		switch e.Status {
		case http.StatusRequestEntityTooLarge, http.StatusRequestTimeout, http.StatusServiceUnavailable:
			return err
		}
	}
	return nil
}

// mayHoldToken returns true if the body may be read for a token. That of a route for files, unless it is short, is read only after a token in the
// header or the query.
func (r *Request) mayHoldToken() bool {
	return r.body != nil && (!r.endpoint.Access.files || r.ContentLength >= 0 && r.ContentLength <= maxAnonymousBody)
}

// Credential returns the first credential of the request: the parameter access_token, the Authorization header, a cookie. Basic
// comes last, because it costs a password hash.
func (r *Request) Credential() Credential {
	if RequestToken(r.Request) == "" && r.mayHoldToken() {
		if token := r.textParam(tokenParam); token != "" {
			return Credential{Kind: Bearer, Token: token}
		}
	}
	return r.headerCredential()
}

// headerCredential is Credential without the body.
func (r *Request) headerCredential() Credential {
	if token := RequestToken(r.Request); token != "" {
		return Credential{Kind: Bearer, Token: token}
	}
	if r.endpoint.Access.tokenOnly {
		return Credential{}
	}
	if token := r.SessionCookie(); token != "" {
		return Credential{Kind: Cookie, Token: token}
	}
	if r.Header["Authorization"] != nil {
		if name, password, ok := r.BasicAuth(); ok {
			return Credential{Kind: Basic, Name: name, Password: password, Network: network(r.address)}
		}
	}
	return Credential{}
}

// SessionCookie returns the token in the session cookie, "" if there is none.
func (r *Request) SessionCookie() string {
	if r.Header["Cookie"] == nil {
		return ""
	}
	for _, name := range r.server.cookieNames {
		if c, err := r.Cookie(name); err == nil && c.Value != "" {
			return c.Value
		}
	}
	return ""
}

// SetSessionCookie gives the browser a session cookie for maxAge seconds, or removes it if maxAge is negative. The last call counts.
func (r *Request) SetSessionCookie(token string, maxAge int) {
	c := http.Cookie{
		Name: r.server.cookieNames[0], Value: token, Path: "/", MaxAge: maxAge,
		Secure: r.server.secureCookies, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	r.header["Set-Cookie"] = []string{c.String()}
	if maxAge < 0 && r.server.secureCookies { // earlier versions, and other servers of this family, set it
		c.Name = r.server.cookieNames[1]
		r.header.Add("Set-Cookie", c.String())
	}
}

const tokenParam = "access_token"

// RequestToken returns the access token in the query or in the Authorization header of a request, "" if there is none.
func RequestToken(r *http.Request) string {
	if token := queryValue(r.URL.RawQuery, tokenParam); token != "" {
		return token
	}
	return bearerToken(r.Header.Get("Authorization"))
}

// queryValue returns the first value of a key in a query.
func queryValue(query, key string) string {
	if !strings.Contains(query, key) {
		return ""
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, text, _ := strings.Cut(pair, "=")
		if name != key || strings.Contains(pair, ";") { // as in url.ParseQuery
			continue
		}
		if value, err := url.QueryUnescape(text); err == nil {
			return value
		}
	}
	return ""
}

// bearerToken returns the token of an Authorization header. Some apps write a colon after the word.
func bearerToken(header string) string {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(strings.TrimSuffix(scheme, ":"), "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// sessionCookies returns the names under which the session cookie is accepted (extension API 5). The first is the one that is set: with
// https a name that browsers accept only from this host itself, not from its subdomains.
func sessionCookies(name string, secure bool) []string {
	names := []string{"__Host-" + name + "_key", "_" + name + "_key", name + "_key"}
	if !secure {
		names[0], names[1] = names[1], names[0]
	}
	if name != standardName {
		names = append(names, sessionCookies(standardName, secure)...)
	}
	return names
}

// changesState returns true if the request may change state.
func (r *Request) changesState() bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return r.endpoint.Access.changes
	}
	return true
}

// sameOrigin returns true if a request with a credential that browsers send by themselves comes from a page of this server, or from
// the user directly. Programs that are not browsers send neither header; they do not send cookies by themselves, but may send Basic.
func (r *Request) sameOrigin(kind CredentialKind) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin" || site == "none"
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		return strings.EqualFold(origin, r.server.settings.BaseURL)
	}
	return kind == Basic
}

// SameOrigin returns false if a browser sent the request from a page of another site. Programs that are not browsers do not say
// where a request comes from, and are let through.
func (r *Request) SameOrigin() bool { return r.sameOrigin(Basic) }
