package oauth_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// appClient returns a client with an app token, which registrations need.
func appClient(a *apptest.Server) *apptest.Client {
	a.T.Helper()
	return tokenClient(a, a.Grant(a.RegisterApp("scopes", "read write follow push admin"), "client_credentials"))
}

func TestRegister(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Accounts.RestrictedNicknames = []string{"boss"} })
	app := appClient(srv)
	id := srv.SignUp("taken").ID
	ok := map[string]any{"username": "alice", "password": apptest.Password, "agreement": true, "locale": "de"}
	for _, tt := range []struct {
		name   string
		change map[string]any // nil removes a parameter
		field  string         // name in error; "": no error
		say    string
		detail string // name in details
		code   string
	}{
		{"valid", map[string]any{"email": "alice@example.org"}, "", "", "", ""},
		{"no e-mail address", map[string]any{"username": "bob"}, "", "", "", ""},
		{"underscore and dash", map[string]any{"username": "a_b-C9", "email": "abc@example.org"}, "", "", "", ""},
		{"the longest", map[string]any{"username": strings.Repeat("a", 64), "fullname": strings.Repeat("ä", 100),
			"bio": strings.Repeat("ö", 5000), "reason": strings.Repeat("ü", 500), "password": strings.Repeat("ß", 256)}, "", "", "", ""},
		{"unknown parameters", map[string]any{"username": "carol", "is_admin": true, "captcha_solution": "x", "confirmed": true}, "", "", "", ""},
		{"no nickname", map[string]any{"username": nil}, "nickname", "can't be blank", "username", "ERR_BLANK"},
		{"a blank nickname", map[string]any{"username": " "}, "nickname", "can't be blank", "username", "ERR_BLANK"},
		{"a taken nickname", map[string]any{"username": "TAKEN"}, "nickname", "has already been taken", "username", "ERR_TAKEN"},
		{"a dot", map[string]any{"username": "a.b"}, "nickname", "has invalid format", "username", "ERR_INVALID"},
		{"a space", map[string]any{"username": "a b"}, "nickname", "has invalid format", "username", "ERR_INVALID"},
		{"a handle", map[string]any{"username": "a@example.org"}, "nickname", "has invalid format", "username", "ERR_INVALID"},
		{"an umlaut", map[string]any{"username": "jörg"}, "nickname", "has invalid format", "username", "ERR_INVALID"},
		{"a long nickname", map[string]any{"username": strings.Repeat("a", 65)}, "nickname", "should be at most 64 characters", "username", "ERR_TOO_LONG"},
		{"a reserved nickname", map[string]any{"username": "Users"}, "nickname", "Invalid nickname", "username", "ERR_RESERVED"},
		{"a restricted nickname", map[string]any{"username": "BOSS"}, "nickname", "Invalid nickname", "username", "ERR_RESERVED"},
		{"the id of an account", map[string]any{"username": id}, "nickname", "Invalid nickname", "username", "ERR_RESERVED"},
		{"a taken e-mail address", map[string]any{"username": "dave", "email": "Taken@Example.ORG"}, "email", "has already been taken", "email", "ERR_TAKEN"},
		{"a malformed e-mail address", map[string]any{"username": "dave", "email": "dave"}, "email", "has invalid format", "email", "ERR_INVALID"},
		{"a quoted e-mail address", map[string]any{"username": "dave", "email": `"a@b"@example.org`}, "email", "has invalid format", "email", "ERR_INVALID"},
		{"no password", map[string]any{"username": "dave", "password": nil}, "password", "can't be blank", "password", "ERR_BLANK"},
		{"a blank password", map[string]any{"username": "dave", "password": "  "}, "password", "can't be blank", "password", "ERR_BLANK"},
		{"a short password", map[string]any{"username": "dave", "password": "1234567"}, "password", "should be at least 8 characters", "password", "ERR_TOO_SHORT"},
		{"a long password", map[string]any{"username": "dave", "password": strings.Repeat("x", 257)}, "password", "should be at most 256 characters", "password", "ERR_TOO_LONG"},
		{"the nickname as password", map[string]any{"username": "davedave", "password": "DaveDave"}, "password", "can't be the nickname or the e-mail address", "password", "ERR_INVALID"},
		{"the nickname with an @ as password", map[string]any{"username": "davedave", "password": "@DaveDave"}, "password", "can't be the nickname or the e-mail address", "password", "ERR_INVALID"},
		{"the handle as password", map[string]any{"username": "dave", "password": "@dave@" + srv.Settings.Host()}, "password", "can't be the nickname or the e-mail address", "password", "ERR_INVALID"},
		{"a hidden character in a taken e-mail address", map[string]any{"username": "dave", "email": "taken@exa\u00admple.org"}, "email", "has already been taken", "email", "ERR_TAKEN"},
		{"the address as password", map[string]any{"username": "dave", "email": "dave@example.org", "password": "dave@example.org"}, "password", "can't be the nickname or the e-mail address", "password", "ERR_INVALID"},
		{"a long name", map[string]any{"username": "dave", "fullname": strings.Repeat("x", 101)}, "name", "should be at most 100 characters", "fullname", "ERR_TOO_LONG"},
		{"a long bio", map[string]any{"username": "dave", "bio": strings.Repeat("x", 5001)}, "bio", "should be at most 5000 characters", "bio", "ERR_TOO_LONG"},
		{"a long reason", map[string]any{"username": "dave", "reason": strings.Repeat("x", 501)}, "registration_reason", "should be at most 500 characters", "reason", "ERR_TOO_LONG"},
		{"no agreement", map[string]any{"username": "dave", "agreement": nil}, "agreement", "must be accepted", "agreement", "ERR_ACCEPTED"},
		{"disagreement", map[string]any{"username": "dave", "agreement": "false"}, "agreement", "must be accepted", "agreement", "ERR_ACCEPTED"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := make(map[string]any)
			for k, v := range ok {
				body[k] = v
			}
			for k, v := range tt.change {
				if body[k] = v; v == nil {
					delete(body, k)
				}
			}
			a := app.SendJSON("POST", "/api/v1/accounts", body)
			if tt.field == "" {
				o := a.Want(200).Object()
				if o.Str("scope") != "read write follow push" || o.Str("refresh_token") == "" || !strings.HasPrefix(o.Str("me"), srv.URL+"/users/") {
					t.Errorf("got %s", a.Body)
				}
				tokenClient(srv, a).Get("/api/v1/notifications").Want(200)
				return
			}
			o := a.Want(400).Object()
			var messages map[string][]string
			if err := json.Unmarshal([]byte(o.Str("error")), &messages); err != nil {
				t.Fatalf("error is not JSON: %s", o.Str("error"))
			}
			if len(messages) != 1 || len(messages[tt.field]) != 1 || messages[tt.field][0] != tt.say {
				t.Errorf("error is %v, want %s: %s", messages, tt.field, tt.say)
			}
			details := o.At("details").(map[string]any)[tt.detail].([]any)[0].(map[string]any)
			if details["error"] != tt.code || details["description"] != tt.say {
				t.Errorf("details are %v", o.At("details"))
			}
		})
	}

	t.Run("several errors", func(t *testing.T) {
		o := app.Post("/api/v1/accounts", "agreement", "1", "email", "x").Want(400).Object()
		for _, field := range []string{"nickname", "email", "password"} {
			if !strings.Contains(o.Str("error"), `"`+field+`":[`) {
				t.Errorf("%s is not among %s", field, o.Str("error"))
			}
		}
	})
	t.Run("a wrong type", func(t *testing.T) {
		app.SendJSON("POST", "/api/v1/accounts", map[string]any{"username": []string{"a", "b"}, "agreement": true}).Want(400).Object().Str("error")
	})
}

