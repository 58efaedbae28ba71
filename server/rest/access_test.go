package rest_test

import (
	"strings"
	"testing"

	"svc/internal/config"
	"svc/server/rest"
)

var accessTable = rest.Routes{
	"GET /api/v1/anyone":           {rest.Anyone, whoAmI},
	"GET /api/v1/anyone_with":      {rest.AnyoneWith("read:statuses"), whoAmI},
	"GET /api/v1/content":          {rest.Content("read:statuses"), whoAmI},
	"GET /api/v1/app":              {rest.App("read"), whoAmI},
	"GET /api/v1/user":             {rest.User("read:blocks"), whoAmI},
	"GET /api/v1/either":           {rest.User("follow", "write:lists"), whoAmI},
	"GET /api/v1/any_scope":        {rest.User(), whoAmI},
	"GET /api/oauth_tokens":        {rest.User(), whoAmI},
	"GET /api/v1/svc/anyone":       {rest.Anyone, whoAmI},
	"GET /api/v1/svc/content":      {rest.Content(), whoAmI},
	"GET /api/v1/svc/user":         {rest.User("write:accounts", "write"), whoAmI},
	"GET /api/v1/svc/admin/staff":  {rest.Staff("admin:read:reports"), whoAmI},
	"GET /api/v1/svc/admin/admin":  {rest.Admin("admin:read"), whoAmI},
	"POST /oauth/token":            {rest.Anonymous, whoAmI},
	"GET /api/v1/svc/admin/scoped": {rest.Admin("admin:read:accounts", "admin:write"), whoAmI},
}

func TestAccess(t *testing.T) {
	const (
		invalidToken       = "The access token is invalid"
		invalidCredentials = "Invalid credentials."
		outside            = "This action is outside the authorized scopes"
		needsUser          = "This method requires an authenticated user"
	)
	s := newServer(t, accessTable)
	for _, tt := range []struct {
		path   string
		token  string // with its scopes, see authenticate
		status int
		want   string // the viewer, or the error
	}{
		{"/api/v1/anyone", "", 200, ""},
		{"/api/v1/anyone", "alice", 200, "alice"},
		{"/api/v1/anyone", "app read", 200, "(app)"},
		{"/api/v1/anyone", "wrong", 200, ""},
		{"/api/v1/anyone", "disabled", 200, ""},
		{"/api/v1/anyone", "throttled", 429, "Throttled"},
		{"/api/v1/anyone", "broken", 500, "Something went wrong"},
		{"/api/v1/anyone_with", "alice read", 200, "alice"},
		{"/api/v1/anyone_with", "alice read:statuses", 200, "alice"},
		{"/api/v1/anyone_with", "alice write", 200, ""},
		{"/api/v1/anyone_with", "app push", 200, ""},
		{"/api/v1/content", "", 200, ""},
		{"/api/v1/content", "alice read", 200, "alice"},
		{"/api/v1/app", "", 401, invalidToken},
		{"/api/v1/app", "wrong", 401, invalidToken},
		{"/api/v1/app", "app read", 200, "(app)"},
		{"/api/v1/app", "alice read", 200, "alice"},
		{"/api/v1/app", "app write", 403, outside},
		{"/api/v1/user", "", 401, invalidToken},
		{"/api/v1/user", "wrong", 401, invalidToken},
		{"/api/v1/user", "disabled", 403, "Your login is currently disabled"},
		{"/api/v1/user", "app read", 422, needsUser},
		{"/api/v1/user", "alice write", 403, outside},
		{"/api/v1/user", "alice", 403, outside},
		{"/api/v1/user", "alice read", 200, "alice"},
		{"/api/v1/user", "alice follow", 200, "alice"},
		{"/api/v1/user", "alice read:blocks", 200, "alice"},
		{"/api/v1/either", "alice write", 200, "alice"},
		{"/api/v1/either", "alice follow", 200, "alice"},
		{"/api/v1/either", "alice read", 403, outside},
		{"/api/v1/any_scope", "alice push", 200, "alice"},
		{"/api/v1/any_scope", "app read", 422, needsUser},
		{"/api/oauth_tokens", "", 403, invalidCredentials},
		{"/api/oauth_tokens", "alice push", 200, "alice"},
		{"/api/v1/svc/anyone", "", 200, ""},
		{"/api/v1/svc/user", "", 403, invalidCredentials},
		{"/api/svc/user", "", 403, invalidCredentials},
		{"/api/v1/svc/user", "wrong", 403, invalidCredentials},
		{"/api/v1/svc/user", "disabled", 403, invalidCredentials},
		{"/api/v1/svc/user", "app write", 403, invalidCredentials},
		{"/api/v1/svc/user", "alice read", 403, "Insufficient permissions: write:accounts | write."},
		{"/api/v1/svc/user", "alice write:accounts", 200, "alice"},
		{"/api/v1/svc/admin/staff", "", 403, invalidCredentials},
		{"/api/v1/svc/admin/staff", "app admin", 403, invalidCredentials},
		{"/api/v1/svc/admin/staff", "alice admin", 403, "User is not a staff member."},
		{"/api/v1/svc/admin/staff", "moderator admin", 200, "moderator"},
		{"/api/v1/svc/admin/staff", "moderator read write", 403, "Insufficient permissions: admin:read:reports."},
		{"/api/v1/svc/admin/staff", "admin admin:read", 200, "admin"},
		{"/api/v1/svc/admin/admin", "alice admin", 403, "User is not a staff member."},
		{"/api/v1/svc/admin/admin", "moderator admin", 403, "User is not an admin."},
		{"/api/v1/svc/admin/admin", "admin admin:read:accounts", 403, "Insufficient permissions: admin:read."},
		{"/api/v1/svc/admin/admin", "admin admin", 200, "admin"},
		{"/api/svc/admin/admin/", "admin admin", 200, "admin"},
	} {
		t.Run(tt.path+" as "+tt.token, func(t *testing.T) {
			var headers []string
			if tt.token != "" {
				headers = []string{"Authorization", "Bearer " + tt.token}
			}
			checkViewer(t, s, tt.path, headers, tt.status, tt.want)
		})
	}
}

