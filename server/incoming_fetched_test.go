package server_test

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"svc/internal/proof"
)

// FEP-8b32 and case 31: who sends what another did needs a proof by that other.
func TestIncomingProof(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob", peer.edKey("bob"))
	alice.follows(bob)
	other := startFake(t)
	carrier := other.actor("carrier")
	alice.follows(carrier)
	signAt := func(a doc, at time.Time) doc {
		t.Helper()
		var plain map[string]any
		b, _ := json.Marshal(a)
		json.Unmarshal(b, &plain)
		key := peer.keys[bob+"#ed25519-key"].(ed25519.PrivateKey)
		if err := proof.Sign(plain, key, bob+"#ed25519-key", at); err != nil {
			t.Fatal(err)
		}
		return plain
	}
	sign := func(a doc) doc { return signAt(a, time.Now()) }
	for _, tt := range []struct {
		name   string
		change func(doc) doc
		want   bool
	}{
		{"proven", sign, true},
		{"not proven", func(d doc) doc { return d }, false},
		{"proven a day ago", func(d doc) doc { return signAt(d, time.Now().Add(-24*time.Hour)) }, true},
		{"proven long ago", func(d doc) doc { return signAt(d, time.Now().Add(-8*24*time.Hour)) }, false},
		{"proven tomorrow", func(d doc) doc { return signAt(d, time.Now().Add(24*time.Hour)) }, false},
		{"changed since", func(d doc) doc {
			d = sign(d)
			d["object"].(map[string]any)["content"] = "forged"
			return d
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.note(bob, "carried")
			other.deliver(srv, "/inbox", carrier, tt.change(peer.create(note)))
			settle(srv)
			if got := alice.postOf(note["id"]) != nil; got != tt.want {
				t.Errorf("it is here: %v, want %v", got, tt.want)
			}
		})
	}
}

