package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc/store"
)

// TestCollections walks the collections of an account (federation 7.2 case 10, 11, 12).
func TestCollections(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	peer := startFake(t)
	follower := peer.befriend(srv, "follower", alice)
	me := srv.url + "/users/" + alice.id
	stranger := bob.publish("boost me").id()
	boost := alice.post("/api/v1/statuses/" + stranger + "/reblog").want(200).object()
	var open []string
	for i := range 45 {
		open = append(open, srv.url+"/activities/"+alice.publish(fmt.Sprint("post ", i), "visibility", []string{"public", "unlisted"}[i%2]).id())
	}
	private := alice.publish("for followers", "visibility", "private").id()
	for _, v := range []string{"local", "direct"} {
		alice.publish("hidden", "visibility", v)
	}
	again := alice.post("/api/v1/statuses/" + private + "/reblog").want(200).object()

	walk := func(path, signer string) (items []any) {
		t.Helper()
		c := peer.fetchAs(srv, path, signer, activityJSON).want(200).is(doc{"type": "OrderedCollection", "id": srv.url + path}).document()
		next, _ := c["first"].(string)
		for n := 0; next != ""; n++ {
			if n > 10 {
				t.Fatalf("%s has no end", path)
			}
			page := peer.fetchAs(srv, next, signer, activityJSON).want(200).is(doc{"type": "OrderedCollectionPage", "id": next, "partOf": srv.url + path}).document()
			items = append(items, page["orderedItems"].([]any)...)
			next, _ = page["next"].(string)
		}
		return items
	}
	ids := func(items []any) (ids []string) {
		for _, item := range items {
			ids = append(ids, item.(doc)["id"].(string))
		}
		return ids
	}
	want := append([]string{boost.str("uri")}, open...)
	slices.Reverse(want)
	if got := ids(walk("/users/"+alice.id+"/outbox", "")); !slices.Equal(got, want) {
		t.Errorf("the outbox has %v, want %v", got, want)
	}
	want = append([]string{again.str("uri"), srv.url + "/activities/" + private}, want...)
	items := walk("/users/"+alice.id+"/outbox", follower)
	if got := ids(items); !slices.Equal(got, want) {
		t.Errorf("the outbox has for a follower %v, want %v", got, want)
	}
	embedded, ok := items[0].(doc)["object"].(doc)
	if !ok || embedded["id"] != srv.url+"/objects/"+private || embedded["attributedTo"] != me { // nobody else could fetch it
		t.Errorf("the boost of a private post has %v", items[0])
	}
	if object := items[len(items)-1].(doc)["object"]; object != srv.url+"/objects/"+stranger {
		t.Errorf("the boost has %v", object)
	}
	pages := srv.document("/users/" + alice.id + "/outbox?page=true").want(200).document()
	back := srv.document(pages["prev"].(string)).want(200).document()
	if len(back["orderedItems"].([]any)) != 0 {
		t.Errorf("before the first page: %v", back)
	}

	bob.to(alice.id, "follow")
	if got := fmt.Sprint(walk("/users/"+alice.id+"/followers", "")); !strings.Contains(got, follower) || !strings.Contains(got, bob.id) {
		t.Errorf("followers are %s", got)
	}
	if got := fmt.Sprint(walk("/users/"+bob.id+"/following", "")); got != "["+me+"]" {
		t.Errorf("bob follows %s", got)
	}
	srv.document("/users/" + alice.id + "/followers").is(doc{"totalItems": 2})
	alice.send("PATCH", "/api/v1/accounts/update_credentials", jsonBody{"hide_followers": true, "hide_follows": true}).want(200)
	for _, path := range []string{"/followers", "/following"} {
		c := srv.document("/users/" + alice.id + path).want(200).document()
		if _, ok := c["first"]; ok || c["totalItems"] == nil {
			t.Errorf("hidden %s: %v", path, c)
		}
		for _, query := range []string{"?page=true", "?page=1", "?max_id=" + alice.id} {
			peer.fetchAs(srv, "/users/"+alice.id+path+query, follower, activityJSON).wantError(403, "This list is not shown")
		}
	}
	alice.send("PATCH", "/api/v1/accounts/update_credentials", jsonBody{"hide_followers_count": true, "hide_follows_count": true}).want(200)
	for _, path := range []string{"/followers", "/following"} {
		if c := srv.document("/users/" + alice.id + path).want(200).document(); c["totalItems"] != nil {
			t.Errorf("hidden count of %s: %v", path, c)
		}
	}

	first, second, third := bob.publish("one").id(), bob.publish("two", "visibility", "private").id(), bob.publish("three").id()
	for i, id := range []string{third, second, first} { // the newest pin is of the oldest post
		srv.insert(`INSERT INTO pins (status_id, account_id, pinned_at) VALUES (?, ?, ?)`, statusID(id), bob.accountID(), i)
	}
	c := peer.fetchAs(srv, "/users/"+bob.id+"/collections/featured", follower, activityJSON).want(200).is(doc{"totalItems": 2}).document()
	if got, want := ids(c["orderedItems"].([]any)), []string{srv.url + "/objects/" + first, srv.url + "/objects/" + third}; !slices.Equal(got, want) {
		t.Errorf("pinned are %v, want %v", got, want)
	}
}

