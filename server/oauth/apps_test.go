package oauth_test

import (
	"bytes"
	"mime/multipart"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

func TestCreateApp(t *testing.T) {
	srv := apptest.Start(t)
	long := strings.Repeat("x", 2001)
	for _, tt := range []struct {
		name   string
		params map[string]any
		want   int
		uris   []string // in the response
		scopes string
	}{
		{"only the required parameters", map[string]any{"client_name": "A", "redirect_uris": outOfBandURI}, 200, []string{outOfBandURI}, "read"},
		{"all parameters", map[string]any{"client_name": "A", "redirect_uris": callback, "scopes": "read write follow push admin", "website": "https://app.example.com"}, 200,
			[]string{callback}, "read write follow push admin"},
		{"several redirect URIs", map[string]any{"client_name": "A", "redirect_uris": outOfBandURI + "\n" + callback + " app.example:/x"}, 200,
			[]string{outOfBandURI, callback, "app.example:/x"}, "read"},
		{"a list of redirect URIs", map[string]any{"client_name": "A", "redirect_uris": []string{outOfBandURI, callback}}, 200, []string{outOfBandURI, callback}, "read"},
		{"http", map[string]any{"client_name": "A", "redirect_uris": "http://localhost:8080/cb"}, 200, []string{"http://localhost:8080/cb"}, "read"},
		{"a list of scopes", map[string]any{"client_name": "A", "redirect_uris": outOfBandURI, "scopes": []string{"read", "write:statuses"}}, 200,
			[]string{outOfBandURI}, "read write:statuses"},
		{"commas and pluses", map[string]any{"client_name": "A", "redirect_uris": outOfBandURI, "scopes": "read,write+push"}, 200, []string{outOfBandURI}, "read write push"},
		{"the alias of scopes", map[string]any{"client_name": "A", "redirect_uris": outOfBandURI, "scope": "write"}, 200, []string{outOfBandURI}, "write"},
		{"some unknown scopes", map[string]any{"client_name": "A", "redirect_uris": outOfBandURI, "scopes": "read nonsense profile"}, 200,
			[]string{outOfBandURI}, "read profile"},
		{"only unknown scopes", map[string]any{"client_name": "A", "redirect_uris": outOfBandURI, "scopes": "nonsense"}, 422, nil, ""},
		{"no name", map[string]any{"redirect_uris": outOfBandURI}, 422, nil, ""},
		{"a blank name", map[string]any{"client_name": " ", "redirect_uris": outOfBandURI}, 422, nil, ""},
		{"a long name", map[string]any{"client_name": strings.Repeat("ä", 201), "redirect_uris": outOfBandURI}, 422, nil, ""},
		{"a name with a line feed", map[string]any{"client_name": "A\nB", "redirect_uris": outOfBandURI}, 422, nil, ""},
		{"a name of another type", map[string]any{"client_name": map[string]any{}, "redirect_uris": outOfBandURI}, 400, nil, ""},
		{"no redirect URI", map[string]any{"client_name": "A"}, 422, nil, ""},
		{"a blank redirect URI", map[string]any{"client_name": "A", "redirect_uris": " "}, 422, nil, ""},
		{"long redirect URIs", map[string]any{"client_name": "A", "redirect_uris": strings.Repeat(callback+"/"+strings.Repeat("a", 1500)+" ", 3)}, 422, nil, ""},
		{"too many redirect URIs", map[string]any{"client_name": "A", "redirect_uris": strings.Repeat(callback+" ", 21)}, 422, nil, ""},
		{"a long redirect URI", map[string]any{"client_name": "A", "redirect_uris": "https://example.com/" + long}, 422, nil, ""},
		{"a website that is not a URL", map[string]any{"client_name": "A", "redirect_uris": outOfBandURI, "website": "javascript:alert(1)"}, 422, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.As(nil).SendJSON("POST", "/api/v1/apps", tt.params).Want(tt.want)
			if tt.want != 200 {
				a.Object().Str("error")
				return
			}
			o := a.Object()
			if len(o.Str("client_id")) != 43 || len(o.Str("client_secret")) != 43 || o.Str("client_id") == o.Str("client_secret") {
				t.Errorf("credentials %s, %s", o.Str("client_id"), o.Str("client_secret"))
			}
			if o.Str("name") != "A" || o.Str("id") == "" || o.Str("vapid_key") != srv.Keys.VAPIDPublic() || o.Int("client_secret_expires_at") != 0 {
				t.Errorf("got %v", o.Fields)
			}
			if want := tt.params["website"]; o.At("website") != want {
				t.Errorf("website is %v, want %v", o.At("website"), want)
			}
			if got := o.Str("redirect_uri"); got != strings.Join(tt.uris, "\n") {
				t.Errorf("redirect_uri is %q, want %q", got, tt.uris)
			}
			if got := stringsAt(o, "redirect_uris"); !slices.Equal(got, tt.uris) {
				t.Errorf("redirect_uris are %q, want %q", got, tt.uris)
			}
			if got := strings.Join(stringsAt(o, "scopes"), " "); got != tt.scopes {
				t.Errorf("scopes are %q, want %q", got, tt.scopes)
			}
		})
	}
}

