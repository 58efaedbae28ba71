package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"svc/internal/config"
)

func TestAppSettings(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	const path = "/api/v1/svc/settings/fe"
	same := func(when, got, want string) {
		t.Helper()
		if strings.TrimSpace(got) != want {
			t.Errorf("%s: got %s, want %s", when, got, want)
		}
	}
	get := func(m *member, path string) string { return string(m.get(path).want(200).body) }
	patch := func(path, body string) *answer {
		return alice.do("PATCH", path, "application/json", strings.NewReader(body))
	}
	same("nothing yet", get(alice, path), `{}`)
	for _, tt := range []struct{ name, body, want string }{
		{"the first", `{"a": 1, "b": {"c": [1, 2], "d": {"e": "x"}}, "n": 12345678901234567890}`, `{"a":1,"b":{"c":[1,2],"d":{"e":"x"}},"n":12345678901234567890}`},
		{"one more", `{"f": null, "g": true}`, `{"a":1,"b":{"c":[1,2],"d":{"e":"x"}},"g":true,"n":12345678901234567890}`},
		{"deep inside", `{"b": {"d": {"h": {"i": null, "j": 1}}}}`, `{"a":1,"b":{"c":[1,2],"d":{"e":"x","h":{"j":1}}},"g":true,"n":12345678901234567890}`},
		{"a list is replaced", `{"b": {"c": [3]}, "n": null}`, `{"a":1,"b":{"c":[3],"d":{"e":"x","h":{"j":1}}},"g":true}`},
		{"null removes", `{"b": {"d": null}, "g": null}`, `{"a":1,"b":{"c":[3]}}`},
		{"an object for a value, and a value for an object", `{"a": {"x": 1}, "b": "y"}`, `{"a":{"x":1},"b":"y"}`},
		{"nothing", `{}`, `{"a":{"x":1},"b":"y"}`},
		{"a token is no setting", `{"access_token": "secret", "b": null}`, `{"a":{"x":1}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			same("answer", string(patch(path, tt.body).want(200).body), tt.want)
			same("afterwards", get(alice, path+"/"), tt.want)
		})
	}
	same("another app", get(alice, "/api/svc/settings/other"), `{}`)
	same("another account", get(bob, path), `{}`)
	store, err := json.Marshal(alice.get("/api/v1/accounts/verify_credentials").want(200).object().at("svc.settings_store"))
	if err != nil {
		t.Fatal(err)
	}
	same("it is the store of the profile", string(store), `{"fe":{"a":{"x":1}}}`)
	alice.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"svc_settings_store": map[string]any{"fe": map[string]any{"z": 1}}}).want(200)
	same("which is written to as well", get(alice, path), `{"z":1}`)
	if got := alice.do("PATCH", path, "application/x-www-form-urlencoded", strings.NewReader("f[a]=1&f[b]=x")).want(200); string(got.body) != `{"f":{"a":"1","b":"x"},"z":1}` {
		t.Errorf("a form makes %s", got.body)
	}
	patch(path, `{"f": null}`).want(200)

	for _, tt := range []struct {
		name, path, body string
		status           int
	}{
		{"no object", path, `[1]`, 400},
		{"no JSON", path, `{"a":`, 400},
		{"too deep", path, strings.Repeat(`{"a":`, 20) + "1" + strings.Repeat("}", 20), 400},
		{"too much", path, `{"a": "` + strings.Repeat("x", 500_000) + `"}`, 413},
		{"a long name", "/api/v1/svc/settings/" + strings.Repeat("x", 101), `{}`, 422},
	} {
		t.Run(tt.name, func(t *testing.T) {
			patch(tt.path, tt.body).want(tt.status)
			same("afterwards", get(alice, path), `{"z":1}`)
		})
	}
	srv.newToken(alice, "read").send("PATCH", path, nil).want(403)
	srv.newToken(alice, "write").get(path).want(403)
	srv.as(nil).get(path).want(403)
}

// What front ends store keeps its names, whatever the service is called.
func TestAppSettingsKeepNames(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.API.Name = "other" })
	o := srv.signUp("alice").send("PATCH", "/api/v1/other/settings/fe", map[string]any{"other_a": 1, "svc_a": 2}).want(200).object()
	if o.num("other_a") != 1 || o.num("svc_a") != 2 {
		t.Errorf("got %v", o.m)
	}
}
