package federation_test

import (
	"fmt"
	"slices"
	"svc/app/apptest"
	"testing"
	"time"
)

// permutations returns all orders of n things.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return all
}

// TestIncomingAnyOrder checks that the order in which activities arrive does not matter: an edit before the post, a boost before the
// post, a Delete before the post, a reply before its parent. Posts that can be fetched and posts that cannot are covered, in some of
// all orders.
func TestIncomingAnyOrder(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	for _, served := range []bool{false, true} {
		for i, order := range permutations(6) {
			if i%29 != 0 {
				continue
			}
			bob, eve := peer.AddActor(fmt.Sprintf("bob%v%d", served, i)), peer.AddActor(fmt.Sprintf("eve%v%d", served, i))
			alice.FollowRemote(bob)
			alice.FollowRemote(eve)
			root := peer.Note(bob, "root", apptest.Doc{"published": apptest.FromNow(-2 * time.Minute)})
			edited := apptest.With(root, apptest.Doc{"content": "edited", "updated": apptest.FromNow(-time.Minute)})
			reply := peer.Note(eve, "reply", apptest.Doc{"inReplyTo": root["id"], "published": apptest.FromNow(-2 * time.Minute)})
			gone := peer.Note(eve, "gone", apptest.Doc{"inReplyTo": reply["id"], "published": apptest.FromNow(-2 * time.Minute)})
			if served { // in their state by then
				peer.Serve(edited)
				peer.Serve(reply)
				peer.Remove(gone["id"].(string), 410)
			}
			activities := []apptest.Doc{
				peer.Create(root), peer.Activity("Update", bob, edited), peer.Create(reply), peer.Create(gone),
				peer.Activity("Delete", eve, apptest.Doc{"id": gone["id"], "type": "Tombstone"}),
				peer.Activity("Announce", eve, root["id"], apptest.Doc{"to": []any{apptest.Public}, "published": apptest.FromNow(-time.Minute)}),
			}
			for _, j := range order {
				peer.PostAndSettle(srv, activities[j])
			}
			name := fmt.Sprint(order, " served: ", served)
			a, b := alice.FindPost(root["id"]), alice.FindPost(reply["id"])
			if a == nil || b == nil || alice.FindPost(gone["id"]) != nil {
				t.Errorf("%s: root %v, reply %v, deleted %v", name, a != nil, b != nil, alice.FindPost(gone["id"]) != nil)
				continue
			}
			// A boost of an unknown post that cannot be fetched is dropped.
			boosts := 1
			if !served && slices.Index(order, 5) < slices.Index(order, 0) && slices.Index(order, 5) < slices.Index(order, 1) {
				boosts = 0
			}
			if boosts != a.Int("reblogs_count") || a.Int("replies_count") != 1 || b.Int("replies_count") != 0 || a.Str("content") != "edited" || a.At("edited_at") == nil {
				t.Errorf("%s: %d boosts, %d replies, %d replies to the reply, %q", name, a.Int("reblogs_count"), a.Int("replies_count"), b.Int("replies_count"), a.Str("content"))
			}
			if b.At("in_reply_to_id") != a.ID() || a.At("svc.conversation_id") != b.At("svc.conversation_id") {
				t.Errorf("%s: the reply is not one of the thread", name)
			}
			for actor, want := range map[string]int{bob: 1, eve: 1 + boosts} {
				if n := alice.Get("/api/v1/accounts/" + srv.KnownID(actor)).Object().Int("statuses_count"); n != want {
					t.Errorf("%s: %d posts are counted of %s, want %d", name, n, actor, want)
				}
			}
		}
	}
}

// TestIncomingEditsAnyOrder checks that edits in any order leave the last one with its tally, or nothing if the post was deleted at any
// time.
func TestIncomingEditsAnyOrder(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	version := func(note apptest.Doc, n int) apptest.Doc {
		o := apptest.With(note, apptest.Doc{
			"content": fmt.Sprint("version ", n),
			"oneOf": []any{
				apptest.Doc{"type": "Note", "name": "yes", "replies": apptest.Doc{"type": "Collection", "totalItems": n}},
				apptest.Doc{"type": "Note", "name": "no", "replies": apptest.Doc{"type": "Collection", "totalItems": 2 * n}},
			},
		})
		if n > 0 {
			o["updated"] = apptest.FromNow(time.Duration(n-10) * time.Minute)
		}
		return o
	}
	for i, order := range permutations(4) {
		note := peer.Note(bob, "", apptest.Doc{"type": "Question", "published": apptest.FromNow(-time.Hour), "endTime": apptest.FromNow(time.Hour)})
		gone := peer.Note(bob, "", apptest.Doc{"type": "Question", "published": apptest.FromNow(-time.Hour), "endTime": apptest.FromNow(time.Hour)})
		for at, n := range order {
			for _, of := range []apptest.Doc{note, gone} {
				verb := "Update"
				if n == 0 {
					verb = "Create"
				}
				peer.PostAndSettle(srv, peer.Activity(verb, bob, version(of, n)))
			}
			if at == i%4 {
				peer.PostAndSettle(srv, peer.Activity("Delete", bob, gone["id"]))
			}
		}
		got := alice.WantPost(note["id"])
		if got.Str("content") != "version 3" || got.Find("poll.options.0.votes_count") != 3.0 || got.Find("poll.options.1.votes_count") != 6.0 || got.At("edited_at") == nil {
			t.Errorf("%v: %q, %v", order, got.Str("content"), got.At("poll"))
		}
		if alice.FindPost(gone["id"]) != nil {
			t.Errorf("%v: it is stored, though it was deleted after %d", order, order[i%4])
		}
	}
}

