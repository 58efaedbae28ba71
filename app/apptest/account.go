package apptest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"svc/internal/keys"
	"svc/social"
	"svc/store"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

// NewToken adds an access token with these scopes for a user, or an app token if m is nil, and returns its client.
func (a *Server) NewToken(m *User, scopes string) *Client {
	a.T.Helper()
	owner := "app"
	var account *store.AccountID
	if m != nil {
		var id store.AccountID
		id.UnmarshalText([]byte(m.ID))
		account, owner = &id, m.Nickname
	}
	token := owner + " may " + scopes
	hash := sha256.Sum256([]byte(token))
	err := a.DB.Update(context.Background(), func(tx *store.Tx) error {
		app := &store.App{ClientID: token, Name: "walker", Scopes: store.ParseScopes(scopes)}
		if err := tx.AddApp(context.Background(), app); err != nil {
			return err
		}
		return tx.AddToken(context.Background(), &store.Token{Hash: hash[:], AppID: &app.ID, AccountID: account, Scopes: app.Scopes})
	})
	if err != nil {
		a.T.Fatal(err)
	}
	return &Client{Server: a, Token: token}
}

// SetRole sets the roles of a user.
func (a *Server) SetRole(m *User, admin, moderator bool) {
	a.T.Helper()
	var id store.AccountID
	id.UnmarshalText([]byte(m.ID))
	err := a.DB.Update(context.Background(), func(tx *store.Tx) error {
		u, err := tx.User(context.Background(), id)
		if err != nil {
			return err
		}
		u.IsAdmin, u.IsModerator = admin, moderator
		return tx.SaveUser(context.Background(), u)
	})
	if err != nil {
		a.T.Fatal(err)
	}
}

// SignUpAdmin creates an administrator.
func (a *Server) SignUpAdmin() *User {
	a.T.Helper()
	m := a.SignUp("root")
	a.SetRole(m, true, false)
	m.Client = a.NewToken(m, "read write follow push admin")
	return m
}

// TOTPCode returns the code of an authenticator app, steps time steps from now.
func TOTPCode(t testing.TB, secret string, steps int) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, time.Now().Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// EnableMFA sets up a second factor and returns its secret. It uses the code of the previous time step, MFACode.
func (m *User) EnableMFA() (secret string) {
	t := m.Server.T
	t.Helper()
	setup := m.Get("/api/v1/svc/accounts/mfa/setup/totp").Want(200).Object()
	secret = setup.Str("key")
	m.MFACode = TOTPCode(t, secret, -1)
	m.Post("/api/v1/svc/accounts/mfa/confirm/totp", "password", Password, "code", m.MFACode).Want(200)
	return secret
}

func (m *User) AccountID() store.AccountID {
	var id store.AccountID
	id.UnmarshalText([]byte(m.ID))
	return id
}

// URI returns the ActivityPub id of the account.
func (m *User) URI() string { return m.Server.URL + "/users/" + m.ID }

// SignUpMany creates n users.
func SignUpMany(a *Server, n int) []*User {
	a.T.Helper()
	users := make([]*User, n)
	for i := range users {
		users[i] = a.SignUp(fmt.Sprintf("p%d", i))
	}
	return users
}

// User is a user with an access token.
type User struct {
	*Client
	ID       string
	Nickname string
	Token    string
	MFACode  string // used by EnableMFA
}

// App is a registered app.
type App struct{ ID, Secret string }

// RegisterApp registers an app. params are additional parameters in pairs, which replace the defaults.
func (a *Server) RegisterApp(params ...string) *App {
	a.T.Helper()
	body := map[string]string{"client_name": "Test", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": "read write follow push admin"}
	for i := 0; i+1 < len(params); i += 2 {
		body[params[i]] = params[i+1]
	}
	o := a.As(nil).SendJSON("POST", "/api/v1/apps", body).Want(200).Object()
	return &App{ID: o.Str("client_id"), Secret: o.Str("client_secret")}
}

// Grant requests a token for the app.
func (a *Server) Grant(app *App, grantType string, params ...string) *Response {
	a.T.Helper()
	return a.As(nil).Post("/oauth/token", append([]string{"grant_type", grantType, "client_id", app.ID, "client_secret", app.Secret}, params...)...)
}

// RevokeToken revokes a token as the app does that it was issued to.
func (a *Server) RevokeToken(token string) *Response {
	a.T.Helper()
	t, err := a.DB.TokenByHash(a.T.Context(), keys.HashToken(token))
	if err != nil || t == nil {
		a.T.Fatal("no such token", err)
	}
	app, err := a.DB.App(a.T.Context(), *t.AppID)
	if err != nil {
		a.T.Fatal(err)
	}
	return a.As(nil).Post("/oauth/revoke", "token", token, "client_id", app.ClientID, "client_secret", app.ClientSecret)
}

// Password is the password of all users.
const Password = "correct horse battery staple"

// SignUp creates a user through the API if registration is open, else as staff does. Its token has all scopes of users.
func (a *Server) SignUp(nick string) *User {
	a.T.Helper()
	if a.signUpClient == nil {
		a.signUpClient = &Client{Server: a, Token: a.Grant(a.RegisterApp(), "client_credentials").Want(200).Object().Str("access_token")}
	}
	token := ""
	if open := a.Settings.Instance; open.RegistrationsOpen && !open.AccountApprovalRequired && !open.AccountActivationRequired && !a.Settings.Captcha.Enabled {
		token = a.signUpClient.Post("/api/v1/accounts", "username", nick, "email", nick+"@example.org", "password", Password,
			"agreement", "true").Want(200).Object().Str("access_token")
	} else {
		token = a.createUser(nick)
	}
	m := &User{Client: &Client{Server: a, Token: token}, Nickname: nick, Token: token}
	account, err := a.DB.AccountByName(a.T.Context(), nick, "")
	if err != nil {
		a.T.Fatal(err)
	}
	m.ID = account.ID.String()
	return m
}

// createUser creates a user as staff does, and returns a token.
func (a *Server) createUser(nick string) string {
	a.T.Helper()
	_, _, err := a.Social.SignUp(a.T.Context(), social.Registration{
		Nickname: nick, Email: nick + "@example.org", Password: Password, Approved: true, Confirmed: true,
	})
	if err != nil {
		a.T.Fatal(err)
	}
	return a.Grant(a.RegisterApp(), "password", "username", nick, "password", Password).Want(200).Object().Str("access_token")
}
