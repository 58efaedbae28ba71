package federation_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/federation"
	"svc/internal/httpsig"
)

// distrustfulServer is a remote server that fetches the key of an actor once, and then takes another one only from a signed Update. It
// reads one publicKey, as most servers do.
type distrustfulServer struct {
	*apptest.FakeServer
	srv     *apptest.Server
	mu      sync.Mutex
	down    bool
	keys    map[string]string // PEM by actor
	refused []string          // types of activities whose signature was wrong
	took    []string          // types of accepted ones
}

// startDistrustful starts a distrustfulServer with an actor that it serves.
func startDistrustful(t *testing.T, srv *apptest.Server, name string) (d *distrustfulServer, actor string) {
	t.Helper()
	d = &distrustfulServer{srv: srv, keys: make(map[string]string)}
	d.FakeServer = apptest.StartFake(t)
	front := httptest.NewServer(http.HandlerFunc(d.serve))
	t.Cleanup(front.Close)
	d.URL, d.Host = front.URL, strings.TrimPrefix(front.URL, "http://")
	return d, d.AddActor(name)
}

func (d *distrustfulServer) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		if r.URL.Path != "/.well-known/webfinger" && !d.trusts(r, nil) {
			http.Error(w, "wrong signature", http.StatusUnauthorized)
			return
		}
		d.FakeServer.ServeHTTP(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var doc apptest.Doc
	json.Unmarshal(body, &doc)
	kind := fmt.Sprint(doc["type"])
	d.mu.Lock()
	down := d.down
	d.mu.Unlock()
	switch {
	case down:
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	case !d.trusts(r, body):
		d.mu.Lock()
		d.refused = append(d.refused, kind)
		d.mu.Unlock()
		http.Error(w, "wrong signature", http.StatusUnauthorized)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.took = append(d.took, kind)
	if object, _ := doc["object"].(apptest.Doc); kind == "Update" && object["id"] == doc["actor"] {
		d.keys[fmt.Sprint(doc["actor"])] = object["publicKey"].(apptest.Doc)["publicKeyPem"].(string)
	}
	w.WriteHeader(http.StatusAccepted)
}

// trusts returns whether a request is signed with the key that this server has of the signer. It fetches the key of an unknown signer.
func (d *distrustfulServer) trusts(r *http.Request, body []byte) bool {
	base, _ := url.Parse(d.URL)
	claims, err := httpsig.Read(r, httpsig.Policy{Base: base, Now: time.Now(), MaxAge: time.Hour, MaxAhead: time.Hour, Body: body})
	if err != nil || len(claims) == 0 {
		return false
	}
	actor, _, _ := strings.Cut(claims[0].KeyID, "#")
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys[actor] == "" {
		req, _ := http.NewRequest(http.MethodGet, actor, nil)
		req.Header.Set("Accept", apptest.ActivityJSON)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		var doc apptest.Doc
		json.NewDecoder(resp.Body).Decode(&doc)
		d.keys[actor] = doc["publicKey"].(apptest.Doc)["publicKeyPem"].(string)
	}
	key, err := httpsig.ParsePublicKey(d.keys[actor])
	return err == nil && claims[0].Verify(key) == nil
}

// wantTaken checks the types of activities that arrived since the last call, and that none was refused.
func (d *distrustfulServer) wantTaken(what string, want ...string) {
	d.T.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.took, want) || len(d.refused) > 0 {
		d.T.Errorf("%s: %s took %q, want %q, and refused %q", what, d.Host, d.took, want, d.refused)
	}
	d.took, d.refused = nil, nil
}

func (d *distrustfulServer) setDown(down bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.down = down
}

// publishedKeys returns the ids of the keys in the document of an actor, the one in publicKey first.
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
	return ids
}

