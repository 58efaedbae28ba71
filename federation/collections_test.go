package federation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

// TestCollections pages through the collections of an account (federation 7.2 cases 10, 11, 12).
func TestCollections(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	peer := apptest.StartFake(t)
	follower := peer.AddFollower(srv, "follower", alice)
	me := srv.URL + "/users/" + alice.ID
	boosted := bob.Publish("boost me").ID()
	boost := alice.Post("/api/v1/statuses/" + boosted + "/reblog").Want(200).Object()
	var open []string
	for i := range 45 {
		open = append(open, srv.URL+"/activities/"+alice.Publish(fmt.Sprint("post ", i), "visibility", []string{"public", "unlisted"}[i%2]).ID())
	}
	private := alice.Publish("for followers", "visibility", "private").ID()
	for _, v := range []string{"local", "direct"} {
		alice.Publish("hidden", "visibility", v)
	}
	again := alice.Post("/api/v1/statuses/" + private + "/reblog").Want(200).Object()

	walk := func(path, signer string) (items []any) {
		t.Helper()
		c := peer.FetchAs(srv, path, signer, apptest.ActivityJSON).Want(200).WantFields(apptest.Doc{"type": "OrderedCollection", "id": srv.URL + path}).Document()
		next, _ := c["first"].(string)
		for n := 0; next != ""; n++ {
			if n > 10 {
				t.Fatalf("%s has no end", path)
			}
			page := peer.FetchAs(srv, next, signer, apptest.ActivityJSON).Want(200).WantFields(apptest.Doc{"type": "OrderedCollectionPage", "id": next, "partOf": srv.URL + path}).Document()
			items = append(items, page["orderedItems"].([]any)...)
			next, _ = page["next"].(string)
		}
		return items
	}
	ids := func(items []any) (ids []string) {
		for _, item := range items {
			ids = append(ids, item.(apptest.Doc)["id"].(string))
		}
		return ids
	}
	want := append([]string{boost.Str("uri")}, open...)
	slices.Reverse(want)
	if got := ids(walk("/users/"+alice.ID+"/outbox", "")); !slices.Equal(got, want) {
		t.Errorf("the outbox has %v, want %v", got, want)
	}
	want = append([]string{again.Str("uri"), srv.URL + "/activities/" + private}, want...)
	items := walk("/users/"+alice.ID+"/outbox", follower)
	if got := ids(items); !slices.Equal(got, want) {
		t.Errorf("the outbox has for a follower %v, want %v", got, want)
	}
	embedded, ok := items[0].(apptest.Doc)["object"].(apptest.Doc)
	if !ok || embedded["id"] != srv.URL+"/objects/"+private || embedded["attributedTo"] != me { // no other server could fetch it
		t.Errorf("the boost of a private post has %v", items[0])
	}
	if object := items[len(items)-1].(apptest.Doc)["object"]; object != srv.URL+"/objects/"+boosted {
		t.Errorf("the boost has %v", object)
	}
	pages := srv.GetDocument("/users/" + alice.ID + "/outbox?page=true").Want(200).Document()
	back := srv.GetDocument(pages["prev"].(string)).Want(200).Document()
	if len(back["orderedItems"].([]any)) != 0 {
		t.Errorf("before the first page: %v", back)
	}

	bob.AccountAction(alice.ID, "follow")
	if got := fmt.Sprint(walk("/users/"+alice.ID+"/followers", "")); !strings.Contains(got, follower) || !strings.Contains(got, bob.ID) {
		t.Errorf("followers are %s", got)
	}
	if got := fmt.Sprint(walk("/users/"+bob.ID+"/following", "")); got != "["+me+"]" {
		t.Errorf("bob follows %s", got)
	}
	srv.GetDocument("/users/" + alice.ID + "/followers").WantFields(apptest.Doc{"totalItems": 2})
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", apptest.Doc{"hide_followers": true, "hide_follows": true}).Want(200)
	for _, path := range []string{"/followers", "/following"} {
		c := srv.GetDocument("/users/" + alice.ID + path).Want(200).Document()
		if _, ok := c["first"]; ok || c["totalItems"] == nil {
			t.Errorf("hidden %s: %v", path, c)
		}
		for _, query := range []string{"?page=true", "?page=1", "?max_id=" + alice.ID} {
			peer.FetchAs(srv, "/users/"+alice.ID+path+query, follower, apptest.ActivityJSON).WantError(403, "This list is hidden")
		}
	}
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", apptest.Doc{"hide_followers_count": true, "hide_follows_count": true}).Want(200)
	for _, path := range []string{"/followers", "/following"} {
		if c := srv.GetDocument("/users/" + alice.ID + path).Want(200).Document(); c["totalItems"] != nil {
			t.Errorf("hidden count of %s: %v", path, c)
		}
	}

	first, second, third := bob.Publish("one").ID(), bob.Publish("two", "visibility", "private").ID(), bob.Publish("three").ID()
	for i, id := range []string{third, second, first} { // the newest pin is of the oldest post
		srv.Exec(`INSERT INTO pins (status_id, account_id, pinned_at) VALUES (?, ?, ?)`, apptest.StatusID(id), bob.AccountID(), i)
	}
	c := peer.FetchAs(srv, "/users/"+bob.ID+"/collections/featured", follower, apptest.ActivityJSON).Want(200).WantFields(apptest.Doc{"totalItems": 2}).Document()
	if got, want := ids(c["orderedItems"].([]any)), []string{srv.URL + "/objects/" + first, srv.URL + "/objects/" + third}; !slices.Equal(got, want) {
		t.Errorf("pinned are %v, want %v", got, want)
	}
}

