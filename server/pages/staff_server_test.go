package pages_test

import (
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/server/web"
)

// TestJobsPage retries and drops failed jobs.
func TestJobsPage(t *testing.T) {
	srv, admin, browser := staff(t)
	browser.Get("/web/admin/jobs").Want(200, "No job has failed.")
	for id := range 3 {
		srv.Exec(`INSERT INTO jobs (id, kind, payload, run_at, attempts, parked, last_error) VALUES (?, 'import', '{}', 1000, 8, 1, 'no <such> file')`, id+1)
	}
	page := browser.Get("/web/admin/jobs").Want(200, "import", "no <such> file", "Try all again")
	page.Press("Try again").Follow().Want(200, "The server tries again now.")
	page = browser.Get("/web/admin/jobs").Press("Delete").Want(200, "Delete the job?", "What it was to do is not done.")
	if n := srv.Count(`SELECT count(*) FROM jobs WHERE kind = 'import' AND parked = 1`); n != 2 {
		t.Errorf("%d jobs before the answer", n)
	}
	page.Press("Delete the job?").Follow().Want(200, "Deleted.")
	browser.Get("/web/admin/log").Want(200, "retried job #3", "dropped job #2")
	page.Press("Delete the job?").Want(404) // it is gone
	srv.Exec(`INSERT INTO jobs (id, kind, payload, run_at, attempts, parked) VALUES (9, 'import', '{}', 1000, 8, 1)`)
	browser.Get("/web/admin/jobs").Want(200).Press("Clear the list").Press("Delete all failed jobs?").Follow().Want(200, "No job has failed.")
	if parked := admin.Get("/api/v1/svc/admin/jobs").Want(200).Object().At("parked").([]any); len(parked) > 0 {
		t.Errorf("left: %v", parked)
	}
}

// TestQuestions sends forms with questions that do not exist, and checks that only forms of the session lead to a question.
func TestQuestions(t *testing.T) {
	_, _, browser := staff(t)
	token := between(t, string(browser.Get("/web/admin/jobs").Want(200).Body), `name="form_token" value="`, `"`)
	for question, want := range map[string]int{"drop_jobs": 200, "": 400, "drop_jobs_text2": 400, "../x": 400} {
		if a := browser.Post("/web/do/api/v1/svc/admin/jobs?_method=DELETE&ask="+url.QueryEscape(question), url.Values{"form_token": {token}}); a.Status != want {
			t.Errorf("%q: %d, want %d", question, a.Status, want)
		}
	}
	browser.Post("/web/do/api/v1/svc/admin/jobs?_method=DELETE&ask=drop_jobs", url.Values{}).Want(403)
}

// TestStoragePage shows the classes with their limits, and starts the clean-up.
func TestStoragePage(t *testing.T) {
	srv, _, browser := staff(t)
	srv.Exec(`DELETE FROM jobs WHERE kind = 'sweep_media'`)
	page := browser.Get("/web/admin/storage").Want(200, "Uploads", "Copies of files of other servers", "Database", "Free on the disk")
	if !strings.Contains(string(page.Body), "<meter") {
		t.Error("there is no meter of a limit")
	}
	page.Press("Remove unused files now").Follow().Want(200, "The clean-up has begun.")
	if n := srv.Count(`SELECT count(*) FROM jobs WHERE kind = 'sweep_media'`); n != 1 {
		t.Errorf("%d jobs", n)
	}
}

// TestMediaPage bans a file and ends the ban.
func TestMediaPage(t *testing.T) {
	_, admin, browser := staff(t)
	const address = "https://far.example/a.png?b=1&c=2"
	bans := func() []any {
		return admin.Get("/api/v1/svc/admin/media_proxy_caches").Want(200).Object().At("urls").([]any)
	}
	page := browser.Get("/web/admin/media").Want(200, "Nothing here.").Press("Remove a file", "urls", address).Follow().Want(200, address)
	if got := bans(); len(got) != 1 || got[0] != address {
		t.Errorf("banned: %v", got)
	}
	page.Press("End the ban").Follow().Want(200, "Nothing here.")
	if got := bans(); len(got) > 0 {
		t.Errorf("still banned: %v", got)
	}
	if a := browser.Get("/web/admin/media").Press("Remove a file", "urls", "nonsense"); a.Status < 400 || !strings.Contains(string(a.Body), `value="nonsense"`) {
		t.Errorf("%d %s", a.Status, a.Text)
	}
}

