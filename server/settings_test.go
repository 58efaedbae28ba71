package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

func TestAppSettings(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	const path = "/api/v1/svc/settings/fe"
	same := func(when, got, want string) {
		t.Helper()
		if strings.TrimSpace(got) != want {
			t.Errorf("%s: got %s, want %s", when, got, want)
		}
	}
	get := func(m *apptest.User, path string) string { return string(m.Get(path).Want(200).Body) }
	patch := func(path, body string) *apptest.Response {
		return alice.Do("PATCH", path, "application/json", strings.NewReader(body))
	}
	same("no settings", get(alice, path), `{}`)
	for _, tt := range []struct{ name, body, want string }{
		{"the first", `{"a": 1, "b": {"c": [1, 2], "d": {"e": "x"}}, "n": 12345678901234567890}`, `{"a":1,"b":{"c":[1,2],"d":{"e":"x"}},"n":12345678901234567890}`},
		{"one more", `{"f": null, "g": true}`, `{"a":1,"b":{"c":[1,2],"d":{"e":"x"}},"g":true,"n":12345678901234567890}`},
		{"a nested member", `{"b": {"d": {"h": {"i": null, "j": 1}}}}`, `{"a":1,"b":{"c":[1,2],"d":{"e":"x","h":{"j":1}}},"g":true,"n":12345678901234567890}`},
		{"a list is replaced", `{"b": {"c": [3]}, "n": null}`, `{"a":1,"b":{"c":[3],"d":{"e":"x","h":{"j":1}}},"g":true}`},
		{"null removes", `{"b": {"d": null}, "g": null}`, `{"a":1,"b":{"c":[3]}}`},
		{"an object for a value, and a value for an object", `{"a": {"x": 1}, "b": "y"}`, `{"a":{"x":1},"b":"y"}`},
		{"an empty object", `{}`, `{"a":{"x":1},"b":"y"}`},
		{"a token is not a setting", `{"access_token": "secret", "b": null}`, `{"a":{"x":1}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			same("answer", string(patch(path, tt.body).Want(200).Body), tt.want)
			same("afterwards", get(alice, path+"/"), tt.want)
		})
	}
	same("another app", get(alice, "/api/svc/settings/other"), `{}`)
	same("another account", get(bob, path), `{}`)
	store, err := json.Marshal(alice.Get("/api/v1/accounts/verify_credentials").Want(200).Object().At("svc.settings_store"))
	if err != nil {
		t.Fatal(err)
	}
	same("the settings in the profile", string(store), `{"fe":{"a":{"x":1}}}`)
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"svc_settings_store": map[string]any{"fe": map[string]any{"z": 1}}}).Want(200)
	same("after a change through the profile", get(alice, path), `{"z":1}`)
	if got := alice.Do("PATCH", path, "application/x-www-form-urlencoded", strings.NewReader("f[a]=1&f[b]=x")).Want(200); string(got.Body) != `{"f":{"a":"1","b":"x"},"z":1}` {
		t.Errorf("a form sets %s", got.Body)
	}
	patch(path, `{"f": null}`).Want(200)

	const profile = "/api/v1/accounts/update_credentials"
	for _, value := range []string{`1`, `[1]`, `"x"`, `true`} { // a front end stores what it likes with the profile
		patch(profile, `{"svc_settings_store":{"web_interface":`+value+`}}`).Want(200)
		same(value, get(alice, "/api/v1/svc/settings/web_interface"), `{}`)
		alice.SignedIn().Get("/web/settings/appearance").Want(200)
	}
	for _, tt := range []struct {
		name, path, body string
		status           int
	}{
		{"a long name in the profile", profile, `{"svc_settings_store":{"` + strings.Repeat("x", 101) + `":1}}`, 422},
		{"an empty name in the profile", profile, `{"svc_settings_store":{"":1}}`, 422},
		{"a name with a NUL", profile, `{"svc_settings_store":{"a\u0000":1}}`, 422},
		{"not an object", path, `[1]`, 400},
		{"malformed JSON", path, `{"a":`, 400},
		{"too deep", path, strings.Repeat(`{"a":`, 20) + "1" + strings.Repeat("}", 20), 400},
		{"too large", path, `{"a": "` + strings.Repeat("x", 500_000) + `"}`, 413},
		{"a long name", "/api/v1/svc/settings/" + strings.Repeat("x", 101), `{}`, 422},
	} {
		t.Run(tt.name, func(t *testing.T) {
			patch(tt.path, tt.body).Want(tt.status)
			same("afterwards", get(alice, path), `{"z":1}`)
		})
	}
	srv.NewToken(alice, "read").SendJSON("PATCH", path, nil).Want(403)
	srv.NewToken(alice, "write").Get(path).Want(403)
	srv.As(nil).Get(path).Want(403)
}

// TestAppSettingsKeepNames checks that the configured API name does not change names in settings of front ends.
func TestAppSettingsKeepNames(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.API.Name = "other" })
	o := srv.SignUp("alice").SendJSON("PATCH", "/api/v1/other/settings/fe", map[string]any{"other_a": 1, "svc_a": 2}).Want(200).Object()
	if o.Int("other_a") != 1 || o.Int("svc_a") != 2 {
		t.Errorf("got %v", o.Fields)
	}
}
