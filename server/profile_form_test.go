package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

// TestProfile reads and changes the profile of the own account.
func TestProfile(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	const path = "/api/v1/profile"
	a := alice.Get(path).Want(200)
	WantEntity(t, "a new account", a, "Profile")
	apptest.WantFields(t, "a new account", a.Object(), apptest.Doc{
		"id": alice.ID, "avatar": nil, "avatar_static": nil, "header": nil, "header_static": nil, "note": "", "avatar_description": "",
		"header_description": "", "show_media": true, "show_media_replies": true, "show_featured": true, "bot": false, "locked": false,
	})
	alice.Post("/api/v1/featured_tags", "name", "Cats").Want(200)
	changed := alice.SendForm("PATCH", path, apptest.FilePart(apptest.PNG(40, 40)), apptest.FormPart{Name: "avatar", Content: string(apptest.PNG(40, 40)), Filename: "a.png", IsFile: true},
		apptest.ValuePart("avatar_description", " A cat \n looks out "), apptest.ValuePart("header_description", "The sea"), apptest.ValuePart("display_name", "Alice"),
		apptest.ValuePart("note", "I & *you*"), apptest.ValuePart("show_media", "false"), apptest.ValuePart("show_media_replies", "false"), apptest.ValuePart("show_featured", "false"),
		apptest.ValuePart("fields_attributes[0][name]", "site"), apptest.ValuePart("fields_attributes[0][value]", "<b>x</b>"), apptest.ValuePart("attribution_domains[]", "blog.example"),
		apptest.ValuePart("locked", "true"), apptest.ValuePart("bot", "true"), apptest.ValuePart("hide_collections", "true")).Want(200)
	WantEntity(t, "a changed account", changed, "Profile")
	want := apptest.Doc{
		"avatar_description": "A cat looks out", "header_description": "The sea", "display_name": "Alice", "note": "I & *you*", "show_media": false,
		"show_media_replies": false, "show_featured": false, "locked": true,
		"bot": true, "hide_collections": true,
	}
	apptest.WantFields(t, "the answer", changed.Object(), want)
	var lists struct {
		Fields             []struct{ Name, Value string }
		AttributionDomains []string `json:"attribution_domains"`
		FeaturedTags       []struct {
			Name  string
			Count string `json:"statuses_count"`
		} `json:"featured_tags"`
	}
	if err := json.Unmarshal(changed.Body, &lists); err != nil || fmt.Sprint(lists) != "{[{site <b>x</b>}] [blog.example] [{cats 0}]}" {
		t.Errorf("the lists are %v, %v", lists, err)
	}
	o := alice.Get(path).Want(200).Object()
	apptest.WantFields(t, "the stored profile", o, want)
	if !strings.HasPrefix(o.Str("avatar"), srv.URL+"/media/") || o.At("header") != nil {
		t.Errorf("avatar %v, header %v", o.At("avatar"), o.At("header"))
	}
	apptest.WantFields(t, "the account", srv.As(nil).Get("/api/v1/accounts/alice").Want(200).Object(), apptest.Doc{
		"avatar_description": "A cat looks out", "header_description": "The sea", "show_media": false, "show_media_replies": false, "show_featured": false,
	})
	// Null changes nothing; another picture, and none, end the description.
	apptest.WantFields(t, "null", alice.SendJSON("PATCH", path, apptest.Doc{"avatar_description": nil, "note": nil, "show_media": nil, "bot": nil}).Want(200).Object(), want)
	other := alice.SendForm("PATCH", path, apptest.FormPart{Name: "avatar", Content: string(apptest.PNG(20, 20)), Filename: "b.png", IsFile: true}).Want(200).Object()
	apptest.WantFields(t, "another avatar", other, apptest.Doc{"avatar_description": "", "header_description": "The sea"})
	alice.SendJSON("PATCH", path, apptest.Doc{"avatar_description": "B"}).Want(200)
	alice.Do("DELETE", path+"/avatar", "", nil).Want(200)
	apptest.WantFields(t, "no avatar", alice.Get(path).Want(200).Object(), apptest.Doc{"avatar": nil, "avatar_description": ""})
	srv.As(nil).Get(path).Want(401)
	srv.As(nil).SendJSON("PATCH", path, apptest.Doc{"note": "x"}).Want(401)
	srv.NewToken(alice, "read").SendJSON("PATCH", path, apptest.Doc{"note": "x"}).Want(403)
	srv.NewToken(alice, "read:statuses").Get(path).Want(403)
}

// TestPictureDescriptionLimits checks the lengths and types of descriptions.
func TestPictureDescriptionLimits(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	most := store.MaxPictureDescription
	limits := srv.As(nil).Get("/api/v2/instance").Want(200).Object()
	if limits.Int("configuration.accounts.max_avatar_description_length") != most || limits.Int("configuration.accounts.max_header_description_length") != most {
		t.Error("the instance names other limits")
	}
	for _, path := range []string{"/api/v1/profile", "/api/v1/accounts/update_credentials"} {
		for _, name := range []string{"avatar_description", "header_description"} {
			for _, tt := range []struct {
				what  string
				value any
				ok    bool
			}{
				{"the longest", strings.Repeat("ä", most), true},
				{"too long", strings.Repeat("ä", most+1), false},
				{"too long by far", strings.Repeat("x", 100_000), false},
				{"white space", " \n ", true},
				{"an object", apptest.Doc{"a": 1}, false},
				{"a list", []any{"a"}, false},
			} {
				before := alice.Get("/api/v1/profile").Object().Str(name)
				a := alice.SendJSON("PATCH", path, apptest.Doc{name: tt.value, "note": tt.what})
				if tt.ok != (a.Status == 200) || !tt.ok && a.Status != 422 && a.Status != 400 {
					t.Errorf("%s %s: %s: got %d %.200s", path, name, tt.what, a.Status, a.Body)
				}
				now := alice.Get("/api/v1/profile").Object()
				if !tt.ok && (now.Str(name) != before || now.Str("note") == tt.what) {
					t.Errorf("%s %s: %s: the refused request changed the profile", path, name, tt.what)
				}
				if tt.ok && now.Str(name) != strings.TrimSpace(fmt.Sprint(tt.value)) {
					t.Errorf("%s %s: %s: stored %q", path, name, tt.what, now.Str(name))
				}
			}
		}
	}
}
