package federation_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/app/apptest/peers"
	"svc/federation"
	"svc/internal/httpsig"
	"svc/store"
)

// startDistrustful starts a remote server with an actor that it serves. The server fetches the key of an actor once, and then takes another one
// only from a signed Update.
func startDistrustful(t *testing.T, name string) (s *peers.Server, actor string) {
	t.Helper()
	distrustful := *peers.Snac
	distrustful.SignedFetch, distrustful.SharedInbox = true, true
	s = peers.Start(t, &distrustful)
	return s, s.AddActor(name)
}

// wantTaken checks the functions of activities that arrived at a server since the last call, and that none was refused.
func wantTaken(s *peers.Server, what string, want ...string) {
	s.T.Helper()
	var functions []string
	for _, effect := range s.Took() {
		function, _, _ := strings.Cut(effect, " ")
		functions = append(functions, function)
	}
	if !slices.Equal(functions, want) {
		s.T.Errorf("%s: %s took %q, want %q", what, s.Host, functions, want)
	}
}

// publishedKeys returns the ids of the RSA keys in the document of an actor, the one in publicKey first. There is an Ed25519 key beside them.
func publishedKeys(srv *apptest.Server, path string) []string {
	srv.T.Helper()
	doc := srv.GetDocument(path).Want(200).Document()
	ids := []string{strings.TrimPrefix(doc["publicKey"].(apptest.Doc)["id"].(string), doc["id"].(string))}
	others, _ := doc["assertionMethod"].([]any)
	for _, k := range others {
		k := k.(apptest.Doc)
		if key, err := httpsig.ParseMultikey(k["publicKeyMultibase"].(string)); err != nil || key == nil || k["controller"] != doc["id"] || k["type"] != "Multikey" {
			srv.T.Errorf("%s has the key %v: %v", path, k, err)
		}
		ids = append(ids, strings.TrimPrefix(k["id"].(string), doc["id"].(string)))
	}
	isEd25519 := func(id string) bool { return strings.HasPrefix(id, "#ed25519-key") }
	if !slices.ContainsFunc(ids, isEd25519) {
		srv.T.Errorf("%s has no Ed25519 key", path)
	}
	return slices.DeleteFunc(ids, isEd25519)
}

// TestKeyRotation checks that a rotation cuts no server off that trusts the key it has until a valid Update arrives: the Update is signed
// with the old key, and so is all else that goes to a server that does not have it yet.
func TestKeyRotation(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.StartWithLoopback(t)
	alice := srv.SignUp("alice")
	near, bob := startDistrustful(t, "bob")
	away, carol := startDistrustful(t, "carol")
	met, dave := startDistrustful(t, "dave") // follows nobody, but has the key
	for _, follow := range []struct {
		s  *peers.Server
		by string
	}{{near, bob}, {away, carol}, {met, dave}} {
		follow.s.Deliver(alice, follow.s.Follow(follow.by, alice.URI()))
		wantTaken(follow.s, "a follow", "accept")
	}
	met.Deliver(alice, met.Undo(met.Follow(dave, alice.URI())))
	rotate := func(r federation.Rotation) {
		t.Helper()
		if made, err := srv.Federation.Operator.RotateKeys(t.Context(), r); err != nil || len(made) == 0 {
			t.Fatalf("%+v: %v, %v", r, made, err)
		}
		apptest.Settle(srv)
	}
	publish := func() {
		t.Helper()
		alice.Publish("hello")
		apptest.Settle(srv)
	}
	away.SetInboxDown(http.StatusServiceUnavailable)
	rotate(federation.Rotation{Name: "alice"})
	wantTaken(near, "a rotation", "profile")
	wantTaken(met, "a rotation", "profile")
	wantTaken(away, "a rotation while it is down")
	apptest.WantList(t, "published keys", publishedKeys(srv, "/users/"+alice.ID), "#key-2", "#main-key")
	publish()
	wantTaken(near, "a post", "public")
	rotate(federation.Rotation{Name: "alice"}) // again, before all have the first
	wantTaken(near, "another rotation", "profile")
	publish()
	wantTaken(near, "a post after two", "public")
	apptest.WantList(t, "published keys", publishedKeys(srv, "/users/"+alice.ID), "#key-3", "#key-2", "#main-key")

	away.SetInboxDown(0)
	srv.MakeDeliveriesDue()
	apptest.Settle(srv)
	srv.MakeDeliveriesDue()
	apptest.Settle(srv)
	wantTaken(away, "the queued activities", "profile", "profile", "public", "public")
	publish()
	wantTaken(away, "a post", "public")
	retire := func() {
		t.Helper()
		srv.Exec(`UPDATE jobs SET run_at = 1 WHERE kind = 'retire_keys'`)
		apptest.Settle(srv)
	}
	retire()
	apptest.WantList(t, "published keys at the end", publishedKeys(srv, "/users/"+alice.ID), "#key-3")
	if n := srv.Count(`SELECT count(*) FROM actor_keys WHERE private IS NOT NULL AND uri LIKE ?`, alice.URI()+"#%"); n != 2 { // one of each kind
		t.Errorf("%d private keys are stored", n)
	}

	// A server that never takes the Update does not keep the old key in use.
	wantTaken(away, "nothing")
	wantTaken(near, "a post", "public")
	away.SetInboxDown(http.StatusServiceUnavailable)
	rotate(federation.Rotation{Name: "alice"})
	retire()
	apptest.WantList(t, "published keys with one server down", publishedKeys(srv, "/users/"+alice.ID), "#key-4", "#key-3")
	srv.Exec(`UPDATE actor_keys SET created_at = created_at - 4 * 24 * 3600 * 1000`)
	retire()
	apptest.WantList(t, "published keys after days", publishedKeys(srv, "/users/"+alice.ID), "#key-4")
}

