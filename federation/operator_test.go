package federation_test

import (
	"net/http"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/federation"
)

// addFollower adds an account on a peer that follows a user.
func addFollower(p *apptest.FakeServer, srv *apptest.Server, name string, m *apptest.User) string {
	p.T.Helper()
	id := p.AddActor(name)
	p.PostAndSettle(srv, p.Activity("Follow", id, m.URI()))
	return id
}

// parkDeliveries makes all deliveries parked ones.
func parkDeliveries(a *apptest.Server) {
	a.T.Helper()
	a.Exec(`UPDATE deliveries SET parked = 1, attempts = 11, last_error = 'responded with status 503'`)
	a.Exec(`UPDATE hosts SET due_at = NULL`)
}

// TestQueue lists, abandons and retries queued deliveries.
func TestQueue(t *testing.T) {
	srv, p := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	addFollower(p, srv, "bob", alice)
	p.RefuseDeliveries(http.StatusServiceUnavailable)
	alice.Publish("hello")
	apptest.Settle(srv)
	look := func(q federation.QueueQuery) *federation.QueueStatus {
		t.Helper()
		queue, err := srv.Federation.Operator.QueueStatus(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return queue
	}
	queue := look(federation.QueueQuery{})
	if len(queue.Hosts) != 1 || queue.Hosts[0].Host != p.Host || queue.Hosts[0].Queued != 1 || queue.Hosts[0].NextAttempt == nil ||
		queue.Hosts[0].LastError != "responded with status 503" {
		t.Fatalf("queued: %+v", queue.Hosts)
	}
	one := look(federation.QueueQuery{Host: p.Host}).Deliveries
	if len(one) != 1 || one[0].Type != "Create" || one[0].Attempts != 1 || one[0].Parked {
		t.Fatalf("one by one: %+v", one)
	}
	if other := look(federation.QueueQuery{Host: "example.org"}); len(other.Hosts)+len(other.Deliveries) != 0 {
		t.Errorf("for another host: %+v", other)
	}
	if failed := look(federation.QueueQuery{Failed: true}); len(failed.Hosts)+len(failed.Deliveries) != 0 {
		t.Errorf("abandoned: %+v", failed)
	}
	parkDeliveries(srv)
	failed := look(federation.QueueQuery{Failed: true})
	if len(failed.Hosts) != 1 || failed.Hosts[0].Parked != 1 || len(failed.Deliveries) != 1 || !failed.Deliveries[0].Parked || failed.Deliveries[0].NextAttempt != nil {
		t.Errorf("abandoned: %+v", failed)
	}
	if got := p.Delivered("Create"); len(got) != 1 {
		t.Fatalf("it was tried %d times", len(got))
	}

	p.RefuseDeliveries(0)
	for _, q := range []federation.RetryQuery{{}, {ID: 1}} {
		if _, err := srv.Federation.Operator.Retry(t.Context(), q); err == nil {
			t.Errorf("%+v is retried", q)
		}
	}
	if _, err := srv.Federation.Operator.Retry(t.Context(), federation.RetryQuery{Host: "https://example.org"}); err == nil {
		t.Error("an address is taken for a host")
	}
	for _, tt := range []struct {
		q    federation.RetryQuery
		want int
	}{
		{federation.RetryQuery{Host: "EXAMPLE.org"}, 0},
		{federation.RetryQuery{ID: one[0].ID}, 1},
	} {
		done, err := srv.Federation.Operator.Retry(t.Context(), tt.q)
		if err != nil || done.Deliveries != tt.want {
			t.Errorf("%+v: %+v, %v", tt.q, done, err)
		}
	}
	apptest.Settle(srv)
	if got := p.Delivered("Create"); len(got) != 2 {
		t.Errorf("it was tried %d times", len(got))
	}
	if queue := look(federation.QueueQuery{}); len(queue.Hosts) != 0 {
		t.Errorf("queued: %+v", queue.Hosts)
	}
	for _, q := range []federation.RetryQuery{{Host: p.Host}, {All: true}} {
		p.RefuseDeliveries(http.StatusServiceUnavailable)
		alice.Publish("again")
		apptest.Settle(srv)
		parkDeliveries(srv)
		p.RefuseDeliveries(0)
		before := len(p.Delivered("Create"))
		if done, err := srv.Federation.Operator.Retry(t.Context(), q); err != nil || done.Deliveries != 1 {
			t.Errorf("%+v: %+v, %v", q, done, err)
		}
		apptest.Settle(srv)
		if len(p.Delivered("Create")) != before+1 {
			t.Errorf("%+v: it was not retried", q)
		}
	}
}

// TestRetryQueuedActivities checks that an abandoned incoming activity is processed when it is retried.
func TestRetryQueuedActivities(t *testing.T) {
	srv, p := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := p.AddActor("bob")
	p.Post(srv, p.Activity("Follow", bob, alice.URI()))
	srv.Exec(`UPDATE queued_activities SET parked = 1, attempts = 8, last_error = 'it was dark'`)
	apptest.Settle(srv)
	queue, err := srv.Federation.Operator.QueueStatus(t.Context(), federation.QueueQuery{Failed: true})
	if err != nil || queue.Incoming.Parked != 1 || len(queue.FailedIncoming) != 1 || queue.FailedIncoming[0].Signer != bob || queue.FailedIncoming[0].Type != "Follow" {
		t.Fatalf("the queue is %+v, %v", queue, err)
	}
	if n := alice.Get("/api/v1/accounts/" + alice.ID).Object().Int("followers_count"); n != 0 {
		t.Fatalf("%d followers", n)
	}
	srv.Exec(`UPDATE accounts SET domain = 'handles.example' WHERE uri = ?`, bob) // as where handles have a domain of their own
	if done, err := srv.Federation.Operator.Retry(t.Context(), federation.RetryQuery{Host: p.Host}); err != nil || done.Incoming != 1 {
		t.Fatalf("retried: %+v, %v", done, err)
	}
	apptest.Settle(srv)
	if n := alice.Get("/api/v1/accounts/" + alice.ID).Object().Int("followers_count"); n != 1 {
		t.Errorf("%d followers", n)
	}
}

// TestFederationStatus checks that the unreachable instances are public (extension API 26.4).
func TestFederationStatus(t *testing.T) {
	srv, p := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	addFollower(p, srv, "bob", alice)
	gone := "127.0.0.1:1"
	srv.Exec(`UPDATE actors SET inbox = 'http://` + gone + `/inbox', shared_inbox = ''`)
	status := func() map[string]any {
		t.Helper()
		return srv.As(nil).Get("/api/v1/svc/federation_status").Want(200).Object().At("unreachable").(map[string]any)
	}
	if got := status(); len(got) != 0 {
		t.Errorf("before: %v", got)
	}
	alice.Publish("hello")
	apptest.Settle(srv)
	if since, _ := status()[gone].(string); !strings.HasSuffix(since, "Z") {
		t.Errorf("unreachable: %v", status())
	}
	for _, tt := range []struct {
		unreachable bool
		want        []string
	}{{true, []string{gone}}, {false, []string{gone, p.Host}}} {
		list, err := srv.Federation.Operator.Peers(t.Context(), federation.PeerQuery{Unreachable: tt.unreachable})
		var got []string
		for _, peer := range list {
			got = append(got, peer.Host)
			if peer.Host == gone && (peer.UnreachableSince == nil || peer.Failures == 0 || peer.LastError == "") {
				t.Errorf("the unreachable peer is %+v", peer)
			}
		}
		if err != nil || strings.Join(got, " ") != strings.Join(tt.want, " ") {
			t.Errorf("unreachable %v: %v, %v", tt.unreachable, got, err)
		}
	}
}

// TestExplain asks for explanations of objects in every state.
func TestExplain(t *testing.T) {
	srv, p := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := addFollower(p, srv, "bob", alice)
	known := p.Note(bob, "<p>@alice hello</p>", apptest.Doc{"cc": []any{alice.URI()}, "tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI()}}})
	p.Serve(known)
	p.PostAndSettle(srv, p.Create(known))
	fresh := p.Note(bob, "<p>not delivered</p>")
	p.Serve(fresh)
	secret := p.Note(bob, "<p>psst</p>", apptest.Doc{"to": []any{bob + "/followers"}, "cc": nil})
	p.Serve(secret)
	gone := p.URL + "/notes/gone"
	p.Remove(gone, http.StatusGone)
	forged := p.Note("http://127.0.0.1:1/users/eve", "<p>forged</p>")
	p.Serve(forged)
	own := alice.Publish("mine")
	explain := func(address string) *federation.Explanation {
		t.Helper()
		e, err := srv.Federation.Operator.Explain(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := explain(known["id"].(string)); e.Status == nil || e.Status.Author != "bob@"+p.Host || e.Fetched == nil || e.Fetched.Type != "Note" {
		t.Errorf("a known post: %+v", e)
	}
	if e := explain(bob); e.Account == nil || e.Account.Acct != "bob@"+p.Host || e.Account.FetchedAt == nil || e.Peer == nil {
		t.Errorf("a known account: %+v", e)
	}
	for _, address := range []string{own.Str("uri"), own.Str("url")} {
		if e := explain(address); !e.Local || e.Status == nil || e.Fetched != nil {
			t.Errorf("our own post: %+v", e)
		}
	}
	if e := explain(srv.URL + "/@alice"); !e.Local || e.Account == nil || e.Account.Acct != "alice" {
		t.Errorf("our own account: %+v", e)
	}
	// The address of a page works, too.
	p.Respond("/@bob", http.StatusOK, "text/html", []byte(`<link rel="alternate" type="application/activity+json" href="`+bob+`">`))
	p.Respond(strings.TrimPrefix(known["url"].(string), p.URL), http.StatusOK, "text/html", nil)
	if e := explain(known["url"].(string)); e.Status == nil {
		t.Errorf("the page of a known post: %+v", e)
	}
	if e := explain(p.URL + "/@bob"); e.Account == nil || e.Fetched.ID != bob {
		t.Errorf("the page of a known account: %+v", e)
	}
	for address, want := range map[string]string{
		fresh["id"].(string):  "It would be accepted: it is public or unlisted.",
		secret["id"].(string): "only be accepted if it is delivered",
		gone:                  "does not have it",
		forged["id"].(string): "its author is on another host",
		bob:                   "accepted as an account",
	} {
		if e := explain(address); e.Fetched == nil || !strings.Contains(e.Fetched.Verdict, want) {
			t.Errorf("%s: %+v", address, e.Fetched)
		}
	}
	before := len(alice.Get("/api/v1/timelines/public").List())
	explain(fresh["id"].(string))
	if after := len(alice.Get("/api/v1/timelines/public").List()); after != before {
		t.Error("explaining a post has stored it")
	}

	stolen := p.Create(forged)
	stolen["actor"] = bob
	p.PostAndSettle(srv, stolen)
	e := explain(forged["id"].(string))
	if len(e.Refusals) == 0 || e.Refusals[0].Reason == "" || e.Refusals[0].Host != p.Host {
		t.Errorf("the refused activity: %+v", e)
	}
	page := p.URL + "/pages/forged"
	p.Respond("/pages/forged", http.StatusOK, "text/html", []byte(`<link rel="alternate" type="application/activity+json" href="`+forged["id"].(string)+`">`))
	if e := explain(page); len(e.Refusals) == 0 {
		t.Errorf("the page of a refused object: %+v", e)
	}
	carol := p.AddActor("carol")
	for handle, want := range map[string]string{"@bob@" + p.Host: bob, "carol@" + p.Host: carol, "alice": alice.URI(), "@Alice@" + apptest.MustHost(t, srv.URL): alice.URI()} {
		if e := explain(handle); e.URL != want || (e.Account != nil) != (want != carol) {
			t.Errorf("%s: %+v", handle, e)
		}
	}
	for _, address := range []string{"", "bob", "dave@" + p.Host, "javascript:alert(1)"} {
		if _, err := srv.Federation.Operator.Explain(t.Context(), address); err == nil {
			t.Errorf("%q is explained", address)
		}
	}
}

// TestRotateKeys checks that new keys are used at once and sent to other servers.
func TestRotateKeys(t *testing.T) {
	peers := apptest.StartPeers(t, 2)
	a, b := peers[0], peers[1]
	alice, bob := a.SignUp("alice"), b.SignUp("bob")
	found := bob.Get("/api/v2/search", "q", alice.URI(), "resolve", "true").Want(200).Object().At("accounts").([]any)
	id := found[0].(map[string]any)["id"].(string)
	bob.Post("/api/v1/accounts/" + id + "/follow").Want(200)
	apptest.Settle(a, b)
	for _, r := range []federation.Rotation{{Name: "alice"}, {Name: "@alice"}, {Server: true}} {
		made, err := a.Federation.Operator.RotateKeys(t.Context(), r)
		if err != nil || len(made) == 0 {
			t.Fatalf("%+v: %v, %v", r, made, err)
		}
		st := alice.Publish("signed with another key")
		apptest.Settle(a, b)
		if got := bob.Get("/api/v1/timelines/home").Want(200).List(); len(got) == 0 || got[0].Str("uri") != st.Str("uri") {
			t.Errorf("%+v: a request with the new key is refused: %v", r, got)
		}
	}
	if _, err := a.Federation.Operator.RotateKeys(t.Context(), federation.Rotation{Name: "an unknown account"}); err == nil {
		t.Error("an unknown account got new keys")
	}
}
