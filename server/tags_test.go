package server_test

import (
	"fmt"
	"slices"
	"svc/app/apptest"
	"testing"
)

func TestFollowTags(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	home := func(m *apptest.User) []string { return m.Get("/api/v1/timelines/home", "limit", "40").Want(200).IDs() }
	old := bob.Publish("before #Trains").ID()
	bob.Publish("quiet #trains", "visibility", "unlisted")
	for range 2 { // following twice is not an error
		tag := alice.Post("/api/v1/tags/Trains/follow").Want(200).Object()
		if tag.Str("name") != "trains" || !tag.Bool("following") || tag.Str("url") != srv.URL+"/tags/trains" {
			t.Errorf("got %v", tag.Fields)
		}
	}
	apptest.WantIDs(t, "existing posts", alice.Get("/api/v1/timelines/home"), old)
	public := bob.Publish("one #trains").ID()
	local := bob.Publish("two #TRAINS", "visibility", "local").ID()
	both := bob.Publish("three #trains #tea").ID()
	for _, v := range []string{"unlisted", "private", "direct"} {
		bob.Publish("more #trains", "visibility", v)
	}
	bob.Publish("another hashtag #trainspotting")
	carol.Post("/api/v1/statuses/" + public + "/reblog").Want(200)
	own := alice.Publish("mine #trains").ID()
	apptest.WantIDs(t, "new posts", alice.Get("/api/v1/timelines/home"), own, both, local, public, old)
	apptest.WantIDs(t, "without followed hashtags", carol.Get("/api/v1/timelines/home"), carol.Get("/api/v1/accounts/carol/statuses").IDs()...)

	// An edit that adds the hashtag.
	late := bob.Publish("later").ID()
	bob.SendJSON("PUT", "/api/v1/statuses/"+late, map[string]any{"status": "later #trains"}).Want(200)
	if got := home(alice); got[0] != late {
		t.Errorf("the edited post is missing: %v", got)
	}
	bob.Do("DELETE", "/api/v1/statuses/"+late, "", nil).Want(200)

	// Blocks, mutes and domain blocks apply when home is read.
	alice.Post("/api/v1/accounts/" + bob.ID + "/mute").Want(200)
	apptest.WantIDs(t, "muted", alice.Get("/api/v1/timelines/home"), own)
	alice.Post("/api/v1/accounts/" + bob.ID + "/unmute").Want(200)
	apptest.WantIDs(t, "no longer muted", alice.Get("/api/v1/timelines/home"), own, both, local, public, old)

	// Unfollowing an account keeps its posts with the hashtag.
	alice.Post("/api/v1/accounts/" + bob.ID + "/follow").Want(200)
	plain := bob.Publish("no hashtag").ID()
	if got := home(alice); !slices.Contains(got, plain) {
		t.Errorf("a follower's home lacks the post: %v", got)
	}
	alice.Post("/api/v1/accounts/" + bob.ID + "/unfollow").Want(200)
	apptest.WantIDs(t, "unfollowed", alice.Get("/api/v1/timelines/home"), own, both, local, public, old)

	// A rebuilt home is the same.
	if err := srv.Social.RebuildHome(t.Context(), alice.AccountID(), 100); err != nil {
		t.Fatal(err)
	}
	apptest.WantIDs(t, "rebuilt", alice.Get("/api/v1/timelines/home"), own, both, local, public, old)

	// Unfollowing the hashtag removes posts that are in home only because of it.
	alice.Post("/api/v1/tags/tea/follow").Want(200)
	alice.Post("/api/v1/accounts/" + carol.ID + "/follow").Want(200)
	hers := carol.Publish("hers #trains").ID()
	boost := carol.Get("/api/v1/accounts/carol/statuses").IDs()[1]
	for range 2 {
		if tag := alice.Post("/api/v1/tags/trains/unfollow").Want(200).Object(); tag.Bool("following") {
			t.Errorf("got %v", tag.Fields)
		}
	}
	apptest.WantIDs(t, "without the hashtag", alice.Get("/api/v1/timelines/home"), hers, own, boost, both)
	bob.Publish("again #trains")
	apptest.WantIDs(t, "afterwards", alice.Get("/api/v1/timelines/home"), hers, own, boost, both)
}

