package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/server/web"
)

// TestTimesOfStaffForms enters times in forms of staff, which are those of the viewer's time zone. The form says which zone that is.
func TestTimesOfStaffForms(t *testing.T) {
	_, admin, browser := staff(t)
	browser.Cookies[web.ZoneCookie] = &http.Cookie{Name: web.ZoneCookie, Value: "Europe/Berlin"}
	for _, tt := range []struct {
		page, add, list string
		typed           []string
		field           string
		label           string // next to the field
	}{
		{"announcements", "Publish an announcement", "/api/v1/svc/admin/announcements", []string{"content", "Tea"}, "ends_at", "Until (Europe/Berlin)"},
		{"networks", "Block a network", "/api/v1/admin/ip_blocks", []string{"ip", "203.0.113.0/24", "severity", "no_access"}, "expires_at", "Until (Europe/Berlin)"},
	} {
		t.Run(tt.page, func(t *testing.T) {
			path := "/web/admin/" + tt.page
			row := func() *apptest.Object {
				t.Helper()
				rows := admin.Get(tt.list).Want(200).List()
				if len(rows) != 1 {
					t.Fatalf("%d rows", len(rows))
				}
				return rows[0]
			}
			page := browser.Get(path).Want(200, tt.label)
			for _, bad := range []struct{ at, zone, message string }{
				{year + "-05-06T17:00", "Mars/Olympus", "This time zone is not known."},
				{"2029-03-25T02:30", "Europe/Berlin", "This time does not exist in your time zone"},
				{"tomorrow", "Europe/Berlin", ""},
			} {
				refused := page.Press(tt.add, append(tt.typed, tt.field, bad.at, tt.field+"_zone", bad.zone)...)
				if refused.Status < 400 || refused.Status >= 500 || !strings.Contains(refused.Text, bad.message) || !strings.Contains(string(refused.Body), `value="`+bad.at+`"`) {
					t.Errorf("%v: %d %s", bad, refused.Status, refused.Text)
				}
			}
			if n := len(admin.Get(tt.list).Want(200).List()); n > 0 {
				t.Fatalf("%d rows were added", n)
			}
			page.Press(tt.add, append(tt.typed, tt.field, year+"-07-06T17:00")...).Follow().Want(200, year+"-07-06 17:00 CEST")
			if got := row().Str(tt.field); !strings.HasPrefix(got, year+"-07-06T15:00:00") {
				t.Errorf("%s is %s", tt.field, got)
			}

			form := browser.Get(path+"/"+row().Str("id")).Want(200, tt.label)
			if !strings.Contains(string(form.Body), `name="`+tt.field+`" value="`+year+`-07-06T17:00"`) {
				t.Errorf("the form has %s", form.Body)
			}
			// The zone of the form counts, also if that of the browser is another one by now.
			form.Press("Save", tt.field, year+"-07-06T18:00", tt.field+"_zone", "Asia/Tokyo").Follow().Want(200, year+"-07-06 11:00 CEST")
			refused := form.Press("Save", tt.field, "tomorrow", tt.field+"_zone", "Asia/Tokyo")
			if refused.Status < 400 || !strings.Contains(refused.Text, "(Asia/Tokyo)") {
				t.Errorf("no time: %d %s", refused.Status, refused.Text)
			}
			form.Press("Save", tt.field, "").Follow().Want(200)
			if got := row().Find(tt.field); got != nil {
				t.Errorf("%s is %v", tt.field, got)
			}
		})
	}
}