func TestRegisteredAccount(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("bob")
	app := appClient(srv)
	app.Post("/api/v1/accounts", "username", "Alice", "email", " Alice@Example.org ", "password", apptest.Password, "agreement", "on",
		"fullname", " Alice\nin\x00W. ", "bio", "I know @bob <b>& you</b>", "locale", "de-DE", "reason", "because").Want(200)
	ctx := t.Context()
	account, err := srv.DB.AccountByName(ctx, "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	user, err := srv.DB.User(ctx, account.ID)
	if err != nil {
		t.Fatal(err)
	}
	if account.URI != srv.URL+"/users/"+account.ID.String() || account.URL != srv.URL+"/@Alice" {
		t.Errorf("uri is %s, url is %s", account.URI, account.URL)
	}
	if account.DisplayName != "Alice in W." || !strings.Contains(account.Note, `href="`+srv.URL+`/@bob"`) || !strings.Contains(account.Note, "&lt;b&gt;&amp; you") {
		t.Errorf("display name %q, note %q", account.DisplayName, account.Note)
	}
	if !account.HideFavorites || account.HideFollowers || account.Locked || account.Discoverable || account.Unavailable || account.AcceptsChatMessages == nil {
		t.Errorf("the account is %+v", account)
	}
	if user.Email != "Alice@Example.org" || user.Locale != "de-DE" || user.RegistrationReason != "because" || user.Note != "I know @bob <b>& you</b>" ||
		!user.ShowRole || !user.AllowFollowingMove || user.Staff() || !user.CanSignIn() {
		t.Errorf("the user is %+v", user)
	}
	if !strings.HasPrefix(user.PasswordHash, "$argon2id$") {
		t.Errorf("the password is stored as %.10s…", user.PasswordHash)
	}
}

func TestRegisterAccess(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	params := []string{"username", "bob", "password", apptest.Password, "agreement", "true"}
	srv.As(nil).Post("/api/v1/accounts", params...).WantError(401, "The access token is invalid")
	alice.Post("/api/v1/accounts", params...).WantError(403, "Invalid credentials")
	app := srv.RegisterApp("scopes", "read write:statuses")
	tokenClient(srv, srv.Grant(app, "client_credentials")).Post("/api/v1/accounts", params...).WantError(403, "This action is outside the authorized scopes")
	app = srv.RegisterApp("scopes", "write:accounts")
	o := tokenClient(srv, srv.Grant(app, "client_credentials")).Post("/api/v1/accounts", params...).Want(200).Object()
	if o.Str("scope") != "write:accounts" {
		t.Errorf("the scope is %s", o.Str("scope"))
	}
}

func TestRegistrationsClosed(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.RegistrationsOpen = false })
	app := appClient(srv)
	params := []string{"username", "bob", "password", apptest.Password, "agreement", "true"}
	app.Post("/api/v1/accounts", params...).WantError(400, "Expired token")
	app.Post("/api/v1/accounts", append(params, "token", "nonsense")...).WantError(400, "Invalid token")
}

