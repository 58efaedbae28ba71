package oauth_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/admin"
	"svc/app/apptest"
	"svc/internal/config"
	"svc/social"
)

// unconfirmed adds an account that awaits the confirmation of its address.
func unconfirmed(t *testing.T, srv *apptest.Server, nick string, approved bool) {
	t.Helper()
	_, _, err := srv.Social.SignUp(t.Context(), social.Registration{
		Nickname: nick, Email: nick + "@example.org", Password: apptest.Password, Approved: approved, Reason: "I like\nthis place",
	})
	if err != nil {
		t.Fatal(err)
	}
}

func confirmationRequired(c *config.Config) { c.Instance.AccountActivationRequired = true }

// TestForgotPassword asks for the link of a password reset in all ways, and sets a new password with it.
func TestForgotPassword(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail)
	srv.SignUp("alice")
	bob := srv.SignUp("bob")
	unconfirmed(t, srv, "carol", true)
	srv.Mails()
	if _, err := srv.Social.Deactivate(t.Context(), bob.AccountID()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		to   []string // the parameter and its value
		mail bool
	}{
		{"a nickname", []string{"nickname", "alice"}, true},
		{"an address", []string{"email", "alice@example.org"}, true},
		{"another spelling", []string{"email", " ALICE@example.org "}, true},
		{"a nickname as an address", []string{"email", "Alice"}, true},
		{"unknown nickname", []string{"nickname", "nobody"}, false},
		{"unknown address", []string{"email", "nobody@example.org"}, false},
		{"deactivated", []string{"nickname", "bob"}, false},
		{"unconfirmed", []string{"nickname", "carol"}, false},
		{"nothing", nil, false},
		{"not an address", []string{"email", "a b\r\nBcc: eve@example.org"}, false},
	} {
		r := srv.As(nil).Post("/auth/password", tt.to...).Want(204)
		if len(r.Body) > 0 {
			t.Errorf("%s: got the body %q", tt.name, r.Body)
		}
		if got := srv.Mails(); len(got) > 0 != tt.mail || tt.mail && got[0].To != "alice@example.org" {
			t.Errorf("%s: got %v", tt.name, got)
		}
		srv.Advance(time.Hour) // the mails of one address are limited
	}
	srv.As(nil).SendJSON("POST", "/auth/password", map[string]string{"email": "alice@example.org"}).Want(204)
	first := srv.WantMails("alice@example.org Set a new password")[0]
	srv.As(nil).SendJSON("POST", "/auth/password?nickname=alice", map[string]string{}).Want(204)
	second := srv.WantMails("alice@example.org Set a new password")[0]
	if !strings.Contains(second.Text, "Hello alice,") {
		t.Errorf("got %q", second.Text)
	}

	b := srv.Browser()
	b.Get(first.Link()).Want(200, "Invalid Token") // replaced by the second one
	page := b.Get(second.Link()).Want(200, "New password for @alice")
	page.Submit(0, "data[password]", "a new password", "data[password_confirmation]", "another").Want(200, "not the same")
	page.Submit(0, "data[password]", "short", "data[password_confirmation]", "short").Want(200, "at least 8")
	page.Submit(0, "data[password]", "a new password", "data[password_confirmation]", "a new password").Want(200, "Password changed!")
	page.Submit(0, "data[password]", "yet another one", "data[password_confirmation]", "yet another one").Want(200, "Password reset failed")
	b.Get(second.Link()).Want(200, "Invalid Token")
	srv.WantMails("alice@example.org was changed")
	srv.Grant(srv.RegisterApp(), "password", "username", "alice", "password", "a new password").Want(200)

	srv.As(nil).Post("/auth/password", "nickname", "alice").Want(204)
	late := srv.WantMails("alice@example.org Set a new password")[0]
	srv.Advance(25 * time.Hour)
	b.Get(late.Link()).Want(200, "Invalid Token")
}

