package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// staff returns a server with an admin's browser.
func staff(t *testing.T) (*apptest.Server, *apptest.Client, *apptest.Browser) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.ConfigurableFromDatabase = true })
	admin := srv.SignUp("admin")
	srv.SetRole(admin, true, false)
	return srv, srv.NewToken(admin, "read write admin"), admin.SignedIn()
}

// TestStaffPagesAreForStaff requests every page of staff as a user and as a moderator without privileges.
func TestStaffPagesAreForStaff(t *testing.T) {
	srv, _, adminBrowser := staff(t)
	user := srv.SignUp("user").SignedIn()
	for _, path := range []string{
		"", "/reports", "/accounts", "/rules", "/announcements", "/invites", "/domains", "/relays", "/email_domains", "/networks", "/apps", "/frontends", "/log",
		"/settings", "/settings/instance", "/documents/terms-of-service", "/emoji",
		"/jobs", "/storage", "/doctor", "/deliveries", "/explain", "/media",
	} {
		adminBrowser.Get("/web/admin" + path).Want(200)
		if path == "/emoji" { // everyone may list packs
			continue
		}
		if a := user.Get("/web/admin" + path); a.Status != 403 && a.Status != 404 {
			t.Errorf("/web/admin%s: a user gets %d", path, a.Status)
		}
	}
}

// TestStaffTables adds a row on each table of staff and deletes it.
func TestStaffTables(t *testing.T) {
	_, _, browser := staff(t)
	for _, tt := range []struct {
		page, add, remove string
		typed             []string
		shows, question   string
	}{
		{"rules", "Add a rule", "Delete", []string{"text", "Be kind <3", "priority", "2"}, "Be kind <3", "Delete it?"},
		{"announcements", "Publish an announcement", "Delete", []string{"content", "Maintenance tonight"}, "Maintenance tonight", "Delete it?"},
		{"invites", "Make an invite", "Revoke", []string{"max_use", "3"}, "/registration/", "Revoke the invite?"},
		{"domains", "Block a server", "Delete", []string{"domain", "spam.example", "severity", "suspend", "public_comment", "spam"}, "spam.example", "Delete it?"},
		{"email_domains", "Refuse a domain", "Delete", []string{"domain", "mail.example"}, "mail.example", "Delete it?"},
		{"networks", "Block a network", "Delete", []string{"ip", "203.0.113.0/24", "severity", "sign_up_block"}, "203.0.113.0/24", "Delete it?"},
	} {
		t.Run(tt.page, func(t *testing.T) {
			path := "/web/admin/" + tt.page
			page := browser.Get(path).Want(200, "Nothing here.").Press(tt.add, tt.typed...)
			if tt.page == "domains" {
				page = page.Want(200, "This server knows no accounts from there.").Press(tt.add)
			}
			page = page.Follow().Want(200, tt.shows)
			page = page.Press(tt.remove).Want(200, tt.question).Press(tt.question).Follow().Want(200, "Deleted.")
			if strings.Contains(page.Text, tt.shows) && tt.page != "invites" {
				t.Errorf("the row is still there: %s", page.Text)
			}
		})
	}
}

// TestStaffTablesRefuse adds rows that the API refuses. The page says why and keeps the entered values.
func TestStaffTablesRefuse(t *testing.T) {
	_, _, browser := staff(t)
	for _, tt := range []struct {
		page, add string
		typed     []string
		keeps     string
	}{
		{"domains", "Block a server", []string{"domain", "not a domain"}, "not a domain"},
		{"networks", "Block a network", []string{"ip", "300.1.2.3"}, "300.1.2.3"},
		{"email_domains", "Refuse a domain", []string{"domain", "@@"}, "@@"},
		{"relays", "Add a relay", []string{"relay_url", "ftp://x"}, "ftp://x"},
	} {
		t.Run(tt.page, func(t *testing.T) {
			page := browser.Get("/web/admin/"+tt.page).Want(200).Press(tt.add, tt.typed...)
			if page.Status < 400 || page.Status >= 500 || !strings.Contains(string(page.Body), `role="alert"`) || !strings.Contains(string(page.Body), tt.keeps) {
				t.Errorf("%d %s", page.Status, page.Text)
			}
		})
	}
}

