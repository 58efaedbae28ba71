package rest_test

import (
	"testing"

	"svc/internal/config"
	"svc/server/rest"
)

const (
	FormType   = "application/x-www-form-urlencoded"
	JSONType   = "application/json"
	basicAlice = "Basic YWxpY2U6c2VjcmV0" // alice:secret
	basicWrong = "Basic YWxpY2U6d3Jvbmc=" // alice:wrong
	basicMFA   = "Basic bWZhOnNlY3JldA==" // mfa:secret
	ownOrigin  = "https://social.example.org"
)

func TestCredentials(t *testing.T) {
	table := rest.Routes{}
	for _, method := range []string{"GET", "POST", "DELETE"} {
		table[method+" /api/v1/me"] = rest.Route{Access: rest.Anyone, Handle: whoAmI}
	}
	table["POST /api/v1/upload"] = rest.Route{Access: rest.Anyone.Uploads(), Handle: whoAmI}
	table["POST /oauth/token"] = rest.Route{Access: rest.Anonymous, Handle: whoAmI}
	for _, tt := range []struct {
		name    string
		method  string
		target  string
		body    string
		headers []string
		want    string
	}{
		{"no credentials", "GET", "/api/v1/me", "", nil, ""},
		{"bearer", "GET", "/api/v1/me", "", []string{"Authorization", "Bearer alice read"}, "alice"},
		{"bearer in lower case", "GET", "/api/v1/me", "", []string{"Authorization", "bearer alice"}, "alice"},
		{"bearer with a colon", "GET", "/api/v1/me", "", []string{"Authorization", "Bearer: alice"}, "alice"},
		{"bearer without a token", "GET", "/api/v1/me", "", []string{"Authorization", "Bearer "}, ""},
		{"query", "GET", "/api/v1/me?x=1&access_token=alice+read", "", nil, "alice"},
		{"query before header", "GET", "/api/v1/me?access_token=alice", "", []string{"Authorization", "Bearer admin"}, "alice"},
		{"a parameter name with a prefix", "GET", "/api/v1/me?my_access_token=alice", "", nil, ""},
		{"form", "POST", "/api/v1/me", "access_token=alice", []string{"Content-Type", FormType}, "alice"},
		{"JSON", "DELETE", "/api/v1/me", `{"access_token":"alice"}`, []string{"Content-Type", JSONType}, "alice"},
		{"multipart", "POST", "/api/v1/me", multipartBody("access_token", "alice"), []string{"Content-Type", multipartType}, "alice"},
		{"header before body", "POST", "/api/v1/me", "access_token=alice", []string{"Content-Type", FormType, "Authorization", "Bearer admin"}, "admin"},
		{"a small upload", "POST", "/api/v1/upload", multipartBody("access_token", "alice"), []string{"Content-Type", multipartType}, "alice"},
		{"malformed body", "POST", "/api/v1/me", `{`, []string{"Content-Type", JSONType, "Authorization", "Bearer alice"}, "alice"},
		{"cookie", "GET", "/api/v1/me", "", []string{"Cookie", "a=b; _svc_key=alice"}, "alice"},
		{"host cookie", "GET", "/api/v1/me", "", []string{"Cookie", "__Host-svc_key=alice"}, "alice"},
		{"plain cookie", "GET", "/api/v1/me", "", []string{"Cookie", "svc_key=alice"}, "alice"},
		{"another cookie", "GET", "/api/v1/me", "", []string{"Cookie", "key=alice"}, ""},
		{"header before cookie", "GET", "/api/v1/me", "", []string{"Cookie", "_svc_key=alice", "Authorization", "Bearer admin"}, "admin"},
		{"basic", "GET", "/api/v1/me", "", []string{"Authorization", basicAlice}, "alice"},
		{"wrong basic", "GET", "/api/v1/me", "", []string{"Authorization", basicWrong}, ""},
		{"basic credentials of an app are ignored", "POST", "/oauth/token", "", []string{"Authorization", basicAlice}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, table)
			w := call(s, tt.method, tt.target, tt.body, tt.headers...)
			if got := field(t, w, "viewer"); w.Code != 200 || got != tt.want {
				t.Errorf("got %d %s, want viewer %q", w.Code, w.Body, tt.want)
			}
		})
	}
}

func TestCookieOfOtherName(t *testing.T) {
	s := newServer(t, rest.Routes{"GET /api/v1/me": {rest.Anyone, whoAmI}}, func(c *config.Config) { c.API.Name = "other" })
	for _, name := range []string{"_other_key", "__Host-other_key", "other_key", "_svc_key"} {
		w := call(s, "GET", "/api/v1/me", "", "Cookie", name+"=alice")
		if got := field(t, w, "viewer"); got != "alice" {
			t.Errorf("cookie %s: got %q, want alice", name, got)
		}
	}
}

// TestUploadNeedsTokenInHeader checks that a large upload with its token in the body is refused before it is read.
func TestUploadNeedsTokenInHeader(t *testing.T) {
	s := newServer(t, rest.Routes{"POST /api/v1/media": {rest.User("write:media").Uploads(), whoAmI}})
	body := multipartBody("access_token", "alice write") // refused because of its length only
	padding := make([]byte, rest.MaxText)
	w := call(s, "POST", "/api/v1/media", string(padding)+body, "Content-Type", multipartType)
	if w.Code != 401 {
		t.Errorf("got %d %s, want 401", w.Code, w.Body)
	}
	if w := call(s, "POST", "/api/v1/media", body, "Content-Type", multipartType); w.Code != 200 {
		t.Errorf("a short one: got %d %s, want 200", w.Code, w.Body)
	}
}

