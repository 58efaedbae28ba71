package staff_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// credentialKeys are the members of spec 2.16, and those of other servers of this API family.
var credentialKeys = strings.Fields(`actor_type allow_following_move avatar background banner bio default_scope discoverable email fields hide_favorites
	hide_followers hide_followers_count hide_follows hide_follows_count id is_discoverable is_locked locked name nickname no_rich_text raw_fields show_role
	skip_thread_containment svc_settings_store`)

// TestCredentials checks GET and PATCH credentials.
func TestCredentials(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	srv.SignUp("bob")
	srv.AddRemoteAccount("far", "example.com")
	path := usersPath + "/alice/credentials"
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", apptest.Doc{"svc_settings_store": apptest.Doc{"fe": apptest.Doc{"a": 1}}}).Want(200)
	o := root.Get(path).Want(200).Object()
	var keys list
	for key := range o.Fields {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	apptest.WantList(t, "the members", keys, credentialKeys...)
	wantFields(t, "the credentials", o, apptest.Doc{
		"id": float64(alice.AccountID()), "nickname": "alice", "email": "alice@example.org", "name": "alice", "bio": "", "actor_type": "Person",
		"avatar": srv.URL + "/images/avi.png", "banner": srv.URL + "/images/banner.png", "background": nil, "default_scope": "public",
		"fields": []any{}, "raw_fields": []any{}, "locked": false, "svc_settings_store.fe.a": 1.0,
	})

	flags := list{"locked", "discoverable", "no_rich_text", "skip_thread_containment", "hide_followers", "hide_followers_count", "hide_follows", "hide_follows_count"}
	body := apptest.Doc{
		"email": "new@example.org", "name": "Alice A.", "bio": "see https://example.org", "default_scope": "unlisted", "actor_type": "Service",
		"fields": []apptest.Doc{{"name": "web", "value": "https://example.org"}}, "avatar": "ignored", "unknown": 1,
		"show_role": false, "allow_following_move": false, "hide_favorites": false,
	}
	want := apptest.Doc{
		"email": "new@example.org", "name": "Alice A.", "default_scope": "unlisted", "actor_type": "Service", "raw_fields.0.name": "web",
		"raw_fields.0.value": "https://example.org", "raw_fields.0.id": 0.0, "show_role": false, "allow_following_move": false, "hide_favorites": false,
		"is_locked": true, "is_discoverable": true, "avatar": srv.URL + "/images/avi.png",
	}
	for _, flag := range flags {
		body[flag], want[flag] = true, true
	}
	root.SendJSON("PATCH", path, body).Want(200).WantFields(apptest.Doc{"status": "success"})
	o = root.Get(path).Want(200).Object()
	wantFields(t, "the changed credentials", o, want)
	if bio, value := o.Str("bio"), fmt.Sprint(o.Find("fields.0.value")); !strings.Contains(bio, `<a href="https://example.org"`) || !strings.Contains(value, "<a ") {
		t.Errorf("bio %q, field %q", bio, value)
	}
	wantLog(t, root.Client, "@root updated users: @alice")
	root.SendJSON("PATCH", path, apptest.Doc{"is_locked": false, "is_discoverable": false}).Want(200)
	wantFields(t, "the other names", root.Get(path).Want(200).Object(), apptest.Doc{"locked": false, "discoverable": false})
	alice.Get("/api/v1/accounts/verify_credentials").Want(200)

	n := len(messages(root.Client))
	long := strings.Repeat("x", 6000)
	for _, tt := range []struct {
		name  string
		body  apptest.Doc
		field string
		error string
	}{
		{"bad address", apptest.Doc{"email": "x"}, "email", "has invalid format"},
		{"taken address", apptest.Doc{"email": "bob@example.org", "name": "x"}, "email", "has already been taken"},
		{"bad actor type", apptest.Doc{"actor_type": "Group"}, "actor_type", "is invalid"},
		{"bad scope", apptest.Doc{"default_scope": "moon"}, "default_scope", "is invalid"},
		{"empty name", apptest.Doc{"name": " "}, "name", "should be at least 1 character"},
		{"long name", apptest.Doc{"name": long}, "name", fmt.Sprintf("should be at most %d characters", srv.Settings.Accounts.NameLength)},
		{"long bio", apptest.Doc{"bio": long}, "bio", fmt.Sprintf("should be at most %d characters", srv.Settings.Accounts.BioLength)},
		{"many fields", apptest.Doc{"fields": slices.Repeat([]apptest.Doc{{"name": "a", "value": "b"}}, 50)}, "fields", fmt.Sprintf("should have at most %d items", srv.Settings.Accounts.MaxFields)},
		{"long field", apptest.Doc{"raw_fields": []apptest.Doc{{"name": long, "value": "b"}}}, "fields", "invalid"},
		{"short password", apptest.Doc{"password": "short"}, "password", "should be at least 8 characters"},
		{"new address as password", apptest.Doc{"password": "new@example.org", "email": "New@example.org"}, "password", "can't be the nickname or the e-mail address"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := root.SendJSON("PATCH", path, tt.body).Want(400).Object()
			if got := a.At("errors." + tt.field); got != tt.error {
				t.Errorf("errors.%s is %v, want %q", tt.field, got, tt.error)
			}
		})
	}
	wantFields(t, "after refusals", root.Get(path).Want(200).Object(), apptest.Doc{"name": "Alice A.", "email": "new@example.org"})
	if len(messages(root.Client)) != n {
		t.Error("a refusal was logged")
	}
	for _, nick := range []string{"nobody", "far@example.com"} {
		root.Get(usersPath+"/"+nick+"/credentials").WantError(404, "Not found")
		root.SendJSON("PATCH", usersPath+"/"+nick+"/credentials", apptest.Doc{"name": "x"}).WantError(404, "Not found")
	}

	const password = "another good password"
	root.SendJSON("PATCH", path, apptest.Doc{"password": password}).Want(200)
	alice.Get("/api/v1/accounts/verify_credentials").Want(401)
	srv.Grant(srv.RegisterApp(), "password", "username", "alice", "password", password).Want(200)
}

