package staff_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

const appsPath = "/api/v1/svc/admin/oauth_app"

func newAppBody() apptest.Doc {
	return apptest.Doc{
		"name": " Our app ", "redirect_uris": "https://app.example.com/a urn:ietf:wg:oauth:2.0:oob", "scopes": list{"read", "write"},
		"website": "https://app.example.com", "trusted": true,
	}
}

// TestCreateApp checks every field of spec 2.20, and that users can sign in with the app.
func TestCreateApp(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	o := root.SendJSON("POST", appsPath, newAppBody()).Want(200).Object()
	wantFields(t, "an app", o, apptest.Doc{
		"name": "Our app", "redirect_uri": "https://app.example.com/a\nurn:ietf:wg:oauth:2.0:oob", "website": "https://app.example.com",
		"trusted": true, "scopes": []any{"read", "write"}, "vapid_key": srv.Keys.VAPIDPublic(),
	})
	if id, ok := o.At("id").(float64); !ok || id < 1 || len(o.Str("client_id")) != 43 || len(o.Str("client_secret")) != 43 {
		t.Errorf("id, client_id, client_secret are %v, %q, %q", o.At("id"), o.Str("client_id"), o.Str("client_secret"))
	}
	wantLog(t, root.Client, fmt.Sprintf(`@root created OAuth app #%d "Our app"`, o.Int("id")))
	entry := root.Get(logPath).Want(200).List()[0]
	wantFields(t, "the entry", entry, apptest.Doc{"data.subject.type": "oauth_app", "data.scopes": "read write", "data.trusted": true})
	if strings.Contains(fmt.Sprint(entry.Fields), o.Str("client_secret")) {
		t.Error("the log has the secret")
	}
	granted := srv.As(nil).Post("/oauth/token", "grant_type", "client_credentials", "client_id", o.Str("client_id"),
		"client_secret", o.Str("client_secret"), "redirect_uri", "https://app.example.com/a", "scope", "read")
	granted.Want(200)

	standard := root.Post(appsPath, "name", "b", "redirect_uris", "app:/x", "scopes[]", "read").Want(200).Object()
	wantFields(t, "without optional parameters", standard, apptest.Doc{"website": "", "trusted": false})

	blank := "can't be blank"
	for name, tt := range map[string]struct {
		change, want apptest.Doc
	}{
		"blank name":          {apptest.Doc{"name": " "}, apptest.Doc{"name": blank}},
		"no name":             {apptest.Doc{"name": nil}, apptest.Doc{"name": blank}},
		"no URIs":             {apptest.Doc{"redirect_uris": nil}, apptest.Doc{"redirect_uris": blank}},
		"no scopes":           {apptest.Doc{"scopes": nil}, apptest.Doc{"scopes": blank}},
		"an empty list":       {apptest.Doc{"scopes": list{}}, apptest.Doc{"scopes": blank}},
		"two blank":           {apptest.Doc{"name": "", "redirect_uris": ""}, apptest.Doc{"name": blank, "redirect_uris": blank, "error": "name can't be blank, redirect_uris can't be blank"}},
		"a long name":         {apptest.Doc{"name": strings.Repeat("x", 201)}, apptest.Doc{"name": "is too long (maximum is 200 characters)"}},
		"a relative URI":      {apptest.Doc{"redirect_uris": "/x"}, apptest.Doc{"redirect_uris": "must be an absolute URI"}},
		"a script":            {apptest.Doc{"redirect_uris": "javascript:alert(1)"}, apptest.Doc{"redirect_uris": "must be an absolute URI"}},
		"a website of a file": {apptest.Doc{"website": "file:///etc/passwd"}, apptest.Doc{"website": "must be a valid URL"}},
	} {
		body := newAppBody()
		for key, value := range tt.change {
			body[key] = value
		}
		wantFields(t, name, root.SendJSON("POST", appsPath, body).Want(400).Object(), tt.want)
	}
	body := newAppBody()
	body["scopes"] = list{"read", "everything"}
	if got := root.SendJSON("POST", appsPath, body).Want(400).Object().Str("scopes"); !strings.HasPrefix(got, "must be some of: read write") {
		t.Errorf("an unknown scope: %q", got)
	}
	body = newAppBody()
	body["name"] = apptest.Doc{}
	root.SendJSON("POST", appsPath, body).Want(400)
	body = newAppBody()
	body["trusted"] = "perhaps so"
	root.SendJSON("POST", appsPath, body).WantError(422, `trusted - Invalid value "perhaps so": must be true or false.`)
	if n := root.Get(appsPath, "name", "Our app").Want(200).Object().Int("count"); n != 1 {
		t.Errorf("%d apps with the name, want 1", n)
	}
}

