package federation_test

import (
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
)

// thread is a post of a peer with replies on several peers.
type thread struct {
	root  apptest.Doc
	peers []*apptest.FakeServer
	notes map[string][]any // ids of replies, by that of the post that they answer
}

func newThread(t *testing.T, hosts int, context string) *thread {
	th := &thread{notes: make(map[string][]any)}
	for range hosts {
		peer := apptest.StartFake(t)
		peer.AddActor("bob")
		th.peers = append(th.peers, peer)
	}
	th.root = th.peers[0].Note(th.peers[0].URL+"/users/bob", "root")
	th.withReplies(th.root)
	if context != "" {
		th.root["context"] = th.peers[0].URL + context
	}
	th.peers[0].Serve(th.root)
	return th
}

// withReplies says in a post where its replies are listed.
func (th *thread) withReplies(note apptest.Doc) {
	id := note["id"].(string)
	note["replies"] = apptest.Doc{"id": id + "/replies", "type": "Collection", "first": id + "/replies?page=1"}
}

// reply adds a reply on a peer.
func (th *thread) reply(peer *apptest.FakeServer, to apptest.Doc, changes ...apptest.Doc) apptest.Doc {
	note := peer.Note(peer.URL+"/users/bob", "reply", append([]apptest.Doc{{"inReplyTo": to["id"]}}, changes...)...)
	th.withReplies(note)
	peer.Serve(note)
	parent := to["id"].(string)
	th.notes[parent] = append(th.notes[parent], note["id"])
	return note
}

// serveReplies serves the collections of all replies that were added.
func (th *thread) serveReplies() {
	for parent, ids := range th.notes {
		for _, peer := range th.peers {
			if strings.HasPrefix(parent, peer.URL+"/") {
				peer.Serve(apptest.Doc{"id": parent + "/replies", "type": "Collection", "first": parent + "/replies?page=1"})
				peer.ServeAt(parent+"/replies?page=1", apptest.Doc{"id": parent + "/replies?page=1", "type": "CollectionPage", "items": ids})
			}
		}
	}
}

// open makes a user find the post, and returns its id here and a function that views it: how many posts are below it, and the header.
func (th *thread) open(srv *apptest.Server, u *apptest.User) (id string, view func() (below int, header string)) {
	id = u.Get("/api/v2/search?type=statuses&resolve=true&q=" + th.root["id"].(string)).Want(200).Object().Find("statuses.0.id").(string)
	return id, func() (int, string) {
		r := u.Get("/api/v1/statuses/" + id + "/context").Want(200)
		return len(r.Object().At("descendants").([]any)), r.Header.Get("Mastodon-Async-Refresh")
	}
}

// TestThreadLevels checks that all levels of a thread on several servers are there after a view, and that clients learn that more is coming.
func TestThreadLevels(t *testing.T) {
	srv, _ := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	th := newThread(t, 4, "")
	n := 0
	for i := range 12 {
		level1 := th.reply(th.peers[i%4], th.root)
		level2 := th.reply(th.peers[(i+1)%4], level1)
		th.reply(th.peers[(i+2)%4], level2)
		n += 3
	}
	th.serveReplies()
	id, view := th.open(srv, alice)
	srv.As(nil).Get("/api/v1/statuses/" + id + "/context").Want(200)
	if _, header := view(); !strings.HasPrefix(header, `id="`) || !strings.HasSuffix(header, `, retry=3, result_count=0`) {
		t.Fatalf("header %q", header)
	}
	_, header := view()
	refresh, _, _ := strings.Cut(strings.TrimPrefix(header, `id="`), `"`)
	state := func() (string, float64) {
		o := alice.Get("/api/v1_alpha/async_refreshes/" + refresh).Want(200).Object()
		if got := o.Find("async_refresh.id"); got != refresh {
			t.Errorf("id %v", got)
		}
		return o.Find("async_refresh.status").(string), o.At("async_refresh").(map[string]any)["result_count"].(float64)
	}
	if status, found := state(); status != "running" || found != 0 {
		t.Errorf("%s with %v before the job", status, found)
	}
	if page := alice.SignedIn().Get("/@bob@" + th.peers[0].Host + "/" + id).Text; !strings.Contains(page, "are being fetched") {
		t.Error("the page does not say that more are coming")
	}
	apptest.Settle(srv)
	if status, found := state(); status != "finished" || found != float64(n) {
		t.Errorf("%s with %v, want %d", status, found, n)
	}
	if below, header := view(); below != n || header != "" {
		t.Errorf("%d posts below, want %d; header %q", below, n, header)
	}
	srv.As(nil).Get("/api/v1_alpha/async_refreshes/" + refresh).Want(401)
	alice.Get("/api/v1_alpha/async_refreshes/" + refresh + "x").Want(404)
}

