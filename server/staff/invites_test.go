package staff_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

func byInvitation(c *config.Config) {
	c.Instance.RegistrationsOpen, c.Instance.InvitesEnabled = false, true
}

// TestInvites checks every field of spec 2.18, and invite_token, invites and revoke_invite.
func TestInvites(t *testing.T) {
	srv := apptest.Start(t, byInvitation)
	root := srv.SignUpAdmin()
	day := time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	var tokens list
	for i, tt := range []struct {
		body apptest.Doc
		want apptest.Doc
	}{
		{apptest.Doc{}, apptest.Doc{"invite_type": "one_time", "max_use": nil, "expires_at": nil}},
		{apptest.Doc{"max_use": nil, "expires_at": nil}, apptest.Doc{"invite_type": "one_time", "max_use": nil}},
		{apptest.Doc{"max_use": 3}, apptest.Doc{"invite_type": "reusable", "max_use": 3.0, "expires_at": nil}},
		{apptest.Doc{"expires_at": day}, apptest.Doc{"invite_type": "date_limited", "max_use": nil, "expires_at": day}},
		{apptest.Doc{"max_use": "3", "expires_at": day}, apptest.Doc{"invite_type": "reusable_date_limited", "max_use": 3.0, "expires_at": day}},
	} {
		o := root.SendJSON("POST", usersPath+"/invite_token", tt.body).Want(200).Object()
		wantFields(t, o.Str("invite_type"), o, tt.want)
		wantFields(t, "an invite", o, apptest.Doc{"id": float64(i + 1), "used": false, "uses": 0.0})
		tokens = append(tokens, o.Str("token"))
	}
	wantLog(t, root.Client, "@root created invite #5")
	for _, tt := range []struct {
		body  apptest.Doc
		error string
	}{
		{apptest.Doc{"max_use": 0}, "max_use - 0 is smaller than inclusive minimum 1."},
		{apptest.Doc{"max_use": "many"}, "max_use - Invalid integer. Got: string."},
		{apptest.Doc{"max_use": 10_001}, "An invite can be used 1 to 10000 times, not 10001"},
		{apptest.Doc{"expires_at": "tomorrow"}, `"tomorrow" is not a date such as 2026-12-31`},
		{apptest.Doc{"expires_at": "2020-01-01"}, "The invite would expire in the past"},
	} {
		root.SendJSON("POST", usersPath+"/invite_token", tt.body).WantError(400, tt.error)
	}
	listed := root.Get(usersPath + "/invites").Want(200).Object()
	apptest.WantList(t, "the invites", apptest.ListField(listed, "invites", "token"), tokens...)

	revoked := root.Post(usersPath+"/revoke_invite", "token", tokens[2]).Want(200).Object()
	wantFields(t, "the revoked invite", revoked, apptest.Doc{"token": tokens[2], "used": true})
	wantLog(t, root.Client, "@root revoked invite #3")
	root.Post(usersPath+"/revoke_invite", "token", tokens[2]).Want(200)
	root.Post(usersPath+"/revoke_invite", "token", "unknown").WantError(404, "Not found")
	root.Post(usersPath+"/revoke_invite").WantError(400, "Missing field: token.")
	for _, m := range messages(root.Client) {
		if strings.Contains(m, tokens[2]) {
			t.Errorf("the log has a token: %s", m)
		}
	}
	register(srv, "late", tokens[2]).WantError(400, "Expired token")
}

// register registers an account with an invite.
func register(srv *apptest.Server, nick, token string) *apptest.Response {
	app := srv.Grant(srv.RegisterApp(), "client_credentials").Want(200).Object().Str("access_token")
	return (&apptest.Client{Server: srv, Token: app}).Post("/api/v1/accounts", "username", nick, "email", nick+"@example.org",
		"password", apptest.Password, "agreement", "true", "token", token)
}

// TestOneTimeInviteRace checks that of several registrations with a one-time invite at the same time one succeeds.
func TestOneTimeInviteRace(t *testing.T) {
	srv := apptest.Start(t, byInvitation, func(c *config.Config) { c.RateLimit.Enabled = false })
	token := srv.SignUpAdmin().SendJSON("POST", usersPath+"/invite_token", apptest.Doc{}).Want(200).Object().Str("token")
	var wg sync.WaitGroup
	results := make(chan int, 4)
	for _, nick := range []string{"a1", "a2", "a3", "a4"} {
		wg.Go(func() { results <- register(srv, nick, token).Status })
	}
	wg.Wait()
	close(results)
	count := map[int]int{}
	for status := range results {
		count[status]++
	}
	if count[200] != 1 || count[400] != 3 {
		t.Errorf("statuses: %v, want one 200 and three 400", count)
	}
	if n := srv.Count("SELECT count(*) FROM users"); n != 2 {
		t.Errorf("%d users, want 2", n)
	}
}

// TestMailInvites checks email_invite.
func TestMailInvites(t *testing.T) {
	const path = usersPath + "/email_invite"
	srv := apptest.Start(t, apptest.WithMail, byInvitation)
	root := srv.SignUpAdmin()
	if a := root.Post(path, "email", "carol@example.net", "name", "Carol").Want(204); len(a.Body) > 0 {
		t.Errorf("the body is %s", a.Body)
	}
	wantLog(t, root.Client, "@root sent invite #1 to carol@example.net")
	apptest.Settle(srv)
	mails := srv.Mails()
	if len(mails) != 1 || !strings.Contains(mails[0].Text, "Hello Carol,") || !strings.Contains(mails[0].Text, srv.URL+"/registration/") {
		t.Errorf("mails: %+v", mails)
	}
	root.Post(path).WantError(400, "Missing field: email.")
	wantError := func(root *apptest.User, email, want string) {
		t.Helper()
		if got := root.Post(path, "email", email).Want(400).List(); len(got) != 1 || got[0].Str("error") != want {
			t.Errorf("got %v, want %q", got, want)
		}
	}
	wantError(root, "nonsense", "email has invalid format")
	for _, tt := range []struct {
		change func(*config.Config)
		want   string
	}{
		{func(c *config.Config) { c.Instance.RegistrationsOpen = true }, "To send invites you need to set the `registrations_open` option to false."},
		{func(c *config.Config) { c.Instance.InvitesEnabled = false }, "To send invites you need to set the `invites_enabled` option to true."},
		{func(c *config.Config) { c.Mail.Enabled = false }, "deliveries_disabled"},
	} {
		other := apptest.Start(t, apptest.WithMail, byInvitation, tt.change)
		wantError(other.SignUpAdmin(), "carol@example.net", tt.want)
		if n := other.Count("SELECT count(*) FROM invites"); n != 0 {
			t.Errorf("%d invites", n)
		}
	}
}