// Cases 113 and 118: documents that are not what they say, or that somebody means to confuse us with.
func TestIncomingFetched(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	other := startFake(t)
	bob, eve := peer.actor("bob"), other.actor("eve")
	alice.follows(bob)
	boost := func(uri string) {
		peer.receive(srv, peer.activity("Announce", bob, uri, doc{"to": []any{toPublic}}))
	}
	t.Run("of another host", func(t *testing.T) {
		note := peer.note(bob, "real")
		peer.serve(note)
		forged := with(note, doc{"content": "forged"})
		other.serveAt(other.url+"/forged", forged)
		boost(other.url + "/forged")
		if alice.postOf(note["id"]) != nil {
			t.Error("it is here")
		}
	})
	t.Run("of another address of the same host", func(t *testing.T) {
		note := other.note(eve, "real")
		other.serve(note)
		other.serveAt(other.url+"/also", with(note, doc{"content": "elsewhere"}))
		boost(other.url + "/also")
		if got := alice.wantPost(note["id"]).str("content"); got != "real" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("by an author elsewhere", func(t *testing.T) {
		note := other.note(bob, "forged")
		other.serve(note)
		boost(note["id"].(string))
		if alice.postOf(note["id"]) != nil {
			t.Error("it is here")
		}
	})
	for name, body := range map[string]string{
		"actor twice":   `{"id":"%[1]s/1","type":"Create","actor":"%[2]s","actor":"%[2]s","object":"x"}`,
		"a graph":       `{"id":"%[1]s/2","type":"Create","actor":"%[2]s","@graph":[]}`,
		"reversed":      `{"id":"%[1]s/3","type":"Create","actor":"%[2]s","object":{"@reverse":{}}}`,
		"no object":     `{"id":"%[1]s/4","type":"Create","actor":"%[2]s"}`,
		"id as object":  `{"id":{"a":1},"type":"Create","actor":"%[2]s","object":{"id":{}, "type":"Note"}}`,
		"type as map":   `{"id":"%[1]s/6","type":{"a":1},"actor":"%[2]s","object":[]}`,
		"odd addresses": `{"id":"%[1]s/7","type":"Create","actor":"%[2]s","object":{"id":"%[1]s/8","type":"Note","to":[null,1,{}],"cc":{"a":[]},"tag":[[],1,null],"attachment":[null,[{}]],"attributedTo":"%[2]s"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			peer.deliverRaw(srv, "/inbox", bob, fmt.Appendf(nil, body, peer.url, bob))
			settle(srv)
			if alice.postOf(peer.url+"/8") != nil {
				t.Error("it is here")
			}
		})
	}
}

// Federation 3.9: who opens a thread has the replies to the post read.
func TestFetchReplies(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	other := startFake(t)
	bob, eve := peer.actor("bob"), other.actor("eve")
	alice.follows(bob)
	root := peer.note(bob, "root")
	root["replies"] = doc{"id": root["id"].(string) + "/replies", "type": "Collection", "first": doc{"type": "CollectionPage", "partOf": root["id"].(string) + "/replies"}}
	var items []any
	reply := func(p *fakePeer, actor string, to any) doc {
		n := p.note(actor, "reply", doc{"inReplyTo": to})
		p.serve(n)
		items = append(items, n["id"])
		return n
	}
	first := reply(peer, bob, root["id"])
	stray := reply(peer, bob, nil)
	for range 8 {
		reply(other, eve, root["id"])
	}
	last := peer.note(bob, "on the next page", doc{"inReplyTo": root["id"]})
	peer.serve(last)
	replies := root["id"].(string) + "/replies"
	peer.serve(doc{"id": replies, "type": "Collection", "first": doc{"type": "CollectionPage", "items": items, "next": replies + "/2"}})
	peer.serve(doc{"id": replies + "/2", "type": "CollectionPage", "items": last["id"], "next": replies + "/2"})
	peer.receive(srv, peer.create(root))
	st := alice.wantPost(root["id"])
	below := func() int {
		o := alice.get("/api/v1/statuses/" + st.id() + "/context").want(200).object()
		settle(srv)
		return len(o.at("descendants").([]any))
	}
	srv.as(nil).get("/api/v1/statuses/" + st.id() + "/context").want(200)
	settle(srv)
	if peer.asked(replies) != 0 {
		t.Error("somebody who is not signed in has had it read")
	}
	below()
	if n := below(); n != 7 { // 2 of its own host, 5 of the other
		t.Errorf("%d replies are here, want 7", n)
	}
	alice.wantPost(first["id"])
	alice.wantPost(last["id"])
	if alice.postOf(stray["id"]) != nil {
		t.Error("what replies to something else was taken in")
	}
	if n := peer.asked(replies); n != 1 {
		t.Errorf("the replies were read %d times", n)
	}
}

// Who is mentioned and not known is asked for, so that answers reach them.
func TestIncomingStrangers(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	other := startFake(t)
	bob, eve := peer.actor("bob"), other.actor("eve")
	alice.follows(bob)
	tag := []any{doc{"type": "Mention", "href": eve}, doc{"type": "Mention", "href": other.url + "/users/nobody"}}
	note := peer.note(bob, "hey", doc{"tag": tag})
	peer.receive(srv, peer.create(note))
	if got := alice.wantPost(note["id"]).dig("mentions.0.acct"); got != "eve@"+other.host {
		t.Errorf("mentions %v", got)
	}
	frank := other.actor("frank")
	direct := peer.note(bob, "psst", doc{"to": []any{alice.uri(), frank}, "cc": nil, "tag": []any{doc{"type": "Mention", "href": alice.uri()}, doc{"type": "Mention", "href": frank}}})
	peer.receive(srv, peer.create(direct))
	got := alice.wantPost(direct["id"])
	if n := len(got.at("mentions").([]any)); n != 2 {
		t.Errorf("%d are mentioned, want 2", n)
	}
}
