package pages_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// changedRow is a row of a table of staff that a test changes by its form.
type changedRow struct {
	page    string
	create  string // endpoint that adds the row
	typed   []string
	key     string   // member of the row in the path of its form
	shown   []string // what the form has of the row
	button  string   // title of the form
	entered []string
	table   []string // what the table shows afterwards
	bad     []string // what the API refuses
	keeps   string   // what the refused form still has
}

var year = strconv.Itoa(time.Now().Year() + 5) // blocks of networks end within ten years

var changedRows = []changedRow{
	{
		page: "rules", create: "/api/v1/svc/admin/rules", typed: []string{"text", "Be <kind>", "hint", "To\nall", "priority", "3"}, key: "id",
		shown:   []string{"Be &lt;kind&gt;</textarea>", "To\nall</textarea>", `name="priority" value="3"`},
		entered: []string{"text", "Be fair", "priority", "1"}, table: []string{"Be fair", "To all"},
		bad: []string{"text", "Be what?", "priority", "many"}, keeps: `value="many"`, button: "Change the rule",
	},
	{
		page: "announcements", create: "/api/v1/svc/admin/announcements", key: "id", button: "Change the announcement",
		typed:   []string{"content", "Tea at <five>", "starts_at", "2031-05-06T17:00:00Z", "ends_at", "2031-05-06T18:30:15Z"},
		shown:   []string{"Tea at &lt;five&gt;</textarea>", `name="starts_at" value="2031-05-06T17:00"`, `name="ends_at" value="2031-05-06T18:30:15"`},
		entered: []string{"content", "Tea at six", "starts_at", "2031-05-06T18:00", "ends_at", ""}, table: []string{"Tea at six", "2031-05-06 18:00 UTC"},
		bad: []string{"content", "Tea at never", "ends_at", "2030-01-01T00:00"}, keeps: "Tea at never</textarea>",
	},
	{
		page: "domains", create: "/api/v1/admin/domain_blocks", key: "id", button: "Change the block",
		typed:   []string{"domain", "loud.example", "severity", "silence", "reject_media", "true", "public_comment", "<loud>", "private_comment", "a\nb"},
		shown:   []string{"loud.example", `<option value="silence" selected>`, `name="reject_media" value="true" checked`, "&lt;loud&gt;</textarea>", "a\nb</textarea>"},
		entered: []string{"severity", "silence", "reject_media", "false", "public_comment", "too loud"}, table: []string{"loud.exampleLimitnonotoo loud"},
		bad: []string{"severity", "whisper", "public_comment", "why?"}, keeps: "why?</textarea>",
	},
	{
		page: "networks", create: "/api/v1/admin/ip_blocks", key: "id", button: "Change the block",
		typed:   []string{"ip", "203.0.113.0/24", "severity", "no_access", "comment", "<scan>", "expires_at", year + "-05-06T17:00:05Z"},
		shown:   []string{`value="203.0.113.0/24"`, `<option value="no_access" selected>`, `value="&lt;scan&gt;"`, `name="expires_at" value="` + year + `-05-06T17:00:05"`},
		entered: []string{"ip", "203.0.113.0/25", "severity", "sign_up_block", "expires_at", year + "-06-07T08:09"}, table: []string{"203.0.113.0/25No new accounts<scan>" + year + "-06-07 08:09 UTC"},
		bad: []string{"ip", "203.0.113.9", "expires_at", "2020-01-01T00:00"}, keeps: `value="2020-01-01T00:00"`,
	},
	{
		page: "apps", create: "/api/v1/svc/admin/oauth_app", key: "client_id", button: "Change the app",
		typed:   []string{"name", "Tea <app>", "redirect_uris", "https://tea.example/cb\nhttps://tea.example/two", "scopes", "read write:statuses", "website", "https://tea.example/", "trusted", "true"},
		shown:   []string{`value="Tea &lt;app&gt;"`, "https://tea.example/cb\nhttps://tea.example/two</textarea>", `value="read write:statuses"`, `value="https://tea.example/"`, `name="trusted" value="true" checked`},
		entered: []string{"name", "Coffee app", "scopes", "read", "trusted", "false"}, table: []string{"Coffee apphttps://tea.example/readno"},
		bad: []string{"name", "Cocoa app", "scopes", "nonsense"}, keeps: `value="Cocoa app"`,
	},
}

