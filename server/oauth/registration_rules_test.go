package oauth_test

import (
	"fmt"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

func TestRegistrationBirthday(t *testing.T) {
	day := func(years, days int) string { return time.Now().UTC().AddDate(-years, 0, days).Format(time.DateOnly) }
	const blank, invalid, young = "can't be blank", "has invalid format", "must be at least 16 years ago"
	for _, tt := range []struct {
		name     string
		required bool
		minAge   int
		birthday string
		want     string // "": registered
	}{
		{"none", false, 0, "", ""},
		{"optional", false, 0, "2000-12-31", ""},
		{"yesterday, any age", false, 0, day(0, -1), ""},
		{"tomorrow", false, 0, day(0, 2), invalid},
		{"required and missing", true, 0, "", blank},
		{"required and given", true, 0, "2000-12-31", ""},
		{"no date", true, 16, "31.12.2000", invalid},
		{"no such day", true, 16, "2001-02-29", invalid},
		{"long ago", true, 16, "1899-12-31", invalid},
		{"16 today", true, 16, day(16, 0), ""},
		{"16 in two days", true, 16, day(16, 2), young},
		{"too young, though not required", false, 16, day(1, 0), young},
		{"a minimum age, and no birthday", false, 16, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := apptest.Start(t, func(c *config.Config) {
				c.Accounts.BirthdayRequired, c.Accounts.BirthdayMinAge = tt.required, tt.minAge
			})
			a := appClient(srv).Post("/api/v1/accounts", registration("alice", "birthday", tt.birthday)...)
			if tt.want != "" {
				wantFieldErrors(t, a, map[string]string{"birthday": tt.want})
				return
			}
			alice := tokenClient(srv, a)
			change := alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"birthday": ""})
			if tt.required {
				change.Want(403)
			} else {
				change.Want(200)
			}
			change = alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"birthday": day(10, 0)})
			if tt.minAge > 0 {
				change.Want(403)
			} else {
				change.Want(200)
			}
			metadata := apptest.Doc{"svc.metadata.birthday_required": tt.required, "svc.metadata.birthday_min_age": float64(tt.minAge)}
			apptest.WantFields(t, "version 1", srv.As(nil).Get("/api/v1/instance").Object(), metadata)
			v2 := srv.As(nil).Get("/api/v2/instance").Object()
			apptest.WantFields(t, "version 2", v2, metadata)
			if age := v2.At("registrations.min_age"); tt.minAge > 0 && age != float64(tt.minAge) || tt.minAge == 0 && age != nil {
				t.Errorf("min_age is %v", age)
			}
		})
	}
}

// TestRegistrationDateOfBirth sends the birthday as the client API names it.
func TestRegistrationDateOfBirth(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Accounts.BirthdayRequired = true })
	app := appClient(srv)
	o := app.Post("/api/v1/accounts", registration("alice")...).Want(400).Object()
	if code := o.Find("details.date_of_birth.0.error"); code != "ERR_BLANK" {
		t.Errorf("the code is %v", code)
	}
	app.Post("/api/v1/accounts", registration("alice", "date_of_birth", "2000-12-31")...).Want(200)
	apptest.WantFields(t, "version 2", srv.As(nil).Get("/api/v2/instance").Object(), apptest.Doc{"registrations.url": srv.URL + "/auth/sign_up"})
}

// TestRegistrationWithoutToken takes all scopes from an app that users can grant.
func TestRegistrationWithoutToken(t *testing.T) {
	srv := apptest.Start(t)
	app := appClient(srv)
	srv.Exec(`UPDATE oauth_apps SET scopes = 'admin'`)
	o := app.Post("/api/v1/accounts", registration("alice")...).Want(200).Object()
	apptest.WantFields(t, "the answer", o, apptest.Doc{"identifier": "manual_login_required", "message": "You have been registered. Please log in to continue."})
	if _, err := srv.DB.AccountByName(t.Context(), "alice", ""); err != nil {
		t.Error(err)
	}
}

func TestEmailBlacklist(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Accounts.EmailBlacklist = []string{"spam.example", "Trash.Example"} })
	app := appClient(srv)
	for i, tt := range []struct {
		email   string
		refused bool
	}{
		{"a@spam.example", true},
		{"a@SPAM.example", true},
		{"a@mail.spam.example", true},
		{"a@trash.example", true},
		{"a@notspam.example", false},
		{"spam.example@good.example", false},
	} {
		a := app.Post("/api/v1/accounts", registration(fmt.Sprint("user", i), "email", tt.email)...)
		if tt.refused {
			wantFieldErrors(t, a, map[string]string{"email": "Invalid email"})
		} else {
			a.Want(200)
		}
	}
}

func TestWelcome(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Instance.AccountApprovalRequired = true
		c.Accounts.Autofollow, c.Accounts.AutofollowedBy = []string{"@news", "nobody"}, []string{"mod", "nobody"}
		c.Welcome = config.Welcome{Sender: "mod", DirectMessage: "Nice that you are here", ChatMessage: "Ask me anything"}
	})
	srv.SignUp("news")
	mod := srv.SignUp("mod")
	app := appClient(srv)
	app.Post("/api/v1/accounts", registration("alice")...).Want(200)
	srv.RunJobs()
	if n := srv.Count(`SELECT count(*) FROM follows f JOIN accounts a ON a.id IN (f.follower_id, f.target_id) WHERE a.nickname = 'alice'`); n != 0 {
		t.Errorf("%d follows of an account that awaits approval", n)
	}
	for range 2 { // approving again does nothing
		if _, err := srv.Admin.ApproveUsers(t.Context(), []string{"alice"}); err != nil {
			t.Fatal(err)
		}
		srv.RunJobs()
	}
	alice := tokenClient(srv, srv.Grant(srv.RegisterApp(), "password", "username", "alice", "password", apptest.Password))
	me := alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object()
	apptest.WantFields(t, "the account", me, apptest.Doc{"following_count": 1.0, "followers_count": 1.0})
	if list := alice.Get("/api/v1/accounts/" + me.Str("id") + "/following").Want(200).List(); len(list) != 1 || list[0].Str("acct") != "news" {
		t.Errorf("alice follows %v", list)
	}
	if list := mod.Get("/api/v1/accounts/" + mod.ID + "/following").Want(200).List(); len(list) == 0 || list[0].Str("acct") != "alice" {
		t.Errorf("mod follows %v", list)
	}
	list := alice.Get("/api/v1/conversations").Want(200).List()
	if len(list) != 1 || list[0].At("last_status.svc.content.text/plain") != "@alice\nNice that you are here" {
		t.Errorf("the conversations are %v", list)
	}
	chats := alice.Get("/api/v1/svc/chats").Want(200).List()
	if len(chats) != 1 || chats[0].At("last_message.content") != "Ask me anything" {
		t.Errorf("the chats are %v", chats)
	}
}
