package server_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"svc/internal/config"
	"svc/store"
)

// behindProxy has requests say where they come from.
func behindProxy(c *config.Config) { c.Server.TrustedProxies = []string{"127.0.0.1"} }

// from sends a signed activity from an address.
func (p *fakePeer) from(address string, to *api, d doc, s signing) *answer {
	p.t.Helper()
	actor := d["actor"].(string)
	if s.keyID == "" {
		s.keyID = actor + "#main-key"
	}
	if s.key == nil {
		s.key = p.keys[actor]
	}
	req := handSigned(p.t, to.url+"/inbox", mustJSON(d), s)
	req.Header.Set("X-Forwarded-For", address)
	return to.as(nil).request(req)
}

// Who names keys that nobody has can have only so many of them asked for, wherever they are said to be; others are not kept out by that,
// nor is who is known.
func TestInboxKeysOfNobody(t *testing.T) {
	srv, peer := startWithPeer(t, behindProxy)
	other := startFake(t)
	alice := srv.signUp("alice")
	st := alice.publish("a post")
	const attacker, honest = "198.51.100.7", "198.51.100.8"
	bob := peer.actor("bob")
	peer.from(attacker, srv, peer.activity("Like", bob, st.str("uri")), signing{}).want(202)
	asked := peer.askedAll()
	answers := make(map[int]int)
	for i := range 100 {
		id := fmt.Sprintf("%s/users/nobody%d", peer.url, i)
		a := peer.from(attacker, srv, peer.activity("Like", id, st.str("uri")), signing{key: fakeKeys()})
		answers[a.status]++
		if wait := a.header.Get("Retry-After"); (a.status == 503) != (wait == "300") {
			t.Fatalf("answered %d, to be tried again after %q", a.status, wait)
		}
	}
	const most = 30
	if n := peer.askedAll() - asked; n != most {
		t.Errorf("%d requests, want %d", n, most)
	}
	if answers[401] != most || answers[503] != 100-most {
		t.Errorf("answered %v", answers)
	}
	carol := other.actor("carol")
	other.from(attacker, srv, other.activity("Like", carol, st.str("uri")), signing{}).want(503)
	if n := other.askedAll(); n != 0 {
		t.Errorf("another server is asked %d times because of who has named too many keys", n)
	}
	other.from(honest, srv, other.activity("Like", carol, st.str("uri")), signing{}).want(202)
	settle(srv)
	peer.from(attacker, srv, peer.activity("Undo", bob, doc{"type": "Like", "actor": bob, "object": st.str("uri")}), signing{}).want(202)
	if n := alice.liked(st.id()); n != 1 {
		t.Errorf("%d favourites, want 1", n)
	}
}

// However many there are who name keys, a server is asked for few that it does not have.
func TestInboxKeysOfOneServer(t *testing.T) {
	srv, peer := startWithPeer(t, behindProxy)
	other := startFake(t)
	alice := srv.signUp("alice")
	st := alice.publish("a post")
	for i := range 120 {
		id := fmt.Sprintf("%s/users/nobody%d", peer.url, i)
		peer.from(fmt.Sprint("198.51.100.", i), srv, peer.activity("Like", id, st.str("uri")), signing{key: fakeKeys()})
	}
	if n := peer.askedAll(); n != 100 {
		t.Errorf("%d requests, want 100", n)
	}
	other.post(srv, other.activity("Like", other.actor("bob"), st.str("uri")))
}

// Wrong signatures in the names of people who are known have only so many of their keys asked for anew.
func TestInboxWrongSignatures(t *testing.T) {
	srv, peer := startWithPeer(t, behindProxy)
	alice := srv.signUp("alice")
	st := alice.publish("a post")
	var people []string
	for i := range 50 {
		people = append(people, peer.actor(fmt.Sprint("bob", i)))
		srv.meet(people[i])
	}
	asked := peer.askedAll()
	for range 2 {
		for i, id := range people {
			want := 401
			if i >= 30 { // their keys may be others by now
				want = 503
			}
			peer.from("198.51.100.7", srv, peer.activity("Like", id, st.str("uri")), signing{key: otherRSA()}).want(want)
		}
	}
	if n := peer.askedAll() - asked; n != 30 {
		t.Errorf("%d requests, want 30", n)
	}
}

// That the key of a deletion is gone has its actor looked for, but neither again and again, nor if it was the key of another.
func TestInboxDeleteWithoutKey(t *testing.T) {
	srv, peer := startWithPeer(t)
	other := startFake(t)
	bob := peer.actor("bob")
	srv.meet(bob)
	asked := peer.asked(bob)
	send := func(keyID string) {
		t.Helper()
		body := mustJSON(peer.activity("Delete", bob, bob))
		srv.as(nil).request(handSigned(t, srv.url+"/inbox", body, signing{keyID: keyID, key: otherRSA()}))
	}
	for i := range 5 {
		send(fmt.Sprintf("%s/key%d", other.url, i))
	}
	if n := peer.asked(bob) - asked; n != 0 {
		t.Errorf("asked %d times because of keys that others do not have", n)
	}
	for i := range 5 {
		send(fmt.Sprintf("%s/key%d", peer.url, i))
	}
	if n := peer.asked(bob) - asked; n != 1 {
		t.Errorf("asked %d times, want 1", n)
	}
	if srv.known(bob) == "" {
		t.Error("the actor is deleted though it is there")
	}
}

// Somebody who was removed because nothing here had to do with them can come again.
func TestInboxOfRemoved(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	st := alice.publish("a post")
	bob := peer.actor("bob")
	peer.receive(srv, peer.activity("Like", bob, st.str("uri")))
	if err := srv.db.Update(t.Context(), func(tx *store.Tx) error {
		a, err := tx.AccountByURI(t.Context(), bob)
		if err != nil {
			return err
		}
		return tx.RemoveAccount(t.Context(), a.ID)
	}); err != nil {
		t.Fatal(err)
	}
	another := alice.publish("another")
	peer.receive(srv, peer.activity("Like", bob, another.str("uri")))
	if n := alice.liked(another.id()); n != 1 {
		t.Errorf("%d favourites, want 1", n)
	}
}

// What cannot be an activity that anybody has signed is refused before it is read.
func TestInboxUnsigned(t *testing.T) {
	srv, peer := startWithPeer(t)
	bob := peer.actor("bob")
	signed := func(body []byte) *http.Request {
		return handSigned(t, srv.url+"/inbox", body, signing{keyID: bob + "#main-key", key: peer.keys[bob]})
	}
	for _, tt := range []struct {
		name   string
		change func(*http.Request)
		want   int
	}{
		{"no JSON", func(*http.Request) {}, 400},
		{"without a signature", func(r *http.Request) { r.Header.Del("Signature") }, 401},
		{"with a token", func(r *http.Request) { r.Header.Del("Signature"); r.Header.Set("Authorization", "Bearer x") }, 401},
		{"without a digest", func(r *http.Request) { r.Header.Del("Digest") }, 401},
		{"too long", func(r *http.Request) { r.Header.Set("Expect", "100-continue"); r.ContentLength = 2 << 20 }, 413},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := signed([]byte("{"))
			tt.change(req)
			w := &recorded{header: make(http.Header)}
			in := serverSide(req, nil)
			in.ContentLength, in.Body = req.ContentLength, readCloser{bytes.NewReader([]byte(strings.Repeat("{", int(req.ContentLength))))}
			srv.handler.ServeHTTP(w, in)
			if w.status != tt.want {
				t.Errorf("got %d, want %d: %s", w.status, tt.want, w.body.Bytes())
			}
		})
	}
}
