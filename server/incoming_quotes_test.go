package server_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// Case 110: who asks to quote a public post may, and can show where that is written; others may not, or hear nothing.
func TestQuoteRequest(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, carol := peer.actor("bob"), peer.actor("carol")
	public, unlisted := alice.publish("a"), alice.publish("b", "visibility", "unlisted")
	private, direct, local := alice.publish("c", "visibility", "private"), alice.publish("d", "visibility", "direct"), alice.publish("e", "visibility", "local")
	ask := func(actor string, st *object, changes ...doc) doc {
		t.Helper()
		peer.forget()
		note := peer.note(actor, "look")
		d := peer.activity("QuoteRequest", actor, st.str("uri"), append([]doc{{"instrument": note}}, changes...)...)
		peer.receive(srv, d)
		return d
	}
	fetch := func(address string) *answer {
		t.Helper()
		if !strings.HasPrefix(address, srv.url+"/") {
			t.Fatalf("%q is not of this server", address)
		}
		return srv.as(nil).get(address)
	}

	request := ask(bob, public)
	accept := peer.only("Accept")
	quote := request["instrument"].(doc)["id"]
	wantMember(t, accept, alice.uri(), "actor")
	wantMember(t, accept, request["id"], "object", "id")
	wantMember(t, accept, "QuoteRequest", "object", "type")
	wantMember(t, accept, bob, "object", "actor")
	wantMember(t, accept, public.str("uri"), "object", "object")
	wantMember(t, accept, quote, "object", "instrument")
	result, _ := accept["result"].(string)
	answer := fetch(result).want(200)
	if got := answer.header.Get("Content-Type"); !strings.HasPrefix(got, "application/activity+json") {
		t.Errorf("the authorization is served as %s", got)
	}
	var written doc
	if err := json.Unmarshal(answer.body, &written); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"id": result, "type": "QuoteAuthorization", "attributedTo": alice.uri(), "interactingObject": quote, "interactionTarget": public.str("uri"),
	} {
		wantMember(t, written, want, key)
	}
	wantList(t, "alice is told", alice.told())

	// The same again is the same authorization, and only its own.
	again := ask(bob, public, doc{"instrument": quote})
	wantMember(t, peer.only("Accept"), result, "result")
	wantMember(t, peer.only("Accept"), again["id"], "object", "id")
	ask(carol, public, doc{"instrument": quote})
	peer.only("Reject")
	ask(bob, unlisted)
	peer.only("Accept")

	for name, st := range map[string]*object{"private": private, "direct": direct, "local": local} {
		if ask(bob, st); len(peer.delivered()) > 0 {
			t.Errorf("to quote what is %s: %v, want no answer, as for what is not there", name, peer.delivered())
		}
	}
	if ask(bob, public, doc{"instrument": "https://elsewhere.example/1"}); len(peer.delivered()) > 0 {
		t.Errorf("a quote on another server: %v", peer.delivered())
	}
	if ask(bob, public, doc{"instrument": nil}); len(peer.delivered()) > 0 {
		t.Errorf("no quote: %v", peer.delivered())
	}
	peer.receive(srv, peer.activity("Follow", bob, alice.uri()))
	refused := ask(bob, private)
	reject := peer.only("Reject")
	wantMember(t, reject, refused["id"], "object", "id")
	if reject["result"] != nil {
		t.Errorf("a Reject has a result: %v", reject)
	}

	// A block takes back what was allowed, and the end of the post, too.
	other := alice.publish("other")
	ask(carol, other)
	carols := peer.only("Accept")["result"].(string)
	peer.forget()
	alice.to(srv.known(bob), "block")
	settle(srv)
	fetch(result).want(404)
	revoked := false
	for _, d := range peer.delivered("Delete") {
		o, _ := d["object"].(doc)
		revoked = revoked || o["id"] == result
	}
	if !revoked {
		t.Errorf("bob is not told: %v", peer.delivered())
	}
	if ask(bob, public); len(peer.delivered("Accept")) > 0 {
		t.Errorf("who is blocked may quote: %v", peer.delivered())
	}
	fetch(carols).want(200)
	alice.do("DELETE", "/api/v1/statuses/"+other.id(), "", nil).want(200)
	fetch(carols).want(404)
	fetch(srv.url + "/quote_authorizations/nonsense").want(404)
}

