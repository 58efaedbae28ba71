package rest_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"svc/internal/config"
	"svc/server/rest"
)

func TestDescribe(t *testing.T) {
	table := rest.Routes{
		"POST /api/v1/statuses":                 {rest.User("write:statuses").Limit("status_actions"), whoAmI},
		"GET /api/v1/statuses/:id":              {rest.Content("read:statuses"), whoAmI},
		"GET /api/v1/statuses":                  {rest.Anyone, whoAmI},
		"POST /oauth/token":                     {rest.Anonymous, whoAmI},
		"POST /api/v1/follows":                  {rest.User("follow", "write:follows"), whoAmI},
		"GET /api/v1/apps/verify_credentials":   {rest.App("read"), whoAmI},
		"GET /api/oauth_tokens":                 {rest.User(), whoAmI},
		"PUT /api/svc/notification_settings":    {rest.User("write:accounts"), whoAmI},
		"GET /api/v1/svc/admin/users":           {rest.Admin("admin:read:accounts"), whoAmI},
		"GET /api/v1/svc/admin/reports/:id":     {rest.Staff("admin:read:reports"), whoAmI},
		"GET /api/v1/svc/accounts/:id/scrobble": {rest.AnyoneWith("read"), whoAmI},
	}
	want := `
GET /api/oauth_tokens user
PUT /api/svc/notification_settings user write:accounts
GET /api/v1/apps/verify_credentials app read
POST /api/v1/follows user follow|write:follows
GET /api/v1/statuses anyone
POST /api/v1/statuses user write:statuses
GET /api/v1/statuses/:id anyone read:statuses
GET /api/v1/svc/accounts/:id/scrobble anyone read
GET /api/v1/svc/admin/reports/:id staff admin:read:reports
GET /api/v1/svc/admin/users admin admin:read:accounts
POST /oauth/token anyone
`
	var got strings.Builder
	got.WriteByte('\n')
	for _, r := range rest.Describe(table) {
		fmt.Fprintln(&got, r.Method, r.Path, r.Access)
	}
	if got.String() != want {
		t.Errorf("got%s\nwant%s", got.String(), want)
	}
}

func TestMistakesInTables(t *testing.T) {
	for name, table := range map[string]rest.Routes{
		"the same path twice": {
			"GET /api/v1/a/:id":   {rest.Anyone, whoAmI},
			"GET /api/v1/a/:name": {rest.Anyone, whoAmI},
		},
		"both spellings of the prefix": {
			"GET /api/svc/a":    {rest.Anyone, whoAmI},
			"GET /api/v1/svc/a": {rest.Anyone, whoAmI},
		},
		"no method":         {"/api/v1/a": {rest.Anyone, whoAmI}},
		"an unknown bucket": {"GET /api/v1/a": {rest.Anyone.Limit("nonsense"), whoAmI}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			newServer(t, table)
		})
	}
}

// which returns the pattern that was found and the parameters of its path.
func which(pattern string, names ...string) rest.Handler {
	return func(r *rest.Request) (any, error) {
		found := pattern
		for _, n := range names {
			found += " " + n + "=" + r.Param(n)
		}
		return map[string]string{"found": found}, nil
	}
}

// tableOf returns routes for patterns, with the handler which.
func tableOf(patterns ...string) rest.Routes {
	table := make(rest.Routes)
	for _, p := range patterns {
		var names []string
		for _, segment := range strings.Split(p, "/") {
			if i := strings.IndexAny(segment, ":*"); i >= 0 {
				names = append(names, segment[i+1:])
			}
		}
		table[p] = rest.Route{Access: rest.Anyone, Handle: which(p, names...)}
	}
	return table
}

var trickyRoutes = []string{
	"GET /",
	"GET /@:nickname",
	"GET /about",
	"GET /users/:id",
	"GET /users/:id/collections/featured",
	"POST /users/:id/inbox",
	"GET /nodeinfo/:version",
	"GET /oauth_tokens",
	"GET /api/oauth_tokens",
	"DELETE /api/oauth_tokens/:id",
	"GET /api/v1/accounts/relationships",
	"GET /api/v1/accounts/:id",
	"GET /api/v1/accounts/:id/statuses",
	"POST /api/v1/accounts/:id/follow",
	"GET /api/v1/timelines/tag/:hashtag",
	"GET /api/v2/filters/:id",
	"PUT /api/v2/filters/:id",
	"PATCH /api/v1/profile",
	"GET /api/v2/filters/keywords/:id",
	"GET /api/v2/filters/:id/keywords",
	"GET /api/v1/svc/emoji",
	"GET /api/v2/svc/chats",
	"GET /api/v1/svc/accounts/mfa",
	"GET /api/v1/svc/accounts/:id/scrobbles",
	"PUT /api/svc/notification_settings",
	"PUT /api/v1/svc/statuses/:id/reactions/:emoji",
	"POST /api/v1/svc/admin/users/permission_group/:permission_group",
	"POST /api/v1/svc/admin/users/:nickname/permission_group/:permission_group",
	"GET /api/v1/svc/admin/users/invites",
	"GET /api/v1/svc/admin/users/:nickname_or_id",
	"GET /api/v1/svc/admin/users/:nickname/credentials",
	"GET /static/*path",
}