// TestKeyRotationsInARow checks that a server that got to know an account during a rotation accepts the Update of the next one, also if it is
// delivered while the Updates for other servers are still being queued.
func TestKeyRotationsInARow(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	alice := srv.SignUp("alice")
	away, carol := startDistrustful(t, "carol")
	away.Deliver(alice, away.Follow(carol, alice.URI()))
	away.SetInboxDown(http.StatusServiceUnavailable) // so that old keys stay in use
	srv.RunFederation()
	rotate := func() {
		t.Helper()
		if _, err := srv.Federation.Operator.RotateKeys(t.Context(), federation.Rotation{Name: "alice"}); err != nil {
			t.Fatal(err)
		}
		srv.RunJobs()
	}
	rotate()
	for i := range 4 {
		near, bob := startDistrustful(t, "bob")
		near.Send(srv, nil, near.Follow(bob, alice.URI()))
		takes := func(want ...string) {
			t.Helper()
			apptest.WaitFor(t, fmt.Sprint(want, " in round ", i), func() bool {
				srv.RunJobs()
				return near.Arrived() >= len(want)
			})
			wantTaken(near, fmt.Sprint("round ", i), want...)
		}
		takes("accept")
		rotate()
		takes("profile")
		near.SetInboxDown(http.StatusServiceUnavailable)
	}
}

// TestServerKeyRotation checks that the Update of the instance actor reaches every known server, signed with the old key, and that servers
// without it accept fetches all the time.
func TestServerKeyRotation(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	near, bob := startDistrustful(t, "bob")
	away, carol := startDistrustful(t, "carol")
	for _, actor := range []string{bob, carol} {
		srv.FetchActor(actor)
	}
	away.SetInboxDown(http.StatusServiceUnavailable)
	if made, err := srv.Federation.Operator.RotateKeys(t.Context(), federation.Rotation{Server: true}); err != nil || len(made) != 2 {
		t.Fatalf("%v, %v", made, err)
	}
	apptest.Settle(srv)
	wantTaken(near, "a rotation", "profile", "profile") // of the two server actors
	for _, s := range []*peers.Server{near, away} {
		post := s.NewPost(s.AddActor("erin"), peers.Draft{Text: "hello"})
		if _, err := srv.Federation.Statuses.Status(t.Context(), post["id"].(string)); err != nil {
			t.Errorf("%s refuses a fetch: %v", s.Host, err)
		}
	}
	apptest.WantList(t, "published keys", publishedKeys(srv, "/internal/fetch"), "#key-2", "#main-key")
	away.SetInboxDown(0)
	srv.MakeDeliveriesDue()
	apptest.Settle(srv)
	wantTaken(away, "the queued activities", "profile", "profile")
	if object := srv.GetDocument("/internal/fetch").Document(); !bytes.Contains(apptest.MustJSON(object), []byte("Multikey")) {
		t.Errorf("before the old key is retired: %v", object)
	}
	srv.Exec(`UPDATE jobs SET run_at = 1 WHERE kind = 'retire_keys'`)
	apptest.Settle(srv)
	apptest.WantList(t, "published keys at the end", publishedKeys(srv, "/internal/fetch"), "#key-2")
	if _, err := srv.Federation.Operator.RotateKeys(t.Context(), federation.Rotation{Name: "nobody"}); err == nil {
		t.Error("an unknown account got new keys")
	}
}

// TestNewKeysAreRead checks that whoever reads the keys of an account while new ones are being stored waits for those: the goroutine that writes their
// Update starts as soon as they are stored. The database is held, so that the moment lasts.
func TestNewKeysAreRead(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	key := func() string {
		return srv.GetDocument("/users/" + alice.ID).Document()["publicKey"].(apptest.Doc)["id"].(string)
	}
	if got := key(); !strings.HasSuffix(got, "#main-key") { // and keeps it in memory
		t.Fatalf("the key is %s", got)
	}
	held, release, rotated, read := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan string, 1)
	go srv.DB.Update(context.Background(), func(*store.Tx) error {
		close(held)
		<-release
		return nil
	})
	<-held
	go func() {
		_, err := srv.Federation.Operator.RotateKeys(context.Background(), federation.Rotation{Name: "alice"})
		rotated <- err
	}()
	for begin, waits := time.Now(), false; !waits; {
		go func() { read <- key() }()
		select {
		case got := <-read:
			if time.Since(begin) > 10*time.Second {
				close(release)
				t.Fatalf("%s is read although a new key is being stored", got)
			}
		case <-time.After(time.Second):
			waits = true
		}
	}
	close(release)
	if err := <-rotated; err != nil {
		t.Fatal(err)
	}
	if got := <-read; !strings.HasSuffix(got, "#key-2") {
		t.Errorf("%s was read instead of the new key", got)
	}
}
