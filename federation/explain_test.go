package federation_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/federation"
)

// TestExplainDeliveries asks for the recipients of a local post, for a failing host, and for incoming activities.
func TestExplainDeliveries(t *testing.T) {
	srv, good := apptest.StartWithFake(t)
	bad, hostile := apptest.StartFake(t), apptest.StartFake(t)
	alice := srv.SignUp("alice")
	bob := good.AddFollower(srv, "bob", alice)
	bad.AddFollower(srv, "carol", alice)
	hostile.AddFollower(srv, "dave", alice)
	bad.RefuseDeliveries(http.StatusServiceUnavailable)
	hostile.RefuseDeliveries(http.StatusForbidden)
	explain := func(address string) *federation.Explanation {
		t.Helper()
		e, err := srv.Federation.Operator.Explain(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	post := alice.Publish("hello")
	apptest.Settle(srv)
	e := explain(post.Str("url"))
	if len(e.Recipients) != 3 || e.Incoming != "" || len(e.Refusals) > 0 {
		t.Fatalf("the recipients are %+v", e.Recipients)
	}
	if e.Recipients[0].Host != hostile.Host || e.Recipients[2].Host != good.Host {
		t.Errorf("the post reached the first of %s, %s, %s, or not the last", e.Recipients[0].Host, e.Recipients[1].Host, e.Recipients[2].Host)
	}
	for _, to := range e.Recipients {
		want := map[string]string{good.Host: "delivered", bad.Host: "queued", hostile.Host: "refused"}[to.Host]
		if to.State != want || (to.LastError == "") != (want == "delivered") || len(to.Queued) != map[string]int{"queued": 1}[want] {
			t.Errorf("%s is %+v, want %q", to.Host, to, want)
		}
	}
	if e := explain(alice.Publish("only here", "visibility", "local").Str("uri")); len(e.Recipients) > 0 {
		t.Errorf("a local-only post is for %+v", e.Recipients)
	}
	for _, address := range []string{bad.Host, bad.URL, bad.URL + "/"} {
		e := explain(address)
		if len(e.Deliveries) != 1 || e.Deliveries[0].Type != "Create" || e.Peer == nil || e.Peer.Failures == 0 || e.Peer.LastError == "" || e.Fetched != nil {
			t.Errorf("%s: %+v, peer %+v", address, e, e.Peer)
		}
	}
	if e := explain(good.Host); len(e.Deliveries) > 0 {
		t.Errorf("%+v wait for a host that answers", e.Deliveries)
	}

	accepted := good.Create(good.Note(bob, "in reply", apptest.Doc{"inReplyTo": post.Str("uri")}))
	refused := good.Create(good.Note("http://127.0.0.1:1/users/eve", "forged"), apptest.Doc{"actor": bob})
	good.PostAndSettle(srv, accepted)
	good.PostAndSettle(srv, refused)
	for address, want := range map[string]string{
		accepted["id"].(string): "accepted", refused["id"].(string): "refused: ", good.URL + "/activities/unknown": "not seen",
	} {
		if got := explain(address).Incoming; !strings.HasPrefix(got, want) {
			t.Errorf("%s is %q, want %q", address, got, want)
		}
	}
}

// TestExplainNothingQueued tells the hosts of a post's audience apart for which nothing is queued.
func TestExplainNothingQueued(t *testing.T) {
	srv, early := apptest.StartWithFake(t)
	late, named, dead := apptest.StartFake(t), apptest.StartFake(t), apptest.StartFake(t)
	alice := srv.SignUp("alice")
	early.AddFollower(srv, "bob", alice)
	dead.AddFollower(srv, "dora", alice)
	carol := named.AddActor("carol")
	named.PostAndSettle(srv, named.Create(named.Note(carol, "hello", apptest.Doc{"to": []string{alice.URI()}})))
	srv.Exec(`UPDATE hosts SET unreachable_since = 1000, failures = 99 WHERE domain = ?`, dead.Host)
	post := alice.Publish("hello @carol@" + named.Host)
	states := func() map[string]string {
		t.Helper()
		e, err := srv.Federation.Operator.Explain(t.Context(), post.Str("url"))
		if err != nil {
			t.Fatal(err)
		}
		found := make(map[string]string)
		for _, to := range e.Recipients {
			found[to.Host] = to.State
		}
		return found
	}
	check := func(when string, want map[string]string) {
		t.Helper()
		if got := states(); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	srv.Exec(`DELETE FROM deliveries WHERE domain = ?`, dead.Host)
	check("before the entry is processed", map[string]string{early.Host: "not queued yet", named.Host: "not queued yet", dead.Host: "not queued yet"})
	apptest.Settle(srv)
	srv.Exec(`DELETE FROM deliveries WHERE domain = ?`, dead.Host) // as after a month
	late.AddFollower(srv, "erin", alice)
	delivered := map[string]string{early.Host: "delivered", named.Host: "delivered", late.Host: "followed later", dead.Host: "dropped: unreachable"}
	srv.Exec(`UPDATE hosts SET unreachable_since = 1000 WHERE domain = ?`, dead.Host)
	check("after the delivery", delivered)
	srv.Exec(`UPDATE accounts SET locked = 1 WHERE nickname = 'alice'`)
	delivered[early.Host] = "delivered or followed later"
	check("if the author approves followers", delivered)
	srv.Advance(8 * 24 * time.Hour)
	check("a week later", map[string]string{early.Host: "not known any more", named.Host: "not known any more", late.Host: "followed later", dead.Host: "dropped: unreachable"})
}

// TestExplainLocal asks a server without a domain about its own accounts and posts.
func TestExplainLocal(t *testing.T) {
	srv := apptest.Start(t) // at http://127.0.0.1 with a port, without federation.allow_loopback
	alice := srv.SignUp("alice")
	post := alice.Publish("hello")
	host := strings.TrimPrefix(srv.URL, "http://")
	for _, tt := range []struct{ name, address, account, status string }{
		{"a nickname", "alice", alice.ID, ""},
		{"a handle", "@alice@" + host, alice.ID, ""},
		{"an actor", alice.URI(), alice.ID, ""},
		{"a profile", srv.URL + "/@alice", alice.ID, ""},
		{"a post", post.Str("uri"), "", post.ID()},
		{"the page of a post", post.Str("url"), "", post.ID()},
		{"the host", host, "", ""},
		{"the front page", srv.URL, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := srv.Federation.Operator.Explain(t.Context(), tt.address)
			if err != nil {
				t.Fatal(err)
			}
			var account, status string
			if e.Account != nil {
				account = e.Account.ID
			}
			if e.Status != nil {
				status = e.Status.ID
			}
			if account != tt.account || status != tt.status || !e.Local || e.Host != host || e.Fetched != nil {
				t.Errorf("the account is %q, the status %q: %+v", account, status, e)
			}
		})
	}
	for _, other := range []string{"http://localhost:1/users/alice", "http://127.0.0.1/users/alice", "http://" + host + "0/users/alice"} {
		if _, err := srv.Federation.Operator.Explain(t.Context(), other); err == nil {
			t.Errorf("%s is explained", other)
		}
	}
}
