package oauth_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"svc/admin"
	"svc/app/apptest"
	"svc/internal/config"
)

func byInvitation(c *config.Config) {
	c.Instance.RegistrationsOpen, c.Instance.InvitesEnabled = false, true
}

// invite returns the token of a new invite.
func invite(t *testing.T, srv *apptest.Server, n admin.NewInvite) string {
	t.Helper()
	i, err := srv.Admin.CreateInvite(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return i.Token
}

func TestInvites(t *testing.T) {
	srv := apptest.Start(t, byInvitation)
	app := appClient(srv)
	today := func(days int) string { return time.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly) }
	for n, tt := range []struct {
		name   string
		invite admin.NewInvite
		after  time.Duration
		uses   int    // that succeed
		kind   string // of the invite
		used   bool   // then
	}{
		{"one time", admin.NewInvite{}, 0, 1, "one_time", true},
		{"reusable", admin.NewInvite{MaxUse: 3}, 0, 3, "reusable", true},
		{"reusable once", admin.NewInvite{MaxUse: 1}, 0, 1, "reusable", true},
		{"date-limited", admin.NewInvite{ExpiresAt: today(1)}, 0, 5, "date_limited", false},
		{"on the last day", admin.NewInvite{ExpiresAt: today(1)}, 24 * time.Hour, 5, "date_limited", false},
		{"after the last day", admin.NewInvite{ExpiresAt: today(1)}, 48 * time.Hour, 0, "date_limited", false},
		{"both", admin.NewInvite{MaxUse: 2, ExpiresAt: today(1)}, 0, 2, "reusable_date_limited", true},
		{"both, too late", admin.NewInvite{MaxUse: 2, ExpiresAt: today(1)}, 48 * time.Hour, 0, "reusable_date_limited", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			token := invite(t, srv, tt.invite)
			srv.SetClock(tt.after)
			defer srv.SetClock(0)
			for i := range 5 {
				a := app.Post("/api/v1/accounts", registration(fmt.Sprintf("user%d%d", n, i), "token", token)...)
				if i < tt.uses {
					a.Want(200)
				} else {
					a.WantError(400, "Expired token")
				}
			}
			all, err := srv.Admin.Invites(t.Context(), struct{}{})
			if err != nil {
				t.Fatal(err)
			}
			got, counted := all[len(all)-1], tt.uses
			if tt.invite.MaxUse == 0 {
				counted = 0
			}
			if string(got.Type) != tt.kind || got.Used != tt.used || got.Uses != counted || got.Token != token {
				t.Errorf("the invite is %+v", got)
			}
		})
	}
}

func TestInviteRefused(t *testing.T) {
	srv := apptest.Start(t, byInvitation, withCaptcha)
	app, token := appClient(srv), invite(t, srv, admin.NewInvite{})
	captcha := solved(t, srv)
	refused := func(params ...string) *apptest.Response {
		return app.Post("/api/v1/accounts", registration("alice", params...)...)
	}
	refused(captcha...).WantError(400, "Expired token")
	refused(append(captcha, "token", "")...).WantError(400, "Expired token")
	refused(append(captcha, "token", "nonsense")...).WantError(400, "Invalid token")
	refused(append(captcha, "token", token[:len(token)-1])...).WantError(400, "Invalid token")
	wantFieldErrors(t, refused("token", token), map[string]string{"captcha": "Invalid CAPTCHA (Missing parameter: captcha_solution)"})
	wantFieldErrors(t, app.Post("/api/v1/accounts", append([]string{"username", "a b", "password", apptest.Password, "agreement", "1", "token", token}, captcha...)...),
		map[string]string{"nickname": "has invalid format"})
	if n := srv.Count(`SELECT count(*) FROM invites WHERE used = 0`); n != 1 {
		t.Error("a refused registration used up the invite")
	}
	refused(append(captcha, "token", token)...).Want(200)
	revoked := invite(t, srv, admin.NewInvite{MaxUse: 5})
	if _, err := srv.Admin.RevokeInvite(t.Context(), revoked); err != nil {
		t.Fatal(err)
	}
	app.Post("/api/v1/accounts", registration("bob", append(solved(t, srv), "token", revoked)...)...).WantError(400, "Expired token")
}

// TestInviteAtOnce uses an invite for two accounts five times at the same time.
func TestInviteAtOnce(t *testing.T) {
	srv := apptest.Start(t, byInvitation)
	app, token := appClient(srv), invite(t, srv, admin.NewInvite{MaxUse: 2})
	statuses := make([]int, 5)
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() {
			statuses[i] = app.Post("/api/v1/accounts", registration(fmt.Sprint("user", i), "token", token)...).Status
		})
	}
	wg.Wait()
	count := make(map[int]int)
	for _, s := range statuses {
		count[s]++
	}
	if count[200] != 2 || count[400] != 3 {
		t.Errorf("got %v", statuses)
	}
}

// TestInvitesDisabled checks that invites do not work while instance.invites_enabled is off, and are not needed while registration is open.
func TestInvitesDisabled(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.RegistrationsOpen = false })
	token := invite(t, srv, admin.NewInvite{})
	appClient(srv).Post("/api/v1/accounts", registration("alice", "token", token)...).WantError(400, "Invalid token")
	srv.Browser().Get("/registration/"+token).Want(403, "This invite is not valid")

	open := apptest.Start(t, func(c *config.Config) { c.Instance.InvitesEnabled = true })
	token = invite(t, open, admin.NewInvite{})
	appClient(open).Post("/api/v1/accounts", registration("alice", "token", token)...).Want(200)
	if n := open.Count(`SELECT count(*) FROM invites WHERE used = 0`); n != 1 {
		t.Error("a registration used up an invite that it did not need")
	}
}
