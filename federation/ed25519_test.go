package federation_test

import (
	"crypto/ed25519"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/federation"
	"svc/internal/httpsig"
	"svc/internal/proof"
)

// ed25519Key returns the newest Ed25519 key in the document of an actor.
func ed25519Key(srv *apptest.Server, path string) (id string, key ed25519.PublicKey) {
	srv.T.Helper()
	list, _ := srv.GetDocument(path).Want(200).Document()["assertionMethod"].([]any)
	for _, k := range list {
		k := k.(apptest.Doc)
		if public, err := httpsig.ParseMultikey(k["publicKeyMultibase"].(string)); err == nil {
			if key, ok := public.(ed25519.PublicKey); ok {
				return k["id"].(string), key
			}
		}
	}
	srv.T.Fatalf("%s has no Ed25519 key", path)
	return "", nil
}

// signedBy records how the deliveries to a peer are signed: ed25519, rsa, or an error. refuse is the status for those by Ed25519, or for all.
type signedBy struct {
	mu        sync.Mutex
	list      []string
	refuse    int
	refuseAll bool // of RSA as well
}

func watchSignatures(srv *apptest.Server, peer *apptest.FakeServer) *signedBy {
	s := new(signedBy)
	peer.Check = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if r.Method != http.MethodPost {
			return true
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		base, _ := url.Parse(peer.URL)
		claims, err := httpsig.Read(r, httpsig.Policy{Base: base, Now: srv.DB.Now(), MaxAge: time.Hour, MaxAhead: time.Hour, Body: body})
		if err != nil {
			s.list = append(s.list, err.Error())
			return true
		}
		if !strings.Contains(claims[0].KeyID, "#ed25519-key") {
			s.list = append(s.list, "rsa")
			if s.refuseAll {
				w.WriteHeader(s.refuse)
			}
			return !s.refuseAll
		}
		actor, _, _ := strings.Cut(strings.TrimPrefix(claims[0].KeyID, srv.URL), "#")
		id, key := ed25519Key(srv, actor)
		if claims[0].Scheme != httpsig.RFC9421 || claims[0].KeyID != id || claims[0].Verify(key) != nil || !claims[0].Covers("content-type") {
			s.list = append(s.list, "wrong")
			return true
		}
		s.list = append(s.list, "ed25519")
		if s.refuse != 0 {
			w.WriteHeader(s.refuse)
		}
		return s.refuse == 0
	}
	return s
}

// want checks how the deliveries since the last call are signed.
func (s *signedBy) want(t *testing.T, what string, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.list, want) {
		t.Errorf("%s: signed by %q, want %q", what, s.list, want)
	}
	s.list = nil
}

func (s *signedBy) set(refuse int, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse, s.refuseAll = refuse, all
}

// states is what an actor says of the signatures that its server verifies (FEP-844e).
func states(capability any) apptest.Doc {
	return apptest.Doc{"generator": apptest.Doc{"type": "Application", "implements": capability}}
}

const verifiesEd25519 = "https://datatracker.ietf.org/doc/html/rfc9421#name-eddsa-using-curve-edwards25"

// startEd25519 starts a server whose user has a follower on a host that has stated nothing about Ed25519, and watches the signatures that it sends.
func startEd25519(t *testing.T) (srv *apptest.Server, peer *apptest.FakeServer, alice *apptest.User, bob string, by *signedBy) {
	t.Helper()
	srv, peer = apptest.StartWithFake(t)
	alice = srv.SignUp("alice")
	by = watchSignatures(srv, peer)
	bob = peer.AddFollower(srv, "bob", alice)
	by.want(t, "an unknown host", "rsa")
	return srv, peer, alice, bob, by
}

