package federation_test

import (
	"bytes"
	"crypto"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/internal/httpsig"
	"svc/store"
)

// closeServer closes a server for good, as the command does, and runs the first slice of the job.
func closeServer(srv *apptest.Server) {
	srv.T.Helper()
	if _, err := srv.Admin.CloseServer(srv.T.Context(), srv.Settings.Host()); err != nil {
		srv.T.Fatal(err)
	}
}

// continueClosing makes all deliveries and the job due, and runs them.
func continueClosing(srv *apptest.Server) {
	srv.T.Helper()
	srv.MakeDeliveriesDue()
	srv.Exec(`UPDATE jobs SET run_at = 1000 WHERE kind = 'close_server'`)
	apptest.Settle(srv)
}

// deletedActors returns the objects of the Deletes that arrived, sorted.
func deletedActors(p *apptest.FakeServer) (list []string) {
	for _, d := range p.Delivered("Delete") {
		list = append(list, fmt.Sprint(d["object"]))
	}
	slices.Sort(list)
	return list
}

// actorsOf returns the ids of the actors of users and of the one that fetches, sorted. It fetches them as other servers do, which makes their keys.
func actorsOf(srv *apptest.Server, users ...*apptest.User) []string {
	list := []string{srv.URL + "/internal/fetch"}
	for _, u := range users {
		list = append(list, u.URI())
	}
	for _, actor := range list {
		srv.GetDocument(strings.TrimPrefix(actor, srv.URL)).Want(200)
	}
	slices.Sort(list)
	return list
}

