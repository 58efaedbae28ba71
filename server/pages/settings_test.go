package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestSettingsForms fills in each form of the settings as a user does, and reads by the API what it changed.
func TestSettingsForms(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("bob")
	for i, tt := range []struct {
		page, button string
		typed        []string
		shows        string // on the page afterwards
		endpoint     string
		want         map[string]any
	}{
		{
			"profile", "Save", []string{"display_name", "Ali <b>", "note", "I like #tea", "fields_attributes[0][name]", "Home", "fields_attributes[0][value]", "here", "actor_type", "Service", "birthday", "2001-02-03", "show_birthday", "true"}, "Saved.",
			"/api/v1/accounts/verify_credentials", map[string]any{"display_name": "Ali <b>", "source.note": "I like #tea", "source.fields.0.name": "Home", "bot": true, "svc.birthday": "2001-02-03"},
		},
		{
			"privacy", "Save", []string{"locked", "true"}, "Saved.",
			"/api/v1/accounts/verify_credentials", map[string]any{"locked": true, "discoverable": false, "source.privacy": "public"},
		},
		{
			"privacy", "Save", []string{"source[privacy]", "private", "source[sensitive]", "true", "hide_followers", "true", "source[quote_policy]", "nobody"}, "Saved.",
			"/api/v1/accounts/verify_credentials", map[string]any{"source.privacy": "private", "source.sensitive": true, "svc.hide_followers": true, "source.quote_policy": "nobody"},
		},
		{
			"notifications", "Save", []string{"for_new_accounts", "filter", "for_not_following", "drop"}, "Saved.",
			"/api/v2/notifications/policy", map[string]any{"for_new_accounts": "filter", "for_not_following": "drop", "for_not_followers": "accept"},
		},
		{
			"push", "Save", []string{"hide_notification_contents", "true"}, "Saved.",
			"/api/v1/accounts/verify_credentials", map[string]any{"svc.notification_settings.hide_notification_contents": true, "svc.notification_settings.block_from_strangers": false},
		},
		{
			"appearance", "Save", []string{"theme", "dark", "language", "de"}, "Gespeichert.",
			"/api/v1/svc/settings/web_interface", map[string]any{"theme": "dark", "language": "de"},
		},
		{
			"email", "Change the address", []string{"email", "new@example.org", "password", apptest.Password}, "The address is changed",
			"/api/v1/accounts/verify_credentials", map[string]any{"svc.email": "new@example.org"},
		},
		{
			"moving", "Add", []string{"alias", "bob@" + srv.Settings.Host()}, "bob@",
			"/api/v1/svc/aliases", map[string]any{"aliases.0": "bob@" + srv.Settings.Host()},
		},
	} {
		t.Run(tt.page+" "+tt.typed[0], func(t *testing.T) {
			user := srv.SignUp(fmt.Sprintf("user%d", i))
			user.SignedIn().Get("/web/settings/"+tt.page).Want(200).Press(tt.button, tt.typed...).Follow().Want(200, tt.shows)
			answer := user.Get(tt.endpoint).Want(200).Object()
			for path, want := range tt.want {
				if got := answer.Find(path); got != want {
					t.Errorf("%s is %v, want %v", path, got, want)
				}
			}
		})
	}
}

// TestSettingsRefused fills in forms with what the API refuses. The page says why and keeps what was entered, but no password.
func TestSettingsRefused(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	for _, tt := range []struct {
		page, button string
		typed        []string
		status       int
		shows, keeps string
	}{
		{"profile", "Save", []string{"display_name", strings.Repeat("x", 40), "birthday", "2999-01-01"}, 413, "", strings.Repeat("x", 40)},
		{"password", "Change the password", []string{"password", "wrong", "new_password", "another long one", "new_password_confirmation", "another long one"}, 422, "Invalid password.", ""},
		{"password", "Change the password", []string{"password", apptest.Password, "new_password", "another long one", "new_password_confirmation", "another"}, 422, "", ""},
		{"email", "Change the address", []string{"email", "not an address", "password", apptest.Password}, 422, "", "not an address"},
		{"email", "Change the address", []string{"email", "new@example.org", "password", "wrong"}, 422, "Invalid password.", "new@example.org"},
		{"move", "Move the followers", []string{"target_account", "nobody@" + srv.Settings.Host(), "password", apptest.Password}, 422, "", "nobody@"},
		{"delete", "Delete for ever", []string{"password", "wrong"}, 422, "Invalid password.", ""},
		{"disable", "Deactivate", []string{"password", "wrong"}, 422, "Invalid password.", ""},
	} {
		t.Run(tt.page+" "+tt.typed[1], func(t *testing.T) {
			page := browser.Get("/web/settings/"+tt.page).Want(200).Press(tt.button, tt.typed...)
			if page.Status < 400 || page.Status >= 500 {
				t.Fatalf("%d %s", page.Status, page.Text)
			}
			if !strings.Contains(page.Text, tt.shows) || !strings.Contains(string(page.Body), `role="alert"`) {
				t.Errorf("the page says %s", page.Text)
			}
			if !strings.Contains(string(page.Body), tt.keeps) {
				t.Errorf("%q is lost: %s", tt.keeps, page.Body)
			}
			if strings.Contains(string(page.Body), apptest.Password) || strings.Contains(string(page.Body), "wrong\"") {
				t.Error("the page contains a password")
			}
		})
	}
	alice.Get("/api/v1/accounts/verify_credentials").Want(200)
}