// TestDoctorPage runs the checks.
func TestDoctorPage(t *testing.T) {
	srv, _, browser := staff(t)
	browser.Get("/web/admin/doctor").Want(200, "Checks the server").Press("Run the checks").Want(200, "Results", "database", "fine")
	moderator := srv.SignUp("moderator")
	srv.SetRole(moderator, false, true)
	moderator.SignedIn().Get("/web/admin/doctor").Want(404)
}

// TestExplainTexts checks that each fact and state of an explanation has a text.
func TestExplainTexts(t *testing.T) {
	for file, keys := range map[string]*regexp.Regexp{
		"explain_facts.go":      regexp.MustCompile(`(?:add\(|, |state = )"([a-z_]+)"`),
		"explain_deliveries.go": regexp.MustCompile(`delivery[A-Z]\w+ += "([^"]+)"`),
	} {
		source, err := os.ReadFile("../../federation/" + file)
		if err != nil {
			t.Fatal(err)
		}
		found := keys.FindAllStringSubmatch(string(source), -1)
		if len(found) < 9 {
			t.Errorf("%s: %v", file, found)
		}
		for _, m := range found {
			key := "admin.explain." + strings.NewReplacer(":", "", " ", "_").Replace(m[1])
			state := strings.Replace(key, "explain.", "explain.state_", 1)
			for _, language := range web.Languages() {
				if language.Text(key) == key && language.Text(state) == state {
					t.Errorf("%s: %q has no text in %s", file, m[1], language.Language)
				}
			}
		}
	}
}

// TestDeliveriesPage shows what waits for a server that fails, explains the post, and drops the delivery.
func TestDeliveriesPage(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	browser := root.SignedIn()
	browser.Get("/web/admin/deliveries").Want(200, "Nothing waits for other servers.")
	peer.AddFollower(srv, "bob", alice)
	peer.RefuseDeliveries(http.StatusServiceUnavailable)
	post := alice.Publish("hello")
	apptest.Settle(srv)
	page := browser.Get("/web/admin/deliveries").Want(200, peer.Host, "responded with status 503")
	page.Press("Try again").Follow().Want(200, "The server tries again now.")
	apptest.Settle(srv)
	single := browser.Get("/web/admin/deliveries", "host", peer.Host).Want(200, "Deliveries to this server", "Create")
	browser.Get("/web/admin/explain", "address", post.Str("url")).Want(200, "Servers that the post is for", peer.Host, "waits", "responded with status 503", "public, @alice", "this server")
	browser.Get("/web/admin/explain", "address", peer.Host).Want(200, "Create", "Last error")
	browser.Get("/web/admin/explain").Want(200, "Find out")
	if a := browser.Get("/web/admin/explain", "address", "nobody"); a.Status != 404 || !strings.Contains(string(a.Body), `value="nobody"`) {
		t.Errorf("an unknown name: %d %s", a.Status, a.Text)
	}
	if a := browser.Get("/web/admin/deliveries", "host", "not a host"); a.Status != 400 {
		t.Errorf("no host: %d", a.Status)
	}
	single.Press("Delete").Want(200, "Delete all that waits for this server?", peer.Host).Press("Delete all that waits for this server?").Follow().Want(200, "Deleted.")
	if n := srv.Count(`SELECT count(*) FROM deliveries`); n > 0 {
		t.Errorf("%d deliveries are left", n)
	}
}

// TestBlockPreviewPage blocks a server after a look at what that concerns.
func TestBlockPreviewPage(t *testing.T) {
	srv, admin, browser := staff(t)
	srv.AddRemoteAccount("eve", "bad.example")
	page := browser.Get("/web/admin/domains").Press("Block a server", "domain", "bad.example", "severity", "suspend", "private_comment", "see <ticket>")
	page.Want(200, "Block this server?", "bad.example", "Accounts")
	if got := admin.Get("/api/v1/admin/domain_blocks").Want(200).List(); len(got) > 0 {
		t.Errorf("blocked before the answer: %v", got)
	}
	page.Press("Block a server").Follow().Want(200, "bad.example", "suspend")
	got := admin.Get("/api/v1/admin/domain_blocks").Want(200).List()
	if len(got) != 1 || got[0].Str("private_comment") != "see <ticket>" || got[0].Str("severity") != "suspend" {
		t.Errorf("blocks: %v", got)
	}
}