// form returns the path of the form that changes the row.
func (r *changedRow) form(t *testing.T, admin *apptest.Client) string {
	t.Helper()
	row := admin.Post(r.create, r.typed...).Want(200).Object()
	return "/web/admin/" + r.page + "/" + row.Str(r.key)
}

// TestChangeRows changes a row of each table that can be changed. The form has the present values. If the API refuses the entered values, the
// page says why and keeps them, and the row is as before.
func TestChangeRows(t *testing.T) {
	_, admin, browser := staff(t)
	for _, tt := range changedRows {
		t.Run(tt.page, func(t *testing.T) {
			form := tt.form(t, admin)
			table := "/web/admin/" + tt.page
			if body := string(browser.Get(table).Want(200, "Change").Body); !strings.Contains(body, `href="`+form+`"`) {
				t.Errorf("the table does not link %s: %s", form, body)
			}
			page := browser.Get(form).Want(200, tt.button)
			for _, text := range tt.shown {
				if !strings.Contains(string(page.Body), text) {
					t.Errorf("%s is not in %s", text, page.Body)
				}
			}
			refused := page.Press("Save", tt.bad...)
			body := string(refused.Body)
			if refused.Status < 400 || refused.Status >= 500 || !strings.Contains(body, `role="alert"`) || !strings.Contains(body, tt.keeps) {
				t.Errorf("%d %s", refused.Status, body)
			}
			if now := browser.Get(form).Want(200); tokenless(now.Body) != tokenless(page.Body) {
				t.Errorf("the refused change did something: %s", now.Text)
			}
			page.Press("Save", tt.entered...).Follow().Want(200, append([]string{"Saved."}, tt.table...)...)
			browser.Get(table + "/none").Want(404)
			token := between(t, body, `name="form_token" value="`, `"`)
			browser.Post(table+"/none", url.Values{"form_token": {token}}).Want(404)
		})
	}
	browser.Language = "de"
	browser.Get("/web/admin/rules").Want(200, "Ändern", "Regeln mit kleinerer Zahl stehen oben.")
	browser.Get("/web/admin/rules/1").Want(200, "Regel ändern", "Speichern", "Abbrechen")
}

// TestChangeRowsNeedsPrivilege opens and sends the forms as a moderator, who may change announcements only.
func TestChangeRowsNeedsPrivilege(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Instance.ConfigurableFromDatabase = true
		c.Instance.ModeratorPrivileges = []string{"announcements_manage_announcements"}
	})
	root, moderator := srv.SignUp("root"), srv.SignUp("moderator")
	srv.SetRole(root, true, false)
	srv.SetRole(moderator, false, true)
	admin, browser, user := srv.NewToken(root, "read write admin"), moderator.SignedIn(), srv.SignUp("user").SignedIn()
	token := func(b *apptest.Browser) string {
		return between(t, string(b.Get("/web").Want(200).Body), `name="form_token" value="`, `"`)
	}
	for _, tt := range changedRows {
		t.Run(tt.page, func(t *testing.T) {
			form := tt.form(t, admin)
			want := map[*apptest.Browser]int{browser: 403, user: 403}
			if tt.page == "announcements" {
				want[browser] = 200
			}
			for b, status := range want {
				b.Get(form).Want(status)
				values := apptest.Pairs(tt.entered)
				values.Set("form_token", token(b))
				if status == 200 {
					status = 302
				}
				if a := b.Post(form, values); a.Status != status {
					t.Errorf("%s: %d, want %d", form, a.Status, status)
				}
			}
			if visitor := srv.Browser().Get(form); visitor.Status != 302 || !strings.Contains(visitor.Header.Get("Location"), "/web/sign_in") {
				t.Errorf("a visitor gets %d", visitor.Status)
			}
		})
	}
	for _, rule := range admin.Get("/api/v1/svc/admin/rules").Want(200).List() {
		if rule.Str("text") != "Be <kind>" {
			t.Errorf("the rule is %v", rule.Fields)
		}
	}
}