// TestTwoFactorPages turns a second factor on and off.
func TestTwoFactorPages(t *testing.T) {
	srv := apptest.Start(t)
	browser := srv.SignUp("alice").SignedIn()
	page := browser.Get("/web/settings/two_factor").Want(200).Press("Set up").Want(200, "Scan the picture")
	secret := page.Codes[0]
	page = page.Press("Turn on", "code", "000000", "password", apptest.Password)
	if page.Status < 400 || page.Codes[0] != secret {
		t.Fatalf("a wrong code: %d %s", page.Status, page.Text)
	}
	page = page.Press("Turn on", "code", apptest.TOTPCode(t, secret, 0), "password", apptest.Password).Want(200, "Backup codes", "Two-factor authentication is on.")
	if len(page.Codes) < 5 {
		t.Errorf("the backup codes are %v", page.Codes)
	}
	other := srv.Browser()
	challenge := other.Get("/web/sign_in").Want(200).Press("Sign in", "name", "alice", "password", apptest.Password).Want(200, "Two-factor authentication")
	challenge.Press("Sign in", "mfa[code]", page.Codes[0]).Follow().Want(200, "Your home timeline is empty.")

	page = browser.Get("/web/settings/two_factor").Press("Turn off", "password", "wrong")
	if page.Status < 400 || !strings.Contains(page.Text, "Invalid password.") {
		t.Errorf("a wrong password: %d %s", page.Status, page.Text)
	}
	browser.Get("/web/settings/two_factor").Press("Turn off", "password", apptest.Password).Follow().Want(200, "Saved.", "Set up")
}

// TestSessionsPage signs another browser out.
func TestSessionsPage(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser, other := alice.SignedIn(), alice.SignedIn()
	page := other.Get("/web/settings/sessions").Want(200, "This browser")
	n := 0
	for _, f := range page.Forms {
		for _, b := range f.Buttons {
			if b.Text == "Sign out" && strings.Contains(b.Action, "oauth_tokens") {
				n++
			}
		}
	}
	if n != 2 { // the app of the tests, and the first browser
		t.Fatalf("%d sessions can be ended", n)
	}
	for _, f := range page.Forms {
		for _, b := range f.Buttons {
			if strings.Contains(b.Action, "oauth_tokens") {
				other.Post(b.Action, f.Fields).Want(302)
			}
		}
	}
	if a := browser.Get("/web"); a.Status != 302 {
		t.Errorf("the session that was ended gets %d", a.Status)
	}
	other.Get("/web").Want(200)
}

// TestClosingTheAccount deletes the account by the page, which signs the browser out.
func TestClosingTheAccount(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	browser.Get("/web/settings/delete").Want(200).Press("Delete for ever", "password", apptest.Password).Want(302)
	if a := browser.Get("/web"); a.Status != 302 {
		t.Errorf("the browser gets %d", a.Status)
	}
	srv.As(nil).Get("/api/v1/accounts/" + alice.ID).Want(404)
}

// TestOwnData asks for a backup, imports a list and finds the links of the exports.
func TestOwnData(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	page := browser.Get("/web/settings/data").Want(200)
	for _, name := range []string{"follows", "lists", "blocks", "mutes", "domain_blocks", "bookmarks"} {
		path := "/web/exports/" + name + ".csv"
		if !strings.Contains(string(page.Body), path) {
			t.Errorf("%s is not linked", path)
		}
		browser.Get(path).Want(200)
	}
	page.Press("Ask for a backup").Follow().Want(200, "The backup is being prepared.", "in preparation")
}

// TestHiddenAccounts takes back a mute and a block.
func TestHiddenAccounts(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	browser := alice.SignedIn()
	for _, tt := range []struct{ path, action, member string }{
		{"/web/settings/hidden", "mute", "muting"}, {"/web/settings/hidden/blocks", "block", "blocking"},
	} {
		alice.Post("/api/v1/accounts/" + bob.ID + "/" + tt.action).Want(200)
		browser.Get(tt.path).Want(200, "@bob").Press("Undo").Follow().Want(200, "Nothing here.")
		if got := alice.Get("/api/v1/accounts/relationships", "id", bob.ID).Want(200).List()[0]; got.Bool(tt.member) {
			t.Errorf("%s is still set", tt.member)
		}
	}
}
