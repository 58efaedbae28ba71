package pages_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/server/web"
)

// TestTimeZones reads and schedules posts in the user's time zone: the chosen one, else that of the browser, else UTC.
func TestTimeZones(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	st := alice.Publish("hello")
	published, err := time.Parse(time.RFC3339, st.Str("created_at"))
	if err != nil {
		t.Fatal(err)
	}
	browser := alice.SignedIn()
	in := func(zone string) string {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		return published.In(location).Format("2006-01-02 15:04 MST")
	}
	browser.Get("/web").Want(200, in("UTC"))
	browser.Cookies[web.ZoneCookie] = &http.Cookie{Name: web.ZoneCookie, Value: "Asia/Kathmandu"}
	if page := browser.Get("/web").Want(200, in("Asia/Kathmandu")); strings.Contains(string(page.Body), "data-zone=") {
		t.Errorf("the zone of the browser counts as chosen: %s", page.Body)
	}
	browser.Cookies[web.ZoneCookie].Value = "../../etc/passwd"
	browser.Get("/web").Want(200, in("UTC"))

	settings := browser.Get("/web/settings/appearance").Want(200)
	settings.Press("Save", "time_zone", "Mars/Olympus").Want(422, "This time zone is not known.")
	browser.Get("/web").Want(200, in("UTC"))
	settings.Press("Save", "time_zone", "Pacific/Chatham").Follow().Want(200, "Pacific/Chatham")
	page := browser.Get("/web").Want(200, in("Pacific/Chatham"))
	if !strings.Contains(string(page.Body), `data-zone="Pacific/Chatham"`) {
		t.Errorf("scripts do not learn of the chosen zone: %s", page.Body)
	}
	srv.Browser().Get("/@alice").Want(200, in("UTC"))

	zone, err := time.LoadLocation("Pacific/Chatham")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(50 * time.Hour).Truncate(time.Minute)
	form := browser.Get("/web/compose").Want(200, "at this time (Pacific/Chatham)")
	form.Press("Post", "status", "later", "scheduled_at", at.In(zone).Format("2006-01-02T15:04")).Follow().Want(200, at.In(zone).Format("2006-01-02 15:04 MST"))
	list := alice.Get("/api/v1/scheduled_statuses").Want(200).List()
	if len(list) != 1 || !strings.HasPrefix(list[0].Str("scheduled_at"), at.UTC().Format("2006-01-02T15:04")) {
		t.Fatalf("the scheduled posts are %v, want one at %v", list, at.UTC())
	}
	form.Press("Post", "status", "never", "scheduled_at", "2099-01-01T10:00", "time_zone", "Mars/Olympus").Want(422, "This time zone is not known.")
	form.Press("Post", "status", "never", "scheduled_at", "2027-03-28T02:30", "time_zone", "Europe/Berlin").Want(422, "This time does not exist in your time zone")
	if n := len(alice.Get("/api/v1/scheduled_statuses").Want(200).List()); n != 1 {
		t.Errorf("there are %d scheduled posts", n)
	}
}