func TestRouting(t *testing.T) {
	for _, tt := range []struct {
		name   string // the API name
		method string
		target string
		found  string // "": 404, "Allow: …": 405
	}{
		{"svc", "GET", "/", "GET /"},
		{"svc", "GET", "/about", "GET /about"},
		{"svc", "GET", "/@alice", "GET /@:nickname nickname=alice"},
		{"svc", "GET", "/@", ""},
		{"svc", "GET", "/users/alice/", "GET /users/:id id=alice"},
		{"svc", "HEAD", "/users/alice", "GET /users/:id id=alice"},
		{"svc", "POST", "/users/alice/inbox", "POST /users/:id/inbox id=alice"},
		{"svc", "GET", "/users/alice/inbox", "Allow: POST, OPTIONS"},
		{"svc", "GET", "/users/alice.json", "GET /users/:id id=alice.json"},
		{"svc", "GET", "/static/css/app.css", "GET /static/*path path=/css/app.css"},
		{"svc", "GET", "/nodeinfo/2.0", "GET /nodeinfo/:version version=2.0"},
		{"svc", "GET", "/nodeinfo/2.1.json", "GET /nodeinfo/:version version=2.1"},
		{"svc", "GET", "/oauth_tokens.json", "GET /oauth_tokens"},
		{"svc", "GET", "/api/oauth_tokens.json", "GET /api/oauth_tokens"},
		{"svc", "DELETE", "/api/oauth_tokens/7", "DELETE /api/oauth_tokens/:id id=7"},
		{"svc", "GET", "/api/v1/accounts/relationships", "GET /api/v1/accounts/relationships"},
		{"svc", "GET", "/api/v1/accounts/relationships/", "GET /api/v1/accounts/relationships"},
		{"svc", "GET", "/api/v1/accounts/relationships.json?id[]=1", "GET /api/v1/accounts/relationships"},
		{"svc", "GET", "/api/v1/accounts/relationships2", "GET /api/v1/accounts/:id id=relationships2"},
		{"svc", "GET", "/api/v1/accounts/rel", "GET /api/v1/accounts/:id id=rel"},
		{"svc", "GET", "/api/v1/accounts/bob%40example.com", "GET /api/v1/accounts/:id id=bob@example.com"},
		{"svc", "GET", "/api/v1/accounts/bob@example.com", "GET /api/v1/accounts/:id id=bob@example.com"},
		{"svc", "GET", "/api/v1/accounts/a%2Fb/statuses", "GET /api/v1/accounts/:id/statuses id=a/b"},
		{"svc", "GET", "/api/v1/accounts/a%252Fb", "GET /api/v1/accounts/:id id=a%2Fb"},
		{"svc", "GET", "/api/v1/accounts/", ""},
		{"svc", "GET", "/api/v1/accounts", ""},
		{"svc", "GET", "/api/v1/accounts/1/nothing", ""},
		{"svc", "GET", "/api/v1/accounts/%FF", ""},
		{"svc", "GET", "/api/v1/accounts/a%00b", ""},
		{"svc", "POST", "/api/v1/accounts/relationships", "Allow: GET, HEAD, OPTIONS"},
		{"svc", "GET", "/api/v1/accounts/1/follow", "Allow: POST, OPTIONS"},
		{"svc", "TRACE", "/api/v1/accounts/1", "Allow: GET, HEAD, OPTIONS"},
		{"svc", "GET", "/api/v1/timelines/tag/%E7%8C%AB", "GET /api/v1/timelines/tag/:hashtag hashtag=猫"},
		{"svc", "GET", "/api/v1/timelines/tag/猫", "GET /api/v1/timelines/tag/:hashtag hashtag=猫"},
		{"svc", "GET", "/api/v2/filters/5", "GET /api/v2/filters/:id id=5"},
		{"svc", "PUT", "/api/v2/filters/5", "PUT /api/v2/filters/:id id=5"},
		{"svc", "PATCH", "/api/v2/filters/5", "PUT /api/v2/filters/:id id=5"},
		{"svc", "PUT", "/api/v1/profile", "PATCH /api/v1/profile"},
		{"svc", "DELETE", "/api/v1/profile", "Allow: PUT, PATCH, OPTIONS"},
		{"svc", "PATCH", "/api/v1/svc/notification_settings", "Allow: PUT, OPTIONS"},
		{"svc", "GET", "/api/v2/filters/5/keywords", "GET /api/v2/filters/:id/keywords id=5"},
		{"svc", "GET", "/api/v2/filters/keywords/5", "GET /api/v2/filters/keywords/:id id=5"},
		{"svc", "GET", "/api/v1/svc/emoji", "GET /api/v1/svc/emoji"},
		{"svc", "GET", "/api/svc/emoji.json", "GET /api/v1/svc/emoji"},
		{"svc", "GET", "/api/v2/svc/chats", "GET /api/v2/svc/chats"},
		{"svc", "GET", "/api/svc/chats", ""},
		{"svc", "GET", "/api/svc/accounts/mfa", "GET /api/v1/svc/accounts/mfa"},
		{"svc", "GET", "/api/svc/accounts/9/scrobbles", "GET /api/v1/svc/accounts/:id/scrobbles id=9"},
		{"svc", "PUT", "/api/svc/notification_settings", "PUT /api/svc/notification_settings"},
		{"svc", "PUT", "/api/v1/svc/notification_settings/", "PUT /api/svc/notification_settings"},
		{"svc", "PUT", "/api/v1/svc/statuses/1/reactions/%F0%9F%90%88", "PUT /api/v1/svc/statuses/:id/reactions/:emoji id=1 emoji=🐈"},
		{"svc", "POST", "/api/svc/admin/users/permission_group/admin", "POST /api/v1/svc/admin/users/permission_group/:permission_group permission_group=admin"},
		{"svc", "POST", "/api/svc/admin/users/bob/permission_group/admin", "POST /api/v1/svc/admin/users/:nickname/permission_group/:permission_group nickname=bob permission_group=admin"},
		{"svc", "GET", "/api/v1/svc/admin/users/invites", "GET /api/v1/svc/admin/users/invites"},
		{"svc", "GET", "/api/v1/svc/admin/users/bob", "GET /api/v1/svc/admin/users/:nickname_or_id nickname_or_id=bob"},
		{"svc", "GET", "/api/v1/svc/admin/users/bob/credentials", "GET /api/v1/svc/admin/users/:nickname/credentials nickname=bob"},
		{"svc", "GET", "/api//v1/accounts/1", ""},
		{"svc", "GET", "/api/v1/accounts/1//", ""},
		{"svc", "GET", "/api/v1/x/../accounts/1", ""},
		{"svc", "GET", "/api/v1/./accounts/1", ""},
		{"svc", "GET", "/api/v1/x/%2e%2e/accounts/1", ""},
		{"svc", "GET", "/api/v1/accounts/%2E", ""},
		{"svc", "GET", "/api/v1/accounts%2F1", ""},
		{"svc", "GET", "/api/other/emoji", ""},

		{"other", "GET", "/api/v1/other/emoji", "GET /api/v1/svc/emoji"},
		{"other", "GET", "/api/other/emoji", "GET /api/v1/svc/emoji"},
		{"other", "GET", "/api/v2/other/chats/", "GET /api/v2/svc/chats"},
		{"other", "PUT", "/api/other/notification_settings", "PUT /api/svc/notification_settings"},
		{"other", "GET", "/api/v1/svc/emoji", ""},
		{"other", "GET", "/api/svc/emoji", ""},
		{"other", "GET", "/api/v2/svc/chats", ""},
		{"other", "GET", "/api/v1/accounts/svc", "GET /api/v1/accounts/:id id=svc"},
		{"other", "GET", "/api/oauth_tokens", "GET /api/oauth_tokens"},
	} {
		t.Run(tt.name+" "+tt.method+" "+tt.target, func(t *testing.T) {
			s := newServer(t, tableOf(trickyRoutes...), func(c *config.Config) { c.API.Name = tt.name })
			w := call(s, tt.method, tt.target, "")
			if tt.found == "" {
				if w.Code != 404 || field(t, w, "error") != "Record not found" {
					t.Errorf("got %d %s, want 404", w.Code, w.Body)
				}
				return
			}
			if methods, ok := strings.CutPrefix(tt.found, "Allow: "); ok {
				if got := w.Header().Get("Allow"); w.Code != 405 || got != methods || field(t, w, "error") != "Method not allowed" {
					t.Errorf("got %d, Allow %q, %s, want 405 and %q", w.Code, got, w.Body, methods)
				}
				return
			}
			if got := field(t, w, "found"); w.Code != 200 || got != tt.found {
				t.Errorf("got %d %q, want %q", w.Code, got, tt.found)
			}
		})
	}
	if n := newServer(t, tableOf(trickyRoutes...)).Layers(); n > 3 {
		t.Errorf("%d layers of routers, want 3 at most", n)
	}
}

