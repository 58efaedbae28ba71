package staff_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

const (
	configPath       = "/api/v1/svc/admin/config"
	descriptionsPath = configPath + "/descriptions"
	rebootPath       = "/api/v1/svc/admin/need_reboot"
	restartPath      = "/api/v1/svc/admin/restart"
)

func configurable(c *config.Config) { c.Instance.ConfigurableFromDatabase = true }

// bodyText returns the body of an answer.
func bodyText(a *apptest.Response) string { return strings.TrimSpace(string(a.Body)) }

// save sends config objects, as the text of a JSON array.
func save(c *apptest.Client, configs string) *apptest.Response {
	c.Server.T.Helper()
	return c.Do("POST", configPath, "application/json", strings.NewReader(`{"configs":`+configs+`}`))
}

// pair is the JSON of a change of one subkey of a key of :svc.
func pair(key, subkey, value string) string {
	return fmt.Sprintf(`[{"group":":svc","key":%q,"value":[{"tuple":[%q,%s]}]}]`, key, subkey, value)
}

// setting returns the value of a subkey as GET config returns it, as JSON.
func setting(c *apptest.Client, key, subkey string, params ...string) string {
	c.Server.T.Helper()
	for _, e := range c.Get(configPath, params...).Want(200).Object().At("configs").([]any) {
		e := e.(map[string]any)
		if e["key"] != key {
			continue
		}
		list, _ := e["value"].([]any)
		for _, p := range list {
			p, _ := p.(map[string]any)
			if t, _ := p["tuple"].([]any); len(t) == 2 && t[0] == subkey {
				b, err := json.Marshal(t[1])
				if err != nil {
					c.Server.T.Fatal(err)
				}
				return string(b)
			}
		}
	}
	return "none"
}

// TestSettingsOff checks the endpoints while only the file has settings.
func TestSettingsOff(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	const off = "You must enable configurable_from_database in your config file."
	root.Get(configPath).WantError(400, off)
	root.Get(configPath, "only_db", "true").WantError(400, off)
	save(root.Client, pair(":instance", ":name", `"x"`)).WantError(400, off)
	root.Get(restartPath).WantError(400, off)
	root.Post(restartPath).WantError(400, off)
	if root.Get(rebootPath).Want(200).Object().Bool("need_reboot") {
		t.Error("need_reboot is true")
	}
	if len(root.Get(descriptionsPath).Want(200).List()) < 30 {
		t.Error("descriptions are missing")
	}
}

// TestSettingsAccess checks that only admins with the scopes may use the endpoints.
func TestSettingsAccess(t *testing.T) {
	srv := apptest.Start(t, configurable)
	root, user, moderator := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("mod")
	srv.SetRole(moderator, false, true)
	unscoped := srv.NewToken(root, "read write follow push")
	for _, path := range []string{configPath, descriptionsPath, rebootPath, restartPath} {
		srv.As(nil).Get(path).WantError(403, "Invalid credentials.")
		user.Get(path).WantError(403, "User is not a staff member.")
		moderator.Get(path).WantError(403, "User is not an admin.")
		unscoped.Get(path).Want(403)
	}
	reading := srv.NewToken(root, "admin:read")
	reading.Get(configPath).Want(200)
	save(reading, pair(":instance", ":name", `"x"`)).WantError(403, "Insufficient permissions: admin:write.")
	reading.Get(restartPath).WantError(403, "Insufficient permissions: admin:write.")
	save(moderator.Client, pair(":instance", ":name", `"x"`)).WantError(403, "User is not an admin.")
}