// TestIncomingOtherIDs checks that a post that is referred to by another id of its server is found.
func TestIncomingOtherIDs(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, eve := peer.AddActor("bob"), peer.AddActor("eve")
	alice.FollowRemote(bob)
	post := peer.Note(eve, "there")
	peer.Serve(post)
	page := post["url"].(string)
	peer.ServeAt(page, post)
	reply := peer.Note(bob, "reply", apptest.Doc{"inReplyTo": page})
	quote := peer.Note(bob, "<p>quote</p><p class=\"quote-inline\">RE: <a href=\""+page+"\">x</a></p>", apptest.Doc{"quoteUrl": page})
	self := peer.Note(bob, "self", apptest.Doc{"inReplyTo": peer.URL + "/self"})
	peer.Serve(self)
	peer.ServeAt(peer.URL+"/self", self)
	for _, n := range []apptest.Doc{reply, quote, self} {
		peer.PostAndSettle(srv, peer.Create(n))
	}
	st := alice.WantPost(post["id"])
	if got := alice.WantPost(reply["id"]); got.At("in_reply_to_id") != st.ID() || got.At("svc.conversation_id") != st.At("svc.conversation_id") {
		t.Errorf("the reply is %v", got.Fields)
	}
	if got := alice.WantPost(quote["id"]); got.At("svc.quote_id") != st.ID() || got.Str("content") != "<p>quote</p>" {
		t.Errorf("the quote is %v", got.Fields)
	}
	if st.Int("replies_count") != 1 || st.Int("svc.quotes_count") != 1 {
		t.Errorf("%d replies and %d quotes are counted", st.Int("replies_count"), st.Int("svc.quotes_count"))
	}
	if got := alice.WantPost(self["id"]); got.At("in_reply_to_id") != nil || got.Int("replies_count") != 0 {
		t.Errorf("the post that names itself is %v", got.Fields)
	}
}

// TestIncomingContext checks that a thread's context of a remote server is stored, also a tag: URI, and is in replies (federation
// 4.16).
func TestIncomingContext(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	for _, tt := range []struct {
		name    string
		members apptest.Doc
		want    string // "": a name of this server
	}{
		{"a context", apptest.Doc{"context": peer.URL + "/contexts/1", "conversation": "tag:x"}, peer.URL + "/contexts/1"},
		{"a tag", apptest.Doc{"conversation": "tag:" + peer.Host + ",2024-08-20:objectId=1:objectType=Conversation"}, "tag:" + peer.Host + ",2024-08-20:objectId=1:objectType=Conversation"},
		{"a tag of another host", apptest.Doc{"conversation": "tag:other.example,2024-08-20:objectId=1"}, ""},
		{"a context of another host", apptest.Doc{"context": "https://other.example/contexts/1"}, ""},
		{"no name", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := peer.Note(bob, "first", tt.members)
			second := peer.Note(bob, "second", tt.members, apptest.Doc{"inReplyTo": peer.URL + "/unknown"})
			peer.PostAndSettle(srv, peer.Create(first))
			peer.PostAndSettle(srv, peer.Create(second))
			a, b := alice.WantPost(first["id"]), alice.WantPost(second["id"])
			if same := a.At("svc.conversation_id") == b.At("svc.conversation_id"); same != (tt.want != "") {
				t.Errorf("they are of one conversation: %v", same)
			}
			answer := srv.GetDocument(alice.Publish("answer", "in_reply_to_id", a.ID()).Str("uri")).Document()
			for _, key := range []string{"context", "conversation"} {
				if got := answer[key]; got != tt.want && tt.want != "" || got == "" {
					t.Errorf("%s is %v, want %q", key, got, tt.want)
				}
			}
		})
	}
}