// TestForgotPasswordPage follows the link on the sign-in page.
func TestForgotPasswordPage(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail)
	srv.SignUp("alice")
	app := srv.RegisterApp()
	b := srv.Browser()
	const redirect = "urn:ietf:wg:oauth:2.0:oob"
	b.Get("/oauth/authorize", "response_type", "code", "client_id", app.ID, "redirect_uri", redirect).Want(200, "Forgot password?")
	page := b.Get("/auth/forgot_password").Want(200, "Forgot password?")
	page.Submit(0, "name", " ").Want(422, "Enter your nickname")
	page.Submit(0, "name", "nobody").Want(200, "Check your mail")
	srv.WantMails()
	page.Submit(0, "name", "alice").Want(200, "Check your mail")
	srv.WantMails("alice@example.org Set a new password")
	b.Origin = "https://evil.example"
	page.Submit(0, "name", "alice").Want(403)

	silent := apptest.Start(t)
	silent.SignUp("alice")
	silentApp := silent.RegisterApp()
	if p := silent.Browser().Get("/oauth/authorize", "response_type", "code", "client_id", silentApp.ID, "redirect_uri", redirect).Want(200); strings.Contains(p.Text, "Forgot") {
		t.Error("a server without mail offers mail")
	}
	silent.Browser().Get("/auth/forgot_password").Want(200, "sends no mail")
	silent.As(nil).Post("/auth/password", "nickname", "alice").Want(204)
	silent.WantMails()
}

func TestPasswordRequestLimits(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail, func(c *config.Config) { c.RateLimit.Enabled = true })
	for _, path := range []string{"/auth/password", "/auth/forgot_password"} {
		for range 5 {
			srv.As(nil).Post("/auth/password", "nickname", "nobody")
		}
		srv.As(nil).Post(path, "name", "nobody").Want(429)
		srv.Advance(time.Hour)
	}
	for range 5 {
		srv.As(nil).Post("/api/v1/svc/accounts/confirmation_resend", "nickname", "nobody").Want(204)
	}
	srv.As(nil).Post("/api/svc/accounts/confirmation_resend", "nickname", "nobody").WantError(429, "Throttled")
}

// TestConfirmation registers, asks for the mail again, and confirms the address.
func TestConfirmation(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail, confirmationRequired)
	srv.SignUpAdmin()
	root := srv.SignUp("alice")
	srv.Mails()
	const resend = "/api/v1/svc/accounts/confirmation_resend"
	unconfirmed(t, srv, "bob", true)
	first := srv.WantMails("bob@example.org Confirm your mail address")[0]
	for _, tt := range []struct{ name, value string }{{"nickname", "bob"}, {"email", "bob@example.org"}, {"email", "BOB"}} {
		srv.As(nil).Post(resend, tt.name, tt.value).Want(204)
		second := srv.WantMails("bob@example.org Confirm your mail address")[0]
		srv.Browser().Get(first.Link()).Want(404, "This link is not valid")
		first = second
	}
	for _, to := range []string{"nobody", "nobody@example.org", "alice", "alice@example.org", ""} {
		srv.As(nil).Post(resend, "email", to).Want(204)
	}
	srv.WantMails()
	grant := func() *apptest.Response {
		return srv.Grant(srv.RegisterApp(), "password", "username", "bob", "password", apptest.Password)
	}
	grant().WantError(403, "Your login is missing a confirmed e-mail address")

	b := srv.Browser()
	link := first.Link()
	b.Get(link + "x").Want(404)
	b.Get(strings.Replace(link, "/confirm_email/", "/confirm_email/"+root.ID, 1)).Want(404)
	b.Get("/api/account/confirm_email/" + root.ID + link[strings.LastIndex(link, "/"):]).Want(404) // the token of another
	b.Do("HEAD", link, nil)
	to, params := b.Get(link).Location()
	if params.Get("state") != "active" {
		t.Errorf("got %s, %v", to, params)
	}
	b.Get(to, "state", "active").Want(200, "Your account is ready")
	b.Get(link).Want(404, "This link is not valid")
	grant().Want(200)
	srv.As(nil).Post(resend, "nickname", "bob").Want(204)
	srv.WantMails()

	unconfirmed(t, srv, "late", true)
	late := srv.WantMails("late@example.org Confirm")[0]
	srv.Advance(25 * time.Hour)
	b.Get(late.Link()).Want(404)
}

// TestConfirmationAtOnce opens a link several times at once: it works once.
func TestConfirmationAtOnce(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail)
	unconfirmed(t, srv, "bob", true)
	link := srv.WantMails("bob@example.org Confirm")[0].Link()
	statuses := make([]int, 8)
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() { statuses[i] = srv.As(nil).Get(link).Status })
	}
	wg.Wait()
	worked := 0
	for _, s := range statuses {
		if s == 302 {
			worked++
		} else if s != 404 {
			t.Errorf("got %d", s)
		}
	}
	if worked != 1 {
		t.Errorf("the link worked %d times", worked)
	}
}