// TestRepliesAndThreads reads the author's replies to a post, and a thread.
func TestRepliesAndThreads(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	root := alice.Publish("root").ID()
	var own, all []any
	all = append(all, srv.URL+"/objects/"+root)
	for i := range 27 {
		id := alice.Publish(fmt.Sprint("more ", i), "in_reply_to_id", root).ID()
		own = append(own, srv.URL+"/objects/"+id)
		all = append(all, srv.URL+"/objects/"+id)
	}
	answer := srv.URL + "/objects/" + bob.Publish("answer", "in_reply_to_id", root).ID()
	all = append(all, answer)
	bob.Publish("whisper", "in_reply_to_id", root, "visibility", "direct")
	alice.Publish("here only", "in_reply_to_id", root, "visibility", "local")
	alice.Publish("for followers", "in_reply_to_id", root, "visibility", "private")

	srv.GetDocument("/objects/" + root + "/replies").Want(200).WantFields(apptest.Doc{"type": "Collection"})
	got := readReplies(t, srv, "/objects/"+root)
	if want := append(own[:len(own):len(own)], answer); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("replies are %v, want %v", got, want)
	}
	object := srv.GetDocument("/objects/" + root).Want(200).Document()
	if items := object["replies"].(apptest.Doc)["first"].(apptest.Doc)["items"].([]any); fmt.Sprint(items) != fmt.Sprint(own[:5]) {
		t.Errorf("the post has the replies %v", items)
	}
	thread := srv.GetDocument("/contexts/" + root + "?page=true").Want(200).Document()
	if got := thread["orderedItems"]; fmt.Sprint(got) != fmt.Sprint(all) {
		t.Errorf("the thread is %v, want %v", got, all)
	}
	secret := bob.Publish("a secret", "visibility", "private").ID()
	for _, path := range []string{"/contexts/" + secret, "/contexts/nonsense", "/objects/" + secret + "/replies", "/objects/nonsense/replies"} {
		srv.GetDocument(path).WantError(404, "Record not found")
	}
}

// readReplies returns the ids in all pages of the replies to a status.
func readReplies(t *testing.T, srv *apptest.Server, status string) []any {
	t.Helper()
	var got []any
	page := srv.GetDocument(status + "/replies").Want(200).Document()["first"].(apptest.Doc)
	for n := 0; ; n++ {
		got = append(got, page["items"].([]any)...)
		next, ok := page["next"].(string)
		if !ok || n > 10 {
			return got
		}
		page = srv.GetDocument(next).Want(200).WantFields(apptest.Doc{"type": "CollectionPage", "id": next}).Document()
	}
}