// TestListApps checks the filters and the paging of GET oauth_app.
func TestListApps(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	before := root.Get(appsPath).Want(200).Object().Int("count")
	clients := make(map[string]string)
	for i, name := range []string{"a", "b", "a", "c"} {
		o := root.Post(appsPath, "name", name, "redirect_uris", "app:/x", "scopes", "read", "trusted", fmt.Sprint(i%2 == 1)).Want(200).Object()
		clients[fmt.Sprint(i)] = o.Str("client_id")
	}
	for _, tt := range []struct {
		name   string
		params []string
		count  int
		want   list
	}{
		{"all", list{"page_size", "4"}, before + 4, list{"c", "a", "b", "a"}},
		{"the second page", list{"page_size", "2", "page", "2"}, before + 4, list{"b", "a"}},
		{"a page past the end", list{"page", "100"}, before + 4, nil},
		{"by name", list{"name", "a"}, 2, list{"a", "a"}},
		{"by a part of a name", list{"name", "Our"}, 0, nil},
		{"by client id", list{"client_id", clients["1"]}, 1, list{"b"}},
		{"by client id and another name", list{"client_id", clients["1"], "name", "a"}, 0, nil},
		{"trusted", list{"trusted", "true"}, 2, list{"c", "b"}},
		{"trusted by name", list{"trusted", "true", "name", "a"}, 0, nil},
		{"others by name", list{"trusted", "false", "name", "a"}, 2, list{"a", "a"}},
		{"others", list{"trusted", "false", "page_size", "2"}, before + 2, list{"a", "a"}},
	} {
		o := root.Get(appsPath, tt.params...).Want(200).Object()
		apptest.WantList(t, tt.name, apptest.ListField(o, "apps", "name"), tt.want...)
		if o.Int("count") != tt.count {
			t.Errorf("%s: count is %d, want %d", tt.name, o.Int("count"), tt.count)
		}
	}
	o := root.Get("/api/svc/admin/oauth_app").Want(200).Object()
	wantFields(t, "the list", o, apptest.Doc{"page_size": 50.0, "apps.0.name": "c"})
	for _, client := range []*apptest.Client{srv.As(nil), srv.SignUp("alice").Client, srv.NewToken(root, "read write admin:read")} {
		client.Get(appsPath).Want(403)
	}
}

// TestUpdateApp changes members of an app, one at a time.
func TestUpdateApp(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	created := root.SendJSON("POST", appsPath, newAppBody()).Want(200).Object()
	path := fmt.Sprintf("%s/%d", appsPath, created.Int("id"))
	want := created.Fields
	for _, tt := range []struct {
		change, want apptest.Doc
	}{
		{apptest.Doc{"name": "New"}, apptest.Doc{"name": "New"}},
		{apptest.Doc{"redirect_uris": "https://b.example/"}, apptest.Doc{"redirect_uri": "https://b.example/"}},
		{apptest.Doc{"scopes": list{"read:search"}}, apptest.Doc{"scopes": []any{"read:search"}}},
		{apptest.Doc{"website": ""}, apptest.Doc{"website": ""}},
		{apptest.Doc{"trusted": false}, apptest.Doc{"trusted": false}},
		{apptest.Doc{"trusted": nil}, nil},
		{apptest.Doc{}, nil},
	} {
		for key, value := range tt.want {
			want[key] = value
		}
		wantFields(t, fmt.Sprint(tt.change), root.SendJSON("PATCH", path, tt.change).Want(200).Object(), want)
	}
	wantLog(t, root.Client, fmt.Sprintf(`@root updated OAuth app #%d "New"`, created.Int("id")))
	wantFields(t, "a blank name", root.SendJSON("PATCH", path, apptest.Doc{"name": "", "trusted": true}).Want(400).Object(), apptest.Doc{"name": "can't be blank"})
	wantFields(t, "the app", root.Get(appsPath, "name", "New").Want(200).Object(), apptest.Doc{"apps.0.trusted": false})
	for _, id := range []string{"999999", "0", "-1", "x", "99999999999999999999"} {
		for _, a := range []*apptest.Response{root.SendJSON("PATCH", appsPath+"/"+id, apptest.Doc{"name": "x"}), root.Do("DELETE", appsPath+"/"+id, "", nil)} {
			if a.Want(400); string(a.Body) != `"Invalid parameters"` {
				t.Errorf("%s: the answer is %s", id, a.Body)
			}
		}
	}
}