func TestCrossSite(t *testing.T) {
	table := rest.Routes{
		"GET /api/v1/me":                {rest.User(), whoAmI},
		"POST /api/v1/me":               {rest.User(), whoAmI},
		"DELETE /api/v1/me":             {rest.User(), whoAmI},
		"POST /api/v1/open":             {rest.Anyone, whoAmI},
		"GET /api/v1/svc/admin/restart": {rest.Admin("admin:write").Changing(), whoAmI},
		"POST /api/v1/svc/me":           {rest.User(), whoAmI},
	}
	cookie, basicAuth, bearer := []string{"Cookie", "_svc_key=alice"}, []string{"Authorization", basicAlice}, []string{"Authorization", "Bearer alice"}
	admin := []string{"Cookie", "_svc_key=admin admin"}
	const refused = "This request comes from another site"
	for _, tt := range []struct {
		name   string
		method string
		path   string
		as     []string
		from   []string
		status int
		want   string
	}{
		{"a read", "GET", "/api/v1/me", cookie, []string{"Sec-Fetch-Site", "cross-site"}, 200, "alice"},
		{"same origin", "POST", "/api/v1/me", cookie, []string{"Sec-Fetch-Site", "same-origin"}, 200, "alice"},
		{"by the user", "POST", "/api/v1/me", cookie, []string{"Sec-Fetch-Site", "none"}, 200, "alice"},
		{"same site is another origin", "POST", "/api/v1/me", cookie, []string{"Sec-Fetch-Site", "same-site"}, 403, refused},
		{"cross site", "DELETE", "/api/v1/me", cookie, []string{"Sec-Fetch-Site", "cross-site"}, 403, refused},
		{"cross site although Origin is own", "POST", "/api/v1/me", cookie, []string{"Sec-Fetch-Site", "cross-site", "Origin", ownOrigin}, 403, refused},
		{"own Origin", "POST", "/api/v1/me", cookie, []string{"Origin", ownOrigin}, 200, "alice"},
		{"other Origin", "POST", "/api/v1/me", cookie, []string{"Origin", "https://example.com"}, 403, refused},
		{"null Origin", "POST", "/api/v1/me", cookie, []string{"Origin", "null"}, 403, refused},
		{"own Origin by http", "POST", "/api/v1/me", cookie, []string{"Origin", "http://social.example.org"}, 403, refused},
		{"cookie without headers", "POST", "/api/v1/me", cookie, nil, 403, refused},
		{"Basic without headers", "POST", "/api/v1/me", basicAuth, nil, 200, "alice"},
		{"Basic from another site", "POST", "/api/v1/me", basicAuth, []string{"Origin", "https://example.com"}, 403, refused},
		{"Basic cross site", "POST", "/api/v1/me", basicAuth, []string{"Sec-Fetch-Site", "cross-site"}, 403, refused},
		{"a token, cross site", "POST", "/api/v1/me", bearer, []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://example.com"}, 200, "alice"},
		{"a public route", "POST", "/api/v1/open", cookie, []string{"Sec-Fetch-Site", "cross-site"}, 200, ""},
		{"a GET that changes", "GET", "/api/v1/svc/admin/restart", admin, []string{"Sec-Fetch-Site", "cross-site"}, 403, refused},
		{"a GET that changes, same origin", "GET", "/api/v1/svc/admin/restart", admin, []string{"Sec-Fetch-Site", "same-origin"}, 200, "admin"},
		{"on an extension path", "POST", "/api/v1/svc/me", cookie, []string{"Sec-Fetch-Site", "cross-site"}, 403, refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := call(newServer(t, table), tt.method, tt.path, "", append(tt.from, tt.as...)...)
			got := field(t, w, "viewer")
			if w.Code != 200 {
				got = field(t, w, "error")
			}
			if w.Code != tt.status || got != tt.want {
				t.Errorf("got %d %q, want %d %q", w.Code, got, tt.status, tt.want)
			}
		})
	}
}

func TestBasicOfAccountWithMFA(t *testing.T) {
	s := newServer(t, rest.Routes{
		"GET /api/v1/svc/me": {rest.User(), whoAmI},
		"GET /api/v1/me":     {rest.User(), whoAmI},
		"GET /api/v1/open":   {rest.Anyone, whoAmI},
	})
	const want = "Two-factor authentication enabled, you must use a access token."
	for path, status := range map[string]int{"/api/v1/svc/me": 403, "/api/v1/me": 403, "/api/v1/open": 200} {
		w := call(s, "GET", path, "", "Authorization", basicMFA)
		if w.Code != status || status == 403 && field(t, w, "error") != want {
			t.Errorf("%s: got %d %s, want %d", path, w.Code, w.Body, status)
		}
	}
}

// TestBasicHasAllScopes checks that a request with a password is limited by roles, but not by scopes.
func TestBasicHasAllScopes(t *testing.T) {
	s := newServer(t, accessTable)
	checkViewer(t, s, "/api/v1/user", []string{"Authorization", basicAlice}, 200, "alice")
	checkViewer(t, s, "/api/v1/svc/admin/admin", []string{"Authorization", basicAlice}, 403, "User is not a staff member.")
}
