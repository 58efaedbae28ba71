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
	alice, bob, unavailable := srv.SignUp("alice"), srv.SignUp("Bob"), srv.SignUp("unavailable")
	dave := srv.AddRemoteAccount("dave", "example.com")
	srv.MakeUnavailable(unavailable)
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
		{"a local nickname with a remote host", alice, "bob@example.com", ""},
		{"an unknown id", alice, "0000000000000000AA", ""},
		{"an unknown nickname", alice, "nobody", ""},
		{"an unavailable account", alice, unavailable.ID, ""},
		{"an unavailable account, by nickname", alice, "unavailable", ""},
		{"a blank name", alice, "%20", ""},
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
		t.Errorf("a relationship that was not requested: %v", rel)
	}
	alice.AccountAction(bob.ID, "follow")
	if !alice.Get("/api/v1/accounts/bob", "with_relationships", "true").Object().Bool("svc.relationship.following") {
		t.Error("the relationship is missing")
	}
	own := alice.Get("/api/v1/accounts/alice", "with_relationships", "true").Object()
	own.At("svc.unread_notifications_count")
	if own.Bool("svc.relationship.following") || own.At("svc").(map[string]any)["settings_store"] != nil {
		t.Errorf("alice's own account is %v", own.Fields)
	}
	if bob.Get("/api/v1/accounts/alice").Object().At("svc").(map[string]any)["unread_notifications_count"] != nil {
		t.Error("bob sees alice's unread counts")
	}
}

func TestLookUpAccount(t *testing.T) {
	srv := apptest.Start(t)
	host := strings.TrimPrefix(srv.URL, "http://")
	bob, unavailable := srv.SignUp("bob"), srv.SignUp("unavailable")
	dave := srv.AddRemoteAccount("dave", "example.com")
	srv.MakeUnavailable(unavailable)
	for acct, want := range map[string]string{
		"bob": bob.ID, "@BOB": bob.ID, "bob@" + host: bob.ID, "@bob@" + host: bob.ID, "dave@Example.COM": dave,
		"dave": "", "nobody": "", "unavailable": "", "": "", "@": "", "bob@example.com": "", bob.ID: "",
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
	for _, nick := range []string{"carol", "carola", "caroline", "blocked_carol", "blocking_carol", "unavailable_carol"} {
		people[nick] = srv.SignUp(nick)
		name[people[nick].ID] = nick
	}
	remote := srv.AddRemoteAccount("carol", "example.com")
	otherRemote := srv.AddRemoteAccount("carolus", "example.org")
	name[remote], name[otherRemote] = "carol@example.com", "carolus"
	people["carola"].SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"display_name": "Frau Ännchen O'Neil"}).Want(200)
	alice.AccountAction(people["caroline"].ID, "follow")
	alice.AccountAction(people["blocked_carol"].ID, "block")
	people["blocking_carol"].AccountAction(alice.ID, "block")
	srv.MakeUnavailable(people["unavailable_carol"])
	for _, tt := range []struct {
		name   string
		as     *apptest.User
		params []string
		want   []string
	}{
		{"exact matches, followed accounts, local accounts, the rest", alice, []string{"q", "carol"}, []string{"carol", "carol@example.com", "caroline", "carola", "carolus"}},
		{"anonymous: only local accounts", nil, []string{"q", "carol"}, []string{"carol", "carola", "caroline", "blocked_carol", "blocking_carol"}},
		{"a blocked account finds nothing", people["blocked_carol"], []string{"q", "alice"}, []string{}},
		{"with @", alice, []string{"q", "@carol", "limit", "1"}, []string{"carol"}},
		{"the second page", alice, []string{"q", "carol", "limit", "2", "offset", "2"}, []string{"caroline", "carola"}},
		{"beyond the end", alice, []string{"q", "carol", "offset", "20"}, []string{}},
		{"far beyond the end", alice, []string{"q", "carol", "offset", "99999999"}, []string{}},
		{"a handle", alice, []string{"q", "carol@example.com"}, []string{"carol@example.com"}},
		{"the beginning of a handle", alice, []string{"q", "@carol@exam"}, []string{"carol@example.com"}},
		{"the handle of a local account", nil, []string{"q", "@Carol@" + srv.Settings.Host()}, []string{"carol"}},
		{"the beginning of the handle of a local account", alice, []string{"q", "carol@" + srv.Settings.Host()[:4]}, []string{"carol"}},
		{"the handle of a followed local account", alice, []string{"q", "caroline@" + srv.Settings.Host(), "following", "true"}, []string{"caroline"}},
		{"a handle, anonymous", nil, []string{"q", "carol@example.com"}, []string{}},
		{"a URL", alice, []string{"q", "https://example.com/@carol"}, []string{"carol@example.com"}},
		{"an ActivityPub id", alice, []string{"q", "https://example.com/users/carol", "resolve", "true"}, []string{"carol@example.com"}},
		{"the URL of a local account", nil, []string{"q", srv.URL + "/@carol"}, []string{"carol"}},
		{"an unknown URL", alice, []string{"q", "https://example.com/@nobody"}, []string{}},
		{"followed accounts", alice, []string{"q", "carol", "following", "true"}, []string{"caroline"}},
		{"followed accounts, an exact match", alice, []string{"q", "caroline", "following", "true"}, []string{"caroline"}},
		{"followed accounts, anonymous", nil, []string{"q", "carol", "following", "true"}, []string{}},
		{"a display name, without case and accents", alice, []string{"q", "annch"}, []string{"carola"}},
		{"several words", alice, []string{"q", "ÄNN frau"}, []string{"carola"}},
		{"words of which one does not match", alice, []string{"q", "ännchen herr"}, []string{}},
		{"operators are words", alice, []string{"q", `o" OR "carol`}, []string{}},
		{"a name with an apostrophe", alice, []string{"q", "o'neil"}, []string{"carola"}},
		{"stars and brackets", alice, []string{"q", "*^(){}:\"-"}, []string{}},
		{"a column", alice, []string{"q", "nickname:carol"}, []string{}},
		{"an empty query", alice, []string{"q", ""}, []string{}},
		{"a very long word", alice, []string{"q", strings.Repeat("carol", 1000)}, []string{}},
		{"a control character", alice, []string{"q", "\x00carol"}, []string{"caroline", "carol", "carola", "carol@example.com", "carolus"}},
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
		t.Error("the relationship is missing")
	}
}