// TestDeleteApp checks that the tokens of a deleted app end, streams with them, and that its posts stay, without it.
func TestDeleteApp(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	created := root.SendJSON("POST", appsPath, newAppBody()).Want(200).Object()
	granted := srv.As(nil).Post("/oauth/token", "grant_type", "password", "client_id", created.Str("client_id"), "client_secret", created.Str("client_secret"),
		"username", "alice", "password", apptest.Password, "scope", "read write").Want(200).Object()
	client := &apptest.Client{Server: srv, Token: granted.Str("access_token")}
	post := client.Post("/api/v1/statuses", "status", "hello").Want(200).Object()
	wantFields(t, "the post", post, apptest.Doc{"application.name": "Our app"})
	stream := srv.OpenStream(client, "stream", "user")
	path := fmt.Sprintf("%s/%d", appsPath, created.Int("id"))
	root.SendJSON("PATCH", path, apptest.Doc{"name": "Renamed"}).Want(200)
	wantFields(t, "the post", client.Get("/api/v1/statuses/"+post.ID()).Want(200).Object(), apptest.Doc{"application.name": "Renamed"})

	for _, number := range []string{"%2b%d", "0%d", "%d.0", "%%20%d"} {
		root.Do("DELETE", fmt.Sprintf(appsPath+"/"+strings.Replace(number, "%2b", "%%2b", 1), created.Int("id")), "", nil).Want(400)
	}
	if a := root.Do("DELETE", path, "", nil).Want(204); len(a.Body) > 0 {
		t.Errorf("the body is %s", a.Body)
	}
	wantLog(t, root.Client, fmt.Sprintf(`@root deleted OAuth app #%d "Renamed"`, created.Int("id")))
	stream.WaitEnd()
	client.Get("/api/v1/accounts/verify_credentials").Want(401)
	if got := alice.Get("/api/v1/statuses/" + post.ID()).Want(200).Object().At("application"); got != nil {
		t.Errorf("the post has the application %v", got)
	}
	root.Do("DELETE", path, "", nil).Want(400)
	address := "/oauth/authorize?" + url.Values{"response_type": {"code"}, "client_id": {created.Str("client_id")}}.Encode()
	srv.Browser().Get(address).Want(400)
}

// TestAppOfStaffIsKept checks that the daily removal keeps unused apps that staff created.
func TestAppOfStaffIsKept(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	body := newAppBody()
	body["trusted"] = false
	root.SendJSON("POST", appsPath, body).Want(200)
	registered := srv.RegisterApp("client_name", "unused")
	srv.Advance(60 * 24 * time.Hour)
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.Enqueue(t.Context(), store.Prune{}) })
	if err != nil {
		t.Fatal(err)
	}
	srv.RunJobs()
	if n := root.Get(appsPath, "name", "Our app").Want(200).Object().Int("count"); n != 1 {
		t.Error("the app is gone")
	}
	if n := root.Get(appsPath, "client_id", registered.ID).Want(200).Object().Int("count"); n != 0 {
		t.Error("an unused app is kept")
	}
}

// TestTrustedApp checks that registrations through a trusted app need no captcha.
func TestTrustedApp(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Captcha.Enabled = true })
	root := srv.SignUpAdmin()
	for i, trusted := range []bool{true, false} {
		body := newAppBody()
		body["trusted"] = trusted
		created := root.SendJSON("POST", appsPath, body).Want(200).Object()
		granted := srv.As(nil).Post("/oauth/token", "grant_type", "client_credentials", "client_id", created.Str("client_id"),
			"client_secret", created.Str("client_secret"), "scope", "read write").Want(200).Object()
		client := &apptest.Client{Server: srv, Token: granted.Str("access_token")}
		nick := fmt.Sprint("user", i)
		a := client.Post("/api/v1/accounts", "username", nick, "email", nick+"@example.org", "password", apptest.Password, "agreement", "true")
		if (a.Status == 200) != trusted {
			t.Errorf("trusted %v: %d %s", trusted, a.Status, a.Body)
		}
	}
}