// TestFollowedTagsAndExclusiveLists checks that posts of members of an exclusive list do not enter home by a hashtag.
func TestFollowedTagsAndExclusiveLists(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	list := alice.Post("/api/v1/lists", "title", "apart", "exclusive", "true").Want(200).Object().ID()
	alice.Post("/api/v1/lists/"+list+"/accounts", "account_ids[]", bob.ID).Want(200)
	bob.Publish("before #trains")
	alice.Post("/api/v1/tags/trains/follow").Want(200)
	st := bob.Publish("one #trains").ID()
	bob.SendJSON("PUT", "/api/v1/statuses/"+st, map[string]any{"status": "once more #trains"}).Want(200)
	apptest.WantIDs(t, "home", alice.Get("/api/v1/timelines/home"))
}

func TestTags(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	if tag := srv.As(nil).Get("/api/v1/tags/Trains").Want(200).Object(); tag.Str("name") != "trains" || tag.ID() != "trains" || tag.Has("following") {
		t.Errorf("got %v", tag.Fields)
	}
	if tag := alice.Get("/api/v1/tags/%23Z%C3%BCge").Want(200).Object(); tag.Str("name") != "züge" || tag.Bool("following") {
		t.Errorf("got %v", tag.Fields)
	}
	for _, name := range []string{"no-tag", "1234", "%20", "a%2Fb"} {
		alice.Get("/api/v1/tags/"+name).WantError(404, "Record not found")
		alice.Post("/api/v1/tags/"+name+"/follow").WantError(404, "Record not found")
		alice.Post("/api/v1/tags/"+name+"/unfollow").WantError(404, "Record not found")
	}
	srv.As(nil).Post("/api/v1/tags/trains/follow").WantError(401, "The access token is invalid")
	before := srv.Count(`SELECT count(*) FROM tags`)
	alice.Post("/api/v1/tags/neverused/follow").Want(200)
	alice.Post("/api/v1/tags/neverused/unfollow").Want(200)
	if got := srv.Count(`SELECT count(*) FROM tags`); got != before {
		t.Errorf("there are %d hashtags, want %d", got, before)
	}
}

func TestFollowedTagsPaging(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	var want []string
	for i := range 25 {
		name := fmt.Sprintf("tag%c", 'a'+i)
		alice.Post("/api/v1/tags/" + name + "/follow").Want(200)
		want = append([]string{name}, want...)
	}
	var got []string
	for path := "/api/v1/followed_tags?limit=10"; path != ""; {
		page := alice.Get(path).Want(200)
		for _, tag := range page.List() {
			if !tag.Bool("following") {
				t.Errorf("got %v", tag.Fields)
			}
			got = append(got, tag.Str("name"))
		}
		path = page.Links()["next"]
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if others := bob.Get("/api/v1/followed_tags").Want(200).List(); len(others) > 0 {
		t.Errorf("bob follows %d hashtags", len(others))
	}
	srv.Exec(`INSERT INTO tags (name, key) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT 'many' || i, 'many' || i FROM n`)
	srv.Exec(`INSERT INTO tag_follows (id, account_id, tag_id) SELECT id, ?, id FROM tags WHERE name LIKE 'many%'`, bob.AccountID())
	bob.Post("/api/v1/tags/onemore/follow").WantError(422, "Validation failed: You cannot follow more than 500 hashtags")
	bob.Post("/api/v1/tags/many1/follow").Want(200)
	bob.Post("/api/v1/tags/many2/unfollow").Want(200)
	bob.Post("/api/v1/tags/onemore/follow").Want(200)
}