// TestApprovalMails confirms accounts that then await approval, and approves and rejects them.
func TestApprovalMails(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail)
	srv.SignUpAdmin()
	mod := srv.SignUp("mod")
	srv.SetRole(mod, false, true)
	srv.SignUp("alice")
	for _, nick := range []string{"bob", "carol"} {
		unconfirmed(t, srv, nick, false)
		to, params := srv.Browser().Get(srv.WantMails(nick + "@example.org Confirm")[0].Link()).Location()
		if params.Get("state") != "approval" {
			t.Errorf("got %s, %v", to, params)
		}
		srv.Browser().Get(to, "state", "approval").Want(200, "The moderators look at your account")
		mails := srv.WantMails(nick+"@example.org awaits approval", "root@example.org New account to approve at svc: @"+nick, "mod@example.org New account")
		if staff := mails[1]; !strings.Contains(staff.Text, "> I like\n> this place\n") || !strings.Contains(staff.HTML, "I like\nthis place") {
			t.Errorf("got %q, %q", staff.Text, staff.HTML)
		}
	}
	if _, err := srv.Admin.ApproveUsers(t.Context(), []string{"bob"}); err != nil {
		t.Fatal(err)
	}
	srv.WantMails("bob@example.org is approved")
	if _, err := srv.Admin.ApproveUsers(t.Context(), []string{"bob"}); err != nil {
		t.Fatal(err)
	}
	if _, err := srv.Admin.RejectUser(t.Context(), "bob"); err == nil {
		t.Error("an approved account was rejected")
	}
	srv.WantMails()
	if _, err := srv.Admin.RejectUser(t.Context(), "carol"); err != nil {
		t.Fatal(err)
	}
	if m := srv.WantMails("carol@example.org Your account")[0]; !strings.Contains(m.Text, "Hello carol,") {
		t.Errorf("got %q", m.Text)
	}
	if _, err := srv.Admin.ShowUser(t.Context(), "carol"); err == nil {
		t.Error("a rejected account still exists")
	}
	unconfirmed(t, srv, "carol", false) // the nickname and the address are free
	srv.WantMails("carol@example.org Confirm")
	if _, err := srv.Admin.RejectUser(t.Context(), "carol"); err != nil {
		t.Fatal(err)
	}
	srv.WantMails() // nobody has confirmed the address
}

func TestChangeEmail(t *testing.T) {
	const path = "/api/v1/svc/change_email"
	srv := apptest.Start(t, apptest.WithMail)
	alice := srv.SignUp("alice")
	srv.SignUp("bob")
	srv.Mails()
	for _, tt := range []struct{ password, email, want string }{
		{"wrong", "new@example.org", "Invalid password."},
		{"", "new@example.org", "Invalid password."},
		{apptest.Password, "new", "Email has invalid format."},
		{apptest.Password, "new@example.org\r\nBcc: eve@example.org", "Email has invalid format."},
		{apptest.Password, `"a@b"@example.org`, "Email has invalid format."},
		{apptest.Password, strings.Repeat("x", 300) + "@example.org", "Email has invalid format."},
		{apptest.Password, "BOB@example.org", "Email has already been taken."},
	} {
		alice.Post(path, "password", tt.password, "email", tt.email).WantError(200, tt.want)
	}
	alice.Post(path, "email", "new@example.org").WantError(400, "Missing field: password.")
	alice.Post(path, "password", apptest.Password).WantError(400, "Missing field: email.")
	srv.As(nil).Post(path, "password", apptest.Password, "email", "new@example.org").WantError(403, "Invalid credentials.")
	srv.NewToken(alice, "read").Post(path).WantError(403, "Insufficient permissions: write:accounts.")
	srv.WantMails()
	if got := userEmail(t, srv, alice); got != "alice@example.org" {
		t.Fatalf("the address is %q", got)
	}

	srv.As(nil).Post("/auth/password", "nickname", "alice").Want(204)
	reset := srv.WantMails("alice@example.org Set a new password")[0]
	alice.SendJSON("POST", path, map[string]string{"password": apptest.Password, "email": "new@example.org"}).Want(200)
	if m := srv.WantMails("alice@example.org The mail address")[0]; !strings.Contains(m.Text, "was changed to new@example.org") {
		t.Errorf("got %q", m.Text)
	}
	if got := userEmail(t, srv, alice); got != "new@example.org" {
		t.Errorf("the address is %q", got)
	}
	srv.Browser().Get(reset.Link()).Want(200, "Invalid Token") // it was sent to the old address
	alice.Post("/api/svc/change_email", "password", apptest.Password, "email", "new@example.org").Want(200)
	srv.WantMails()
	alice.Post(path, "password", apptest.Password, "email", "").Want(200)
	if m := srv.WantMails("new@example.org The mail address")[0]; !strings.Contains(m.Text, "was removed") {
		t.Errorf("got %q", m.Text)
	}
	alice.Post(path, "password", apptest.Password, "email", "alice@example.org").Want(200)
	srv.WantMails()
}