// TestSuspensionPreviewPage raises a block to a suspension after a look at what that concerns. Other changes are not asked about.
func TestSuspensionPreviewPage(t *testing.T) {
	srv, admin, browser := staff(t)
	srv.AddRemoteAccount("eve", "bad.example")
	form := "/web/admin/domains/" + admin.Post("/api/v1/admin/domain_blocks", "domain", "bad.example", "severity", "noop", "reject_reports", "true").Want(200).Object().Str("id")
	block := func() *apptest.Object { return admin.Get("/api/v1/admin/domain_blocks").Want(200).List()[0] }
	browser.Get(form).Press("Save", "severity", "silence", "public_comment", "loud").Follow().Want(200, "Saved.", "Limit")
	question := browser.Get(form).Press("Save", "severity", "suspend", "reject_media", "true", "private_comment", "see <ticket>").Want(200, "Block this server?", "bad.example", "Follow accounts here")
	if b := block(); b.Str("severity") != "silence" || b.Find("private_comment") == "see <ticket>" {
		t.Errorf("changed before the answer: %v", b.Fields)
	}
	question.Press("Block a server").Follow().Want(200, "Saved.", "suspend")
	if b := block(); b.Str("severity") != "suspend" || b.Str("private_comment") != "see <ticket>" || !b.Bool("reject_media") || b.Str("public_comment") != "loud" {
		t.Errorf("the block is %v", b.Fields)
	}
	browser.Get(form).Press("Save", "public_comment", "very loud").Follow().Want(200, "Saved.", "very loud")
}

// TestInviteMailPage sends an invite by mail, and is refused a wrong address.
func TestInviteMailPage(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Instance.RegistrationsOpen, c.Instance.InvitesEnabled = false, true
		c.Mail.Enabled, c.Mail.Adapter = true, config.MailFile
	})
	browser := srv.SignUpAdmin().SignedIn()
	browser.Get("/web/admin/invites").Want(200).Press("Send an invite by mail", "email", "friend@example.org", "name", "Friend").Follow().Want(200, "Sent.", "/registration/")
	if n := srv.Count(`SELECT count(*) FROM jobs WHERE kind = 'send_mail' AND payload LIKE '%friend@example.org%'`); n != 1 {
		t.Errorf("%d mails", n)
	}
	if a := browser.Get("/web/admin/invites").Press("Send an invite by mail", "email", "nonsense"); a.Status < 400 || !strings.Contains(string(a.Body), `value="nonsense"`) {
		t.Errorf("%d %s", a.Status, a.Text)
	}
}

// TestAppsPage makes an app and deletes it.
func TestAppsPage(t *testing.T) {
	_, admin, browser := staff(t)
	page := browser.Get("/web/admin/apps").Want(200).Press("Make an app", "name", "Tea app", "scopes", "read write", "trusted", "true").Follow().Want(200, "Tea app", "read, write")
	apps := admin.Get("/api/v1/svc/admin/oauth_app", "name", "Tea app").Want(200).Object()
	if apps.Find("apps.0.trusted") != true {
		t.Errorf("the app is %v", apps.Fields)
	}
	page.Press("Delete").Want(200, "Delete the app?", "Tea app").Press("Delete the app?").Follow().Want(200, "Deleted.")
	if a := browser.Get("/web/admin/apps").Press("Make an app", "name", "Bad app", "scopes", "nonsense"); a.Status < 400 || !strings.Contains(string(a.Body), `value="Bad app"`) {
		t.Errorf("%d %s", a.Status, a.Text)
	}
}

// TestDashboardOfModerators shows moderators the pages that they may use.
func TestDashboardOfModerators(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Instance.ModeratorPrivileges = []string{"reports_manage_reports", "users_read"}
	})
	moderator := srv.SignUp("moderator")
	srv.SetRole(moderator, false, true)
	browser := moderator.SignedIn()
	page := browser.Get("/web/admin").Want(200, "Reports", "Accounts")
	for _, link := range []string{"/web/admin/settings", "/web/admin/jobs", "/web/admin/log", "/web/admin/emoji"} {
		if strings.Contains(string(page.Body), `"`+link+`"`) {
			t.Errorf("%s is shown", link)
		}
	}
	browser.Get("/web/admin/reports").Want(200)
	browser.Get("/web/admin/jobs").Want(403)
}

