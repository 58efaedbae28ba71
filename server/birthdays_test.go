package server_test

import (
	"testing"
	"time"
)

func TestBirthdays(t *testing.T) {
	srv := startAPI(t)
	alice, shown, hidden, stranger, moved := srv.signUp("alice"), srv.signUp("shown"), srv.signUp("hidden"), srv.signUp("stranger"), srv.signUp("moved")
	change := func(m *member, params map[string]any) *answer {
		return m.send("PATCH", "/api/v1/accounts/update_credentials", params)
	}
	for _, m := range []*member{shown, hidden, moved} {
		srv.letFollow(alice, m)
	}
	own := change(shown, map[string]any{"birthday": "2000-02-29", "show_birthday": true}).want(200).object()
	if own.str("svc.birthday") != "2000-02-29" || !own.truth("source.svc.show_birthday") {
		t.Errorf("got %v", own.m)
	}
	change(hidden, map[string]any{"birthday": "1990-02-29"}).want(403) // there was no such day
	own = change(hidden, map[string]any{"birthday": "1992-02-29"}).want(200).object()
	if own.str("svc.birthday") != "1992-02-29" || own.truth("source.svc.show_birthday") {
		t.Errorf("got %v", own.m)
	}
	change(stranger, map[string]any{"birthday": "1992-02-29", "show_birthday": true}).want(200)
	change(moved, map[string]any{"birthday": "1992-02-29", "show_birthday": true}).want(200)
	wantIDs(t, "two have birthday", alice.get("/api/v1/svc/birthdays?day=29&month=2"), moved.id, shown.id)
	change(moved, map[string]any{"birthday": "1992-03-01"}).want(200)
	wantIDs(t, "one has", alice.get("/api/v1/svc/birthdays?day=29&month=02"), shown.id)
	wantIDs(t, "another day", alice.get("/api/v1/svc/birthdays?day=1&month=3"), moved.id)
	wantIDs(t, "no such day", alice.get("/api/v1/svc/birthdays?day=31&month=4"))
	wantIDs(t, "who follows nobody", stranger.get("/api/v1/svc/birthdays?day=29&month=2"))
	if got := alice.get("/api/v1/accounts/" + shown.id).object().str("svc.birthday"); got != "2000-02-29" {
		t.Errorf("the birthday shown to others is %q", got)
	}
	if o := alice.get("/api/v1/accounts/" + hidden.id).object(); o.at("svc").(map[string]any)["birthday"] != nil {
		t.Errorf("a birthday that is not shown is shown: %v", o.m)
	}
	change(moved, map[string]any{"birthday": ""}).want(200)
	wantIDs(t, "taken back", alice.get("/api/v1/svc/birthdays?day=1&month=3"))

	for _, query := range []string{"", "?day=1", "?month=1", "?day=0&month=1", "?day=32&month=1", "?day=1&month=13", "?day=x&month=1"} {
		alice.get("/api/v1/svc/birthdays" + query).want(400)
	}
	for _, birthday := range []string{"nonsense", "1899-12-31", "2000-13-01", "2000-1-1", time.Now().Add(48 * time.Hour).Format(time.DateOnly)} {
		change(shown, map[string]any{"birthday": birthday}).wantError(403, "Invalid request")
	}
	srv.as(nil).get("/api/v1/svc/birthdays?day=1&month=1").want(403)
	srv.newToken(alice, "read:statuses").get("/api/v1/svc/birthdays?day=1&month=1").want(403)
}
