package server_test

import (
	"net/http"
	"strings"
	"testing"

	"svc/federation"
)

// follower makes somebody on a peer who follows a member.
func (p *fakePeer) follower(srv *api, name string, m *member) string {
	p.t.Helper()
	id := p.actor(name)
	p.receive(srv, p.activity("Follow", id, m.uri()))
	return id
}

// giveUp has deliveries be such as have been tried too often.
func (a *api) giveUp() {
	a.t.Helper()
	a.insert(`UPDATE deliveries SET parked = 1, attempts = 11, last_error = 'answered with status 503'`)
	a.insert(`UPDATE hosts SET due_at = NULL`)
}

// TestQueue looks at what waits, gives it up, and has it tried again.
func TestQueue(t *testing.T) {
	srv, p := startWithPeer(t)
	alice := srv.signUp("alice")
	p.follower(srv, "bob", alice)
	p.refuse(http.StatusServiceUnavailable)
	alice.publish("hello")
	settle(srv)
	look := func(q federation.QueueQuery) *federation.Queue {
		t.Helper()
		queue, err := srv.fed.Queue(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return queue
	}
	queue := look(federation.QueueQuery{})
	if len(queue.Hosts) != 1 || queue.Hosts[0].Host != p.host || queue.Hosts[0].Waiting != 1 || queue.Hosts[0].NextTry == nil ||
		queue.Hosts[0].LastError != "answered with status 503" {
		t.Fatalf("what waits is %+v", queue.Hosts)
	}
	one := look(federation.QueueQuery{Host: p.host}).Waiting
	if len(one) != 1 || one[0].Type != "Create" || one[0].Attempts != 1 || one[0].GivenUp {
		t.Fatalf("one by one: %+v", one)
	}
	if other := look(federation.QueueQuery{Host: "example.org"}); len(other.Hosts)+len(other.Waiting) != 0 {
		t.Errorf("for another host: %+v", other)
	}
	if failed := look(federation.QueueQuery{Failed: true}); len(failed.Hosts)+len(failed.Waiting) != 0 {
		t.Errorf("given up: %+v", failed)
	}
	srv.giveUp()
	failed := look(federation.QueueQuery{Failed: true})
	if len(failed.Hosts) != 1 || failed.Hosts[0].GivenUp != 1 || len(failed.Waiting) != 1 || !failed.Waiting[0].GivenUp || failed.Waiting[0].NextTry != nil {
		t.Errorf("given up: %+v", failed)
	}
	if got := p.delivered("Create"); len(got) != 1 {
		t.Fatalf("it was tried %d times", len(got))
	}

	p.refuse(0)
	for _, q := range []federation.RetryQuery{{}, {ID: 1}} {
		if _, err := srv.fed.Retry(t.Context(), q); err == nil {
			t.Errorf("%+v is tried again", q)
		}
	}
	if _, err := srv.fed.Retry(t.Context(), federation.RetryQuery{Host: "https://example.org"}); err == nil {
		t.Error("an address is taken for a host")
	}
	for _, tt := range []struct {
		q    federation.RetryQuery
		want int
	}{
		{federation.RetryQuery{Host: "EXAMPLE.org"}, 0},
		{federation.RetryQuery{ID: one[0].ID}, 1},
	} {
		done, err := srv.fed.Retry(t.Context(), tt.q)
		if err != nil || done.Deliveries != tt.want {
			t.Errorf("%+v: %+v, %v", tt.q, done, err)
		}
	}
	settle(srv)
	if got := p.delivered("Create"); len(got) != 2 {
		t.Errorf("it was tried %d times", len(got))
	}
	if queue := look(federation.QueueQuery{}); len(queue.Hosts) != 0 {
		t.Errorf("what waits is %+v", queue.Hosts)
	}
	for _, q := range []federation.RetryQuery{{Host: p.host}, {All: true}} {
		p.refuse(http.StatusServiceUnavailable)
		alice.publish("again")
		settle(srv)
		srv.giveUp()
		p.refuse(0)
		before := len(p.delivered("Create"))
		if done, err := srv.fed.Retry(t.Context(), q); err != nil || done.Deliveries != 1 {
			t.Errorf("%+v: %+v, %v", q, done, err)
		}
		settle(srv)
		if len(p.delivered("Create")) != before+1 {
			t.Errorf("%+v: it was not tried again", q)
		}
	}
}

// What came in and was given up is done when it is tried again.
func TestRetryReceived(t *testing.T) {
	srv, p := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := p.actor("bob")
	p.post(srv, p.activity("Follow", bob, alice.uri()))
	srv.insert(`UPDATE inbox SET parked = 1, attempts = 8, last_error = 'it was dark'`)
	settle(srv)
	queue, err := srv.fed.Queue(t.Context(), federation.QueueQuery{Failed: true})
	if err != nil || queue.Received.GivenUp != 1 || len(queue.Troubled) != 1 || queue.Troubled[0].Signer != bob || queue.Troubled[0].Type != "Follow" {
		t.Fatalf("the queue is %+v, %v", queue, err)
	}
	if n := alice.get("/api/v1/accounts/" + alice.id).object().num("followers_count"); n != 0 {
		t.Fatalf("%d followers", n)
	}
	srv.insert(`UPDATE accounts SET domain = 'handles.example' WHERE uri = ?`, bob) // as where handles have a domain of their own
	if done, err := srv.fed.Retry(t.Context(), federation.RetryQuery{Host: p.host}); err != nil || done.Received != 1 {
		t.Fatalf("tried again: %+v, %v", done, err)
	}
	settle(srv)
	if n := alice.get("/api/v1/accounts/" + alice.id).object().num("followers_count"); n != 1 {
		t.Errorf("%d followers", n)
	}
}

// Which servers cannot be reached is public (extension API 26.4).
func TestFederationStatus(t *testing.T) {
	srv, p := startWithPeer(t)
	alice := srv.signUp("alice")
	p.follower(srv, "bob", alice)
	gone := "127.0.0.1:1"
	srv.insert(`UPDATE actors SET inbox = 'http://` + gone + `/inbox', shared_inbox = ''`)
	status := func() map[string]any {
		t.Helper()
		return srv.as(nil).get("/api/v1/svc/federation_status").want(200).object().at("unreachable").(map[string]any)
	}
	if got := status(); len(got) != 0 {
		t.Errorf("before: %v", got)
	}
	alice.publish("hello")
	settle(srv)
	if since, _ := status()[gone].(string); !strings.HasSuffix(since, "Z") {
		t.Errorf("unreachable: %v", status())
	}
	for _, tt := range []struct {
		unreachable bool
		want        []string
	}{{true, []string{gone}}, {false, []string{gone, p.host}}} {
		list, err := srv.fed.Peers(t.Context(), federation.PeerQuery{Unreachable: tt.unreachable})
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

// TestExplain asks about things in every state.
func TestExplain(t *testing.T) {
	srv, p := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := p.follower(srv, "bob", alice)
	known := p.note(bob, "<p>@alice hello</p>", doc{"cc": []any{alice.uri()}, "tag": []any{doc{"type": "Mention", "href": alice.uri()}}})
	p.serve(known)
	p.receive(srv, p.create(known))
	fresh := p.note(bob, "<p>not delivered</p>")
	p.serve(fresh)
	secret := p.note(bob, "<p>psst</p>", doc{"to": []any{bob + "/followers"}, "cc": nil})
	p.serve(secret)
	gone := p.url + "/notes/gone"
	p.remove(gone, http.StatusGone)
	forged := p.note("http://127.0.0.1:1/users/eve", "<p>forged</p>")
	p.serve(forged)
	own := alice.publish("mine")
	explain := func(address string) *federation.Explanation {
		t.Helper()
		e, err := srv.fed.Explain(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := explain(known["id"].(string)); e.Status == nil || e.Status.Author != "bob@"+p.host || e.Fetched == nil || e.Fetched.Type != "Note" {
		t.Errorf("a known post: %+v", e)
	}
	if e := explain(bob); e.Account == nil || e.Account.Acct != "bob@"+p.host || e.Account.FetchedAt == nil || e.Peer == nil {
		t.Errorf("a known account: %+v", e)
	}
	for _, address := range []string{own.str("uri"), own.str("url")} {
		if e := explain(address); !e.Own || e.Status == nil || e.Fetched != nil {
			t.Errorf("our own post: %+v", e)
		}
	}
	if e := explain(srv.url + "/@alice"); !e.Own || e.Account == nil || e.Account.Acct != "alice" {
		t.Errorf("our own account: %+v", e)
	}
	// People have the addresses of pages at hand.
	p.respond("/@bob", http.StatusOK, "text/html", []byte(`<link rel="alternate" type="application/activity+json" href="`+bob+`">`))
	p.respond(strings.TrimPrefix(known["url"].(string), p.url), http.StatusOK, "text/html", nil)
	if e := explain(known["url"].(string)); e.Status == nil {
		t.Errorf("the page of a known post: %+v", e)
	}
	if e := explain(p.url + "/@bob"); e.Account == nil || e.Fetched.ID != bob {
		t.Errorf("the page of a known account: %+v", e)
	}
	for address, want := range map[string]string{
		fresh["id"].(string):  "It would be accepted: it is for everybody.",
		secret["id"].(string): "only if it is delivered",
		gone:                  "does not have it",
		forged["id"].(string): "by somebody of another server",
		bob:                   "taken for an account",
	} {
		if e := explain(address); e.Fetched == nil || !strings.Contains(e.Fetched.Verdict, want) {
			t.Errorf("%s: %+v", address, e.Fetched)
		}
	}
	before := len(alice.get("/api/v1/timelines/public").list())
	explain(fresh["id"].(string))
	if after := len(alice.get("/api/v1/timelines/public").list()); after != before {
		t.Error("explaining a post has stored it")
	}

	stolen := p.create(forged)
	stolen["actor"] = bob
	p.receive(srv, stolen)
	e := explain(forged["id"].(string))
	if len(e.Refusals) == 0 || e.Refusals[0].Reason == "" || e.Refusals[0].Host != p.host {
		t.Errorf("what was refused: %+v", e)
	}
	page := p.url + "/pages/forged"
	p.respond("/pages/forged", http.StatusOK, "text/html", []byte(`<link rel="alternate" type="application/activity+json" href="`+forged["id"].(string)+`">`))
	if e := explain(page); len(e.Refusals) == 0 {
		t.Errorf("the page of what was refused: %+v", e)
	}
	carol := p.actor("carol")
	for handle, want := range map[string]string{"@bob@" + p.host: bob, "carol@" + p.host: carol, "alice": alice.uri(), "@Alice@" + mustHost(t, srv.url): alice.uri()} {
		if e := explain(handle); e.URL != want || (e.Account != nil) != (want != carol) {
			t.Errorf("%s: %+v", handle, e)
		}
	}
	for _, address := range []string{"", "bob", "dave@" + p.host, "javascript:alert(1)"} {
		if _, err := srv.fed.Explain(t.Context(), address); err == nil {
			t.Errorf("%q is explained", address)
		}
	}
}

// Other keys are in use at once, and others are told.
func TestRotateKeys(t *testing.T) {
	peers := startPeers(t, 2)
	a, b := peers[0], peers[1]
	alice, bob := a.signUp("alice"), b.signUp("bob")
	found := bob.get("/api/v2/search", "q", alice.uri(), "resolve", "true").want(200).object().at("accounts").([]any)
	id := found[0].(map[string]any)["id"].(string)
	bob.post("/api/v1/accounts/" + id + "/follow").want(200)
	settle(a, b)
	for _, r := range []federation.Rotation{{Name: "alice"}, {Name: "@alice"}, {Server: true}} {
		made, err := a.fed.Rotate(t.Context(), r)
		if err != nil || len(made) == 0 {
			t.Fatalf("%+v: %v, %v", r, made, err)
		}
		st := alice.publish("signed with another key")
		settle(a, b)
		if got := bob.get("/api/v1/timelines/home").want(200).list(); len(got) == 0 || got[0].str("uri") != st.str("uri") {
			t.Errorf("%+v: what is signed since is not taken: %v", r, got)
		}
	}
	if _, err := a.fed.Rotate(t.Context(), federation.Rotation{Name: "nobody"}); err == nil {
		t.Error("nobody has other keys")
	}
}
