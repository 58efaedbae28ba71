package server_test

import (
	"reflect"
	"testing"

	"svc/social"
)

// The answer to a new post is rendered of what it was composed of. It is what a later request reads: at first from the same
// rendering, then from the database.
func TestPublishedIsWhatIsRead(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	srv.signUp("carol")
	hello := bob.publish("hello @carol").id()
	secret := bob.publish("psst @alice", "visibility", "direct").id()
	photo := alice.upload(jpegFile(40, 30)).id()
	list := alice.send("POST", "/api/v1/lists", map[string]any{"title": "friends"}).want(200).object().id()
	alice.post("/api/v1/accounts/" + bob.id + "/follow").want(200)
	alice.send("POST", "/api/v1/lists/"+list+"/accounts", map[string]any{"account_ids": []string{bob.id}}).want(200)
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
		{"for followers, for a day", "soon gone", []string{"visibility", "private", "expires_in", "86400"}},
		{"markdown", "*so* `it` is", []string{"content_type", "text/markdown"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			published := alice.publish(tt.text, tt.params...)
			kept := alice.get("/api/v1/statuses/" + published.id()).want(200).object()
			srv.entities.Forget()
			read := alice.get("/api/v1/statuses/" + published.id()).want(200).object()
			if !reflect.DeepEqual(published.m, read.m) {
				t.Errorf("published\n%v\nread\n%v", published.m, read.m)
			}
			if !reflect.DeepEqual(kept.m, read.m) {
				t.Errorf("kept\n%v\nread\n%v", kept.m, read.m)
			}
		})
	}
}

// What is shown of an account after its counters have changed is what is read anew.
func TestCountersAreWhatIsRead(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	same := func(when string, counts map[string]int) {
		t.Helper()
		path := "/api/v1/accounts/" + alice.id
		kept := bob.get(path).want(200).object()
		srv.entities.Forget()
		read := bob.get(path).want(200).object()
		if !reflect.DeepEqual(kept.m, read.m) {
			t.Errorf("%s: kept\n%v\nread\n%v", when, kept.m, read.m)
		}
		for key, want := range counts {
			if got := kept.num(key); got != want {
				t.Errorf("%s: %s is %d, want %d", when, key, got, want)
			}
		}
	}
	same("at first", map[string]int{"statuses_count": 0})
	alice.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"display_name": `"followers_count":7,"emojis":`}).want(200)
	alice.publish("one")
	same("after a post", map[string]int{"statuses_count": 1})
	bob.post("/api/v1/accounts/" + alice.id + "/follow").want(200)
	same("followed", map[string]int{"followers_count": 1, "statuses_count": 1})
	alice.post("/api/v1/accounts/" + bob.id + "/follow").want(200)
	same("following", map[string]int{"followers_count": 1, "following_count": 1})
	alice.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{
		"hide_followers": true, "hide_followers_count": true,
	}).want(200)
	alice.publish("two")
	same("with followers hidden", map[string]int{"followers_count": 0, "following_count": 1, "statuses_count": 2})
	alice.publish("three")
	same("and once more", map[string]int{"followers_count": 0, "following_count": 1, "statuses_count": 3})
}

// A rendering that was begun before a change is not kept after it.
func TestPublishedIsNotKeptOverAChange(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	author, err := srv.db.AccountByName(t.Context(), "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	mark := srv.entities.Mark()
	c, err := srv.social.Publish(t.Context(), author, social.Draft{Text: "like me"})
	if err != nil {
		t.Fatal(err)
	}
	path := "/api/v1/statuses/" + c.ID.String()
	bob.post(path + "/favourite").want(200)
	if _, err := srv.entities.Published(t.Context(), author, c, mark); err != nil {
		t.Fatal(err)
	}
	if got := alice.get(path).want(200).object().num("favourites_count"); got != 1 {
		t.Errorf("%d favourites, want 1", got)
	}
}
