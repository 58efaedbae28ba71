package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
)

const featuredTagsPath = "/api/v1/featured_tags"

// wantFeatured compares featured hashtags, as NAME COUNT LAST-DATE.
func wantFeatured(t *testing.T, what string, a *apptest.Response, want ...string) {
	t.Helper()
	var got []string
	for _, o := range a.Want(200).List() {
		got = append(got, fmt.Sprint(o.At("name"), " ", o.At("statuses_count"), " ", o.At("last_status_at")))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestFeaturedTags(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.Publish("before #Trains")
	today := time.Now().UTC().Format(time.DateOnly)
	tag := alice.Post(featuredTagsPath, "name", "#Trains").Want(200).Object()
	apptest.WantFields(t, "featured", tag, apptest.Doc{
		"name": "trains", "url": srv.URL + "/tags/trains", "statuses_count": "1", "last_status_at": today,
	})
	if again := alice.Post(featuredTagsPath, "name", "trains").Want(200).Object(); again.ID() != tag.ID() {
		t.Errorf("featured twice: %s and %s", tag.ID(), again.ID())
	}
	unused := alice.Post(featuredTagsPath, "name", "quiet").Want(200).Object()
	both := []string{"trains 1 " + today, "quiet 0 <nil>"}

	for _, tt := range []struct {
		name   string
		as     *apptest.Client
		method string
		path   string
		body   string
		status int
	}{
		{"anonymously", srv.As(nil), "GET", featuredTagsPath, "", 401},
		{"anonymously", srv.As(nil), "POST", featuredTagsPath, "name=a", 401},
		{"anonymously", srv.As(nil), "DELETE", featuredTagsPath + "/" + tag.ID(), "", 401},
		{"suggestions anonymously", srv.As(nil), "GET", featuredTagsPath + "/suggestions", "", 401},
		{"without the scope", srv.NewToken(alice, "read"), "POST", featuredTagsPath, "name=a", 403},
		{"suggestions without the scope", srv.NewToken(alice, "write"), "GET", featuredTagsPath + "/suggestions", "", 403},
		{"without a name", alice.Client, "POST", featuredTagsPath, "", 422},
		{"an empty name", alice.Client, "POST", featuredTagsPath, "name=", 422},
		{"a name with a space", alice.Client, "POST", featuredTagsPath, "name=two+words", 422},
		{"a name of digits", alice.Client, "POST", featuredTagsPath, "name=123", 422},
		{"a name that is too long", alice.Client, "POST", featuredTagsPath, "name=" + strings.Repeat("a", 500), 422},
		{"an object as name", alice.Client, "POST", featuredTagsPath, "name[a]=1", 400},
		{"another account's", bob.Client, "DELETE", featuredTagsPath + "/" + tag.ID(), "", 404},
		{"unknown", alice.Client, "DELETE", featuredTagsPath + "/1", "", 404},
		{"no id", alice.Client, "DELETE", featuredTagsPath + "/trains", "", 404},
		{"an unknown account", srv.As(nil), "GET", "/api/v1/accounts/nobody/featured_tags", "", 404},
	} {
		t.Run(tt.method+" "+tt.name, func(t *testing.T) {
			tt.as.Do(tt.method, tt.path, "application/x-www-form-urlencoded", strings.NewReader(tt.body)).Want(tt.status)
			wantFeatured(t, "afterwards", alice.Get(featuredTagsPath), both...)
		})
	}
	wantFeatured(t, "for others", srv.As(nil).Get("/api/v1/accounts/"+alice.ID+"/featured_tags"), both...)
	wantFeatured(t, "of a remote account", bob.Get("/api/v1/accounts/"+srv.AddRemoteAccount("dave", "example.com")+"/featured_tags"))
	alice.Do("DELETE", featuredTagsPath+"/"+unused.ID(), "", nil).Want(200)
	alice.Do("DELETE", featuredTagsPath+"/"+unused.ID(), "", nil).Want(404)
	if srv.Count(`SELECT count(*) FROM tags WHERE name = 'quiet'`) > 0 {
		t.Error("the unused name is still there")
	}
	for i := range 9 {
		alice.Post(featuredTagsPath, "name", fmt.Sprintf("tag%d", i)).Want(200)
	}
	alice.Post(featuredTagsPath, "name", "onemore").WantError(422, "Validation failed: You cannot feature more than 10 hashtags")
	alice.Post(featuredTagsPath, "name", "trains").Want(200)
	bob.Post(featuredTagsPath, "name", "onemore").Want(200)
}

// TestFeaturedTagCounters checks that counters follow posts, edits and deletions, and include only what everyone can see.
func TestFeaturedTagCounters(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	for _, name := range []string{"tea", "cake"} {
		alice.Post(featuredTagsPath, "name", name).Want(200)
	}
	today, old := time.Now().UTC().Format(time.DateOnly), "2001-09-09"
	want := func(what string, want ...string) {
		t.Helper()
		wantFeatured(t, what, alice.Get(featuredTagsPath), want...)
	}
	want("at first", "tea 0 <nil>", "cake 0 <nil>")
	first := alice.Publish("#tea").ID()
	alice.Publish("#Tea quiet", "visibility", "unlisted")
	second := alice.Publish("#tea #cake").ID()
	for _, v := range []string{"private", "direct", "local"} {
		alice.Publish("#tea #cake", "visibility", v)
	}
	alice.Post("/api/v1/statuses/" + bob.Publish("#tea").ID() + "/reblog").Want(200)
	want("after posts", "tea 3 "+today, "cake 1 "+today)
	alice.SendJSON("PUT", "/api/v1/statuses/"+second, map[string]any{"status": "#cake, please"}).Want(200)
	want("after an edit that removes one", "tea 2 "+today, "cake 1 "+today)
	alice.SendJSON("PUT", "/api/v1/statuses/"+second, map[string]any{"status": "#cake and #tea"}).Want(200)
	want("after an edit that adds one", "tea 3 "+today, "cake 1 "+today)
	alice.Do("DELETE", "/api/v1/statuses/"+first, "", nil).Want(200)
	alice.Do("DELETE", "/api/v1/statuses/"+second, "", nil).Want(200)
	want("after deletions", "tea 1 "+today, "cake 0 <nil>")

	// The newer of two posts is deleted: the date is that of the older one.
	srv.Exec(`INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, created_at, uri, content)
		SELECT 1000000000000 << 10, account_id, 0, 1, '', 1000000000000, 'https://example.org/old', '' FROM users WHERE account_id = ?`, alice.AccountID())
	srv.Exec(`INSERT INTO status_tags (tag_id, status_id, position, visibility) SELECT id, 1000000000000 << 10, 0, 0 FROM tags WHERE name = 'cake'`)
	srv.Exec(`INSERT INTO account_tags (account_id, tag_id, statuses_count, last_status_id) SELECT ?, id, 1, 1000000000000 << 10 FROM tags WHERE name = 'cake'`, alice.AccountID())
	want("with an old post", "tea 1 "+today, "cake 1 "+old)
	third := alice.Publish("#cake again").ID()
	want("with a new one", "cake 2 "+today, "tea 1 "+today)
	alice.Do("DELETE", "/api/v1/statuses/"+third, "", nil).Want(200)
	want("without it", "tea 1 "+today, "cake 1 "+old)
}

func TestFeaturedTagSuggestions(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	want := func(what string, want ...string) {
		t.Helper()
		var names []string
		for _, o := range alice.Get(featuredTagsPath + "/suggestions").Want(200).List() {
			names = append(names, o.Str("name"))
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: got %v, want %v", what, names, want)
		}
	}
	want("at first")
	alice.Publish("#one #two #three")
	alice.Publish("#two #three")
	alice.Publish("#three")
	alice.Publish("#secret", "visibility", "private")
	bob.Publish("#bobs #one")
	want("by use", "three", "two", "one")
	alice.Post(featuredTagsPath, "name", "three").Want(200)
	want("without the featured one", "two", "one")
	for i := range 12 {
		alice.Publish(fmt.Sprintf("#many%d", i))
	}
	if n := len(alice.Get(featuredTagsPath + "/suggestions").Want(200).List()); n != 10 {
		t.Errorf("%d suggestions", n)
	}
}

// TestFeatureTagByName features hashtags by their names, and checks what hashtags say about it.
func TestFeatureTagByName(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	do := func(as *apptest.Client, name, action string) *apptest.Response {
		return as.Do("POST", "/api/v1/tags/"+name+"/"+action, "", nil)
	}
	for _, tt := range []struct {
		name      string
		as        *apptest.Client
		tag       string
		action    string
		status    int
		featuring bool // trains is on alice's profile afterwards
	}{
		{"anonymously", srv.As(nil), "trains", "feature", 401, false},
		{"without the scope", srv.NewToken(alice, "write:follows"), "trains", "feature", 403, false},
		{"not a name", alice.Client, "123", "feature", 404, false},
		{"featured", alice.Client, "Trains", "feature", 200, true},
		{"again", alice.Client, "trains", "feature", 200, true},
		{"by another account", bob.Client, "trains", "unfeature", 200, true},
		{"removed anonymously", srv.As(nil), "trains", "unfeature", 401, true},
		{"removed without the scope", srv.NewToken(alice, "read"), "trains", "unfeature", 403, true},
		{"removal of no name", alice.Client, "123", "unfeature", 404, true},
		{"removed", alice.Client, "TRAINS", "unfeature", 200, false},
		{"removed again", alice.Client, "trains", "unfeature", 200, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := do(tt.as, tt.tag, tt.action).Want(tt.status)
			if tt.status == 200 && tt.as == alice.Client {
				if o := a.Object(); o.Str("name") != "trains" || o.Bool("featuring") != tt.featuring || o.Bool("following") {
					t.Errorf("the answer is %v", o.Fields)
				}
			}
			if got := alice.Get("/api/v1/tags/trains").Want(200).Object().Bool("featuring"); got != tt.featuring {
				t.Errorf("featuring is %v", got)
			}
			if got := len(alice.Get(featuredTagsPath).Want(200).List()) > 0; got != tt.featuring {
				t.Errorf("it is on the profile: %v", got)
			}
			if bob.Get("/api/v1/tags/trains").Want(200).Object().Bool("featuring") || srv.As(nil).Get("/api/v1/tags/trains").Want(200).Object().Has("featuring") {
				t.Error("others see it as theirs")
			}
		})
	}
	for i := range 10 {
		do(alice.Client, fmt.Sprintf("tag%d", i), "feature").Want(200)
	}
	do(alice.Client, "onemore", "feature").WantError(422, "Validation failed: You cannot feature more than 10 hashtags")
}