// TestRepliesOfOthers checks that the replies of a local post are those of its author, then all other public and unlisted ones that are
// known, also of other servers.
func TestRepliesOfOthers(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, bob, blocked := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("blocked")
	carol := peer.AddActor("carol")
	root := alice.Publish("root")
	var own, others []any
	remote := func(changes ...apptest.Doc) any {
		note := peer.Note(carol, "a remote reply", append([]apptest.Doc{{"inReplyTo": root.Str("uri")}}, changes...)...)
		peer.PostAndSettle(srv, peer.Create(note))
		return note["id"]
	}
	others = append(others, remote(), remote(apptest.Doc{"to": []any{carol + "/followers"}, "cc": []any{apptest.Public, alice.URI()}}))
	remote(apptest.Doc{"to": []any{alice.URI()}, "cc": []any{}})
	for i := range 30 {
		others = append(others, bob.Publish(fmt.Sprint("reply ", i), "in_reply_to_id", root.ID(), "visibility", []string{"public", "unlisted"}[i%2]).Str("uri"))
		if i%10 == 0 {
			own = append(own, alice.Publish("own", "in_reply_to_id", root.ID()).Str("uri"))
			bob.Publish("for followers", "in_reply_to_id", root.ID(), "visibility", "private")
			bob.Publish("for this server", "in_reply_to_id", root.ID(), "visibility", "local")
			blocked.Publish("hidden", "in_reply_to_id", root.ID())
		}
	}
	alice.AccountAction(blocked.ID, "block")
	want := append(own, others...)
	if got := readReplies(t, srv, root.Str("uri")); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("replies are %v, want %v", got, want)
	}
	embedded := srv.GetDocument(root.Str("uri")).Want(200).Document()["replies"].(apptest.Doc)["first"].(apptest.Doc)["items"].([]any)
	if fmt.Sprint(embedded) != fmt.Sprint(own) {
		t.Errorf("the post has the replies %v, want %v", embedded, own)
	}
	few := alice.Publish("few replies")
	first := bob.Publish("one", "in_reply_to_id", few.ID()).Str("uri")
	if got := readReplies(t, srv, few.Str("uri")); fmt.Sprint(got) != fmt.Sprint([]any{first}) {
		t.Errorf("replies are %v, want %v", got, first)
	}
}

// TestActivities reads activities by id: those of rows, and those still in the delivery queue (federation 1.11).
func TestActivities(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	srv.AddEmoji("blobs", map[string]string{"cat": "cat.png"})
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	peer := apptest.StartFake(t)
	follower := peer.AddFollower(srv, "follower", alice)
	me := srv.URL + "/users/" + alice.ID
	st := bob.Publish("like me").ID()
	alice.Post("/api/v1/statuses/" + st + "/favourite").Want(200)
	alice.SendJSON("PUT", "/api/v1/svc/statuses/"+st+"/reactions/🔥", nil).Want(200)
	row := func(query string) string {
		return srv.URL + "/activities/" + store.StatusID(srv.Count(query)).String()
	}
	like := row(`SELECT id FROM favourites`)
	srv.GetDocument(like).Want(200).WantFields(apptest.Doc{
		"id": like, "type": "Like", "actor": me, "object": srv.URL + "/objects/" + st,
		"to": []any{srv.URL + "/users/" + bob.ID, me + "/followers"}, "cc": []any{apptest.Public},
	})
	react := row(`SELECT id FROM reactions`)
	srv.GetDocument(react).Want(200).WantFields(apptest.Doc{"id": react, "type": "EmojiReact", "actor": me, "content": "🔥", "object": srv.URL + "/objects/" + st})

	alice.AccountAction(accountIDByURI(srv, follower), "follow")
	follow := row(`SELECT id FROM follows WHERE follower_local = 1`)
	srv.GetDocument(follow).WantError(404, "Record not found") // follows are not public
	peer.FetchAs(srv, follow, follower, apptest.ActivityJSON).Want(200).WantFields(apptest.Doc{"type": "Follow", "actor": me, "object": follower, "to": []any{follower}})

	boost := alice.Post("/api/v1/statuses/" + st + "/reblog").Want(200).Object().Str("uri")
	srv.GetDocument(boost).Want(200).WantFields(apptest.Doc{"type": "Announce", "to": []any{apptest.Public}})
	browser := srv.As(nil).DoRequest(srv.NewGet(boost, "text/html"))
	wantLocation(browser.Want(302), srv.URL+"/@bob/"+st)
	alice.Post("/api/v1/statuses/" + st + "/unreblog").Want(200)
	srv.GetDocument(boost).Want(410).WantFields(apptest.Doc{"id": boost, "type": "Tombstone", "formerType": "Announce"})
	bob.SendJSON("DELETE", "/api/v1/statuses/"+st, nil).Want(200)
	srv.GetDocument("/activities/" + st).Want(410).WantFields(apptest.Doc{"id": srv.URL + "/activities/" + st, "type": "Tombstone", "formerType": "Create"})
	srv.GetDocument(like).WantError(404, "Record not found")
}