// Case 110: who takes back that a post may be quoted is heeded, whenever it comes, and nobody else is. What a post quotes is not changed by
// an edit.
func TestQuoteRevoked(t *testing.T) {
	srv, peer := startWithPeer(t)
	other := startFake(t)
	alice := srv.signUp("alice")
	bob, eve, carol := peer.actor("bob"), other.actor("eve"), other.actor("carol")
	for _, actor := range []string{bob, eve, carol} {
		alice.follows(actor)
	}
	revoke := func(by string, uri any) { other.receive(srv, other.activity("Delete", by, uri)) }
	type stage struct {
		quoted, quote, plain doc // posts: what is quoted, the quote with its authorization, and without
		leave                string
	}
	for _, tt := range []struct {
		name string
		do   func(s stage)
		want bool // it quotes
	}{
		{"allowed", func(s stage) {
			other.receive(srv, other.create(s.quoted))
			peer.receive(srv, peer.create(s.quote))
		}, true},
		{"taken back by another", func(s stage) {
			other.receive(srv, other.create(s.quoted))
			peer.receive(srv, peer.create(s.quote))
			revoke(carol, s.leave)
		}, true},
		{"taken back", func(s stage) {
			other.receive(srv, other.create(s.quoted))
			peer.receive(srv, peer.create(s.quote))
			revoke(eve, doc{"id": s.leave, "type": "QuoteAuthorization"})
		}, false},
		{"taken back, named by an edit that is none", func(s stage) {
			other.receive(srv, other.create(s.quoted))
			peer.receive(srv, peer.create(s.plain))
			peer.receive(srv, peer.activity("Update", bob, s.quote))
			revoke(eve, s.leave)
		}, false},
		{"taken back before that edit", func(s stage) {
			other.receive(srv, other.create(s.quoted))
			peer.receive(srv, peer.create(s.plain))
			revoke(eve, s.leave)
			peer.receive(srv, peer.activity("Update", bob, s.quote))
		}, false},
		{"taken back before the quote", func(s stage) {
			other.receive(srv, other.create(s.quoted))
			revoke(eve, s.leave)
			peer.receive(srv, peer.create(s.quote))
		}, false},
		{"taken back before what is quoted is here", func(s stage) {
			peer.receive(srv, peer.create(s.quote))
			revoke(eve, s.leave)
			other.receive(srv, other.create(s.quoted))
		}, false},
		{"with an authorization of another host", func(s stage) {
			other.receive(srv, other.create(s.quoted))
			peer.receive(srv, peer.create(with(s.quote, doc{"quoteAuthorization": "https://elsewhere.example/1"})))
			revoke(eve, s.leave)
		}, true},
		{"edited to quote another", func(s stage) {
			other.receive(srv, other.create(s.quoted))
			second := other.note(carol, "not me")
			other.receive(srv, other.create(second))
			peer.receive(srv, peer.create(s.quote))
			peer.receive(srv, peer.activity("Update", bob, with(s.quote, doc{"quote": second["id"], "content": "<p>another</p>", "updated": fromNow(0)})))
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := stage{quoted: other.note(eve, "quote me"), leave: other.id("leaves")}
			s.plain = peer.note(bob, "<p>look</p>", doc{"quote": s.quoted["id"], "published": fromNow(-1000)})
			s.quote = with(s.plain, doc{"quoteAuthorization": s.leave})
			tt.do(s)
			quote, quoted := alice.wantPost(s.quote["id"]), alice.wantPost(s.quoted["id"])
			if got := quote.at("svc.quote_id") == quoted.id(); got != tt.want || quoted.num("svc.quotes_count") != map[bool]int{true: 1}[tt.want] {
				t.Errorf("it quotes %v, and %d quotes are counted", quote.at("svc.quote_id"), quoted.num("svc.quotes_count"))
			}
		})
	}
}