// TestKeyRotation checks that a rotation cuts no server off that trusts the key it has until a valid Update arrives: the Update is signed
// with the old key, and so is all else that goes to a server that does not have it yet.
func TestKeyRotation(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.StartWithLoopback(t)
	alice := srv.SignUp("alice")
	near, bob := startDistrustful(t, srv, "bob")
	away, carol := startDistrustful(t, srv, "carol")
	met, dave := startDistrustful(t, srv, "dave") // follows nobody, but has the key
	for _, follow := range []struct {
		d  *distrustfulServer
		by string
	}{{near, bob}, {away, carol}, {met, dave}} {
		follow.d.PostAndSettle(srv, follow.d.Activity("Follow", follow.by, alice.URI()))
		follow.d.wantTaken("a follow", "Accept")
	}
	met.PostAndSettle(srv, met.Activity("Undo", dave, met.Activity("Follow", dave, alice.URI())))
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
	away.setDown(true)
	rotate(federation.Rotation{Name: "alice"})
	near.wantTaken("a rotation", "Update")
	met.wantTaken("a rotation", "Update")
	away.wantTaken("a rotation while it is down")
	apptest.WantList(t, "published keys", publishedKeys(srv, "/users/"+alice.ID), "#key-2", "#main-key")
	publish()
	near.wantTaken("a post", "Create")
	rotate(federation.Rotation{Name: "alice"}) // again, before all have the first
	near.wantTaken("another rotation", "Update")
	publish()
	near.wantTaken("a post after two", "Create")
	apptest.WantList(t, "published keys", publishedKeys(srv, "/users/"+alice.ID), "#key-3", "#key-2", "#main-key")

	away.setDown(false)
	srv.MakeDeliveriesDue()
	apptest.Settle(srv)
	srv.MakeDeliveriesDue()
	apptest.Settle(srv)
	away.wantTaken("the queued activities", "Update", "Update", "Create", "Create")
	publish()
	away.wantTaken("a post", "Create")
	retire := func() {
		t.Helper()
		srv.Exec(`UPDATE jobs SET run_at = 1 WHERE kind = 'retire_keys'`)
		apptest.Settle(srv)
	}
	retire()
	apptest.WantList(t, "published keys at the end", publishedKeys(srv, "/users/"+alice.ID), "#key-3")
	if n := srv.Count(`SELECT count(*) FROM actor_keys WHERE private IS NOT NULL AND uri LIKE ?`, alice.URI()+"#%"); n != 1 {
		t.Errorf("%d private keys are stored", n)
	}

	// A server that never takes the Update does not keep the old key in use.
	away.wantTaken("nothing")
	near.wantTaken("a post", "Create")
	away.setDown(true)
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
	away, carol := startDistrustful(t, srv, "carol")
	away.PostAndSettle(srv, away.Activity("Follow", carol, alice.URI()))
	away.setDown(true) // so that old keys stay in use
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
		near, bob := startDistrustful(t, srv, "bob")
		near.Post(srv, near.Activity("Follow", bob, alice.URI()))
		takes := func(want ...string) {
			t.Helper()
			apptest.WaitFor(t, fmt.Sprint(want, " in round ", i), func() bool {
				srv.RunJobs()
				near.mu.Lock()
				defer near.mu.Unlock()
				return len(near.took)+len(near.refused) >= len(want)
			})
			near.wantTaken(fmt.Sprint("round ", i), want...)
		}
		takes("Accept")
		rotate()
		takes("Update")
		near.setDown(true)
	}
}

// TestServerKeyRotation checks that the Update of the instance actor reaches every known server, signed with the old key, and that servers
// without it accept fetches all the time.
func TestServerKeyRotation(t *testing.T) {
	srv := apptest.StartWithLoopback(t)
	near, bob := startDistrustful(t, srv, "bob")
	away, carol := startDistrustful(t, srv, "carol")
	for _, actor := range []string{bob, carol} {
		srv.FetchActor(actor)
	}
	away.setDown(true)
	if made, err := srv.Federation.Operator.RotateKeys(t.Context(), federation.Rotation{Server: true}); err != nil || len(made) != 2 {
		t.Fatalf("%v, %v", made, err)
	}
	apptest.Settle(srv)
	near.wantTaken("a rotation", "Update", "Update") // of the two server actors
	for _, d := range []*distrustfulServer{near, away} {
		note := d.Note(d.AddActor("erin"), "hello")
		d.Serve(note)
		if _, err := srv.Federation.Statuses.Status(t.Context(), note["id"].(string)); err != nil {
			t.Errorf("%s refuses a fetch: %v", d.Host, err)
		}
	}
	apptest.WantList(t, "published keys", publishedKeys(srv, "/internal/fetch"), "#key-2", "#main-key")
	away.setDown(false)
	srv.MakeDeliveriesDue()
	apptest.Settle(srv)
	away.wantTaken("the queued activities", "Update", "Update")
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