func TestFallback(t *testing.T) {
	s := rest.New(rest.Config{
		Settings: settings(),
		Fallback: func(r *rest.Request) (any, error) {
			if r.URL.Path == "/missing" {
				return nil, nil
			}
			return rest.NoContent, nil
		},
	}, tableOf("GET /api/v1/a", "POST /known"))
	for target, want := range map[string]int{
		"/":           204,
		"/some/page":  204,
		"/known":      405,
		"/missing":    404,
		"/api/v1/b":   404,
		"/api/v1/a":   200,
		"/page/../x":  404,
		"/api/v1/a.b": 404,
	} {
		if w := call(s, "GET", target, ""); w.Code != want {
			t.Errorf("GET %s: got %d, want %d", target, w.Code, want)
		}
	}
}

// TestRandomRoutes compares the router with a plain one on random tables and paths.
func TestRandomRoutes(t *testing.T) {
	words := []string{"a", "b", "ab", ":x", ":y", "@:z", "@a"}
	for seed := range uint64(150) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		patterns := make(map[string]string) // without names of parameters → with
		for range 12 {
			var plain, named string
			for i := range 1 + rnd.IntN(4) {
				word := words[rnd.IntN(len(words))]
				if j := strings.IndexByte(word, ':'); j >= 0 {
					plain, named = plain+"/"+word[:j+1], fmt.Sprintf("%s/%s%d", named, word, i)
					continue
				}
				plain, named = plain+"/"+word, named+"/"+word
			}
			patterns[plain] = named
		}
		var list []string
		for _, p := range patterns {
			list = append(list, "GET "+p)
		}
		s := newServer(t, tableOf(list...))
		for range 100 {
			path := ""
			for range 1 + rnd.IntN(4) {
				path += "/" + []string{"a", "b", "ab", "c", "@a", "@b"}[rnd.IntN(6)]
			}
			want := bestMatch(list, path)
			w := call(s, "GET", path, "")
			got, _, _ := strings.Cut(strings.TrimPrefix(field(t, w, "found"), "GET "), " ")
			if got != want {
				t.Fatalf("seed %d: %s: got %q, want %q of %v", seed, path, got, want, list)
			}
		}
	}
}

