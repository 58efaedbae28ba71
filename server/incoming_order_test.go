package server_test

import (
	"fmt"
	"slices"
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

// What happens elsewhere comes in any order, and comes to the same: an edit before what it edits, a boost before the post, a deletion before
// what it deletes, answers before what they answer. So it does with posts that can be asked for, and with those that cannot. Of all orders
// some are tried.
func TestIncomingAnyOrder(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	for _, served := range []bool{false, true} {
		for i, order := range permutations(6) {
			if i%29 != 0 {
				continue
			}
			bob, eve := peer.actor(fmt.Sprintf("bob%v%d", served, i)), peer.actor(fmt.Sprintf("eve%v%d", served, i))
			alice.follows(bob)
			alice.follows(eve)
			root := peer.note(bob, "root", doc{"published": fromNow(-2 * time.Minute)})
			edited := with(root, doc{"content": "edited", "updated": fromNow(-time.Minute)})
			reply := peer.note(eve, "reply", doc{"inReplyTo": root["id"], "published": fromNow(-2 * time.Minute)})
			gone := peer.note(eve, "gone", doc{"inReplyTo": reply["id"], "published": fromNow(-2 * time.Minute)})
			if served { // as they are by then
				peer.serve(edited)
				peer.serve(reply)
				peer.remove(gone["id"].(string), 410)
			}
			activities := []doc{
				peer.create(root), peer.activity("Update", bob, edited), peer.create(reply), peer.create(gone),
				peer.activity("Delete", eve, doc{"id": gone["id"], "type": "Tombstone"}),
				peer.activity("Announce", eve, root["id"], doc{"to": []any{toPublic}, "published": fromNow(-time.Minute)}),
			}
			for _, j := range order {
				peer.receive(srv, activities[j])
			}
			name := fmt.Sprint(order, " served: ", served)
			a, b := alice.postOf(root["id"]), alice.postOf(reply["id"])
			if a == nil || b == nil || alice.postOf(gone["id"]) != nil {
				t.Errorf("%s: root %v, reply %v, deleted %v", name, a != nil, b != nil, alice.postOf(gone["id"]) != nil)
				continue
			}
			// A boost of what is not here and cannot be had is lost.
			boosts := 1
			if !served && slices.Index(order, 5) < slices.Index(order, 0) && slices.Index(order, 5) < slices.Index(order, 1) {
				boosts = 0
			}
			if boosts != a.num("reblogs_count") || a.num("replies_count") != 1 || b.num("replies_count") != 0 || a.str("content") != "edited" || a.at("edited_at") == nil {
				t.Errorf("%s: %d boosts, %d replies, %d replies to the reply, %q", name, a.num("reblogs_count"), a.num("replies_count"), b.num("replies_count"), a.str("content"))
			}
			if b.at("in_reply_to_id") != a.id() || a.at("svc.conversation_id") != b.at("svc.conversation_id") {
				t.Errorf("%s: the reply is not one of the thread", name)
			}
			for actor, want := range map[string]int{bob: 1, eve: 1 + boosts} {
				if n := alice.get("/api/v1/accounts/" + srv.known(actor)).object().num("statuses_count"); n != want {
					t.Errorf("%s: %d posts are counted of %s, want %d", name, n, actor, want)
				}
			}
		}
	}
}

// Edits overtake one another and the post that they are of: what is left is the last one, with how its poll stood then; and nothing, if it
// was deleted at any time.
func TestIncomingEditsAnyOrder(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	alice.follows(bob)
	version := func(note doc, n int) doc {
		o := with(note, doc{
			"content": fmt.Sprint("version ", n),
			"oneOf": []any{
				doc{"type": "Note", "name": "yes", "replies": doc{"type": "Collection", "totalItems": n}},
				doc{"type": "Note", "name": "no", "replies": doc{"type": "Collection", "totalItems": 2 * n}},
			},
		})
		if n > 0 {
			o["updated"] = fromNow(time.Duration(n-10) * time.Minute)
		}
		return o
	}
	for i, order := range permutations(4) {
		note := peer.note(bob, "", doc{"type": "Question", "published": fromNow(-time.Hour), "endTime": fromNow(time.Hour)})
		gone := peer.note(bob, "", doc{"type": "Question", "published": fromNow(-time.Hour), "endTime": fromNow(time.Hour)})
		for at, n := range order {
			for _, of := range []doc{note, gone} {
				verb := "Update"
				if n == 0 {
					verb = "Create"
				}
				peer.receive(srv, peer.activity(verb, bob, version(of, n)))
			}
			if at == i%4 {
				peer.receive(srv, peer.activity("Delete", bob, gone["id"]))
			}
		}
		got := alice.wantPost(note["id"])
		if got.str("content") != "version 3" || got.dig("poll.options.0.votes_count") != 3.0 || got.dig("poll.options.1.votes_count") != 6.0 || got.at("edited_at") == nil {
			t.Errorf("%v: %q, %v", order, got.str("content"), got.at("poll"))
		}
		if alice.postOf(gone["id"]) != nil {
			t.Errorf("%v: it is here, though it was deleted after %d", order, order[i%4])
		}
	}
}

// A post is known by one id, also to what names it by another that its server has for it.
func TestIncomingOtherIDs(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, eve := peer.actor("bob"), peer.actor("eve")
	alice.follows(bob)
	post := peer.note(eve, "there")
	peer.serve(post)
	page := post["url"].(string)
	peer.serveAt(page, post)
	reply := peer.note(bob, "reply", doc{"inReplyTo": page})
	quote := peer.note(bob, "<p>quote</p><p class=\"quote-inline\">RE: <a href=\""+page+"\">x</a></p>", doc{"quoteUrl": page})
	self := peer.note(bob, "self", doc{"inReplyTo": peer.url + "/self"})
	peer.serve(self)
	peer.serveAt(peer.url+"/self", self)
	for _, n := range []doc{reply, quote, self} {
		peer.receive(srv, peer.create(n))
	}
	st := alice.wantPost(post["id"])
	if got := alice.wantPost(reply["id"]); got.at("in_reply_to_id") != st.id() || got.at("svc.conversation_id") != st.at("svc.conversation_id") {
		t.Errorf("the reply is %v", got.m)
	}
	if got := alice.wantPost(quote["id"]); got.at("svc.quote_id") != st.id() || got.str("content") != "<p>quote</p>" {
		t.Errorf("the quote is %v", got.m)
	}
	if st.num("replies_count") != 1 || st.num("svc.quotes_count") != 1 {
		t.Errorf("%d replies and %d quotes are counted", st.num("replies_count"), st.num("svc.quotes_count"))
	}
	if got := alice.wantPost(self["id"]); got.at("in_reply_to_id") != nil || got.num("replies_count") != 0 {
		t.Errorf("what names itself is %v", got.m)
	}
}

// The name that a server has for a thread is kept, also one by the scheme tag, and an answer gives it back (federation 4.16).
func TestIncomingContext(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	alice.follows(bob)
	for _, tt := range []struct {
		name    string
		members doc
		want    string // "": a name of this server
	}{
		{"a context", doc{"context": peer.url + "/contexts/1", "conversation": "tag:x"}, peer.url + "/contexts/1"},
		{"a tag", doc{"conversation": "tag:" + peer.host + ",2024-08-20:objectId=1:objectType=Conversation"}, "tag:" + peer.host + ",2024-08-20:objectId=1:objectType=Conversation"},
		{"a tag of another host", doc{"conversation": "tag:elsewhere.example,2024-08-20:objectId=1"}, ""},
		{"a context of another host", doc{"context": "https://elsewhere.example/contexts/1"}, ""},
		{"no name", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := peer.note(bob, "first", tt.members)
			second := peer.note(bob, "second", tt.members, doc{"inReplyTo": peer.url + "/unknown"})
			peer.receive(srv, peer.create(first))
			peer.receive(srv, peer.create(second))
			a, b := alice.wantPost(first["id"]), alice.wantPost(second["id"])
			if same := a.at("svc.conversation_id") == b.at("svc.conversation_id"); same != (tt.want != "") {
				t.Errorf("they are of one conversation: %v", same)
			}
			answer := srv.document(alice.publish("answer", "in_reply_to_id", a.id()).str("uri")).document()
			for _, key := range []string{"context", "conversation"} {
				if got := answer[key]; got != tt.want && tt.want != "" || got == "" {
					t.Errorf("%s is %v, want %q", key, got, tt.want)
				}
			}
		})
	}
}
