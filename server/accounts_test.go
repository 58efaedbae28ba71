package server_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc/internal/config"
	"svc/store"
)

// remote makes an account of another server known here.
func (a *api) remote(nick, domain string) string {
	a.t.Helper()
	acct := &store.Account{
		Nickname: nick, DisplayName: nick, Domain: domain, ActorType: "Person",
		URI: "https://" + domain + "/users/" + nick, URL: "https://" + domain + "/@" + nick,
	}
	if err := a.db.Update(context.Background(), func(tx *store.Tx) error { return tx.AddAccount(context.Background(), acct) }); err != nil {
		a.t.Fatal(err)
	}
	return acct.ID.String()
}

// to does something to another account: "follow", "block" and so on.
func (m *member) to(id, verb string, params ...string) *object {
	m.api.t.Helper()
	return m.post("/api/v1/accounts/"+id+"/"+verb, params...).want(200).object()
}

// relationship returns what m and another account are to each other.
func (m *member) relationship(id string) *object {
	m.api.t.Helper()
	return m.get("/api/v1/accounts/relationships", "id[]", id).want(200).list()[0]
}

// wantTruths checks booleans: those that are listed are true, and the others of these names false.
func (o *object) wantTruths(names []string, set ...string) {
	o.t.Helper()
	for _, name := range names {
		if got, want := o.truth(name), slices.Contains(set, name); got != want {
			o.t.Errorf("%s is %v, want %v: %v", name, got, want, o.m)
		}
	}
}

var relations = []string{"following", "followed_by", "requested", "requested_by", "blocking", "blocked_by", "muting", "muting_notifications",
	"domain_blocking", "endorsed", "notifying", "subscribing"}