// TestEd25519Deliveries checks which hosts get deliveries that are signed with Ed25519, and that one which refuses them gets RSA at once.
func TestEd25519Deliveries(t *testing.T) {
	srv, peer, alice, bob, by := startEd25519(t)
	publish := func() {
		alice.Publish("hello")
		apptest.Settle(srv)
	}
	update := func(changes ...apptest.Doc) {
		peer.AddActor("bob", changes...)
		srv.Advance(2 * time.Minute)
		peer.PostAndSettle(srv, peer.Activity("Update", bob, bob))
	}
	for name, capability := range map[string]any{
		"nothing": nil, "RFC 9421 alone": []any{apptest.Doc{"href": "https://datatracker.ietf.org/doc/html/rfc9421"}}, "a number": 5,
		"a name": []any{apptest.Doc{"name": verifiesEd25519}}, "lists": []any{[]any{verifiesEd25519}},
	} {
		update(states(capability))
		publish()
		by.want(t, "a host that states "+name, "rsa")
	}
	update(states([]any{apptest.Doc{"href": "https://datatracker.ietf.org/doc/html/rfc9421"}, apptest.Doc{"href": verifiesEd25519, "name": "Ed25519"}}))
	publish()
	by.want(t, "a host that states it", "ed25519")

	for _, status := range []int{400, 401} {
		by.set(status, false)
		publish()
		by.want(t, "a host that refuses it", "ed25519", "rsa")
		publish()
		by.want(t, "after it has refused", "rsa")
		by.set(0, false)
		update(states(verifiesEd25519))
		publish()
		by.want(t, "a host that has refused it", "rsa")
		srv.Advance(31 * 24 * time.Hour)
		peer.Ahead += 31 * 24 * time.Hour
		update(states(verifiesEd25519))
		publish()
		by.want(t, "30 days later", "ed25519")
	}
	by.set(400, true)
	publish()
	by.want(t, "a host that refuses a post", "ed25519", "rsa", "rsa")
	by.set(500, false)
	publish()
	by.want(t, "another error", "ed25519")
}

// TestEd25519Learned checks that a host which signs with Ed25519 gets such signatures.
func TestEd25519Learned(t *testing.T) {
	srv, peer, alice, _, by := startEd25519(t)
	peer.Scheme = httpsig.RFC9421
	carl := peer.AddActor("carl", peer.AddEd25519Key("carl"))
	peer.PostAndSettle(srv, peer.Activity("Follow", carl, alice.URI()))
	by.want(t, "the answer to an Ed25519 signature", "ed25519")
}

// TestEd25519Rotation checks that a host which does not have the newest keys gets no Ed25519 signature, and that a rotation replaces that key.
func TestEd25519Rotation(t *testing.T) {
	srv, _, alice, _, by := startEd25519(t)
	srv.Exec(`UPDATE hosts SET ed25519 = 'verifies'`)
	before, _ := ed25519Key(srv, "/users/"+alice.ID)
	if _, err := srv.Federation.Operator.RotateKeys(t.Context(), federation.Rotation{Name: "alice"}); err != nil {
		t.Fatal(err)
	}
	apptest.Settle(srv)
	by.want(t, "the Update", "rsa")
	after, _ := ed25519Key(srv, "/users/"+alice.ID)
	if before == after {
		t.Error("the key is the same")
	}
	alice.Publish("hello")
	apptest.Settle(srv)
	by.want(t, "a post after it", "ed25519")
}

// TestProofs checks that public replies have a proof that others can verify, and nothing else has (FEP-8b32).
func TestProofs(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddFollower(srv, "bob", alice)
	note := peer.Note(bob, "a post", apptest.Doc{"to": []any{apptest.Public, alice.URI()}, "tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI()}}})
	peer.PostAndSettle(srv, peer.Create(note))
	parent := alice.WantPost(note["id"]).ID()
	id, key := ed25519Key(srv, "/users/"+alice.ID)
	for _, tt := range []struct {
		name   string
		params []string
		proof  bool
	}{
		{"a post", []string{"status", "hello"}, false},
		{"a public reply", []string{"status", "@bob@" + peer.Host + " hé <b>", "in_reply_to_id", parent}, true},
		{"an unlisted reply", []string{"status", "@bob@" + peer.Host + " hi", "in_reply_to_id", parent, "visibility", "unlisted"}, true},
		{"a reply to followers", []string{"status", "@bob@" + peer.Host + " hi", "in_reply_to_id", parent, "visibility", "private"}, false},
		{"a direct reply", []string{"status", "@bob@" + peer.Host + " hi", "in_reply_to_id", parent, "visibility", "direct"}, false},
	} {
		peer.ClearDelivered()
		st := alice.Post("/api/v1/statuses", tt.params...).Want(200).Object()
		apptest.Settle(srv)
		check := func(what string, doc apptest.Doc) {
			claim, err := proof.Read(doc, srv.DB.Now())
			switch {
			case (err == nil) != tt.proof:
				t.Errorf("%s of %s: %v", what, tt.name, err)
			case err == nil && (claim.VerificationMethod != id || claim.Verify(key) != nil):
				t.Errorf("%s of %s: %s, %v", what, tt.name, claim.VerificationMethod, claim.Verify(key))
			}
		}
		check("the Create", peer.OneDelivered("Create"))
		alice.SendJSON("PUT", "/api/v1/statuses/"+st.ID(), map[string]any{"status": "@bob@" + peer.Host + " edited"}).Want(200)
		apptest.Settle(srv)
		check("the Update", peer.OneDelivered("Update"))
	}
}