// TestReportPages resolves a report after a note and an action against the account.
func TestReportPages(t *testing.T) {
	srv, admin, browser := staff(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	rude := bob.Publish("a rude post")
	alice.Post("/api/v1/reports", "account_id", bob.ID, "status_ids[]", rude.ID(), "comment", "He is <rude>", "category", "violation").Want(200)
	browser.Get("/web/admin").Want(200, "Reports 1 open reports")
	list := browser.Get("/web/admin/reports").Want(200, "He is <rude>", "@bob", "1 post", "Reported by @alice")
	id := between(t, string(list.Body), `/web/admin/reports/`, `"`)
	page := browser.Get("/web/admin/reports/"+id).Want(200, "a rude post", "He is <rude>")
	page = page.Press("Take it").Follow().Want(200, "taken by @admin")
	page = page.Press("Add the note", "content", "I know him").Follow().Want(200, "I know him")
	page.Press("Act on the account", "type", "silence", "text", "too rude").Want(200, "Limit the account?", "1 open report about it is resolved").Press("Limit the account?").Follow().Want(200, "Saved.", "Resolved", "Limited", "Actions since the report", "@admin added tags: limited to users: ", "Reason: too rude")
	account := admin.Get("/api/v1/admin/accounts/" + bob.ID).Want(200).Object()
	if !account.Bool("silenced") {
		t.Error("the account is not limited")
	}
	browser.Get("/web/admin/reports").Want(200, "There are no reports here.")
	browser.Get("/web/admin/reports?resolved=true").Want(200, "He is <rude>")
	browser.Get("/web/admin/log").Want(200, "@admin")
	browser.Get("/web/admin/accounts?status=silenced").Want(200, "@bob")
	browser.Get("/web/admin/accounts/"+bob.ID).Want(200, "Limited").Press("End the limit").Follow()
	if admin.Get("/api/v1/admin/accounts/" + bob.ID).Want(200).Object().Bool("silenced") {
		t.Error("the account is still limited")
	}
}

func between(t *testing.T, text, before, after string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, before)
	found, _, ok2 := strings.Cut(rest, after)
	if !ok || !ok2 {
		t.Fatalf("%q is not in %s", before, text)
	}
	return found
}

// TestAccountPagesOfStaff approves, makes and unmakes a moderator, and deactivates.
func TestAccountPagesOfStaff(t *testing.T) {
	srv, admin, browser := staff(t)
	bob := srv.SignUp("bob")
	browser.Get("/web/admin/accounts").Want(200, "@bob", "@admin")
	browser.Get("/web/admin/accounts", "username", "bo").Want(200, "@bob")
	page := browser.Get("/web/admin/accounts/" + bob.ID).Want(200)
	page.Press("Make a moderator").Press("Make the account a moderator?").Follow().Want(200, "Saved.")
	if got := admin.Get("/api/v1/svc/admin/users/bob").Want(200).Object().Find("roles.moderator"); got != true {
		t.Errorf("roles.moderator is %v", got)
	}
	page.Press("End the moderator role").Press("End the moderator role?").Follow().Want(200)
	page = page.Press("Act on the account", "type", "disable").Press("Deactivate the account?").Follow().Want(200, "Deactivated", "@admin deactivated users: ")
	page.Press("Activate").Follow().Want(200)
	if admin.Get("/api/v1/admin/accounts/" + bob.ID).Want(200).Object().Bool("disabled") {
		t.Error("the account is still deactivated")
	}
	browser.Get("/web/admin/accounts/none").Want(404)
}

// TestTitlesOfSettingGroups checks that the catalogue has a title for each group of settings, and that no two have the same.
func TestTitlesOfSettingGroups(t *testing.T) {
	_, admin, browser := staff(t)
	for language, want := range map[string]string{"en": "HTTPS certificates", "de": "HTTPS-Zertifikate"} {
		browser.Language = language
		list := string(browser.Get("/web/admin/settings").Want(200, want).Body)
		seen := make(map[string]bool)
		for _, group := range admin.Get("/api/v1/svc/admin/config/descriptions").Want(200).List() {
			title := between(t, list, `<a href="/web/admin/settings/`+strings.TrimPrefix(group.Str("key"), ":")+`">`, "</a>")
			if strings.Contains(title, "setting_groups.") || seen[title] {
				t.Errorf("%s: the title of %s is %q", language, group.Str("key"), title)
			}
			seen[title] = true
		}
		browser.Get("/web/admin/settings/server_tls").Want(200, want)
	}
}