// bestMatch returns the pattern that matches a path and is literal where others have parameters, from the left.
func bestMatch(list []string, path string) string {
	best, bestRank := "", ""
	segments := strings.Split(path, "/")
	for _, p := range list {
		p = strings.TrimPrefix(p, "GET ")
		parts := strings.Split(p, "/")
		if len(parts) != len(segments) {
			continue
		}
		rank, ok := "", true
		for i, part := range parts {
			prefix, _, isParam := strings.Cut(part, ":")
			switch {
			case !isParam && part == segments[i]:
				rank += "0"
			case isParam && strings.HasPrefix(segments[i], prefix) && len(segments[i]) > len(prefix):
				rank += string(rune('3' - len(prefix)))
			default:
				ok = false
			}
		}
		if ok && (best == "" || rank < bestRank) {
			best, bestRank = p, rank
		}
	}
	return best
}

func FuzzCleanPath(f *testing.F) {
	for _, p := range []string{"/", "/api/svc/emoji.json", "/api/v1/svc/x/", "/a//b", "/a/%2e%2e/b", "/api/v1/%F0%9F", "/nodeinfo/2.0.json", "/.json"} {
		f.Add(p, "svc")
		f.Add(p, "other")
	}
	f.Fuzz(func(t *testing.T, path, name string) {
		if name == "" || strings.ContainsAny(name, "/%.") {
			return
		}
		clean, ok := rest.CleanPath(path, name)
		if !ok {
			return
		}
		if clean[0] != '/' || strings.Contains(clean, "//") || strings.Contains(strings.ToLower(clean), "%2e") {
			t.Errorf("%q became %q", path, clean)
		}
		if strings.HasSuffix(clean, "/") && clean != "/" {
			t.Errorf("%q became %q, which ends with a slash", path, clean)
		}
		for _, segment := range strings.Split(clean, "/") {
			if segment, _ = url.PathUnescape(segment); segment == "." || segment == ".." {
				t.Errorf("%q became %q, which has dot segments", path, clean)
			}
		}
		if name != "svc" && (strings.HasPrefix(path, "/api/svc/") || strings.HasPrefix(path, "/api/v1/svc/")) {
			t.Errorf("%q became %q although the API name is %s", path, clean, name)
		}
	})
}

func TestParamOfUnknownName(t *testing.T) {
	s := newServer(t, rest.Routes{"GET /api/v1/a/:id": {rest.Anyone, func(r *rest.Request) (any, error) {
		return map[string]string{"id": r.Param("id"), "other": r.Param("other")}, nil
	}}})
	w := call(s, "GET", "/api/v1/a/1", "")
	if got, want := w.Body.String(), `{"id":"1","other":""}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