// TestFrontendButtons shows an installed front end to visitors and to admins, ends that, and removes it after a question. A front end
// that is shown cannot be removed.
func TestFrontendButtons(t *testing.T) {
	srv, admin, browser := staff(t)
	apptest.WriteDataFile(srv, "imports/fe.zip", string(apptest.Zip(t, map[string]string{"index.html": "built"})))
	admin.Post("/api/v1/svc/admin/frontends/install", "name", "fe", "ref", "main", "file", "fe.zip").Want(200)
	admin.Post("/api/v1/svc/admin/frontends/use", "name", "fe", "ref", "main").WantError(400, "Missing field: version.")
	failed := admin.Post("/api/v1/svc/admin/frontends/install", "name", "other", "ref", "main", "build_url", "https://user:SECRET@127.0.0.1:1/x.zip").Want(400)
	if strings.Contains(string(failed.Body), "SECRET") {
		t.Errorf("the reason has the password: %s", failed.Body)
	}
	const list = "/web/admin/frontends"
	has := func(page *apptest.Page, button string) bool {
		return strings.Contains(page.Text, button+" main")
	}
	page := browser.Get(list).Want(200, "Show to visitors: main", "Show to admins: main", "Remove main")
	for _, tt := range []struct {
		show, stop, member string
		shown              bool // visitors see the front end in place of the pages
	}{
		{"Show to visitors:", "Stop showing to visitors:", "primary_ref", true},
		{"Show to admins:", "Stop showing to admins:", "admin_ref", false},
	} {
		page = page.Press(tt.show).Follow().Want(200, "Saved.", tt.stop+" main")
		if has(page, tt.show) || has(page, "Remove") {
			t.Errorf("the page of a front end that is shown: %s", page.Text)
		}
		if got := refOf(admin, tt.member); got != "main" {
			t.Errorf("%s is %v", tt.member, got)
		}
		if body := string(srv.As(nil).Get("/").Want(200).Body); strings.Contains(body, "built") != tt.shown {
			t.Errorf("visitors see %s", body)
		}
		page = page.Press(tt.stop).Follow().Want(200, "Saved.", tt.show+" main", "Remove main")
		if got := refOf(admin, tt.member); got != nil && got != "" {
			t.Errorf("%s is %v", tt.member, got)
		}
	}
	asked := page.Press("Remove").Want(200, "Delete it?", "fe/main")
	if got := refOf(admin, "installed_refs.0"); got != "main" {
		t.Errorf("installed before the answer: %v", got)
	}
	if page = asked.Press("Delete it?").Follow().Want(200, "Deleted."); has(page, "Remove") {
		t.Errorf("the front end is still there: %s", page.Text)
	}
	asked.Press("Delete it?").Want(404) // it is gone
}

// refOf returns a member of the front end fe, nil if there is none.
func refOf(admin *apptest.Client, member string) any {
	for _, f := range admin.Get("/api/v1/svc/admin/frontends").Want(200).List() {
		if f.Str("name") == "fe" {
			return f.Find(member)
		}
	}
	return nil
}

// TestRelaysPage follows a relay, whose row says whether it has accepted and what its last error is, and leaves it after a question. The API
// answers in other shapes if the server says to be of another product.
func TestRelaysPage(t *testing.T) {
	for _, compatible := range []string{"", "Pleroma 2.7.1"} {
		t.Run("compatible="+compatible, func(t *testing.T) {
			srv, peer := apptest.StartWithFake(t, func(c *config.Config) { c.API.Compatible = compatible })
			testRelaysPage(t, srv, peer)
		})
	}
}

func testRelaysPage(t *testing.T, srv *apptest.Server, peer *apptest.FakeServer) {
	root := srv.SignUpAdmin()
	browser := root.SignedIn()
	relay := peer.AddActor("relay", apptest.Doc{"type": "Application"})
	browser.Get("/web/admin/relays").Want(200, "Nothing here.").Press("Add a relay", "relay_url", relay).Follow().Want(200, relay+"no")
	apptest.Settle(srv)
	peer.PostAndSettle(srv, peer.Activity("Accept", relay, apptest.LastDelivered(t, peer, "Follow")["id"]))
	browser.Get("/web/admin/relays").Want(200, relay+"yes")
	peer.RefuseDeliveries(http.StatusServiceUnavailable)
	root.Publish("hello", "visibility", "public")
	apptest.Settle(srv)
	srv.Exec(`UPDATE hosts SET unreachable_since = 1893456000000 WHERE domain = ?`, peer.Host)
	page := browser.Get("/web/admin/relays").Want(200, "Unreachable since", relay+"yes2030-01-01 00:00 UTC", "responded with status 503")
	asked := page.Press("Delete").Want(200, "Leave the relay?", relay)
	browser.Get("/web/admin/relays").Want(200, relay)
	asked.Press("Leave the relay?").Follow().Want(200, "Deleted.", "Nothing here.")
	browser.Get("/web/admin/log").Want(200, "unfollowed relay")
}