func TestRegistrationsWithConditions(t *testing.T) {
	for _, tt := range []struct {
		name               string
		approval, activate bool
		email              string
		identifier         string
	}{
		{"approval", true, false, "", "awaiting_approval"},
		{"confirmation", false, true, "bob@example.org", "missing_confirmed_email"},
		{"both", true, true, "bob@example.org", "missing_confirmed_email"},
		{"confirmation without an address", false, true, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := apptest.Start(t, func(c *config.Config) {
				c.Instance.AccountApprovalRequired, c.Instance.AccountActivationRequired = tt.approval, tt.activate
			})
			a := appClient(srv).Post("/api/v1/accounts", "username", "bob", "email", tt.email, "password", apptest.Password, "agreement", "true", "reason", "x")
			if tt.identifier == "" {
				a.WantError(400, `{"email":["can't be blank"]}`)
				return
			}
			o := a.Want(200).Object()
			if o.Str("identifier") != tt.identifier || !strings.HasPrefix(o.Str("message"), "You have been registered. ") || o.Has("access_token") {
				t.Errorf("got %s", a.Body)
			}
			account, err := srv.DB.AccountByName(t.Context(), "bob", "")
			if err != nil || !account.Unavailable {
				t.Errorf("the account is available: %+v, %v", account, err)
			}
			srv.Grant(srv.RegisterApp(), "password", "username", "bob", "password", apptest.Password).Want(403)
		})
	}
}

// TestConcurrentRegistrations registers the same nickname, then the same e-mail address, several times at once.
func TestConcurrentRegistrations(t *testing.T) {
	srv := apptest.Start(t)
	app := appClient(srv)
	for _, names := range [][]string{{"alice", "Alice", "ALICE", "alice"}, {"a1", "a2", "a3", "a4"}} {
		statuses := make([]int, len(names))
		var wg sync.WaitGroup
		for i, name := range names {
			wg.Go(func() {
				statuses[i] = app.Post("/api/v1/accounts", "username", name, "email", names[0]+"@example.org", "password", apptest.Password, "agreement", "true").Status
			})
		}
		wg.Wait()
		count := make(map[int]int)
		for _, s := range statuses {
			count[s]++
		}
		if count[200] != 1 || count[400] != len(names)-1 {
			t.Errorf("%v: got %v", names, statuses)
		}
	}
}

// TestNicknamesAreNotReused checks that the nickname of a deactivated account stays taken.
func TestNicknamesAreNotReused(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	srv.ChangeUser("alice", func(u *store.User) { u.DeactivatedAt, u.Email = u.ConfirmedAt, "" })
	app := appClient(srv)
	app.Post("/api/v1/accounts", "username", "alice", "password", apptest.Password, "agreement", "true").WantError(400, `{"nickname":["has already been taken"]}`)
	app.Post("/api/v1/accounts", "username", "alice2", "email", "alice@example.org", "password", apptest.Password, "agreement", "true").Want(200)
}

func TestRegistrationRateLimit(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.Registration.Count = 3
	})
	app := appClient(srv)
	for range 3 {
		app.Post("/api/v1/accounts").Want(400)
	}
	app.Post("/api/v1/accounts").WantError(429, "Throttled")
}
