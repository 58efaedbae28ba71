package server_test

import (
	"bytes"
	"mime/multipart"
	"slices"
	"strings"
	"testing"

	"svc/internal/config"
)

func TestCreateApp(t *testing.T) {
	srv := startAPI(t)
	long := strings.Repeat("x", 2001)
	for _, tt := range []struct {
		name   string
		params map[string]any
		want   int
		uris   []string // as they come back
		scopes string
	}{
		{"the least", map[string]any{"client_name": "A", "redirect_uris": outOfBand}, 200, []string{outOfBand}, "read"},
		{"all", map[string]any{"client_name": "A", "redirect_uris": callback, "scopes": "read write follow push admin", "website": "https://app.example.com"}, 200,
			[]string{callback}, "read write follow push admin"},
		{"several addresses", map[string]any{"client_name": "A", "redirect_uris": outOfBand + "\n" + callback + " app.example:/x"}, 200,
			[]string{outOfBand, callback, "app.example:/x"}, "read"},
		{"a list of addresses", map[string]any{"client_name": "A", "redirect_uris": []string{outOfBand, callback}}, 200, []string{outOfBand, callback}, "read"},
		{"http", map[string]any{"client_name": "A", "redirect_uris": "http://localhost:8080/cb"}, 200, []string{"http://localhost:8080/cb"}, "read"},
		{"a list of scopes", map[string]any{"client_name": "A", "redirect_uris": outOfBand, "scopes": []string{"read", "write:statuses"}}, 200,
			[]string{outOfBand}, "read write:statuses"},
		{"commas and pluses", map[string]any{"client_name": "A", "redirect_uris": outOfBand, "scopes": "read,write+push"}, 200, []string{outOfBand}, "read write push"},
		{"the alias of scopes", map[string]any{"client_name": "A", "redirect_uris": outOfBand, "scope": "write"}, 200, []string{outOfBand}, "write"},
		{"some unknown scopes", map[string]any{"client_name": "A", "redirect_uris": outOfBand, "scopes": "read nonsense profile"}, 200,
			[]string{outOfBand}, "read profile"},
		{"only unknown scopes", map[string]any{"client_name": "A", "redirect_uris": outOfBand, "scopes": "nonsense"}, 422, nil, ""},
		{"no name", map[string]any{"redirect_uris": outOfBand}, 422, nil, ""},
		{"a blank name", map[string]any{"client_name": " ", "redirect_uris": outOfBand}, 422, nil, ""},
		{"a long name", map[string]any{"client_name": strings.Repeat("ä", 201), "redirect_uris": outOfBand}, 422, nil, ""},
		{"two lines of name", map[string]any{"client_name": "A\nB", "redirect_uris": outOfBand}, 422, nil, ""},
		{"a name of another type", map[string]any{"client_name": map[string]any{}, "redirect_uris": outOfBand}, 400, nil, ""},
		{"no address", map[string]any{"client_name": "A"}, 422, nil, ""},
		{"a blank address", map[string]any{"client_name": "A", "redirect_uris": " "}, 422, nil, ""},
		{"too many addresses", map[string]any{"client_name": "A", "redirect_uris": strings.Repeat(callback+" ", 21)}, 422, nil, ""},
		{"a long address", map[string]any{"client_name": "A", "redirect_uris": "https://example.com/" + long}, 422, nil, ""},
		{"a website that is none", map[string]any{"client_name": "A", "redirect_uris": outOfBand, "website": "javascript:alert(1)"}, 422, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.as(nil).send("POST", "/api/v1/apps", tt.params).want(tt.want)
			if tt.want != 200 {
				a.object().str("error")
				return
			}
			o := a.object()
			if len(o.str("client_id")) != 43 || len(o.str("client_secret")) != 43 || o.str("client_id") == o.str("client_secret") {
				t.Errorf("credentials %s, %s", o.str("client_id"), o.str("client_secret"))
			}
			if o.str("name") != "A" || o.str("id") == "" || o.str("vapid_key") != srv.keys.VAPIDPublic() || o.num("client_secret_expires_at") != 0 {
				t.Errorf("got %v", o.m)
			}
			if want := tt.params["website"]; o.at("website") != want {
				t.Errorf("website is %v, want %v", o.at("website"), want)
			}
			if got := o.str("redirect_uri"); got != strings.Join(tt.uris, "\n") {
				t.Errorf("redirect_uri is %q, want %q", got, tt.uris)
			}
			if got := o.texts("redirect_uris"); !slices.Equal(got, tt.uris) {
				t.Errorf("redirect_uris are %q, want %q", got, tt.uris)
			}
			if got := strings.Join(o.texts("scopes"), " "); got != tt.scopes {
				t.Errorf("scopes are %q, want %q", got, tt.scopes)
			}
		})
	}
}

// texts returns a list of texts.
func (o *object) texts(path string) []string {
	o.t.Helper()
	list, ok := o.at(path).([]any)
	if !ok {
		o.t.Fatalf("%s is no list: %v", path, o.at(path))
	}
	texts := []string{}
	for _, e := range list {
		texts = append(texts, e.(string))
	}
	return texts
}