// TestCredentialPictures checks uploads with PATCH credentials.
func TestCredentialPictures(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Media.BackgroundLimit = 1000 })
	root := srv.SignUpAdmin()
	srv.SignUp("alice")
	path := usersPath + "/alice/credentials"
	send := func(field string, content []byte) *apptest.Response {
		t.Helper()
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		part, err := w.CreateFormFile(field, "picture.png")
		if err != nil {
			t.Fatal(err)
		}
		part.Write(content)
		w.Close()
		return root.Do("PATCH", path, w.FormDataContentType(), &body)
	}
	picture := apptest.PNG(8, 8)
	for _, field := range []string{"avatar", "banner"} {
		send(field, picture).Want(200)
		if got := root.Get(path).Want(200).Object().Str(field); !strings.HasPrefix(got, srv.URL+"/media/") {
			t.Errorf("%s is %s", field, got)
		}
	}
	before := root.Get(path).Want(200).Body
	for _, tt := range []struct {
		name    string
		field   string
		content []byte
		want    string // as POST /api/v1/media and update_credentials have it
	}{
		{"a text as avatar", "avatar", []byte("no picture"), "Files of this type are not accepted"},
		{"a page as header", "banner", []byte("<!DOCTYPE html><p>"), "Files of this type are not accepted"},
		{"an SVG as background", "background", []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), "Files of this type are not accepted"},
		{"a sound", "avatar", []byte("fLaC\x80\x00\x00\x22 and so on"), "Files of this type are not accepted"},
		{"half a picture", "banner", picture[:len(picture)/2], "The file is damaged or incomplete"},
		{"one that is too large", "background", append(picture, make([]byte, 2000)...), "file is too large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := send(tt.field, tt.content).Want(400).Object()
			if got.At("errors."+tt.field) != tt.want || got.Str("error") != tt.field+" "+tt.want {
				t.Errorf("got %v, want %q", got.Fields, tt.want)
			}
		})
	}
	if after := root.Get(path).Want(200).Body; !bytes.Equal(before, after) {
		t.Errorf("something changed:\n%s\n%s", before, after)
	}
}

// TestPasswordReset checks the reset link, the forced reset, and MFA.
func TestPasswordReset(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	srv.AddRemoteAccount("far", "example.com")
	o := root.Get(usersPath + "/alice/password_reset").Want(200).Object()
	if o.Str("link") != srv.URL+"/api/v1/svc/password_reset/"+url.PathEscape(o.Str("token")) {
		t.Errorf("got %v", o.Fields)
	}
	srv.As(nil).Do("GET", o.Str("link"), "", nil).Want(200)
	wantLog(t, root.Client, "@root created a password reset link for users: @alice")
	for _, nick := range []string{"nobody", "far@example.com"} {
		root.Get(usersPath+"/"+nick+"/password_reset").WantError(404, "Not found")
		root.SendJSON("PUT", usersPath+"/disable_mfa", apptest.Doc{"nickname": nick}).WantError(404, "Not found")
	}
	root.SendJSON("PUT", usersPath+"/disable_mfa", apptest.Doc{}).WantError(400, "Missing field: nickname.")

	alice.EnableMFA()
	for range 2 { // the second time changes nothing
		if got := string(root.SendJSON("PUT", usersPath+"/disable_mfa", apptest.Doc{"nickname": "alice"}).Want(200).Body); got != `"alice"` {
			t.Errorf("got %s", got)
		}
	}
	wantLog(t, root.Client, "@root disabled the second factor of users: @alice")
	if n := len(messages(root.Client)); n != 2 {
		t.Errorf("%d entries in the log, want 2", n)
	}
	app := srv.RegisterApp()
	token := srv.Grant(app, "password", "username", "alice", "password", apptest.Password).Want(200).Object().Str("access_token")

	if a := root.SendJSON("PATCH", usersPath+"/force_password_reset", apptest.Doc{"nicknames": list{"alice"}}).Want(204); len(a.Body) > 0 {
		t.Errorf("the body is %s", a.Body)
	}
	wantLog(t, root.Client, "@root forced password reset for users: @alice")
	(&apptest.Client{Server: srv, Token: token}).Get("/api/v1/accounts/verify_credentials").Want(401)
	refused := srv.Grant(app, "password", "username", "alice", "password", apptest.Password).Want(403).Object()
	if refused.At("identifier") != "password_reset_required" {
		t.Errorf("got %v", refused.Fields)
	}
}