func userEmail(t *testing.T, srv *apptest.Server, m *apptest.User) string {
	t.Helper()
	u, err := srv.DB.User(t.Context(), m.AccountID())
	if err != nil {
		t.Fatal(err)
	}
	return u.Email
}

// TestChangeEmailWithConfirmation changes an address where addresses need confirmation: the old one counts until then.
func TestChangeEmailWithConfirmation(t *testing.T) {
	const path = "/api/v1/svc/change_email"
	srv := apptest.Start(t, apptest.WithMail, confirmationRequired)
	alice := srv.SignUp("alice")
	srv.SignUp("bob")
	srv.Mails()
	alice.Post(path, "password", apptest.Password, "email", " ").WantError(200, "Email can't be blank.")
	change := func(address string) *apptest.Mail {
		t.Helper()
		alice.Post(path, "password", apptest.Password, "email", address).Want(200)
		mails := srv.WantMails("alice@example.org The mail address", address+" Confirm your new mail address")
		if !strings.Contains(mails[0].Text, "asked to change the mail address of your account to "+address) {
			t.Errorf("got %q", mails[0].Text)
		}
		return mails[1]
	}
	want := func(address string) {
		t.Helper()
		if got := userEmail(t, srv, alice); got != address {
			t.Errorf("the address is %q, not %q", got, address)
		}
	}
	b := srv.Browser()
	first := change("first@example.org")
	want("alice@example.org")
	second := change("second@example.org")
	b.Get(first.Link()).Want(404)
	to, params := b.Get(second.Link()).Location()
	if params.Get("state") != "changed" {
		t.Errorf("got %s, %v", to, params)
	}
	b.Get(to, "state", "changed").Want(200, "This is the address of your account now")
	want("second@example.org")
	srv.WantMails("alice@example.org The mail address")
	b.Get(second.Link()).Want(404)

	// Another takes the address meanwhile; a new password and the old address end the change.
	srv.Advance(time.Hour)
	alice.Post(path, "password", apptest.Password, "email", "third@example.org").Want(200)
	third := srv.WantMails("second@example.org The mail address", "third@example.org Confirm")[1]
	if _, err := srv.Admin.UpdateUser(t.Context(), admin.UserUpdate{Name: "bob", Email: new("third@example.org")}); err != nil {
		t.Fatal(err)
	}
	srv.WantMails("bob@example.org The mail address")
	b.Get(third.Link()).Want(409, "Email has already been taken.")
	want("second@example.org")
	alice.Post(path, "password", apptest.Password, "email", "fourth@example.org").Want(200)
	fourth := srv.WantMails("second@example.org The mail address", "fourth@example.org Confirm")[1]
	alice.Post(path, "password", apptest.Password, "email", "second@example.org").Want(200)
	b.Get(fourth.Link()).Want(404)
	alice.Post(path, "password", apptest.Password, "email", "fifth@example.org").Want(200)
	fifth := srv.WantMails("second@example.org The mail address", "fifth@example.org Confirm")[1]
	alice.Post("/api/v1/svc/change_password", "password", apptest.Password, "new_password", "another password", "new_password_confirmation", "another password").Want(200)
	srv.WantMails("second@example.org was changed")
	b.Get(fifth.Link()).Want(404)
	want("second@example.org")
}