func TestShowAccount(t *testing.T) {
	srv := startAPI(t)
	alice, bob, gone := srv.signUp("alice"), srv.signUp("Bob"), srv.signUp("gone")
	dave := srv.remote("dave", "example.com")
	srv.withhold(gone)
	for _, tt := range []struct {
		name string
		as   *member
		path string
		want string // id; "": not found
	}{
		{"by id", alice, bob.id, bob.id},
		{"by id, anonymous", nil, bob.id, bob.id},
		{"by nickname", alice, "bob", bob.id},
		{"by handle", nil, "@bob@" + strings.TrimPrefix(srv.url, "http://"), bob.id},
		{"by remote handle", alice, "dave%40example.com", dave},
		{"by remote handle, anonymous", nil, "dave%40example.com", ""},
		{"by remote handle, anonymous, deeper", nil, "dave%40example.com/statuses", ""},
		{"by remote id", nil, dave, dave},
		{"somebody elsewhere", alice, "bob@example.com", ""},
		{"an unknown id", alice, "0000000000000000AA", ""},
		{"an unknown nickname", alice, "nobody", ""},
		{"one that is withheld", alice, gone.id, ""},
		{"one that is withheld, by nickname", alice, "gone", ""},
		{"no name at all", alice, "%20", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.as(tt.as).get("/api/v1/accounts/" + tt.path)
			if tt.want == "" {
				a.wantError(404, "Record not found")
				return
			}
			if got := a.want(200).object().id(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}

	o := alice.get("/api/v1/accounts/" + dave).object()
	for path, want := range map[string]string{
		"acct": "dave@example.com", "fqn": "dave@example.com", "username": "dave", "url": "https://example.com/@dave", "svc.ap_id": "https://example.com/users/dave",
	} {
		if got := o.str(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if rel := o.at("svc.relationship").(map[string]any); len(rel) != 0 {
		t.Errorf("a relationship nobody asked for: %v", rel)
	}
	alice.to(bob.id, "follow")
	if !alice.get("/api/v1/accounts/bob", "with_relationships", "true").object().truth("svc.relationship.following") {
		t.Error("the relationship is not filled in")
	}
	own := alice.get("/api/v1/accounts/alice", "with_relationships", "true").object()
	own.at("svc.unread_notifications_count")
	if own.truth("svc.relationship.following") || own.at("svc").(map[string]any)["settings_store"] != nil {
		t.Errorf("one's own account: %v", own.m)
	}
	if bob.get("/api/v1/accounts/alice").object().at("svc").(map[string]any)["unread_notifications_count"] != nil {
		t.Error("others see how much alice has to read")
	}
}

func TestLookUpAccount(t *testing.T) {
	srv := startAPI(t)
	host := strings.TrimPrefix(srv.url, "http://")
	bob, gone := srv.signUp("bob"), srv.signUp("gone")
	dave := srv.remote("dave", "example.com")
	srv.withhold(gone)
	for acct, want := range map[string]string{
		"bob": bob.id, "@BOB": bob.id, "bob@" + host: bob.id, "@bob@" + host: bob.id, "dave@Example.COM": dave,
		"dave": "", "nobody": "", "gone": "", "": "", "@": "", "bob@example.com": "", bob.id: "",
	} {
		t.Run(acct, func(t *testing.T) {
			a := srv.as(nil).get("/api/v1/accounts/lookup", "acct", acct, "skip_webfinger", "false")
			if want == "" {
				a.wantError(404, "Record not found")
			} else if got := a.want(200).object().id(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	srv.as(nil).get("/api/v1/accounts/lookup").want(404)
}

func TestPrivateInstance(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.Instance.Public = false })
	alice := srv.signUp("alice")
	for _, path := range []string{"/api/v1/accounts/alice", "/api/v1/accounts/lookup?acct=alice", "/api/v1/accounts/search?q=alice",
		"/api/v1/accounts/" + alice.id + "/followers", "/api/v1/accounts/" + alice.id + "/following"} {
		srv.as(nil).get(path).wantError(401, "This API requires an authenticated user")
		alice.get(path).want(200)
	}
}

func TestSearchAccounts(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	name := map[string]string{alice.id: "alice"}
	people := map[string]*member{}
	for _, nick := range []string{"carol", "carola", "caroline", "blocked_carol", "blocking_carol", "gone_carol"} {
		people[nick] = srv.signUp(nick)
		name[people[nick].id] = nick
	}
	far := srv.remote("carol", "example.com")
	farther := srv.remote("carolus", "example.org")
	name[far], name[farther] = "carol@example.com", "carolus"
	people["carola"].send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"display_name": "Frau Ännchen O'Neil"}).want(200)
	alice.to(people["caroline"].id, "follow")
	alice.to(people["blocked_carol"].id, "block")
	people["blocking_carol"].to(alice.id, "block")
	srv.withhold(people["gone_carol"])
	for _, tt := range []struct {
		name   string
		as     *member
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
		{"the handle of somebody here", nil, []string{"q", "@Carol@" + srv.settings.Host()}, []string{"carol"}},
		{"the beginning of the handle of somebody here", alice, []string{"q", "carol@" + srv.settings.Host()[:4]}, []string{"carol"}},
		{"the handle of somebody here who is followed", alice, []string{"q", "caroline@" + srv.settings.Host(), "following", "true"}, []string{"caroline"}},
		{"a handle, anonymous", nil, []string{"q", "carol@example.com"}, []string{}},
		{"an address", alice, []string{"q", "https://example.com/@carol"}, []string{"carol@example.com"}},
		{"an ActivityPub id", alice, []string{"q", "https://example.com/users/carol", "resolve", "true"}, []string{"carol@example.com"}},
		{"an address of somebody here", nil, []string{"q", srv.url + "/@carol"}, []string{"carol"}},
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
			for _, id := range srv.as(tt.as).get("/api/v1/accounts/search", tt.params...).want(200).ids() {
				got = append(got, name[id])
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	alice.get("/api/v1/accounts/search").wantError(400, "Missing field: q.")
	found := alice.get("/api/v1/accounts/search", "q", "caroline", "with_relationships", "1").want(200).list()
	if !found[0].truth("svc.relationship.following") {
		t.Error("the relationship is not filled in")
	}
}

func TestRelationships(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol, gone := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol"), srv.signUp("gone")
	srv.withhold(gone)
	for _, tt := range []struct {
		query string
		want  []string
	}{
		{"?id[]=" + carol.id + "&id[]=" + bob.id, []string{carol.id, bob.id}},
		{"?id=" + bob.id, []string{bob.id}},
		{"?id[0]=" + bob.id + "&id[1]=" + carol.id, []string{bob.id, carol.id}},
		{"/?id=" + bob.id, []string{bob.id}},
		{"?id[]=0000000000000000AA&id[]=" + bob.id + "&id[]=nonsense&id[]=" + gone.id, []string{bob.id}},
		{"", []string{}},
		{"?id[]=" + alice.id, []string{alice.id}},
	} {
		if got := alice.get("/api/v1/accounts/relationships" + tt.query).want(200).ids(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.query, got, tt.want)
		}
	}
	bob.to(alice.id, "follow")
	alice.relationship(alice.id).wantTruths(relations)
	alice.relationship(bob.id).wantTruths(relations, "followed_by")
	srv.as(nil).get("/api/v1/accounts/relationships?id="+bob.id).wantError(401, "The access token is invalid")
}

func TestFollowersAndFollowing(t *testing.T) {
	srv := startAPI(t)
	star := srv.signUp("star")
	var ids []string
	for i := range 9 {
		fan := srv.signUp(fmt.Sprintf("fan%d", i))
		fan.to(star.id, "follow")
		star.to(fan.id, "follow")
		ids = append(ids, fan.id)
	}
	gone := srv.signUp("gone")
	gone.to(star.id, "follow")
	star.to(gone.id, "follow")
	srv.withhold(gone)
	slices.Reverse(ids)
	for _, which := range []string{"followers", "following"} {
		path := "/api/v1/accounts/" + star.id + "/" + which
		t.Run(which, func(t *testing.T) {
			wantPages(t, star, path+"?limit=2&with_relationships=true", ids)
			if got := srv.as(nil).get(path, "max_id", ids[3], "limit", "2").want(200).ids(); !slices.Equal(got, ids[4:6]) {
				t.Errorf("the account id is the cursor: got %v, want %v", got, ids[4:6])
			}
			first := star.get(path, "with_relationships", "true", "limit", "1").list()[0]
			first.wantTruths([]string{"svc.relationship.following", "svc.relationship.followed_by"}, "svc.relationship.following", "svc.relationship.followed_by")
			srv.as(nil).get("/api/v1/accounts/star/"+which).wantError(404, "Record not found")
			srv.as(nil).get("/api/v1/accounts/"+gone.id+"/"+which).wantError(404, "Record not found")
		})
	}
	star.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_followers": true, "hide_follows": true}).want(200)
	for _, which := range []string{"followers", "following"} {
		path := "/api/v1/accounts/" + star.id + "/" + which
		if got := srv.as(nil).get(path).want(200).ids(); len(got) != 0 {
			t.Errorf("hidden %s are shown: %v", which, got)
		}
		if got := star.get(path).want(200).ids(); !slices.Equal(got, ids) {
			t.Errorf("one's own %s are %v, want %v", which, got, ids)
		}
	}
	o := srv.as(nil).get("/api/v1/accounts/star").object()
	if o.num("followers_count") != 10 || o.num("following_count") != 10 {
		t.Errorf("counts are %d and %d: they are not hidden yet", o.num("followers_count"), o.num("following_count"))
	}
	star.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_followers_count": true, "hide_follows_count": true}).want(200)
	if o := srv.as(nil).get("/api/v1/accounts/star").object(); o.num("followers_count")+o.num("following_count") != 0 {
		t.Errorf("hidden counts are shown: %v", o.m)
	}
	if o := star.get("/api/v1/accounts/star").object(); o.num("followers_count") != 10 {
		t.Errorf("one's own counts are hidden: %v", o.m)
	}
}

func TestAccountFavourites(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	bob.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_favorites": false}).want(200)
	var want []string
	for i := range 5 {
		id := alice.publish(fmt.Sprint("good post ", i)).id()
		bob.post("/api/v1/statuses/" + id + "/favourite").want(200)
		want = append(want, id)
	}
	secret := alice.publish("for @bob", "visibility", "direct").id()
	bob.post("/api/v1/statuses/" + secret + "/favourite").want(200)
	slices.Reverse(want)
	path := "/api/v1/svc/accounts/" + bob.id + "/favourites"
	wantPages(t, carol, path+"?limit=2", want)
	for _, tt := range []struct {
		name string
		as   *member
		want []string
	}{
		{"anonymous", nil, want},
		{"bob himself", bob, append([]string{secret}, want...)},
		{"the author", alice, append([]string{secret}, want...)},
	} {
		if got := srv.as(tt.as).get(path).want(200).ids(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	carol.to(alice.id, "block")
	if got := carol.get(path).want(200).ids(); len(got) != 0 {
		t.Errorf("posts of the blocked: %v", got)
	}
	srv.as(nil).get("/api/svc/accounts/0000000000000000AA/favourites").wantError(404, "Record not found")
	bob.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_favorites": true}).want(200)
	srv.as(nil).get(path).wantError(403, "Can't get favorites")
	alice.get(path).wantError(403, "Can't get favorites")
	if got := bob.get(path).want(200).ids(); len(got) != 6 {
		t.Errorf("bob's own favourites are %v", got)
	}
}

func TestEmptyAccountLists(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	for _, name := range []string{"identity_proofs", "featured_tags"} {
		if a := srv.as(nil).get("/api/v1/accounts/" + alice.id + "/" + name).want(200); string(a.body) != "[]" {
			t.Errorf("%s: got %s, want []", name, a.body)
		}
	}
}

// Counters are exact however many people follow and unfollow at the same time, and do each thing twice.
func TestConcurrentFollows(t *testing.T) {
	srv := startAPI(t)
	star := srv.signUp("star")
	const n = 50
	fans := make([]*member, n)
	for i := range fans {
		fans[i] = srv.signUp(fmt.Sprintf("fan%d", i))
	}
	var wg sync.WaitGroup
	for i, fan := range fans {
		for range 2 {
			wg.Go(func() {
				fan.post("/api/v1/accounts/" + star.id + "/follow")
				if i%5 == 0 {
					fan.post("/api/v1/accounts/" + star.id + "/unfollow")
					fan.post("/api/v1/accounts/" + star.id + "/follow")
				}
			})
		}
	}
	wg.Wait()
	if got := star.get("/api/v1/accounts/star").object().num("followers_count"); got != n {
		t.Errorf("%d followers, want %d", got, n)
	}
	for _, fan := range fans {
		wg.Go(func() { fan.post("/api/v1/accounts/" + star.id + "/unfollow") })
		wg.Go(func() { fan.post("/api/v1/accounts/" + star.id + "/unfollow") })
	}
	wg.Wait()
	if got := star.get("/api/v1/accounts/star").object().num("followers_count"); got != 0 {
		t.Errorf("%d followers, want none", got)
	}
	if got := fans[0].get("/api/v1/accounts/fan0").object().num("following_count"); got != 0 {
		t.Errorf("follows %d, want nobody", got)
	}
}