// TestServerSettingsPage changes settings of several types, and is refused a wrong one.
func TestServerSettingsPage(t *testing.T) {
	srv, _, browser := staff(t)
	browser.Get("/web/admin/settings").Want(200, "Server information and registration")
	page := browser.Get("/web/admin/settings/instance").Want(200)
	page = page.Press("Save", "name", "The Tea House", "registrations_open", "false", "autofollowed_nicknames", "admin\r\n", "max_account_fields", "7").Follow().Want(200, "Saved.")
	instance := srv.As(nil).Get("/api/v1/instance").Want(200).Object()
	if instance.Str("title") != "The Tea House" || instance.Bool("registrations") {
		t.Errorf("title %q, registrations %v", instance.Str("title"), instance.Bool("registrations"))
	}
	page = page.Press("Save", "max_account_fields", "many")
	if page.Status != 422 || !strings.Contains(string(page.Body), `value="many"`) {
		t.Errorf("%d %s", page.Status, page.Text)
	}
	browser.Get("/web/admin/settings/nothing").Want(404)

	const list = "/web/admin/setting/federation.quarantined_instances"
	if body := string(browser.Get("/web/admin/settings/instance").Want(200).Body); !strings.Contains(body, `href="`+list+`"`) {
		t.Errorf("the group does not link %s", list)
	}
	page = browser.Get(list).Want(200, "Hosts to which only public and unlisted posts are sent.")
	page = page.Press("Save", "value", `[{ host = "leaky.example", reason = "<why>" }]`).Follow().Want(200, "Saved.")
	if !strings.Contains(string(page.Body), "leaky.example") {
		t.Errorf("the page shows %s", page.Text)
	}
	page = page.Press("Save", "value", "[{ hosts = 1 }]").Want(400)
	if !strings.Contains(string(page.Body), `role="alert"`) || !strings.Contains(string(page.Body), "[{ hosts = 1 }]") {
		t.Errorf("%s", page.Text)
	}
	browser.Get("/web/admin/setting/no.such").Want(404)
}

// TestDocumentPages writes a document and takes it back.
func TestDocumentPages(t *testing.T) {
	srv, _, browser := staff(t)
	page := browser.Get("/web/admin/documents/terms-of-service").Want(200)
	page = page.Press("Save", "content", "<h1>Our terms</h1>").Follow().Want(200, "Saved.")
	if body := string(srv.As(nil).Get("/static/terms-of-service.html").Want(200).Body); !strings.Contains(body, "Our terms") {
		t.Errorf("the document is %s", body)
	}
	page.Press("Back to the text of the program").Want(200, "Delete your text?").Press("Delete your text?").Follow().Want(200)
	if body := string(srv.As(nil).Get("/static/terms-of-service.html").Want(200).Body); strings.Contains(body, "Our terms") {
		t.Errorf("the document is %s", body)
	}
	browser.Get("/web/admin/documents").Want(200, "privacy-policy")
}

// TestEmojiPages makes a pack and deletes it.
func TestEmojiPages(t *testing.T) {
	_, admin, browser := staff(t)
	browser.Get("/web/admin/emoji").Want(200, "Nothing here.").Press("Make a pack", "name", "cats").Follow().Want(200, "cats", "0 emojis")
	page := browser.Get("/web/admin/emoji/cats").Want(200)
	admin.Get("/api/v1/svc/emoji/pack", "name", "cats").Want(200)
	page = page.PressWithFile("Add an emoji", apptest.FormPart{Name: "file", IsFile: true, Filename: "tom.png", Content: string(apptest.PNG(32, 32))}, "shortcode", "tom").Follow().Want(200, "Saved.", ":tom:")
	pictures := apptest.Zip(t, map[string]string{"kit.png": string(apptest.PNG(24, 24)), "lea.png": string(apptest.PNG(20, 20))})
	page = page.PressWithFile("Add an emoji", apptest.FormPart{Name: "file", IsFile: true, Filename: "more.zip", Content: string(pictures)}).Follow().Want(200, ":kit:", ":lea:")
	page.PressWithFile("Add an emoji", apptest.FormPart{Name: "file", IsFile: true, Filename: "x.png", Content: "no picture"}, "shortcode", "x").Want(422, "Files of this type are not accepted")
	browser.Get("/web/admin/emoji").Press("Copy a pack of another server", "url", "nonsense", "name", "dogs").Want(400)
	page.Press("Delete the pack").Want(200, "cats").Press("Delete the pack?").Follow().Want(200, "Deleted.", "Nothing here.")
	if a := browser.Get(fmt.Sprintf("/web/admin/emoji/%s", "none")); a.Status != 404 {
		t.Errorf("an unknown pack: %d", a.Status)
	}
}
