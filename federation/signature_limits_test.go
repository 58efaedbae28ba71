package federation_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// behindProxy makes the server trust the X-Forwarded-For header.
func behindProxy(c *config.Config) { c.Server.TrustedProxies = []string{"127.0.0.1"} }

// deliverFrom sends a signed activity from an address.
func deliverFrom(p *apptest.FakeServer, address string, to *apptest.Server, d apptest.Doc, s apptest.Signing) *apptest.Response {
	p.T.Helper()
	actor := d["actor"].(string)
	if s.KeyID == "" {
		s.KeyID = actor + "#main-key"
	}
	if s.Key == nil {
		s.Key = p.Keys[actor]
	}
	req := SignedByHand(p.T, to.URL+"/inbox", apptest.MustJSON(d), s)
	req.Header.Set("X-Forwarded-For", address)
	return to.As(nil).DoRequest(req)
}

// TestMissingKeyLimitPerSender checks that a sender causes a limited number of fetches of keys that do not exist, on whatever hosts;
// other senders and known actors are not affected.
func TestMissingKeyLimitPerSender(t *testing.T) {
	srv, peer := apptest.StartWithFake(t, behindProxy)
	other := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	st := alice.Publish("a post")
	const attacker, honest = "198.51.100.7", "198.51.100.8"
	bob := peer.AddActor("bob")
	deliverFrom(peer, attacker, srv, peer.Activity("Like", bob, st.Str("uri")), apptest.Signing{}).Want(202)
	before := peer.AllFetches()
	answers := make(map[int]int)
	for i := range 100 {
		id := fmt.Sprintf("%s/users/nobody%d", peer.URL, i)
		a := deliverFrom(peer, attacker, srv, peer.Activity("Like", id, st.Str("uri")), apptest.Signing{Key: apptest.SharedKey()})
		answers[a.Status]++
		if wait := a.Header.Get("Retry-After"); (a.Status == 503) != (wait == "300") {
			t.Fatalf("answered %d with Retry-After %q", a.Status, wait)
		}
	}
	const limit = 30
	if n := peer.AllFetches() - before; n != limit {
		t.Errorf("%d requests, want %d", n, limit)
	}
	if answers[401] != limit || answers[503] != 100-limit {
		t.Errorf("answered %v", answers)
	}
	carol := other.AddActor("carol")
	deliverFrom(other, attacker, srv, other.Activity("Like", carol, st.Str("uri")), apptest.Signing{}).Want(503)
	if n := other.AllFetches(); n != 0 {
		t.Errorf("another server received %d requests because of missing keys", n)
	}
	deliverFrom(other, honest, srv, other.Activity("Like", carol, st.Str("uri")), apptest.Signing{}).Want(202)
	apptest.Settle(srv)
	deliverFrom(peer, attacker, srv, peer.Activity("Undo", bob, apptest.Doc{"type": "Like", "actor": bob, "object": st.Str("uri")}), apptest.Signing{}).Want(202)
	if n := alice.Favourites(st.ID()); n != 1 {
		t.Errorf("%d favourites, want 1", n)
	}
}

// TestMissingKeyLimitPerHost checks that many senders together cause a limited number of fetches of missing keys from one host.
func TestMissingKeyLimitPerHost(t *testing.T) {
	srv, peer := apptest.StartWithFake(t, behindProxy)
	other := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	st := alice.Publish("a post")
	for i := range 120 {
		id := fmt.Sprintf("%s/users/nobody%d", peer.URL, i)
		deliverFrom(peer, fmt.Sprint("198.51.100.", i), srv, peer.Activity("Like", id, st.Str("uri")), apptest.Signing{Key: apptest.SharedKey()})
	}
	if n := peer.AllFetches(); n != 100 {
		t.Errorf("%d requests, want 100", n)
	}
	other.Post(srv, other.Activity("Like", other.AddActor("bob"), st.Str("uri")))
}

// TestWrongSignatureLimit checks that wrong signatures of known actors cause a limited number of key fetches.
func TestWrongSignatureLimit(t *testing.T) {
	srv, peer := apptest.StartWithFake(t, behindProxy)
	alice := srv.SignUp("alice")
	st := alice.Publish("a post")
	var actors []string
	for i := range 50 {
		actors = append(actors, peer.AddActor(fmt.Sprint("bob", i)))
		srv.FetchActor(actors[i])
	}
	before := peer.AllFetches()
	for range 2 {
		for i, id := range actors {
			want := 401
			if i >= 30 { // their keys may have changed
				want = 503
			}
			deliverFrom(peer, "198.51.100.7", srv, peer.Activity("Like", id, st.Str("uri")), apptest.Signing{Key: apptest.ForeignKey()}).Want(want)
		}
	}
	if n := peer.AllFetches() - before; n != 30 {
		t.Errorf("%d requests, want 30", n)
	}
}

// TestInboxDeleteWithoutKey checks that a Delete whose key is gone fetches its actor, but not repeatedly, and not if the key is of
// another actor.
func TestInboxDeleteWithoutKey(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	other := apptest.StartFake(t)
	bob := peer.AddActor("bob")
	srv.FetchActor(bob)
	before := peer.Fetches(bob)
	send := func(keyID string) {
		t.Helper()
		body := apptest.MustJSON(peer.Activity("Delete", bob, bob))
		srv.As(nil).DoRequest(SignedByHand(t, srv.URL+"/inbox", body, apptest.Signing{KeyID: keyID, Key: apptest.ForeignKey()}))
	}
	for i := range 5 {
		send(fmt.Sprintf("%s/key%d", other.URL, i))
	}
	if n := peer.Fetches(bob) - before; n != 0 {
		t.Errorf("fetched %d times because of keys of other actors", n)
	}
	for i := range 5 {
		send(fmt.Sprintf("%s/key%d", peer.URL, i))
	}
	if n := peer.Fetches(bob) - before; n != 1 {
		t.Errorf("fetched %d times, want 1", n)
	}
	if srv.KnownID(bob) == "" {
		t.Error("the actor is deleted though it exists")
	}
}

// TestInboxOfPrunedAccount checks that an account that was pruned as unused can return.
func TestInboxOfPrunedAccount(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	st := alice.Publish("a post")
	bob := peer.AddActor("bob")
	peer.PostAndSettle(srv, peer.Activity("Like", bob, st.Str("uri")))
	if err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		a, err := tx.AccountByURI(t.Context(), bob)
		if err != nil {
			return err
		}
		return tx.RemoveAccount(t.Context(), a.ID)
	}); err != nil {
		t.Fatal(err)
	}
	another := alice.Publish("another")
	peer.PostAndSettle(srv, peer.Activity("Like", bob, another.Str("uri")))
	if n := alice.Favourites(another.ID()); n != 1 {
		t.Errorf("%d favourites, want 1", n)
	}
}

// TestInboxUnsigned checks that requests that cannot be signed activities are refused before their body is read.
func TestInboxUnsigned(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	bob := peer.AddActor("bob")
	signed := func(body []byte) *http.Request {
		return SignedByHand(t, srv.URL+"/inbox", body, apptest.Signing{KeyID: bob + "#main-key", Key: peer.Keys[bob]})
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
			w := &recorder{header: make(http.Header)}
			in := incomingRequest(req, nil)
			in.ContentLength, in.Body = req.ContentLength, readCloser{bytes.NewReader([]byte(strings.Repeat("{", int(req.ContentLength))))}
			srv.HTTP.ServeHTTP(w, in)
			if w.status != tt.want {
				t.Errorf("got %d, want %d: %s", w.status, tt.want, w.body.Bytes())
			}
		})
	}
}