// TestSettingsFields checks group, key, value and db of an entry, and type, description and children of its description (spec 2.24).
func TestSettingsFields(t *testing.T) {
	srv := apptest.Start(t, configurable)
	root := srv.SignUpAdmin()
	if got := root.Get(configPath, "only_db", "true").Want(200).Object(); len(got.At("configs").([]any)) != 0 || got.Bool("need_reboot") {
		t.Errorf("stored settings: %v", got.Fields)
	}
	saved := save(root.Client, `[{"group":":svc","key":":instance","value":[{"tuple":[":name","Changed"]},{"tuple":[":own",{"a":":b"}]}]}]`).Want(200)
	const entry = `{"group":":svc","key":":instance","value":[{"tuple":[":name","Changed"]},{"tuple":[":own",{"a":":b"}]}],"db":[":name",":own"]}`
	if got, want := bodyText(saved), `{"configs":[`+entry+`],"need_reboot":false}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := setting(root.Client, ":instance", ":own"); got != `{"a":":b"}` {
		t.Errorf("an unknown subkey became %s", got)
	}
	for subkey, want := range map[string]string{
		":name": `"Changed"`, ":limit": `5000`, ":registrations_open": `true`, ":favicon": `"/favicon.png"`, ":instance_thumbnail": `""`,
		":background_image": `""`, ":quarantined_instances": `[]`, ":limit_to_local_content": `":unauthenticated"`, ":languages": `["en"]`,
		":poll_limits": `{":max_expiration":31536000,":max_option_chars":200,":max_options":20,":min_expiration":0}`,
	} {
		if got := setting(root.Client, ":instance", subkey); got != want {
			t.Errorf("%s is %s, want %s", subkey, got, want)
		}
	}
	ownName := srv.Settings.API.Name // modules are named by it
	standard := func(key any) string {
		return strings.Replace(key.(string), strings.ToUpper(ownName[:1])+ownName[1:]+".", "Svc.", 1)
	}
	keys := make(map[string]bool)
	for _, e := range root.Get(configPath).Want(200).Object().At("configs").([]any) {
		e := e.(map[string]any)
		if e["group"] != ":svc" || e["value"] == nil || (e["db"] != nil) != (e["key"] == ":instance") {
			t.Errorf("entry %v", e)
		}
		keys[standard(e["key"])] = true
	}
	for _, key := range []string{":instance", ":frontends", ":restrict_unauthenticated", "Svc.Captcha", "Svc.Captcha.Kocaptcha", ":mrf", "Svc.Emails.Mailer"} {
		if !keys[key] {
			t.Errorf("%s is missing", key)
		}
	}
	described := make(map[string]bool)
	for _, d := range root.Get(descriptionsPath).Want(200).List() {
		if d.Str("type") != "group" || d.Str("group") != ":svc" || d.Str("label") == "" || d.Str("description") == "" {
			t.Errorf("group %v", d.Fields)
		}
		for _, child := range d.At("children").([]any) {
			child := child.(map[string]any)
			if child["key"] == "" || child["type"] == nil || child["description"] == "" || child["suggestions"] == nil {
				t.Errorf("%s: %v", d.Str("key"), child)
			}
			described[standard(d.Str("key"))+" "+child["key"].(string)] = true
		}
	}
	for _, want := range []string{":instance :name", ":mrf_simple :reject", ":rate_limit :search", ":instance :poll_limits", "Svc.Captcha :seconds_valid"} {
		if !described[want] {
			t.Errorf("%s is not described", want)
		}
	}
}

// TestSaveSettings checks that a change acts at once, is merged with earlier ones, and is undone by delete.
func TestSaveSettings(t *testing.T) {
	srv := apptest.Start(t, configurable)
	root := srv.SignUpAdmin()
	title := func() string { return srv.As(nil).Get("/api/v1/instance").Want(200).Object().Str("title") }
	title() // is cached
	save(root.Client, pair(":instance", ":name", `" Fresh "`)).Want(200)
	if got := title(); got != "Fresh" {
		t.Errorf("the title is %q", got)
	}
	save(root.Client, pair(":instance", ":limit", `10`)).Want(200)
	if got := title(); got != "Fresh" {
		t.Errorf("another change reset the title: %q", got)
	}
	root.Post("/api/v1/statuses", "status", "more than ten").Want(422)
	save(root.Client, pair(":instance", ":registrations_open", `false`)).Want(200)
	if srv.As(nil).Get("/api/v1/instance").Want(200).Object().Bool("registrations") {
		t.Error("registrations are still open")
	}
	save(root.Client, pair(":mrf", ":policies", `["Svc.Web.ActivityPub.MRF.DropPolicy"]`)).Want(200)
	root.Post("/api/v1/statuses", "status", "dropped").Want(422)
	save(root.Client, `[{"group":":svc","key":":mrf","delete":true},{"group":":svc","key":":nothing","delete":true},
		{"group":":svc","key":":instance","delete":true,"subkeys":[":limit",":registrations_open"]}]`).Want(200)
	root.Post("/api/v1/statuses", "status", "more than ten, and not dropped").Want(200)
	if got := setting(root.Client, ":instance", ":name", "only_db", "true"); got != `"Fresh"` {
		t.Errorf("the stored name is %s", got)
	}
	if got := save(root.Client, `[{"group":":svc","key":":instance","delete":true,"subkeys":[":name"]}]`).Want(200).Object(); len(got.At("configs").([]any)) != 0 {
		t.Errorf("a row without pairs is left: %v", got.Fields)
	}
	if got := title(); got != config.Default().Instance.Name {
		t.Errorf("the title is %q after its reset", got)
	}
	if got := messages(root.Client); !slices.Contains(got, "@root changed settings: :svc :instance :name") ||
		!slices.Contains(got, "@root changed settings: :svc :instance :limit, :svc :instance :registrations_open, :svc :mrf :policies") {
		t.Errorf("moderation log: %q", got)
	}
}

// TestOtherSettings checks that settings that this server does not have are kept verbatim.
func TestOtherSettings(t *testing.T) {
	srv := apptest.Start(t, configurable)
	root := srv.SignUpAdmin()
	save(root.Client, `[{"group":":web_push_encryption","key":":vapid_details","value":[{"tuple":[":x",{"tuple":[1,2.50,"~r/a/i"]}]}]},`+
		`{"group":":ueberauth","key":"Ueberauth","value":":atom"}]`).Want(200)
	const want = `{"configs":[{"group":":ueberauth","key":"Ueberauth","value":":atom"},` +
		`{"group":":web_push_encryption","key":":vapid_details","value":[{"tuple":[":x",{"tuple":[1,2.50,"~r/a/i"]}]}]}],"need_reboot":false}`
	if got := bodyText(root.Get(configPath, "only_db", "true").Want(200)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	all := bodyText(root.Get(configPath).Want(200))
	for _, want := range []string{`"value":":atom","db":["Ueberauth"]`, `"db":[":x"]`} {
		if !strings.Contains(all, want) {
			t.Errorf("%s lacks %s", all, want)
		}
	}
}

// TestInvalidSettings checks that an invalid change is refused with the name of the setting, and changes nothing.
func TestInvalidSettings(t *testing.T) {
	srv := apptest.Start(t, configurable)
	root := srv.SignUpAdmin()
	save(root.Client, pair(":instance", ":name", `"Before"`)).Want(200)
	before := bodyText(root.Get(configPath).Want(200))
	good := `{"group":":svc","key":":instance","value":[{"tuple":[":name","After"]}]},`
	many := strings.TrimSuffix(strings.Repeat(`{"group":"a","key":"b","value":1},`, 501), ",")
	for _, tt := range []struct{ name, configs, want string }{
		{"an empty name", pair(":instance", ":name", `""`), "instance.name"},
		{"a number for a text", pair(":instance", ":name", `5`), ":instance :name: instance.name: expected a text, got a number"},
		{"a text for a number", pair(":instance", ":limit", `"many"`), "statuses.max_length"},
		{"a number out of range", pair(":instance", ":limit", `0`), "statuses.max_length"},
		{"a text for a boolean", pair(":instance", ":registrations_open", `"yes"`), "instance.registrations_open"},
		{"an unknown policy", pair(":mrf", ":policies", `["Svc.Web.ActivityPub.MRF.NoSuchPolicy"]`), "mrf.policies"},
		{"a broken pattern", pair(":mrf_keyword", ":reject", `["~r/(/"]`), "mrf_keyword.reject"},
		{"a list for a tuple", pair(":rate_limit", ":timeline", `[1,2,3]`), "rate_limit.timeline"},
		{"the switch among the limits", pair(":rate_limit", ":enabled", `false`), ":enabled is a subkey of :rate_limiters"},
		{"groups as objects", pair(":emoji", ":groups", `[{":name":"Cats",":patterns":[]}]`), "emoji.groups"},
		{"a group without a list", pair(":emoji", ":groups", `[{"tuple":[":Cats","/emoji/*.png"]}]`), "emoji.groups"},
		{"a group of three", pair(":emoji", ":groups", `[{"tuple":[":Cats",[],[]]}]`), "emoji.groups"},
		{"a map with a wrong member", pair(":instance", ":poll_limits", `{":max_options":1}`), "polls.max_options"},
		{"settings that conflict", pair(":instance", ":poll_limits", `{":min_expiration":3600,":max_expiration":60}`), "polls.min_expiration"},
		{"a setting of the file", pair(":server", ":listen", `"0.0.0.0:1"`), "server.listen can only be changed in the settings file"},
		{"a row of the file", `[{"group":":svc","key":"Svc.Repo","value":[]}]`, "can only be set in the settings file"},
		{"the switch itself", pair(":instance", ":configurable_from_database", `false`), "instance.configurable_from_database"},
		{"a value for a group", `[{"group":":svc","key":":instance","value":"x"}]`, ":svc :instance"},
		{"no value", `[{"group":":svc","key":":instance"}]`, "Missing field: value."},
		{"a null value", `[{"group":":svc","key":":instance","value":null}]`, "Missing field: value."},
		{"no group", `[{"key":":instance","value":1}]`, "Missing field: group."},
		{"no key", `[{"group":":svc","value":1}]`, "Missing field: key."},
		{"a long key", `[{"group":":svc","key":"` + strings.Repeat("k", 201) + `","value":1}]`, "200"},
		{"protection that does not exist", pair(":restrict_unauthenticated", ":profiles", `{":local":true,":remote":true}`), "instance.public"},
		{"a good change before a bad one", `[` + good + `{"group":":svc","key":":instance","value":[{"tuple":[":limit",0]}]}]`, "statuses.max_length"},
		{"too many changes", `[` + many + `]`, ""},
		{"no list", `5`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := bodyText(save(root.Client, tt.configs).Want(400)); !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	root.Do("POST", configPath, "application/json", strings.NewReader(`{"configs":[`)).Want(400)
	root.Do("POST", configPath, "application/json", strings.NewReader(`{}`)).WantError(400, "Missing field: configs.")
	if after := bodyText(root.Get(configPath).Want(200)); after != before {
		t.Errorf("settings changed:\n%s\n%s", before, after)
	}
	if got := messages(root.Client); len(got) != 1 {
		t.Errorf("moderation log: %q", got)
	}
}

// TestNeedReboot checks rule 7 of spec 4.5.
func TestNeedReboot(t *testing.T) {
	for _, tt := range []struct {
		configs string
		want    bool
	}{
		{pair(":instance", ":name", `"x"`), false},
		{pair(":instance", ":upload_limit", `1000000`), true},
		{pair(":instance", ":avatar_upload_limit", `1000000`), false},
		{pair("Svc.Captcha", ":seconds_valid", `60`), true},
		{pair("Svc.Upload", ":proxy_remote", `true`), true},
		{pair("Svc.Upload", ":link_name", `true`), false},
		{pair(":hackney_pools", ":federation", `[{"tuple":[":max_connections",50]}]`), true},
		{pair(":connections_pool", ":x", `1`), true},
		{pair(":pools", ":x", `1`), true},
		{pair(":chat", ":enabled", `true`), true},
		{pair(":rate_limit", ":timeline", `{"tuple":[500,4]}`), true},
		{pair(":instance", ":federating", `false`), true},
		{pair(":mrf_simple", ":reject", `[{"tuple":["bad.example","spam"]}]`), false},
		{`[{"group":":other","key":":pools","value":1}]`, false},
	} {
		srv := apptest.Start(t, configurable)
		root := srv.SignUpAdmin()
		if got := save(root.Client, tt.configs).Want(200).Object().Bool("need_reboot"); got != tt.want {
			t.Errorf("%s: need_reboot is %v", tt.configs, got)
		}
		save(root.Client, pair(":instance", ":description", `"x"`)).Want(200)
		for _, path := range []string{rebootPath, configPath} {
			if got := root.Get(path).Want(200).Object().Bool("need_reboot"); got != tt.want {
				t.Errorf("%s: need_reboot of %s is %v", tt.configs, path, got)
			}
		}
	}
}

// TestNeedRebootEnds checks that nothing waits for a restart any more when settings are as they were at the start.
func TestNeedRebootEnds(t *testing.T) {
	srv := apptest.Start(t, configurable)
	root := srv.SignUpAdmin()
	needed := func() bool { return root.Get(rebootPath).Want(200).Object().Bool("need_reboot") }
	limit := strconv.FormatInt(srv.Settings.Media.UploadLimit, 10)
	for name, steps := range map[string][2]string{
		"set back":   {pair(":instance", ":upload_limit", `1000000`), pair(":instance", ":upload_limit", limit)},
		"removed":    {pair(":pools", ":x", `1`), `[{"group":":svc","key":":pools","delete":true}]`},
		"by a rate":  {pair(":rate_limit", ":timeline", `{"tuple":[500,4]}`), pair(":rate_limit", ":timeline", `{"tuple":[500,3]}`)},
		"subkey":     {pair("Svc.Captcha", ":seconds_valid", `60`), `[{"group":":svc","key":"Svc.Captcha","delete":true,"subkeys":[":seconds_valid"]}]`},
		"federation": {pair(":instance", ":federating", `false`), pair(":instance", ":federating", `true`)},
	} {
		t.Run(name, func(t *testing.T) {
			save(root.Client, steps[0]).Want(200)
			if !needed() {
				t.Fatal("need_reboot is false after the change")
			}
			if save(root.Client, steps[1]).Want(200).Object().Bool("need_reboot") || needed() {
				t.Error("need_reboot is still true")
			}
		})
	}
}

// TestSecretSettings checks that secrets are masked, and that a mask that is sent back changes nothing.
func TestSecretSettings(t *testing.T) {
	const secret = "correct-horse"
	srv := apptest.Start(t, configurable)
	root := srv.SignUpAdmin()
	saved := bodyText(save(root.Client, pair("Svc.Emails.Mailer", ":password", `"`+secret+`"`)).Want(200))
	save(root.Client, pair("Svc.Emails.Mailer", ":password", `"***"`)).Want(200)
	save(root.Client, pair("Svc.Emails.Mailer", ":username", `"someone"`)).Want(200)
	for name, text := range map[string]string{
		"the answer": saved, "all": bodyText(root.Get(configPath).Want(200)), "only_db": bodyText(root.Get(configPath, "only_db", "true").Want(200)),
		"descriptions": bodyText(root.Get(descriptionsPath).Want(200)), "the log": bodyText(root.Get(logPath).Want(200)),
	} {
		if strings.Contains(text, secret) {
			t.Errorf("%s has the secret: %s", name, text)
		}
	}
	rows, err := srv.DB.SettingRows(t.Context())
	if err != nil || len(rows) != 1 || !strings.Contains(rows[0].Value, secret) {
		t.Errorf("stored %v, %v", rows, err)
	}
}

// TestSettingText shows and changes settings in the form of the settings file, lists of tables included.
func TestSettingText(t *testing.T) {
	srv := apptest.Start(t, configurable, func(c *config.Config) { c.Mail.Password = "very secret" })
	root := srv.SignUpAdmin()
	const path = "/api/v1/svc/admin/settings/"
	put := func(name, value string) *apptest.Response {
		return root.SendJSON("PUT", path+name, apptest.Doc{"value": value})
	}
	for _, tt := range []struct{ name, value, want string }{
		{"instance.name", "Tea house", `"Tea house"`},
		{"instance.name", `"Tea = house"`, `"Tea = house"`},
		{"federation.quarantined_instances", `[{ host = "leaky.example", reason = "shows private posts" }]`, `[{ host = "leaky.example", reason = "shows private posts" }]`},
		{"federation.quarantined_instances", ` ["a.example"] `, `[{ host = "a.example" }]`},
		{"federation.quarantined_instances", `[]`, `[]`},
		{"rate_limit.search", "20/1s", `"20/1s"`},
		{"instance.public", "false", "false"},
	} {
		o := put(tt.name, tt.value).Want(200).Object()
		wantFields(t, tt.value, o, apptest.Doc{"name": tt.name, "value": tt.want})
		wantFields(t, tt.value, root.Get(path+tt.name).Want(200).Object(), apptest.Doc{"value": tt.want, "restart": tt.name == "rate_limit.search"})
	}
	for _, tt := range []struct {
		name, value string
		status      int
	}{
		{"instance.public", "maybe", 400},
		{"federation.quarantined_instances", `[{ hosts = "x" }]`, 400},
		{"federation.quarantined_instances", "[]\nx = 1", 400},
		{"server.listen", `"x"`, 400}, // in the file only
		{"mail.password", "***", 400},
		{"nothing.here", "1", 404},
		{"nothing", "1", 404},
	} {
		put(tt.name, tt.value).Want(tt.status)
	}
	put("instance.name", "").Want(400)
	root.SendJSON("PUT", path+"instance.name", apptest.Doc{}).WantError(400, "Missing field: value.")
	root.Get(path + "nothing.here").Want(404)
	if text := bodyText(root.Get(path + "mail.password").Want(200)); strings.Contains(text, "very secret") {
		t.Errorf("a secret is shown: %s", text)
	}
	srv.SignUp("alice").Get(path + "instance.name").Want(403)
}

// TestSettingTextFileOnly refuses changes if settings may not be in the database.
func TestSettingTextFileOnly(t *testing.T) {
	root := apptest.Start(t).SignUpAdmin()
	root.Get("/api/v1/svc/admin/settings/instance.name").Want(200)
	root.SendJSON("PUT", "/api/v1/svc/admin/settings/instance.name", apptest.Doc{"value": "x"}).Want(400)
}

// TestSettingStates lists the settings with their defaults, and changes some back to them: those of the database and those of the file.
func TestSettingStates(t *testing.T) {
	srv := apptest.Start(t, configurable, func(c *config.Config) {
		c.Mail.Password = "very secret"
		c.Statuses.MaxPinned = 9
	})
	root := srv.SignUpAdmin()
	const path = "/api/v1/svc/admin/settings"
	state := func(name string) *apptest.Object {
		t.Helper()
		answer := root.Get(path).Want(200)
		if strings.Contains(bodyText(answer), "very secret") {
			t.Error("a secret is shown")
		}
		o := answer.Object()
		if !o.Bool("configurable_from_database") {
			t.Error("the settings are said to be in the file only")
		}
		for _, s := range o.At("settings").([]any) {
			if s := s.(map[string]any); s["name"] == name {
				return &apptest.Object{T: t, Fields: s}
			}
		}
		t.Fatalf("%s is missing", name)
		return nil
	}
	root.SendJSON("PUT", path+"/accounts.max_fields", apptest.Doc{"value": "7"}).Want(200)
	for _, tt := range []struct {
		name string
		want apptest.Doc
	}{
		{"accounts.max_fields", apptest.Doc{"kind": "number", "value": 7.0, "default": 10.0, "changed": true, "restart": false, "file_only": false}},
		{"statuses.max_pinned", apptest.Doc{"kind": "number", "value": 9.0, "changed": true}},
		{"mail.password", apptest.Doc{"kind": "text", "value": "***", "default": "", "changed": true}},
		{"server.listen", apptest.Doc{"kind": "text", "restart": true, "file_only": true}},
		{"storage.min_free", apptest.Doc{"kind": "number", "size": true, "changed": false}},
		{"rate_limit.search", apptest.Doc{"kind": "limit", "value": "30/1s", "restart": true}},
	} {
		wantFields(t, tt.name, state(tt.name), tt.want)
	}
	for _, name := range []string{"accounts.max_fields", "statuses.max_pinned", "mail.password"} {
		root.Do("DELETE", path+"/"+name, "", nil).Want(200)
		if state(name).Bool("changed") {
			t.Errorf("%s still differs from its default", name)
		}
		root.Do("DELETE", path+"/"+name, "", nil).Want(200) // twice is no error
	}
	for name, want := range map[string]int{"server.listen": 400, "nothing.here": 404, "nothing": 404} {
		root.Do("DELETE", path+"/"+name, "", nil).Want(want)
	}
	user := srv.SignUp("alice")
	user.Get(path).Want(403)
	user.Do("DELETE", path+"/accounts.max_fields", "", nil).Want(403)
	srv.As(nil).Get(path).Want(403)
}

// TestSettingStatesFileOnly lists the settings and refuses changes if settings may not be in the database.
func TestSettingStatesFileOnly(t *testing.T) {
	root := apptest.Start(t).SignUpAdmin()
	if root.Get("/api/v1/svc/admin/settings").Want(200).Object().Bool("configurable_from_database") {
		t.Error("the settings are said to be in the database, too")
	}
	root.Do("DELETE", "/api/v1/svc/admin/settings/instance.name", "", nil).WantError(400, "You must enable configurable_from_database in your config file.")
}