// TestMailsOfAddressChangesAreLimited changes the address again and again: the addresses of others do not get more mail than an hour allows.
func TestMailsOfAddressChangesAreLimited(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail, confirmationRequired)
	alice := srv.SignUp("alice")
	srv.Mails()
	sent := 0
	for i := range 8 {
		alice.Post("/api/v1/svc/change_email", "password", apptest.Password, "email", strings.Repeat("x", i+1)+"@example.net").Want(200)
		for _, m := range srv.Mails() {
			if strings.HasSuffix(m.To, "@example.net") {
				sent++
			}
		}
	}
	if sent != 5 {
		t.Errorf("%d mails were sent to others, not 5", sent)
	}
}

// TestSignInMails signs in from known and new networks.
func TestSignInMails(t *testing.T) {
	from := func(srv *apptest.Server, address string) {
		t.Helper()
		app := srv.RegisterApp("client_name", "Phone")
		c := &apptest.Client{Server: srv}
		values := apptest.Pairs([]string{"grant_type", "password", "client_id", app.ID, "client_secret", app.Secret, "username", "alice", "password", apptest.Password})
		req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/oauth/token", strings.NewReader(values.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("X-Forwarded-For", address)
		c.DoRequest(req).Want(200)
	}
	trusted := func(c *config.Config) { c.Server.TrustedProxies = []string{"127.0.0.1"} }
	srv := apptest.Start(t, apptest.WithMail, trusted)
	srv.SignUp("alice")
	srv.WantMails()
	from(srv, "203.0.113.7")
	m := srv.WantMails("alice@example.org New sign-in")[0]
	if !strings.Contains(m.Text, "Network: 203.0.113.0/24\nApp: Phone\n") {
		t.Errorf("got %q", m.Text)
	}
	from(srv, "203.0.113.99") // the same network
	srv.WantMails()
	from(srv, "2001:db8:1::1")
	srv.WantMails("alice@example.org New sign-in")
	from(srv, "2001:db8:1:2::1")
	srv.WantMails()
	srv.Advance(91 * 24 * time.Hour)
	from(srv, "203.0.113.7")
	srv.WantMails("alice@example.org New sign-in")
	from(srv, "203.0.113.7")
	srv.WantMails()
	if srv.Count(`SELECT count(*) FROM sign_in_networks WHERE length(hash) <> 16`) > 0 {
		t.Error("networks are not stored as hashes")
	}
	for i := range 30 {
		from(srv, "198.51."+string(rune('0'+i/10))+string(rune('0'+i%10))+".1")
		srv.Advance(10 * time.Minute)
	}
	srv.Mails()
	if n := srv.Count(`SELECT count(*) FROM sign_in_networks`); n != 20 {
		t.Errorf("%d networks are stored for an account, not 20", n)
	}

	silent := apptest.Start(t, apptest.WithMail, trusted, func(c *config.Config) { c.Accounts.SignInMails = false })
	silent.SignUp("alice")
	from(silent, "203.0.113.7")
	silent.WantMails()
}

// TestResendAddressChange sends the mail for a new address again, which only users get whose new address waits.
func TestResendAddressChange(t *testing.T) {
	const path = "/api/v1/emails/confirmations"
	srv := apptest.Start(t, apptest.WithMail, confirmationRequired)
	alice := srv.SignUp("alice")
	srv.Mails()
	alice.Post(path).WantError(403, "This method is only available while the e-mail is awaiting confirmation")
	alice.Post("/api/v1/svc/change_email", "password", apptest.Password, "email", "new@example.org").Want(200)
	first := srv.WantMails("alice@example.org The mail address", "new@example.org Confirm")[1]
	alice.Post(path).Want(200)
	second := srv.WantMails("new@example.org Confirm")[0]
	alice.Post(path, "email", "other@example.org").Want(422)
	srv.WantMails()
	srv.As(nil).Post(path).Want(401)
	srv.NewToken(alice, "read").Post(path).Want(403)
	b := srv.Browser()
	b.Get(first.Link()).Want(404)
	b.Get(second.Link()).Location()
	if got := userEmail(t, srv, alice); got != "new@example.org" {
		t.Errorf("the address is %s", got)
	}
	alice.Post(path, "email", "new@example.org").Want(403)
	srv.As(nil).Post("/api/v1/svc/accounts/confirmation_resend", "email", "new@example.org").Want(204)
}