func TestRedirectAddresses(t *testing.T) {
	srv := startAPI(t)
	for _, address := range []string{
		"javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "blob:https://example.com/1",
		"about:blank", "view-source:https://example.com", "urn:example:x", "urn:ietf:wg:oauth:2.0:oob:auto", "mailto:a@example.org", "wss://example.com",
		"https://", "https:example.com", "http:///x", "https://example.com/#fragment", "https://example.com/#", "https://u:p@example.com/",
		"//example.com/x", "/callback", "callback", "https://exa\\mple.com", "https://example.com/%zz", "https://[::1", ":", "1x://y",
		"intent://x", "filesystem:https://example.com/x", "https://example.com/\x7f",
	} {
		a := srv.as(nil).post("/api/v1/apps", "client_name", "A", "redirect_uris", callback+"\n"+address)
		if a.status != 422 {
			t.Errorf("%q: got %d %s, want 422", address, a.status, a.body)
		}
	}
}

// TestCreateAppInAllForms registers an app as the various clients do.
func TestCreateAppInAllForms(t *testing.T) {
	srv := startAPI(t)
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for _, f := range [][2]string{{"client_name", "A"}, {"redirect_uris", callback}, {"scopes", "read write"}, {"website", ""}} {
		if err := w.WriteField(f[0], f[1]); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	const urlencoded = "client_name=A&redirect_uris=https%3A%2F%2Fapp.example.com%2Fcallback&scopes=read+write&website="
	for name, a := range map[string]*answer{
		"multipart":  srv.as(nil).do("POST", "/api/v1/apps", w.FormDataContentType(), &form),
		"urlencoded": srv.as(nil).do("POST", "/api/v1/apps", "application/x-www-form-urlencoded", strings.NewReader(urlencoded)),
		"query":      srv.as(nil).do("POST", "/api/v1/apps?"+urlencoded, "", nil),
		"JSON":       srv.as(nil).send("POST", "/api/v1/apps/", map[string]any{"client_name": "A", "redirect_uris": callback, "scopes": "read write", "website": nil}),
	} {
		o := a.want(200).object()
		if o.str("name") != "A" || o.str("redirect_uri") != callback || len(o.texts("scopes")) != 2 || o.at("website") != nil {
			t.Errorf("%s: got %v", name, o.m)
		}
	}
}

func TestVerifyApp(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	app := srv.registerApp("website", "https://app.example.com", "client_name", "My app")
	own := srv.grant(app, "client_credentials", "scope", "push").want(200).object().str("access_token")
	user := srv.grant(app, "password", "username", "alice", "password", testPassword).want(200).object().str("access_token")
	for _, token := range []string{own, user} {
		o := (&caller{srv, token}).get("/api/v1/apps/verify_credentials").want(200).object()
		if o.str("name") != "My app" || o.str("website") != "https://app.example.com" || o.str("vapid_key") == "" || o.has("client_secret") || o.has("client_id") {
			t.Errorf("got %v", o.m)
		}
	}
	srv.as(nil).get("/api/v1/apps/verify_credentials").wantError(401, "The access token is invalid")
	(&caller{srv, "nonsense"}).get("/api/v1/apps/verify_credentials").wantError(401, "The access token is invalid")

	// Who signs in first owns it.
	o := alice.get("/api/v1/svc/apps").want(200).list()
	if len(o) != 2 || o[0].str("client_id") != app.id || o[0].has("client_secret") {
		t.Errorf("alice's apps are %v", o)
	}
	bob := srv.signUp("bob")
	srv.grant(app, "password", "username", "bob", "password", testPassword).want(200)
	if l := bob.get("/api/v1/svc/apps").want(200).list(); len(l) != 0 {
		t.Errorf("bob's apps are %v", l)
	}
	bob.post("/api/v1/apps", "client_name", "Bob's", "redirect_uris", outOfBand).want(200)
	if l := bob.get("/api/svc/apps").want(200).list(); len(l) != 1 || l[0].str("name") != "Bob's" {
		t.Errorf("bob's apps are %v", l)
	}
	srv.as(nil).get("/api/v1/svc/apps").wantError(403, "Invalid credentials.")
	(&caller{srv, srv.grant(app, "password", "username", "bob", "password", testPassword, "scope", "write").object().str("access_token")}).
		get("/api/v1/svc/apps").wantError(403, "Insufficient permissions: follow | read.")
}

func TestAppRegistrationIsThrottled(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.RateLimit.Enabled = true })
	for range srv.settings.RateLimit.AppRegistration.Count {
		srv.registerApp()
	}
	a := srv.as(nil).post("/api/v1/apps", "client_name", "A", "redirect_uris", outOfBand)
	a.wantError(429, "Throttled")
	if a.header.Get("X-RateLimit-Remaining") != "0" || a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("headers: %v", a.header)
	}
}