func checkViewer(t *testing.T, s *rest.Server, path string, headers []string, status int, want string) {
	t.Helper()
	w := call(s, "GET", path, "", headers...)
	got := field(t, w, "viewer")
	if status != 200 {
		got = field(t, w, "error")
	}
	if w.Code != status || got != want {
		t.Errorf("got %d %q, want %d %q", w.Code, got, status, want)
	}
	wantChallenge := ""
	switch outside := strings.HasPrefix(want, "Insufficient permissions") || want == rest.ErrScope.Message; {
	case status == 401 && len(headers) == 2 && strings.TrimPrefix(headers[1], "Bearer ") != "":
		wantChallenge = `Bearer error="invalid_token"`
	case status == 401:
		wantChallenge = "Bearer"
	case outside:
		wantChallenge = `Bearer error="insufficient_scope", scope="`
	}
	got = w.Header().Get("WWW-Authenticate")
	if got != wantChallenge && (status != 403 || wantChallenge == "" || !strings.HasPrefix(got, wantChallenge)) {
		t.Errorf("WWW-Authenticate: %q with status %d, want %q", got, status, wantChallenge)
	}
}

func TestAccessOfPrivateInstance(t *testing.T) {
	s := newServer(t, accessTable, func(c *config.Config) { c.Instance.Public = false })
	for _, tt := range []struct {
		path   string
		token  string
		status int
		want   string
	}{
		{"/api/v1/anyone", "", 200, ""},
		{"/api/v1/content", "", 401, "This API requires an authenticated user"},
		{"/api/v1/content", "app read", 401, "This API requires an authenticated user"},
		{"/api/v1/content", "alice write", 401, "This API requires an authenticated user"},
		{"/api/v1/content", "alice read", 200, "alice"},
		{"/api/v1/svc/content", "", 403, "This resource requires authentication."},
		{"/api/v1/svc/content", "alice", 200, "alice"},
	} {
		t.Run(tt.path+" as "+tt.token, func(t *testing.T) {
			checkViewer(t, s, tt.path, []string{"Authorization", "Bearer " + tt.token}, tt.status, tt.want)
		})
	}
}

// TestDefaultIsAnonymous checks that without an Authenticator no request is authenticated.
func TestDefaultIsAnonymous(t *testing.T) {
	s := rest.New(rest.Config{Settings: settings()}, accessTable)
	checkViewer(t, s, "/api/v1/any_scope", []string{"Authorization", "Bearer alice read"}, 401, "The access token is invalid")
}