func wantClosure(t *testing.T, srv *apptest.Server, state string, servers, reached, unreached int) {
	t.Helper()
	c, err := srv.Admin.Closure(t.Context(), struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	if c.State != state || c.Servers != servers || c.Reached != reached || c.Unreached != unreached {
		t.Errorf("the state of the closure is %+v, want %s: %d servers, %d reached, %d unreached", c, state, servers, reached, unreached)
	}
}

// verifiedDeletes records errors of the signatures of requests to a fake server, by the keys that actors had before the closure.
func verifiedDeletes(t *testing.T, p *apptest.FakeServer, keys map[string]crypto.PublicKey) {
	var mu sync.Mutex
	p.Check = func(_ http.ResponseWriter, r *http.Request, body []byte) bool {
		if r.Method != http.MethodPost || !bytes.Contains(body, []byte(`"Delete"`)) {
			return true
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		claims, err := httpsig.Read(r, httpsig.Policy{Base: &url.URL{Scheme: "http", Host: p.Host}, Now: time.Now(), MaxAge: time.Minute, MaxAhead: time.Minute, Body: body})
		mu.Lock()
		defer mu.Unlock()
		if err != nil || len(claims) == 0 {
			t.Errorf("a Delete is not signed: %v", err)
			return true
		}
		if key := keys[claims[0].KeyID]; key == nil || claims[0].Verify(key) != nil {
			t.Errorf("the signature of a Delete by %s cannot be verified", claims[0].KeyID)
		}
		return true
	}
}

// keysOf returns the keys in the documents of actors.
func keysOf(t *testing.T, srv *apptest.Server, actors []string) map[string]crypto.PublicKey {
	keys := make(map[string]crypto.PublicKey)
	for _, actor := range actors {
		o := srv.GetDocument(strings.TrimPrefix(actor, srv.URL)).Want(200).Object()
		key, err := httpsig.ParsePublicKey(o.Str("publicKey.publicKeyPem"))
		if err != nil {
			t.Fatal(err)
		}
		keys[actor+"#main-key"] = key
	}
	return keys
}

// TestCloseServer closes a server with two users, which three other servers know. One of these is down at first.
func TestCloseServer(t *testing.T) {
	srv, first := apptest.StartWithFake(t)
	second, down := apptest.StartFake(t), apptest.StartFake(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	srv.SignUp("carol") // whom no other server knows
	post := alice.Publish("hello")
	first.AddFollower(srv, "eve", alice)
	second.AddFollower(srv, "eve", bob)
	down.AddFollower(srv, "eve", alice)
	want := actorsOf(srv, alice, bob)
	for _, p := range []*apptest.FakeServer{first, second, down} {
		p.ClearDelivered()
		verifiedDeletes(t, p, keysOf(t, srv, want))
	}
	down.RefuseDeliveries(http.StatusBadGateway)

	closeServer(srv)
	if srv.As(alice).Get("/api/v1/accounts/verify_credentials").Status != http.StatusGone {
		t.Error("a token is accepted before the job has run")
	}
	apptest.Settle(srv)
	for name, p := range map[string]*apptest.FakeServer{"first": first, "second": second} {
		apptest.WantList(t, "Deletes at the "+name+" server", deletedActors(p), want...)
	}
	wantClosure(t, srv, "closing", 3, 2, 0)
	if n := srv.Count(`SELECT count(*) FROM oauth_tokens WHERE account_id IS NOT NULL`); n != 0 {
		t.Errorf("%d tokens are left", n)
	}
	testClosedAnswers(t, srv, alice, post.ID())

	down.ClearDelivered()
	down.RefuseDeliveries(0)
	continueClosing(srv)
	apptest.WantList(t, "Deletes at the server that was down", deletedActors(down), want...)
	continueClosing(srv)
	wantClosure(t, srv, "closed", 3, 3, 0)
	apptest.WantList(t, "Deletes at the first server in the end", deletedActors(first), want...)
	if n := srv.Count(`SELECT count(*) FROM moderation_log WHERE action = 'server_close'`); n != 1 {
		t.Errorf("the moderation log has %d entries about the closure, want 1", n)
	}
}

// testClosedAnswers checks what a closed server answers.
func testClosedAnswers(t *testing.T, srv *apptest.Server, alice *apptest.User, post string) {
	const gone = http.StatusGone
	for _, path := range []string{"/users/" + alice.ID, "/users/alice", "/internal/fetch", "/relay"} {
		o := srv.GetDocument(path).Want(gone).Object()
		if o.Str("type") != "Tombstone" || o.Str("deleted") == "" || !strings.HasPrefix(o.Str("id"), srv.URL+"/") {
			t.Errorf("the actor at %s is %v", path, o.Fields)
		}
	}
	for _, path := range []string{"/users/" + alice.ID + "/outbox", "/users/" + alice.ID + "/followers", "/objects/" + post} {
		srv.GetDocument(path).Want(gone)
	}
	nobody, host := srv.As(nil), srv.Settings.Host()
	for _, path := range []string{"/api/v1/instance", "/api/v2/instance", "/api/v1/timelines/public", "/api/v1/streaming/public", "/api/v1/unknown",
		"/.well-known/webfinger?resource=acct:alice@" + host, "/.well-known/host-meta"} {
		nobody.Get(path).WantError(gone, "This server is closed. Its accounts and posts are deleted.")
	}
	for _, request := range [][]string{
		{"/api/v1/apps", "client_name", "x", "redirect_uris", "urn:ietf:wg:oauth:2.0:oob"},
		{"/api/v1/accounts", "username", "carol", "email", "carol@example.org", "password", apptest.Password, "agreement", "true"},
		{"/oauth/token", "grant_type", "password", "username", "alice", "password", apptest.Password, "client_id", "x", "client_secret", "y"},
		{"/api/v1/statuses", "status", "hello"},
		{"/web/sign_in", "username", "alice", "password", apptest.Password},
		{"/web/sign_up", "username", "carol"},
		{"/inbox"},
		{"/users/" + alice.ID + "/inbox"},
	} {
		srv.As(alice).Post(request[0], request[1:]...).Want(gone)
	}
	for _, path := range []string{"/", "/about", "/@alice", "/users/" + alice.ID, "/web", "/web/sign_in", "/web/sign_up", "/web/admin", "/setup", "/nothing"} {
		browser := srv.Browser()
		browser.Accept = "text/html,*/*;q=0.8"
		page := browser.Get(path).Want(gone)
		if body := string(page.Body); !strings.Contains(body, "This server is closed") || strings.Contains(body, "/web/sign_in") {
			t.Errorf("the page %s is %s", path, body)
		}
	}
	nobody.Get("/health").Want(200)
	nobody.Get("/api/v1/svc/healthcheck").Want(200)
	if nobody.Get("/nodeinfo/2.1.json").Want(200).Object().Bool("openRegistrations") {
		t.Error("NodeInfo says that registrations are open")
	}
}

// TestCloseServerRestart stops a server while it tells others, and starts it again. Each server gets each Delete once.
func TestCloseServerRestart(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	users := apptest.SignUpMany(srv, 25) // more than are queued at a time
	peer.AddFollower(srv, "eve", users[0])
	peer.ClearDelivered()
	want := actorsOf(srv, users...)
	closeServer(srv)
	apptest.Settle(srv) // the first slice
	arrived := len(deletedActors(peer))
	if arrived == 0 || arrived >= len(users) {
		t.Fatalf("%d Deletes have arrived, want some of them", arrived)
	}
	if n := srv.Count(`SELECT count(*) FROM deliveries`); n != 0 {
		t.Fatalf("%d deliveries are queued", n)
	}
	address := srv.URL
	if err := srv.DB.Close(); err != nil {
		t.Fatal(err)
	}
	again := apptest.Start(t, func(c *config.Config) { c.Data.Dir, c.Server.URL, c.Federation.AllowLoopback = srv.Dir, address, true })
	if !again.DB.ServerClosed() {
		t.Fatal("the server is open after the restart")
	}
	for range 5 {
		continueClosing(again)
	}
	apptest.WantList(t, "Deletes", deletedActors(peer), want...)
	wantClosure(t, again, "closed", 1, 1, 0)
}

// TestCloseServerBounds checks that the queue of deliveries stays short while servers do not answer, and that the closure does not wait for them forever.
func TestCloseServerBounds(t *testing.T) {
	srv, dead := apptest.StartWithFake(t)
	users := apptest.SignUpMany(srv, 60)
	dead.AddFollower(srv, "eve", users[0])
	actorsOf(srv, users...)
	dead.Close()
	closeServer(srv)
	most := 0
	for range 6 {
		continueClosing(srv)
		most = max(most, srv.Count(`SELECT count(*) FROM deliveries`))
	}
	if most == 0 || most > 10 {
		t.Errorf("up to %d deliveries were queued for a server that does not answer, want at most 10", most)
	}
	wantClosure(t, srv, "closing", 1, 0, 0)
	srv.Advance(store.ClosurePatience + time.Hour)
	continueClosing(srv)
	wantClosure(t, srv, "closed", 1, 0, 1)
}

// TestCloseServerPeer closes a server that another one of this program knows, which removes the accounts.
func TestCloseServerPeer(t *testing.T) {
	here, there, alice, bob, _ := apptest.StartTwo(t)
	post := alice.Publish("hello")
	apptest.Settle(here, there)
	uri := here.URL + "/objects/" + post.ID()
	bob.WantPost(uri)
	before := there.Count(`SELECT count(*) FROM accounts WHERE domain <> '' AND deleted_at IS NULL`)
	closeServer(here)
	apptest.Settle(here, there)
	if bob.FindPost(uri) != nil {
		t.Error("the other server still has the post")
	}
	if after := there.Count(`SELECT count(*) FROM accounts WHERE domain <> '' AND deleted_at IS NULL`); before == 0 || after != 0 {
		t.Errorf("the other server had %d accounts, and still has %d", before, after)
	}
	bob.Publish("hello @alice@" + here.Settings.Host())
	apptest.Settle(there)
}

// TestCancelClosure opens a server again, which is possible as long as no Delete is queued.
func TestCancelClosure(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	peer.AddFollower(srv, "eve", alice)
	if _, err := srv.Admin.CancelClosure(t.Context(), struct{}{}); err == nil {
		t.Error("the closure of an open server was canceled")
	}
	if _, err := srv.Admin.CloseServer(t.Context(), "other.example"); err == nil || srv.DB.ServerClosed() {
		t.Errorf("another domain closes the server: %v", err)
	}
	closeServer(srv)
	closeServer(srv) // changes nothing
	srv.As(alice).Get("/api/v1/instance").Want(410)
	if _, err := srv.Admin.CancelClosure(t.Context(), struct{}{}); err != nil {
		t.Fatal(err)
	}
	srv.As(alice).Get("/api/v1/accounts/verify_credentials").Want(200)
	srv.GetDocument("/users/" + alice.ID).Want(200)
	apptest.Settle(srv)
	if got := deletedActors(peer); len(got) != 0 {
		t.Errorf("after the cancellation, Deletes were sent: %v", got)
	}
	closeServer(srv)
	apptest.Settle(srv)
	if _, err := srv.Admin.CancelClosure(t.Context(), struct{}{}); err == nil {
		t.Error("the closure was canceled after Deletes were sent")
	}
	if !srv.DB.ServerClosed() {
		t.Error("the server is open again")
	}
}
