package server_test

import (
	"fmt"
	"slices"
	"testing"
)

func TestFollowTags(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	home := func(m *member) []string { return m.get("/api/v1/timelines/home", "limit", "40").want(200).ids() }
	old := bob.publish("before #Trains").id()
	bob.publish("quiet #trains", "visibility", "unlisted")
	for range 2 { // following twice is no error
		tag := alice.post("/api/v1/tags/Trains/follow").want(200).object()
		if tag.str("name") != "trains" || !tag.truth("following") || tag.str("url") != srv.url+"/tags/trains" {
			t.Errorf("got %v", tag.m)
		}
	}
	wantIDs(t, "what there was", alice.get("/api/v1/timelines/home"), old)
	public := bob.publish("one #trains").id()
	local := bob.publish("two #TRAINS", "visibility", "local").id()
	both := bob.publish("three #trains #tea").id()
	for _, v := range []string{"unlisted", "private", "direct"} {
		bob.publish("more #trains", "visibility", v)
	}
	bob.publish("elsewhere #trainspotting")
	carol.post("/api/v1/statuses/" + public + "/reblog").want(200)
	own := alice.publish("mine #trains").id()
	wantIDs(t, "what comes", alice.get("/api/v1/timelines/home"), own, both, local, public, old)
	wantIDs(t, "who follows nothing", carol.get("/api/v1/timelines/home"), carol.get("/api/v1/accounts/carol/statuses").ids()...)

	// An edit that adds the hashtag.
	late := bob.publish("later").id()
	bob.send("PUT", "/api/v1/statuses/"+late, map[string]any{"status": "later #trains"}).want(200)
	if got := home(alice); got[0] != late {
		t.Errorf("the edited post is not there: %v", got)
	}
	bob.do("DELETE", "/api/v1/statuses/"+late, "", nil).want(200)

	// Blocks, mutes and domain blocks apply when home is read.
	alice.post("/api/v1/accounts/" + bob.id + "/mute").want(200)
	wantIDs(t, "muted", alice.get("/api/v1/timelines/home"), own)
	alice.post("/api/v1/accounts/" + bob.id + "/unmute").want(200)
	wantIDs(t, "no longer muted", alice.get("/api/v1/timelines/home"), own, both, local, public, old)

	// Who is followed and then not, leaves what the hashtag brought.
	alice.post("/api/v1/accounts/" + bob.id + "/follow").want(200)
	plain := bob.publish("no hashtag").id()
	if got := home(alice); !slices.Contains(got, plain) {
		t.Errorf("a follower's home lacks the post: %v", got)
	}
	alice.post("/api/v1/accounts/" + bob.id + "/unfollow").want(200)
	wantIDs(t, "unfollowed", alice.get("/api/v1/timelines/home"), own, both, local, public, old)

	// Made anew, home is the same.
	if err := srv.social.RebuildHome(t.Context(), alice.accountID()); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "made anew", alice.get("/api/v1/timelines/home"), own, both, local, public, old)

	// Unfollowing takes away what came by this hashtag only.
	alice.post("/api/v1/tags/tea/follow").want(200)
	alice.post("/api/v1/accounts/" + carol.id + "/follow").want(200)
	hers := carol.publish("hers #trains").id()
	boost := carol.get("/api/v1/accounts/carol/statuses").ids()[1]
	for range 2 {
		if tag := alice.post("/api/v1/tags/trains/unfollow").want(200).object(); tag.truth("following") {
			t.Errorf("got %v", tag.m)
		}
	}
	wantIDs(t, "without the hashtag", alice.get("/api/v1/timelines/home"), hers, own, boost, both)
	bob.publish("again #trains")
	wantIDs(t, "afterwards", alice.get("/api/v1/timelines/home"), hers, own, boost, both)
}

// An exclusive list keeps posts out of home by whatever way they come.
func TestFollowedTagsAndExclusiveLists(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	list := alice.post("/api/v1/lists", "title", "apart", "exclusive", "true").want(200).object().id()
	alice.post("/api/v1/lists/"+list+"/accounts", "account_ids[]", bob.id).want(200)
	bob.publish("before #trains")
	alice.post("/api/v1/tags/trains/follow").want(200)
	st := bob.publish("one #trains").id()
	bob.send("PUT", "/api/v1/statuses/"+st, map[string]any{"status": "once more #trains"}).want(200)
	wantIDs(t, "home", alice.get("/api/v1/timelines/home"))
}

func TestTags(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	if tag := srv.as(nil).get("/api/v1/tags/Trains").want(200).object(); tag.str("name") != "trains" || tag.has("following") {
		t.Errorf("got %v", tag.m)
	}
	if tag := alice.get("/api/v1/tags/%23Z%C3%BCge").want(200).object(); tag.str("name") != "züge" || tag.truth("following") {
		t.Errorf("got %v", tag.m)
	}
	for _, name := range []string{"no-tag", "1234", "%20", "a%2Fb"} {
		alice.get("/api/v1/tags/"+name).wantError(404, "Record not found")
		alice.post("/api/v1/tags/"+name+"/follow").wantError(404, "Record not found")
		alice.post("/api/v1/tags/"+name+"/unfollow").wantError(404, "Record not found")
	}
	srv.as(nil).post("/api/v1/tags/trains/follow").wantError(401, "The access token is invalid")
	before := srv.count(`SELECT count(*) FROM tags`)
	alice.post("/api/v1/tags/neverused/follow").want(200)
	alice.post("/api/v1/tags/neverused/unfollow").want(200)
	if got := srv.count(`SELECT count(*) FROM tags`); got != before {
		t.Errorf("%d hashtags are left, want %d", got, before)
	}
}

func TestFollowedTagsPaging(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	var want []string
	for i := range 25 {
		name := fmt.Sprintf("tag%c", 'a'+i)
		alice.post("/api/v1/tags/" + name + "/follow").want(200)
		want = append([]string{name}, want...)
	}
	var got []string
	for path := "/api/v1/followed_tags?limit=10"; path != ""; {
		page := alice.get(path).want(200)
		for _, tag := range page.list() {
			if !tag.truth("following") {
				t.Errorf("got %v", tag.m)
			}
			got = append(got, tag.str("name"))
		}
		path = page.links()["next"]
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if others := bob.get("/api/v1/followed_tags").want(200).list(); len(others) > 0 {
		t.Errorf("bob follows %d hashtags", len(others))
	}
	srv.insert(`INSERT INTO tags (name) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT 'many' || i FROM n`)
	srv.insert(`INSERT INTO tag_follows (id, account_id, tag_id) SELECT id, ?, id FROM tags WHERE name LIKE 'many%'`, bob.accountID())
	bob.post("/api/v1/tags/onemore/follow").wantError(422, "Validation failed: You follow as many hashtags as one can")
	bob.post("/api/v1/tags/many1/follow").want(200)
	bob.post("/api/v1/tags/many2/unfollow").want(200)
	bob.post("/api/v1/tags/onemore/follow").want(200)
}