func TestRelationships(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol, unavailable := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol"), srv.SignUp("unavailable")
	srv.MakeUnavailable(unavailable)
	for _, tt := range []struct {
		query string
		want  []string
	}{
		{"?id[]=" + carol.ID + "&id[]=" + bob.ID, []string{carol.ID, bob.ID}},
		{"?id=" + bob.ID, []string{bob.ID}},
		{"?id[0]=" + bob.ID + "&id[1]=" + carol.ID, []string{bob.ID, carol.ID}},
		{"/?id=" + bob.ID, []string{bob.ID}},
		{"?id[]=0000000000000000AA&id[]=" + bob.ID + "&id[]=nonsense&id[]=" + unavailable.ID, []string{bob.ID}},
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
	followed := srv.SignUp("followed")
	var ids []string
	for i := range 9 {
		follower := srv.SignUp(fmt.Sprintf("follower%d", i))
		follower.AccountAction(followed.ID, "follow")
		followed.AccountAction(follower.ID, "follow")
		ids = append(ids, follower.ID)
	}
	unavailable := srv.SignUp("unavailable")
	unavailable.AccountAction(followed.ID, "follow")
	followed.AccountAction(unavailable.ID, "follow")
	srv.MakeUnavailable(unavailable)
	slices.Reverse(ids)
	for _, which := range []string{"followers", "following"} {
		path := "/api/v1/accounts/" + followed.ID + "/" + which
		t.Run(which, func(t *testing.T) {
			apptest.WantPages(t, followed, path+"?limit=2&with_relationships=true", ids)
			if got := srv.As(nil).Get(path, "max_id", ids[3], "limit", "2").Want(200).IDs(); !slices.Equal(got, ids[4:6]) {
				t.Errorf("with the account id as cursor: got %v, want %v", got, ids[4:6])
			}
			first := followed.Get(path, "with_relationships", "true", "limit", "1").List()[0]
			first.WantTrue([]string{"svc.relationship.following", "svc.relationship.followed_by"}, "svc.relationship.following", "svc.relationship.followed_by")
			srv.As(nil).Get("/api/v1/accounts/followed/"+which).WantError(404, "Record not found")
			srv.As(nil).Get("/api/v1/accounts/"+unavailable.ID+"/"+which).WantError(404, "Record not found")
		})
	}
	followed.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_followers": true, "hide_follows": true}).Want(200)
	for _, which := range []string{"followers", "following"} {
		path := "/api/v1/accounts/" + followed.ID + "/" + which
		if got := srv.As(nil).Get(path).Want(200).IDs(); len(got) != 0 {
			t.Errorf("hidden %s are visible: %v", which, got)
		}
		if got := followed.Get(path).Want(200).IDs(); !slices.Equal(got, ids) {
			t.Errorf("the account's own %s are %v, want %v", which, got, ids)
		}
	}
	o := srv.As(nil).Get("/api/v1/accounts/followed").Object()
	if o.Int("followers_count") != 10 || o.Int("following_count") != 10 {
		t.Errorf("counts are %d and %d, want 10 before they are hidden", o.Int("followers_count"), o.Int("following_count"))
	}
	followed.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_followers_count": true, "hide_follows_count": true}).Want(200)
	if o := srv.As(nil).Get("/api/v1/accounts/followed").Object(); o.Int("followers_count")+o.Int("following_count") != 0 {
		t.Errorf("hidden counts are visible: %v", o.Fields)
	}
	if o := followed.Get("/api/v1/accounts/followed").Object(); o.Int("followers_count") != 10 {
		t.Errorf("the account's own counts are hidden: %v", o.Fields)
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
		{"the account", bob, append([]string{secret}, want...)},
		{"the author", alice, append([]string{secret}, want...)},
	} {
		if got := srv.As(tt.as).Get(path).Want(200).IDs(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	carol.AccountAction(alice.ID, "block")
	if got := carol.Get(path).Want(200).IDs(); len(got) != 0 {
		t.Errorf("posts of a blocked account: %v", got)
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
	for _, name := range []string{"identity_proofs"} {
		if a := srv.As(nil).Get("/api/v1/accounts/" + alice.ID + "/" + name).Want(200); string(a.Body) != "[]" {
			t.Errorf("%s: got %s, want []", name, a.Body)
		}
	}
}

// TestConcurrentFollows checks that counters are exact when many accounts follow and unfollow concurrently and repeatedly.
func TestConcurrentFollows(t *testing.T) {
	srv := apptest.Start(t)
	followed := srv.SignUp("followed")
	const n = 50
	followers := make([]*apptest.User, n)
	for i := range followers {
		followers[i] = srv.SignUp(fmt.Sprintf("follower%d", i))
	}
	var wg sync.WaitGroup
	for i, follower := range followers {
		for range 2 {
			wg.Go(func() {
				follower.Post("/api/v1/accounts/" + followed.ID + "/follow")
				if i%5 == 0 {
					follower.Post("/api/v1/accounts/" + followed.ID + "/unfollow")
					follower.Post("/api/v1/accounts/" + followed.ID + "/follow")
				}
			})
		}
	}
	wg.Wait()
	if got := followed.Get("/api/v1/accounts/followed").Object().Int("followers_count"); got != n {
		t.Errorf("%d followers, want %d", got, n)
	}
	for _, follower := range followers {
		wg.Go(func() { follower.Post("/api/v1/accounts/" + followed.ID + "/unfollow") })
		wg.Go(func() { follower.Post("/api/v1/accounts/" + followed.ID + "/unfollow") })
	}
	wg.Wait()
	if got := followed.Get("/api/v1/accounts/followed").Object().Int("followers_count"); got != 0 {
		t.Errorf("%d followers, want none", got)
	}
	if got := followers[0].Get("/api/v1/accounts/follower0").Object().Int("following_count"); got != 0 {
		t.Errorf("following_count is %d, want 0", got)
	}
}

func TestAccountsByID(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	srv.Exec(`UPDATE accounts SET unavailable = 1 WHERE id = ?`, carol.AccountID())
	const path = "/api/v1/accounts"
	for _, tt := range []struct {
		name string
		ids  []string
		want []string
	}{
		{"in the order of the request", []string{bob.ID, alice.ID}, []string{bob.ID, alice.ID}},
		{"repeated", []string{bob.ID, alice.ID, bob.ID}, []string{bob.ID, alice.ID}},
		{"unknown and invalid", []string{"1", "", "nobody", alice.ID}, []string{alice.ID}},
		{"unavailable", []string{carol.ID, bob.ID}, []string{bob.ID}},
		{"none", nil, nil},
		{"forty", append(slices.Repeat([]string{alice.ID}, 39), bob.ID, carol.ID), []string{alice.ID, bob.ID}},
		{"beyond forty", append(slices.Repeat([]string{alice.ID}, 40), bob.ID), []string{alice.ID}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var params []string
			for _, id := range tt.ids {
				params = append(params, "id[]", id)
			}
			apptest.WantIDs(t, tt.name, srv.As(nil).Get(path, params...), tt.want...)
			apptest.WantIDs(t, tt.name, bob.Get(path, params...), tt.want...)
		})
	}
	if rel := bob.Get(path, "id[]", alice.ID, "with_relationships", "true").Want(200).List()[0]; rel.At("svc.relationship.id") != alice.ID {
		t.Errorf("the relationship is %v", rel.At("svc.relationship"))
	}
	private := apptest.Start(t, func(c *config.Config) { c.Instance.Public = false })
	private.As(nil).Get(path, "id[]", "1").Want(401)
}

// TestEscapedNicknames checks that addresses with an encoded @, which some clients send, are those with the character, and that an encoded
// slash makes no path.
func TestEscapedNicknames(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	id := alice.Publish("hello there").ID()
	for _, kind := range []string{"text/html", "application/activity+json"} {
		for path, want := range map[string]int{
			"/%40alice": 200, "/%40alice/" + id: 200, "/%40alice/": 200, "/%40alice%2F" + id: 404, "/%40nobody": 404, "/%2540alice": 404, "/%40alice%2F..": 404,
		} {
			got := srv.As(nil).DoRequest(srv.NewGet(srv.URL+path, kind))
			if got.Status != want {
				t.Errorf("%s as %s: %d, want %d", path, kind, got.Status, want)
			}
			if plain := srv.As(nil).DoRequest(srv.NewGet(srv.URL+strings.Replace(path, "%40", "@", 1), kind)); want == 200 && kind != "text/html" && string(plain.Body) != string(got.Body) {
				t.Errorf("%s as %s differs from the address with @", path, kind)
			}
		}
	}
	for _, path := range []string{"/%40alice.rss", "/%40alice.atom"} {
		if got := srv.As(nil).Get(path).Want(200); !strings.Contains(string(got.Body), "hello there") {
			t.Errorf("%s has no post: %s", path, got.Body)
		}
	}
}