// TestThreadContext checks that the collection of a thread is read (FEP-7888, FEP-f228), and that only posts which belong to it are stored.
func TestThreadContext(t *testing.T) {
	srv, _ := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	th := newThread(t, 3, "/contexts/1")
	context := th.root["context"].(string)
	in := apptest.Doc{"context": context}
	var items []any
	var last apptest.Doc
	for i := range 9 {
		to := th.root
		if i%3 == 2 {
			to = last
		}
		last = th.reply(th.peers[i%3], to, in)
		items = append(items, last["id"])
	}
	answer := th.reply(th.peers[1], th.root) // its server knows no contexts
	stray := th.peers[1].Note(th.peers[1].URL+"/users/bob", "of another thread", apptest.Doc{"context": context + "2"})
	th.peers[1].Serve(stray)
	items = append(items, answer["id"], stray["id"], alice.URI(), 5, nil, "https://", th.root["id"], th.root["id"])
	for i := range 2 {
		page := fmt.Sprintf("%s?page=%d", context, i)
		doc := apptest.Doc{"id": page, "type": "OrderedCollectionPage", "orderedItems": items[i*6 : min(len(items), i*6+6+8*i)], "partOf": context}
		if i == 0 {
			doc["next"] = context + "?page=1"
		}
		th.peers[0].ServeAt(page, doc)
	}
	th.peers[0].Serve(apptest.Doc{"id": context, "type": "OrderedCollection", "first": context + "?page=0"})
	_, view := th.open(srv, alice)
	view()
	apptest.Settle(srv)
	if below, _ := view(); below != 10 {
		t.Errorf("%d posts below, want 10", below)
	}
	if alice.FindPost(stray["id"]) != nil {
		t.Error("a post of another thread is stored")
	}
	if n := th.peers[0].Fetches(context); n != 1 {
		t.Errorf("the context was read %d times", n)
	}
}

// TestThreadOfLocalPost checks that replies to remote replies of a local post are fetched, too, and that a local thread costs nothing.
func TestThreadOfLocalPost(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddFollower(srv, "bob", alice)
	st := alice.Publish("hello")
	context := "/api/v1/statuses/" + st.ID() + "/context"
	if header := alice.Get(context).Want(200).Header.Get("Mastodon-Async-Refresh"); header != "" {
		t.Errorf("a local thread is fetched: %q", header)
	}
	other := alice.Publish("again")
	first := peer.Note(bob, "reply", apptest.Doc{"inReplyTo": other.Str("uri")})
	first["replies"] = first["id"].(string) + "/replies"
	second := peer.Note(bob, "reply to it", apptest.Doc{"inReplyTo": first["id"]})
	peer.Serve(second)
	peer.Serve(apptest.Doc{"id": first["replies"], "type": "Collection", "items": []any{second["id"]}})
	peer.PostAndSettle(srv, peer.Create(first))
	context = "/api/v1/statuses/" + other.ID() + "/context"
	alice.Get(context).Want(200)
	apptest.Settle(srv)
	if n := len(alice.Get(context).Want(200).Object().At("descendants").([]any)); n != 2 {
		t.Errorf("%d posts below, want 2", n)
	}
}

// TestThreadRepliesByAuthor checks that replies of an author to the own post are found in the shapes in which servers name them.
func TestThreadRepliesByAuthor(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	alice, bob := srv.SignUp("alice"), peer.AddActor("bob")
	for _, tt := range []struct {
		name   string
		first  func(replies string) apptest.Doc // embedded in the post
		listed string                           // the query of the collection that lists the reply
	}{
		{"GoToSocial", func(replies string) apptest.Doc {
			return apptest.Doc{"id": replies + "?page=true", "next": replies + "?page=true&only_other_accounts=false", "partOf": replies}
		}, "?only_other_accounts=false"},
		{"Mastodon", func(replies string) apptest.Doc {
			return apptest.Doc{"items": []any{}, "next": replies + "?page=true&only_other_accounts=false", "partOf": replies}
		}, ""},
		{"a next page on another server", func(string) apptest.Doc { return apptest.Doc{"next": other.URL + "/replies"} }, ""},
		{"a next page that is no URL", func(string) apptest.Doc { return apptest.Doc{"next": 5} }, ""},
	} {
		root := peer.Note(bob, "root")
		id := root["id"].(string)
		replies := id + "/replies"
		first := tt.first(replies)
		first["type"] = "CollectionPage"
		root["replies"] = apptest.Doc{"id": replies, "type": "Collection", "first": first}
		peer.Serve(root)
		reply := peer.Note(bob, "more", apptest.Doc{"inReplyTo": id})
		peer.Serve(reply)
		for _, query := range []string{"", "?only_other_accounts=false"} {
			items := []any{}
			if query == tt.listed {
				items = append(items, reply["id"])
			}
			peer.ServeAt(replies+query, apptest.Doc{"id": replies + query, "type": "OrderedCollection", "orderedItems": items})
		}
		peer.ServeAt(replies+"?page=true&only_other_accounts=false", apptest.Doc{"id": replies + "?only_other_accounts=false", "type": "OrderedCollection"})
		th := thread{root: root}
		_, view := th.open(srv, alice)
		view()
		apptest.Settle(srv)
		if below, _ := view(); below != 1 {
			t.Errorf("%s: %d replies, want 1", tt.name, below)
		}
		if n := other.Fetches("/replies"); n != 0 {
			t.Errorf("%s: %d requests to another server", tt.name, n)
		}
	}
}
