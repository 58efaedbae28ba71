package pages_test

import (
	"net/url"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestSearchOfSettings finds settings by words of their keys, labels, descriptions and groups. A result leads to the setting in its group.
func TestSearchOfSettings(t *testing.T) {
	srv, _, browser := staff(t)
	const path = "/web/admin/settings"
	for _, tt := range []struct {
		query, language string
		want            string // the link of a result; "": there is none
	}{
		{"accounts.max_fields", "en", path + "/instance#s-accounts.max_fields"},
		{"  MAX   account FIELDS ", "en", path + "/instance#s-accounts.max_fields"},
		{"draws pictures question", "en", path + "/" + module(srv, "Captcha") + "#s-captcha.provider"}, // of its description
		{"polls.max_options", "en", path + "/instance#s-polls.max_options"},                            // a member of a setting
		{"search_anonymous", "en", path + "/rate_limit#s-rate_limit.search_anonymous"},
		{"server.listen", "en", path + "/server#s-server.listen"},
		{"HTTPS certificates e-mail", "en", path + "/server_tls#s-server.tls.email"}, // the title of its group
		{"HTTPS-Zertifikate", "de", path + "/server_tls#s-server.tls.email"},
		{"HTTPS-Zertifikate", "en", ""},
		{"max fields nonsense", "en", ""},
		{"<b>\"&", "en", ""},
	} {
		browser.Language = tt.language
		body := string(browser.Get(path, "q", tt.query).Want(200).Body)
		if tt.want != "" && !strings.Contains(body, `href="`+tt.want+`"`) || tt.want == "" && strings.Contains(body, "#s-") {
			t.Errorf("%q in %s: %s", tt.query, tt.language, body)
		}
		if tt.want == "" && tt.language == "en" && !strings.Contains(body, "No setting has these words.") {
			t.Errorf("%q: the page does not say that nothing was found", tt.query)
		}
		place, anchor, _ := strings.Cut(tt.want, "#")
		if place != "" && !strings.Contains(string(browser.Get(place).Want(200).Body), `id="`+anchor+`"`) {
			t.Errorf("%s has no place %s", place, anchor)
		}
	}
	browser.Language = "en"
	browser.Get(path, "q", " ").Want(200, "Server information and registration")
	browser.Get(path, "q", "max fields").Want(200, "settings found", "Now: 10")
	browser.Get(path, "q", strings.Repeat("ä", 300)).Want(422, "The search is too long.")
}

// module returns the key of a group of settings that is named by api.name.
func module(srv *apptest.Server, name string) string {
	own := srv.Settings.API.Name
	return strings.ToUpper(own[:1]) + own[1:] + "." + name
}

// TestDefaultsOfSettings shows defaults in plain words, marks what differs from them, and goes back to them.
func TestDefaultsOfSettings(t *testing.T) {
	_, admin, browser := staff(t)
	const path = "/web/admin/settings/instance"
	browser.Get(path).Want(200, "Default: 5,000", "Default: yes", "Default: empty")
	browser.Get("/web/admin/settings/rate_limit").Want(200, "Now: 1,500 per 5 minutes", "A change acts after a restart of the server.")
	browser.Get("/web/admin/settings/server").Want(200, "Default: 3 minutes", "Default: 127.0.0.1:4000")
	page := browser.Get(path).Press("Save", "max_account_fields", "7").Follow().Want(200, "Default: 10 · Differs from the default")
	answered := page.Press("Back to the default: Max account fields")
	if to := answered.Header.Get("Location"); to != path+"?done=saved#s-accounts.max_fields" {
		t.Errorf("it leads to %s", to)
	}
	answered.Follow().Want(200, "Saved.")
	if got := admin.Get("/api/v1/svc/admin/settings/accounts.max_fields").Want(200).Object().Str("value"); got != "10" {
		t.Errorf("the setting is %s", got)
	}
	const single = "/web/admin/setting/rate_limit.search"
	page = browser.Get(single).Want(200, "Default: 30 per 1 second").Press("Save", "value", "40/1s").Follow().Want(200, "Differs from the default")
	page.Press("Back to the default: rate_limit.search").Follow().Want(200, "Saved.")
	browser.Get("/web/admin/setting/server.listen").Want(200, "Only the settings file can change this.", "Now: ")
	browser.Language = "de"
	browser.Get(path).Want(200, "Vorgabe: 5.000", "Vorgabe: ja", "Vorgabe: leer")
}

// TestSettingsOfTheFile shows the settings where only the settings file can change them. Nothing can be saved.
func TestSettingsOfTheFile(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.Name, c.Mail.Password = "The Tea House", "very secret" })
	browser := srv.SignUpAdmin().SignedIn()
	const note = "These settings come from the settings file only"
	browser.Get("/web/admin/settings").Want(200, note, "Server information and registration")
	browser.Get("/web/admin/settings", "q", "instance.name").Want(200, note, "Now: The Tea House")
	for _, path := range []string{"/web/admin/settings/instance", "/web/admin/settings/" + module(srv, "Emails.Mailer"), "/web/admin/setting/instance.name", "/web/admin/settings/mrf_simple"} {
		page := browser.Get(path).Want(200, "Default:")
		body := string(page.Body)
		if strings.Contains(body, ">Save<") || strings.Contains(body, "Back to the default") || strings.Contains(body, "very secret") {
			t.Errorf("%s: %s", path, body)
		}
	}
	page := browser.Get("/web/admin/settings/instance").Want(200, note, "Now: The Tea House", "Differs from the default")
	token := between(t, string(page.Body), `name="form_token" value="`, `"`)
	for path, values := range map[string]url.Values{
		"/web/admin/settings/instance":                                   {"name": {"Coffee House"}},
		"/web/admin/setting/instance.name":                               {"value": {"Coffee House"}},
		"/web/do/api/v1/svc/admin/settings/instance.name?_method=DELETE": {},
	} {
		values.Set("form_token", token)
		browser.Post(path, values).Want(400, "You must enable configurable_from_database")
	}
	if title := srv.As(nil).Get("/api/v1/instance").Want(200).Object().Str("title"); title != "The Tea House" {
		t.Errorf("the name is %s", title)
	}
	user := srv.SignUp("user").SignedIn()
	for _, path := range []string{"/web/admin/settings?q=name", "/web/admin/settings/instance", "/web/admin/setting/instance.name"} {
		user.Get(path).Want(403)
	}
}
