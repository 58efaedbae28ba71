package server_test

import (
	"svc/app/apptest"
	"testing"
	"time"
)

func TestBirthdays(t *testing.T) {
	srv := apptest.Start(t)
	alice, shown, hidden, unfollowed, moved := srv.SignUp("alice"), srv.SignUp("shown"), srv.SignUp("hidden"), srv.SignUp("unfollowed"), srv.SignUp("moved")
	change := func(m *apptest.User, params map[string]any) *apptest.Response {
		return m.SendJSON("PATCH", "/api/v1/accounts/update_credentials", params)
	}
	for _, m := range []*apptest.User{shown, hidden, moved} {
		srv.AddFollow(alice, m)
	}
	own := change(shown, map[string]any{"birthday": "2000-02-29", "show_birthday": true}).Want(200).Object()
	if own.Str("svc.birthday") != "2000-02-29" || !own.Bool("source.svc.show_birthday") {
		t.Errorf("got %v", own.Fields)
	}
	change(hidden, map[string]any{"birthday": "1990-02-29"}).Want(403) // the date does not exist
	own = change(hidden, map[string]any{"birthday": "1992-02-29"}).Want(200).Object()
	if own.Str("svc.birthday") != "1992-02-29" || own.Bool("source.svc.show_birthday") {
		t.Errorf("got %v", own.Fields)
	}
	change(unfollowed, map[string]any{"birthday": "1992-02-29", "show_birthday": true}).Want(200)
	change(moved, map[string]any{"birthday": "1992-02-29", "show_birthday": true}).Want(200)
	apptest.WantIDs(t, "two accounts", alice.Get("/api/v1/svc/birthdays?day=29&month=2"), moved.ID, shown.ID)
	change(moved, map[string]any{"birthday": "1992-03-01"}).Want(200)
	apptest.WantIDs(t, "one account", alice.Get("/api/v1/svc/birthdays?day=29&month=02"), shown.ID)
	apptest.WantIDs(t, "another day", alice.Get("/api/v1/svc/birthdays?day=1&month=3"), moved.ID)
	apptest.WantIDs(t, "a date that does not exist", alice.Get("/api/v1/svc/birthdays?day=31&month=4"))
	apptest.WantIDs(t, "a viewer who follows no account", unfollowed.Get("/api/v1/svc/birthdays?day=29&month=2"))
	if got := alice.Get("/api/v1/accounts/" + shown.ID).Object().Str("svc.birthday"); got != "2000-02-29" {
		t.Errorf("others see the birthday %q", got)
	}
	if o := alice.Get("/api/v1/accounts/" + hidden.ID).Object(); o.At("svc").(map[string]any)["birthday"] != nil {
		t.Errorf("a hidden birthday is visible: %v", o.Fields)
	}
	change(moved, map[string]any{"birthday": ""}).Want(200)
	apptest.WantIDs(t, "removed", alice.Get("/api/v1/svc/birthdays?day=1&month=3"))

	for _, query := range []string{"", "?day=1", "?month=1", "?day=0&month=1", "?day=32&month=1", "?day=1&month=13", "?day=x&month=1"} {
		alice.Get("/api/v1/svc/birthdays" + query).Want(400)
	}
	for _, birthday := range []string{"nonsense", "1899-12-31", "2000-13-01", "2000-1-1", time.Now().Add(48 * time.Hour).Format(time.DateOnly)} {
		change(shown, map[string]any{"birthday": birthday}).WantError(403, "Invalid request")
	}
	srv.As(nil).Get("/api/v1/svc/birthdays?day=1&month=1").Want(403)
	srv.NewToken(alice, "read:statuses").Get("/api/v1/svc/birthdays?day=1&month=1").Want(403)
}
