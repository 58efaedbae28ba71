package server_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

func TestShowAccount(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, gone := srv.SignUp("alice"), srv.SignUp("Bob"), srv.SignUp("gone")
	dave := srv.AddRemoteAccount("dave", "example.com")
	srv.MakeUnavailable(gone)
	for _, tt := range []struct {
		name string
		as   *apptest.User
		path string
		want string // id; "": not found
	}{
		{"by id", alice, bob.ID, bob.ID},
		{"by id, anonymous", nil, bob.ID, bob.ID},
		{"by nickname", alice, "bob", bob.ID},
		{"by handle", nil, "@bob@" + strings.TrimPrefix(srv.URL, "http://"), bob.ID},
		{"by remote handle", alice, "dave%40example.com", dave},
		{"by remote handle, anonymous", nil, "dave%40example.com", ""},
		{"by remote handle, anonymous, deeper", nil, "dave%40example.com/statuses", ""},
		{"by remote id", nil, dave, dave},
		{"somebody elsewhere", alice, "bob@example.com", ""},
		{"an unknown id", alice, "0000000000000000AA", ""},
		{"an unknown nickname", alice, "nobody", ""},
		{"one that is withheld", alice, gone.ID, ""},
		{"one that is withheld, by nickname", alice, "gone", ""},
		{"no name at all", alice, "%20", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.As(tt.as).Get("/api/v1/accounts/" + tt.path)
			if tt.want == "" {
				a.WantError(404, "Record not found")
				return
			}
			if got := a.Want(200).Object().ID(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}

	o := alice.Get("/api/v1/accounts/" + dave).Object()
	for path, want := range map[string]string{
		"acct": "dave@example.com", "fqn": "dave@example.com", "username": "dave", "url": "https://example.com/@dave", "svc.ap_id": "https://example.com/users/dave",
	} {
		if got := o.Str(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if rel := o.At("svc.relationship").(map[string]any); len(rel) != 0 {
		t.Errorf("a relationship nobody asked for: %v", rel)
	}
	alice.AccountAction(bob.ID, "follow")
	if !alice.Get("/api/v1/accounts/bob", "with_relationships", "true").Object().Bool("svc.relationship.following") {
		t.Error("the relationship is not filled in")
	}
	own := alice.Get("/api/v1/accounts/alice", "with_relationships", "true").Object()
	own.At("svc.unread_notifications_count")
	if own.Bool("svc.relationship.following") || own.At("svc").(map[string]any)["settings_store"] != nil {
		t.Errorf("one's own account: %v", own.Fields)
	}
	if bob.Get("/api/v1/accounts/alice").Object().At("svc").(map[string]any)["unread_notifications_count"] != nil {
		t.Error("others see how much alice has to read")
	}
}

func TestLookUpAccount(t *testing.T) {
	srv := apptest.Start(t)
	host := strings.TrimPrefix(srv.URL, "http://")
	bob, gone := srv.SignUp("bob"), srv.SignUp("gone")
	dave := srv.AddRemoteAccount("dave", "example.com")
	srv.MakeUnavailable(gone)
	for acct, want := range map[string]string{
		"bob": bob.ID, "@BOB": bob.ID, "bob@" + host: bob.ID, "@bob@" + host: bob.ID, "dave@Example.COM": dave,
		"dave": "", "nobody": "", "gone": "", "": "", "@": "", "bob@example.com": "", bob.ID: "",
	} {
		t.Run(acct, func(t *testing.T) {
			a := srv.As(nil).Get("/api/v1/accounts/lookup", "acct", acct, "skip_webfinger", "false")
			if want == "" {
				a.WantError(404, "Record not found")
			} else if got := a.Want(200).Object().ID(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	srv.As(nil).Get("/api/v1/accounts/lookup").Want(404)
}

func TestPrivateInstance(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.Public = false })
	alice := srv.SignUp("alice")
	for _, path := range []string{"/api/v1/accounts/alice", "/api/v1/accounts/lookup?acct=alice", "/api/v1/accounts/search?q=alice",
		"/api/v1/accounts/" + alice.ID + "/followers", "/api/v1/accounts/" + alice.ID + "/following"} {
		srv.As(nil).Get(path).WantError(401, "This API requires an authenticated user")
		alice.Get(path).Want(200)
	}
}

func TestSearchAccounts(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	name := map[string]string{alice.ID: "alice"}
	people := map[string]*apptest.User{}
	for _, nick := range []string{"carol", "carola", "caroline", "blocked_carol", "blocking_carol", "gone_carol"} {
		people[nick] = srv.SignUp(nick)
		name[people[nick].ID] = nick
	}
	far := srv.AddRemoteAccount("carol", "example.com")
	farther := srv.AddRemoteAccount("carolus", "example.org")
	name[far], name[farther] = "carol@example.com", "carolus"
	people["carola"].SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"display_name": "Frau Ännchen O'Neil"}).Want(200)
	alice.AccountAction(people["caroline"].ID, "follow")
	alice.AccountAction(people["blocked_carol"].ID, "block")
	people["blocking_carol"].AccountAction(alice.ID, "block")
	srv.MakeUnavailable(people["gone_carol"])
	for _, tt := range []struct {
		name   string
		as     *apptest.User
		params []string
		want   []string
	}{
		{"the exact, the followed, the near, the rest", alice, []string{"q", "carol"}, []string{"carol", "carol@example.com", "caroline", "carola", "carolus"}},
		{"anonymous: only those who live here", nil, []string{"q", "carol"}, []string{"carol", "carola", "caroline", "blocked_carol", "blocking_carol"}},
		{"the blocked finds nothing", people["blocked_carol"], []string{"q", "alice"}, []string{}},
		{"with @", alice, []string{"q", "@carol", "limit", "1"}, []string{"carol"}},
		{"the second page", alice, []string{"q", "carol", "limit", "2", "offset", "2"}, []string{"caroline", "carola"}},
		{"beyond the end", alice, []string{"q", "carol", "offset", "20"}, []string{}},
		{"far beyond", alice, []string{"q", "carol", "offset", "99999999"}, []string{}},
		{"a handle", alice, []string{"q", "carol@example.com"}, []string{"carol@example.com"}},
		{"the beginning of a handle", alice, []string{"q", "@carol@exam"}, []string{"carol@example.com"}},
		{"the handle of somebody here", nil, []string{"q", "@Carol@" + srv.Settings.Host()}, []string{"carol"}},
		{"the beginning of the handle of somebody here", alice, []string{"q", "carol@" + srv.Settings.Host()[:4]}, []string{"carol"}},
		{"the handle of somebody here who is followed", alice, []string{"q", "caroline@" + srv.Settings.Host(), "following", "true"}, []string{"caroline"}},
		{"a handle, anonymous", nil, []string{"q", "carol@example.com"}, []string{}},
		{"an address", alice, []string{"q", "https://example.com/@carol"}, []string{"carol@example.com"}},
		{"an ActivityPub id", alice, []string{"q", "https://example.com/users/carol", "resolve", "true"}, []string{"carol@example.com"}},
		{"an address of somebody here", nil, []string{"q", srv.URL + "/@carol"}, []string{"carol"}},
		{"an unknown address", alice, []string{"q", "https://example.com/@nobody"}, []string{}},
		{"the followed", alice, []string{"q", "carol", "following", "true"}, []string{"caroline"}},
		{"the followed, exactly", alice, []string{"q", "caroline", "following", "true"}, []string{"caroline"}},
		{"the followed of nobody", nil, []string{"q", "carol", "following", "true"}, []string{}},
		{"a display name, without case and accents", alice, []string{"q", "annch"}, []string{"carola"}},
		{"several words", alice, []string{"q", "ÄNN frau"}, []string{"carola"}},
		{"words that are not all there", alice, []string{"q", "ännchen herr"}, []string{}},
		{"operators are words", alice, []string{"q", `o" OR "carol`}, []string{}},
		{"a name with an apostrophe", alice, []string{"q", "o'neil"}, []string{"carola"}},
		{"stars and brackets", alice, []string{"q", "*^(){}:\"-"}, []string{}},
		{"a column", alice, []string{"q", "nickname:carol"}, []string{}},
		{"nothing", alice, []string{"q", ""}, []string{}},
		{"a very long word", alice, []string{"q", strings.Repeat("carol", 1000)}, []string{}},
		{"no text", alice, []string{"q", "\x00carol"}, []string{"caroline", "carol", "carola", "carol@example.com", "carolus"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := []string{}
			for _, id := range srv.As(tt.as).Get("/api/v1/accounts/search", tt.params...).Want(200).IDs() {
				got = append(got, name[id])
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	alice.Get("/api/v1/accounts/search").WantError(400, "Missing field: q.")
	found := alice.Get("/api/v1/accounts/search", "q", "caroline", "with_relationships", "1").Want(200).List()
	if !found[0].Bool("svc.relationship.following") {
		t.Error("the relationship is not filled in")
	}
}

func TestRelationships(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol, gone := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol"), srv.SignUp("gone")
	srv.MakeUnavailable(gone)
	for _, tt := range []struct {
		query string
		want  []string
	}{
		{"?id[]=" + carol.ID + "&id[]=" + bob.ID, []string{carol.ID, bob.ID}},
		{"?id=" + bob.ID, []string{bob.ID}},
		{"?id[0]=" + bob.ID + "&id[1]=" + carol.ID, []string{bob.ID, carol.ID}},
		{"/?id=" + bob.ID, []string{bob.ID}},
		{"?id[]=0000000000000000AA&id[]=" + bob.ID + "&id[]=nonsense&id[]=" + gone.ID, []string{bob.ID}},
		{"", []string{}},
		{"?id[]=" + alice.ID, []string{alice.ID}},
	} {
		if got := alice.Get("/api/v1/accounts/relationships" + tt.query).Want(200).IDs(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.query, got, tt.want)
		}
	}
	bob.AccountAction(alice.ID, "follow")
	alice.Relationship(alice.ID).WantTrue(apptest.RelationshipFlags)
	alice.Relationship(bob.ID).WantTrue(apptest.RelationshipFlags, "followed_by")
	srv.As(nil).Get("/api/v1/accounts/relationships?id="+bob.ID).WantError(401, "The access token is invalid")
}

func TestFollowersAndFollowing(t *testing.T) {
	srv := apptest.Start(t)
	star := srv.SignUp("star")
	var ids []string
	for i := range 9 {
		fan := srv.SignUp(fmt.Sprintf("fan%d", i))
		fan.AccountAction(star.ID, "follow")
		star.AccountAction(fan.ID, "follow")
		ids = append(ids, fan.ID)
	}
	gone := srv.SignUp("gone")
	gone.AccountAction(star.ID, "follow")
	star.AccountAction(gone.ID, "follow")
	srv.MakeUnavailable(gone)
	slices.Reverse(ids)
	for _, which := range []string{"followers", "following"} {
		path := "/api/v1/accounts/" + star.ID + "/" + which
		t.Run(which, func(t *testing.T) {
			apptest.WantPages(t, star, path+"?limit=2&with_relationships=true", ids)
			if got := srv.As(nil).Get(path, "max_id", ids[3], "limit", "2").Want(200).IDs(); !slices.Equal(got, ids[4:6]) {
				t.Errorf("the account id is the cursor: got %v, want %v", got, ids[4:6])
			}
			first := star.Get(path, "with_relationships", "true", "limit", "1").List()[0]
			first.WantTrue([]string{"svc.relationship.following", "svc.relationship.followed_by"}, "svc.relationship.following", "svc.relationship.followed_by")
			srv.As(nil).Get("/api/v1/accounts/star/"+which).WantError(404, "Record not found")
			srv.As(nil).Get("/api/v1/accounts/"+gone.ID+"/"+which).WantError(404, "Record not found")
		})
	}
	star.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_followers": true, "hide_follows": true}).Want(200)
	for _, which := range []string{"followers", "following"} {
		path := "/api/v1/accounts/" + star.ID + "/" + which
		if got := srv.As(nil).Get(path).Want(200).IDs(); len(got) != 0 {
			t.Errorf("hidden %s are shown: %v", which, got)
		}
		if got := star.Get(path).Want(200).IDs(); !slices.Equal(got, ids) {
			t.Errorf("one's own %s are %v, want %v", which, got, ids)
		}
	}
	o := srv.As(nil).Get("/api/v1/accounts/star").Object()
	if o.Int("followers_count") != 10 || o.Int("following_count") != 10 {
		t.Errorf("counts are %d and %d: they are not hidden yet", o.Int("followers_count"), o.Int("following_count"))
	}
	star.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_followers_count": true, "hide_follows_count": true}).Want(200)
	if o := srv.As(nil).Get("/api/v1/accounts/star").Object(); o.Int("followers_count")+o.Int("following_count") != 0 {
		t.Errorf("hidden counts are shown: %v", o.Fields)
	}
	if o := star.Get("/api/v1/accounts/star").Object(); o.Int("followers_count") != 10 {
		t.Errorf("one's own counts are hidden: %v", o.Fields)
	}
}

func TestAccountFavourites(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	bob.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_favorites": false}).Want(200)
	var want []string
	for i := range 5 {
		id := alice.Publish(fmt.Sprint("good post ", i)).ID()
		bob.Post("/api/v1/statuses/" + id + "/favourite").Want(200)
		want = append(want, id)
	}
	secret := alice.Publish("for @bob", "visibility", "direct").ID()
	bob.Post("/api/v1/statuses/" + secret + "/favourite").Want(200)
	slices.Reverse(want)
	path := "/api/v1/svc/accounts/" + bob.ID + "/favourites"
	apptest.WantPages(t, carol, path+"?limit=2", want)
	for _, tt := range []struct {
		name string
		as   *apptest.User
		want []string
	}{
		{"an anonymous client", nil, want},
		{"bob himself", bob, append([]string{secret}, want...)},
		{"the author", alice, append([]string{secret}, want...)},
	} {
		if got := srv.As(tt.as).Get(path).Want(200).IDs(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	carol.AccountAction(alice.ID, "block")
	if got := carol.Get(path).Want(200).IDs(); len(got) != 0 {
		t.Errorf("posts of the blocked: %v", got)
	}
	srv.As(nil).Get("/api/svc/accounts/0000000000000000AA/favourites").WantError(404, "Record not found")
	bob.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_favorites": true}).Want(200)
	srv.As(nil).Get(path).WantError(403, "Can't get favorites")
	alice.Get(path).WantError(403, "Can't get favorites")
	if got := bob.Get(path).Want(200).IDs(); len(got) != 6 {
		t.Errorf("bob's own favourites are %v", got)
	}
}

func TestEmptyAccountLists(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	for _, name := range []string{"identity_proofs", "featured_tags"} {
		if a := srv.As(nil).Get("/api/v1/accounts/" + alice.ID + "/" + name).Want(200); string(a.Body) != "[]" {
			t.Errorf("%s: got %s, want []", name, a.Body)
		}
	}
}

// Counters are exact however many people follow and unfollow at the same time, and do each thing twice.
func TestConcurrentFollows(t *testing.T) {
	srv := apptest.Start(t)
	star := srv.SignUp("star")
	const n = 50
	fans := make([]*apptest.User, n)
	for i := range fans {
		fans[i] = srv.SignUp(fmt.Sprintf("fan%d", i))
	}
	var wg sync.WaitGroup
	for i, fan := range fans {
		for range 2 {
			wg.Go(func() {
				fan.Post("/api/v1/accounts/" + star.ID + "/follow")
				if i%5 == 0 {
					fan.Post("/api/v1/accounts/" + star.ID + "/unfollow")
					fan.Post("/api/v1/accounts/" + star.ID + "/follow")
				}
			})
		}
	}
	wg.Wait()
	if got := star.Get("/api/v1/accounts/star").Object().Int("followers_count"); got != n {
		t.Errorf("%d followers, want %d", got, n)
	}
	for _, fan := range fans {
		wg.Go(func() { fan.Post("/api/v1/accounts/" + star.ID + "/unfollow") })
		wg.Go(func() { fan.Post("/api/v1/accounts/" + star.ID + "/unfollow") })
	}
	wg.Wait()
	if got := star.Get("/api/v1/accounts/star").Object().Int("followers_count"); got != 0 {
		t.Errorf("%d followers, want none", got)
	}
	if got := fans[0].Get("/api/v1/accounts/fan0").Object().Int("following_count"); got != 0 {
		t.Errorf("follows %d, want nobody", got)
	}
}