// TestRepliesAndThreads reads what an author has answered to a post, and a thread.
func TestRepliesAndThreads(t *testing.T) {
	srv := startPeers(t, 1)[0]
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	root := alice.publish("root").id()
	var own, all []any
	all = append(all, srv.url+"/objects/"+root)
	for i := range 27 {
		id := alice.publish(fmt.Sprint("more ", i), "in_reply_to_id", root).id()
		own = append(own, srv.url+"/objects/"+id)
		all = append(all, srv.url+"/objects/"+id)
	}
	all = append(all, srv.url+"/objects/"+bob.publish("answer", "in_reply_to_id", root).id())
	bob.publish("whisper", "in_reply_to_id", root, "visibility", "direct")
	alice.publish("here only", "in_reply_to_id", root, "visibility", "local")
	alice.publish("for followers", "in_reply_to_id", root, "visibility", "private")

	var got []any
	c := srv.document("/objects/" + root + "/replies").want(200).is(doc{"type": "Collection"}).document()
	page := c["first"].(doc)
	for n := 0; ; n++ {
		got = append(got, page["items"].([]any)...)
		next, ok := page["next"].(string)
		if !ok || n > 10 {
			break
		}
		page = srv.document(next).want(200).is(doc{"type": "CollectionPage"}).document()
	}
	if fmt.Sprint(got) != fmt.Sprint(own) {
		t.Errorf("replies are %v, want %v", got, own)
	}
	object := srv.document("/objects/" + root).want(200).document()
	if items := object["replies"].(doc)["first"].(doc)["items"].([]any); fmt.Sprint(items) != fmt.Sprint(own[:5]) {
		t.Errorf("the post has the replies %v", items)
	}
	thread := srv.document("/contexts/" + root + "?page=true").want(200).document()
	if got := thread["orderedItems"]; fmt.Sprint(got) != fmt.Sprint(all) {
		t.Errorf("the thread is %v, want %v", got, all)
	}
	secret := bob.publish("a secret", "visibility", "private").id()
	for _, path := range []string{"/contexts/" + secret, "/contexts/nonsense", "/objects/" + secret + "/replies", "/objects/nonsense/replies"} {
		srv.document(path).wantError(404, "Record not found")
	}
}

// TestActivities reads the activities that made rows, and those on their way (federation 1.11).
func TestActivities(t *testing.T) {
	srv := startPeers(t, 1)[0]
	srv.addEmoji("blobs", map[string]string{"cat": "cat.png"})
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	peer := startFake(t)
	follower := peer.befriend(srv, "follower", alice)
	me := srv.url + "/users/" + alice.id
	st := bob.publish("like me").id()
	alice.post("/api/v1/statuses/" + st + "/favourite").want(200)
	alice.send("PUT", "/api/v1/svc/statuses/"+st+"/reactions/🔥", nil).want(200)
	row := func(query string) string {
		return srv.url + "/activities/" + store.StatusID(srv.count(query)).String()
	}
	like := row(`SELECT id FROM favourites`)
	srv.document(like).want(200).is(doc{
		"id": like, "type": "Like", "actor": me, "object": srv.url + "/objects/" + st,
		"to": []any{srv.url + "/users/" + bob.id, me + "/followers"}, "cc": []any{toPublic},
	})
	react := row(`SELECT id FROM reactions`)
	srv.document(react).want(200).is(doc{"id": react, "type": "EmojiReact", "actor": me, "content": "🔥", "object": srv.url + "/objects/" + st})

	alice.to(srv.idOf(follower), "follow")
	follow := row(`SELECT id FROM follows WHERE follower_local = 1`)
	srv.document(follow).wantError(404, "Record not found") // who follows whom is not for everybody
	peer.fetchAs(srv, follow, follower, activityJSON).want(200).is(doc{"type": "Follow", "actor": me, "object": follower, "to": []any{follower}})

	boost := alice.post("/api/v1/statuses/" + st + "/reblog").want(200).object().str("uri")
	srv.document(boost).want(200).is(doc{"type": "Announce", "to": []any{toPublic}})
	browser := srv.as(nil).request(srv.newGet(boost, "text/html"))
	browser.want(302).leadsTo(srv.url + "/@bob/" + st)
	alice.post("/api/v1/statuses/" + st + "/unreblog").want(200)
	srv.document(boost).want(410).is(doc{"id": boost, "type": "Tombstone", "formerType": "Announce"})
	bob.send("DELETE", "/api/v1/statuses/"+st, nil).want(200)
	srv.document("/activities/" + st).want(410).is(doc{"id": srv.url + "/activities/" + st, "type": "Tombstone", "formerType": "Create"})
	srv.document(like).wantError(404, "Record not found")
}