// stringsAt returns a member that is a list of strings.
func stringsAt(o *apptest.Object, path string) []string {
	o.T.Helper()
	list, ok := o.At(path).([]any)
	if !ok {
		o.T.Fatalf("%s is not a list: %v", path, o.At(path))
	}
	values := []string{}
	for _, e := range list {
		values = append(values, e.(string))
	}
	return values
}

func TestInvalidRedirectURIs(t *testing.T) {
	srv := apptest.Start(t)
	for _, uri := range []string{
		"javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "blob:https://example.com/1",
		"about:blank", "view-source:https://example.com", "urn:example:x", "urn:ietf:wg:oauth:2.0:oob:auto", "mailto:a@example.org", "wss://example.com",
		"https://", "https:example.com", "http:///x", "https://example.com/#fragment", "https://example.com/#", "https://u:p@example.com/",
		"//example.com/x", "/callback", "callback", "https://exa\\mple.com", "https://example.com/%zz", "https://[::1", ":", "1x://y",
		"intent://x", "filesystem:https://example.com/x", "https://example.com/\x7f",
	} {
		a := srv.As(nil).Post("/api/v1/apps", "client_name", "A", "redirect_uris", callback+"\n"+uri)
		if a.Status != 422 {
			t.Errorf("%q: got %d %s, want 422", uri, a.Status, a.Body)
		}
	}
}

// TestCreateAppEncodings registers an app in each encoding that clients use.
func TestCreateAppEncodings(t *testing.T) {
	srv := apptest.Start(t)
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for _, f := range [][2]string{{"client_name", "A"}, {"redirect_uris", callback}, {"scopes", "read write"}, {"website", ""}} {
		if err := w.WriteField(f[0], f[1]); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	const urlencoded = "client_name=A&redirect_uris=https%3A%2F%2Fapp.example.com%2Fcallback&scopes=read+write&website="
	for name, a := range map[string]*apptest.Response{
		"multipart":  srv.As(nil).Do("POST", "/api/v1/apps", w.FormDataContentType(), &form),
		"urlencoded": srv.As(nil).Do("POST", "/api/v1/apps", "application/x-www-form-urlencoded", strings.NewReader(urlencoded)),
		"query":      srv.As(nil).Do("POST", "/api/v1/apps?"+urlencoded, "", nil),
		"JSON":       srv.As(nil).SendJSON("POST", "/api/v1/apps/", map[string]any{"client_name": "A", "redirect_uris": callback, "scopes": "read write", "website": nil}),
	} {
		o := a.Want(200).Object()
		if o.Str("name") != "A" || o.Str("redirect_uri") != callback || len(stringsAt(o, "scopes")) != 2 || o.At("website") != nil {
			t.Errorf("%s: got %v", name, o.Fields)
		}
	}
}

func TestVerifyApp(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	app := srv.RegisterApp("website", "https://app.example.com", "client_name", "My app")
	own := srv.Grant(app, "client_credentials", "scope", "push").Want(200).Object().Str("access_token")
	user := srv.Grant(app, "password", "username", "alice", "password", apptest.Password).Want(200).Object().Str("access_token")
	for _, token := range []string{own, user} {
		o := (&apptest.Client{Server: srv, Token: token}).Get("/api/v1/apps/verify_credentials").Want(200).Object()
		if o.Str("name") != "My app" || o.Str("website") != "https://app.example.com" || o.Str("vapid_key") == "" || o.Has("client_secret") || o.Has("client_id") {
			t.Errorf("got %v", o.Fields)
		}
	}
	srv.As(nil).Get("/api/v1/apps/verify_credentials").WantError(401, "The access token is invalid")
	(&apptest.Client{Server: srv, Token: "nonsense"}).Get("/api/v1/apps/verify_credentials").WantError(401, "The access token is invalid")

	// The first user who signs in with an app owns it.
	o := alice.Get("/api/v1/svc/apps").Want(200).List()
	if len(o) != 2 || o[0].Str("client_id") != app.ID || o[0].Has("client_secret") {
		t.Errorf("alice's apps are %v", o)
	}
	bob := srv.SignUp("bob")
	srv.Grant(app, "password", "username", "bob", "password", apptest.Password).Want(200)
	if l := bob.Get("/api/v1/svc/apps").Want(200).List(); len(l) != 0 {
		t.Errorf("bob's apps are %v", l)
	}
	bob.Post("/api/v1/apps", "client_name", "Bob's", "redirect_uris", outOfBandURI).Want(200)
	if l := bob.Get("/api/svc/apps").Want(200).List(); len(l) != 1 || l[0].Str("name") != "Bob's" {
		t.Errorf("bob's apps are %v", l)
	}
	srv.As(nil).Get("/api/v1/svc/apps").WantError(403, "Invalid credentials.")
	(&apptest.Client{Server: srv, Token: srv.Grant(app, "password", "username", "bob", "password", apptest.Password, "scope", "write").Object().Str("access_token")}).
		Get("/api/v1/svc/apps").WantError(403, "Insufficient permissions: follow | read.")
}

func TestAppRegistrationRateLimit(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.RateLimit.Enabled = true })
	for range srv.Settings.RateLimit.AppRegistration.Count {
		srv.RegisterApp()
	}
	a := srv.As(nil).Post("/api/v1/apps", "client_name", "A", "redirect_uris", outOfBandURI)
	a.WantError(429, "Throttled")
	if a.Header.Get("X-RateLimit-Remaining") != "0" || a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("headers: %v", a.Header)
	}
}
