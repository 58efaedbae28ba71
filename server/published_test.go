package server_test

import (
	"reflect"
	"testing"

	"svc/app/apptest"
	"svc/social"
)

// TestPublishedEqualsRead checks that the response to a new post, which is rendered from the published rows, equals the entity that is
// read later, from the cache and from the database.
func TestPublishedEqualsRead(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	srv.SignUp("carol")
	hello := bob.Publish("hello @carol").ID()
	secret := bob.Publish("psst @alice", "visibility", "direct").ID()
	photo := alice.Upload(apptest.JPEG(40, 30)).ID()
	list := alice.SendJSON("POST", "/api/v1/lists", map[string]any{"title": "friends"}).Want(200).Object().ID()
	alice.Post("/api/v1/accounts/" + bob.ID + "/follow").Want(200)
	alice.SendJSON("POST", "/api/v1/lists/"+list+"/accounts", map[string]any{"account_ids": []string{bob.ID}}).Want(200)
	for _, tt := range []struct {
		name   string
		text   string
		params []string
	}{
		{"plain", "hello & <world>", nil},
		{"mentions and hashtags", "@bob @carol @nobody @bob #One #two #one", nil},
		{"a reply", "@carol yes", []string{"in_reply_to_id", hello}},
		{"a reply without mention", "yes", []string{"in_reply_to_id", hello}},
		{"a direct reply", "yes @carol", []string{"in_reply_to_id", secret, "visibility", "direct"}},
		{"named, not mentioned", "hello @bob", []string{"to[]", "carol"}},
		{"a picture", "look", []string{"media_ids[]", photo}},
		{"for a list", "friends", []string{"visibility", "list:" + list}},
		{"hidden, in another language", "olá", []string{"spoiler_text", "a < b", "language", "pt", "sensitive", "true"}},
		{"for followers, for a day", "expires soon", []string{"visibility", "private", "expires_in", "86400"}},
		{"markdown", "*so* `it` is", []string{"content_type", "text/markdown"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			published := alice.Publish(tt.text, tt.params...)
			cached := alice.Get("/api/v1/statuses/" + published.ID()).Want(200).Object()
			srv.Entities.InvalidateAll()
			read := alice.Get("/api/v1/statuses/" + published.ID()).Want(200).Object()
			if !reflect.DeepEqual(published.Fields, read.Fields) {
				t.Errorf("published\n%v\nread\n%v", published.Fields, read.Fields)
			}
			if !reflect.DeepEqual(cached.Fields, read.Fields) {
				t.Errorf("cached\n%v\nread\n%v", cached.Fields, read.Fields)
			}
		})
	}
}

// TestCachedCountersEqualRead checks that a cached account with changed counters equals one that is rendered from the database.
func TestCachedCountersEqualRead(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	same := func(when string, counts map[string]int) {
		t.Helper()
		path := "/api/v1/accounts/" + alice.ID
		cached := bob.Get(path).Want(200).Object()
		srv.Entities.InvalidateAll()
		read := bob.Get(path).Want(200).Object()
		if !reflect.DeepEqual(cached.Fields, read.Fields) {
			t.Errorf("%s: cached\n%v\nread\n%v", when, cached.Fields, read.Fields)
		}
		for key, want := range counts {
			if got := cached.Int(key); got != want {
				t.Errorf("%s: %s is %d, want %d", when, key, got, want)
			}
		}
	}
	same("at first", map[string]int{"statuses_count": 0})
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"display_name": `"followers_count":7,"emojis":`}).Want(200)
	alice.Publish("one")
	same("after a post", map[string]int{"statuses_count": 1})
	bob.Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200)
	same("followed", map[string]int{"followers_count": 1, "statuses_count": 1})
	alice.Post("/api/v1/accounts/" + bob.ID + "/follow").Want(200)
	same("following", map[string]int{"followers_count": 1, "following_count": 1})
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{
		"hide_followers": true, "hide_followers_count": true,
	}).Want(200)
	alice.Publish("two")
	same("with followers hidden", map[string]int{"followers_count": 0, "following_count": 1, "statuses_count": 2})
	alice.Publish("three")
	same("and once more", map[string]int{"followers_count": 0, "following_count": 1, "statuses_count": 3})
}

// TestOutdatedRenderingIsNotCached checks that a rendering that began before a change is not cached after it.
func TestOutdatedRenderingIsNotCached(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	author, err := srv.DB.AccountByName(t.Context(), "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	mark := srv.Entities.Generation()
	c, err := srv.Social.Publish(t.Context(), author, social.Draft{Content: social.Content{Text: "like me"}})
	if err != nil {
		t.Fatal(err)
	}
	path := "/api/v1/statuses/" + c.ID.String()
	bob.Post(path + "/favourite").Want(200)
	if _, err := srv.Entities.PublishedStatus(t.Context(), author, c, mark); err != nil {
		t.Fatal(err)
	}
	if got := alice.Get(path).Want(200).Object().Int("favourites_count"); got != 1 {
		t.Errorf("%d favourites, want 1", got)
	}
}
