package server_test

import (
	"net/http"
	"strings"
	"testing"

	"svc/federation"
	"svc/internal/config"
)

// relayAdmin makes an administrator.
func (a *api) relayAdmin() *member {
	a.t.Helper()
	m := a.signUp("root")
	a.promote(m, true, false)
	m.caller = a.newToken(m, "read write follow push admin")
	return m
}

// wantRelays compares the list of relays: addresses, with a + if they have accepted.
func wantRelays(t *testing.T, m *member, want ...string) {
	t.Helper()
	var got []string
	for _, r := range m.get("/api/v1/svc/admin/relay").want(200).list() {
		text := r.str("actor")
		if r.truth("followed_back") {
			text += "+"
		}
		got = append(got, text)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the relays are %q, want %q", got, want)
	}
}

// lastOf returns the last activity of a type that was delivered to a peer.
func lastOf(t *testing.T, p *fakePeer, kind string) doc {
	t.Helper()
	list := p.delivered(kind)
	if len(list) == 0 {
		t.Fatalf("no %s was delivered, but %v", kind, p.delivered())
	}
	return list[len(list)-1]
}

// followFakeRelay subscribes to a relay of the LitePub style that accepts and follows back. It returns the relay's id.
func followFakeRelay(t *testing.T, srv *api, m *member, p *fakePeer) string {
	t.Helper()
	relay := p.actor("relay", doc{"type": "Application", "endpoints": nil})
	m.post("/api/v1/svc/admin/relay", "relay_url", relay).want(200)
	settle(srv)
	p.receive(srv, p.activity("Accept", relay, lastOf(t, p, "Follow")))
	p.receive(srv, p.activity("Follow", relay, srv.url+"/relay"))
	return relay
}

// Case 123: a relay is followed by /relay, is listed as accepted only once it has, and may then follow back.
func TestFollowRelay(t *testing.T) {
	srv, p := startWithPeer(t)
	root := srv.relayAdmin()
	relay := p.actor("relay", doc{"type": "Application"})
	o := root.send("POST", "/api/v1/svc/admin/relay", map[string]any{"relay_url": relay}).want(200).object()
	if o.str("actor") != relay || o.truth("followed_back") {
		t.Errorf("the new relay is %v", o.m)
	}
	settle(srv)
	follow := lastOf(t, p, "Follow")
	if follow["actor"] != srv.url+"/relay" || follow["object"] != relay {
		t.Errorf("it was asked by %v", follow)
	}
	wantRelays(t, root, relay)
	asked := follow["id"].(string)
	srv.document(asked).wantError(404, "Record not found") // which relays there are is not for everybody
	p.fetchAs(srv, asked, relay, activityJSON).want(200).is(doc{"id": asked, "type": "Follow", "actor": srv.url + "/relay", "object": relay})

	other := p.actor("other", doc{"type": "Application"})
	p.receive(srv, p.activity("Accept", other, follow))
	wantRelays(t, root, relay)
	p.receive(srv, p.activity("Accept", relay, follow["id"]))
	wantRelays(t, root, relay+"+")

	root.post("/api/v1/svc/admin/relay", "relay_url", relay).want(200)
	settle(srv)
	if n := len(p.delivered("Follow")); n != 1 {
		t.Errorf("one that has accepted was asked %d times", n)
	}

	p.receive(srv, p.activity("Follow", relay, srv.url+"/relay"))
	if accept := lastOf(t, p, "Accept"); accept["actor"] != srv.url+"/relay" {
		t.Errorf("its follow is answered with %v", accept)
	}
	p.receive(srv, p.activity("Reject", relay, follow))
	wantRelays(t, root, relay)
}

// Who may follow the relay actor: relays that were asked, and if the server is a relay itself, other servers; people never.
func TestFollowedAsRelay(t *testing.T) {
	for _, open := range []bool{true, false} {
		srv, p := startWithPeer(t, func(c *config.Config) { c.Federation.AllowRelay = open })
		server, person := p.actor("server", doc{"type": "Application"}), p.actor("person")
		for _, tt := range []struct {
			who, object string
			welcome     bool
		}{
			{server, srv.url + "/relay", open},
			{server, toPublic, open},
			{person, srv.url + "/relay", false},
		} {
			before := len(p.delivered("Accept"))
			follow := p.activity("Follow", tt.who, tt.object)
			p.receive(srv, follow)
			if got := len(p.delivered("Accept")) > before; got != tt.welcome {
				t.Errorf("allow_relay = %v: %s follows %s: %v", open, tt.who, tt.object, p.delivered())
			}
			if tt.welcome {
				alice := srv.signUp("a" + strings.ReplaceAll(p.id("x"), p.url+"/x/", ""))
				st := alice.publish("hello")
				settle(srv)
				if a := lastOf(t, p, "Announce"); a["object"] != st.str("uri") || a["actor"] != srv.url+"/relay" {
					t.Errorf("the follower of the relay got %v", a)
				}
				n := len(p.delivered("Announce"))
				p.receive(srv, p.activity("Undo", tt.who, follow))
				alice.publish("hello again")
				settle(srv)
				if got := len(p.delivered("Announce")); got != n {
					t.Errorf("who has left gets %v", p.delivered("Announce"))
				}
			}
		}
	}
}

// Case 124: what relays get of posts here.
func TestRelaysGetPublicPosts(t *testing.T) {
	for _, style := range []string{"litepub", "mastodon"} {
		t.Run(style, func(t *testing.T) {
			srv, p := startWithPeer(t, func(c *config.Config) { c.Federation.AllowRelay = style == "litepub" })
			root, alice := srv.relayAdmin(), srv.signUp("alice")
			if style == "litepub" {
				followFakeRelay(t, srv, root, p)
			} else {
				relay := p.actor("actor", doc{"type": "Application", "inbox": p.url + "/inbox"})
				root.post("/api/v1/svc/admin/relay", "relay_url", p.url+"/inbox").want(200)
				settle(srv)
				follow := lastOf(t, p, "Follow")
				if follow["object"] != toPublic {
					t.Errorf("it was asked by %v", follow)
				}
				p.receive(srv, p.activity("Accept", relay, follow))
			}
			wanted := map[string]string{"litepub": "Announce", "mastodon": "Create"}[style]
			hello := alice.publish("hello")
			for _, v := range []string{"unlisted", "private", "direct", "local"} {
				alice.publish("not for relays", "visibility", v)
			}
			alice.post("/api/v1/statuses/" + hello.str("id") + "/reblog").want(200)
			settle(srv)
			got := append(p.delivered("Create"), p.delivered("Announce")...)
			if len(got) != 1 || got[0]["type"] != wanted {
				t.Fatalf("the relay got %v", got)
			}
			if wanted == "Announce" && got[0]["object"] != hello.str("uri") {
				t.Errorf("it was announced %v", got[0]["object"])
			}
			alice.send("PUT", "/api/v1/statuses/"+hello.str("id"), map[string]any{"status": "hello, all"}).want(200)
			settle(srv)
			if style == "mastodon" {
				lastOf(t, p, "Update")
			}
			alice.send("DELETE", "/api/v1/statuses/"+hello.str("id"), nil).want(200)
			settle(srv)
			if d := lastOf(t, p, "Delete"); d["actor"] != srv.url+"/users/"+alice.id {
				t.Errorf("the end of the post was told by %v", d["actor"])
			}
		})
	}
}

// Case 125: what a relay announces is in the federated timeline and nowhere else.
func TestRelayAnnounces(t *testing.T) {
	srv, p := startWithPeer(t)
	root := srv.relayAdmin()
	relay := followFakeRelay(t, srv, root, p)
	writer := p.actor("writer")
	note := p.note(writer, "<p>by a relay</p>")
	p.serve(note)
	p.receive(srv, p.activity("Announce", relay, note["id"]))
	timeline := root.get("/api/v1/timelines/public").want(200).list()
	if len(timeline) != 1 || timeline[0].str("uri") != note["id"] || timeline[0].m["reblog"] != nil || timeline[0].num("reblogs_count") != 0 {
		t.Fatalf("the federated timeline is %v", timeline)
	}
	if n := root.get("/api/v1/notifications").want(200).list(); len(n) != 0 {
		t.Errorf("the relay notifies: %v", n)
	}

	stranger := p.actor("stranger", doc{"type": "Application"})
	unasked := p.note(writer, "<p>by nobody</p>")
	p.serve(unasked)
	p.receive(srv, p.activity("Announce", stranger, unasked["id"]))
	if got := root.get("/api/v1/timelines/public").want(200).list(); len(got) != 1 {
		t.Errorf("an Announce by one who is no relay: %v", got)
	}
}

// Case 126: of what a relay forwards, only the id counts.
func TestRelayForwards(t *testing.T) {
	srv, p := startWithPeer(t)
	root := srv.relayAdmin()
	relay := followFakeRelay(t, srv, root, p)
	writer := p.actor("writer")
	note := p.note(writer, "<p>as its origin has it</p>")
	p.serve(note)
	forged := p.create(note)
	forged["object"] = doc{"id": note["id"], "type": "Note", "attributedTo": writer, "content": "<p>forged</p>", "to": []any{toPublic}}
	p.deliver(srv, "/inbox", relay, forged).want(http.StatusAccepted)
	settle(srv)
	list := root.get("/api/v1/timelines/public").want(200).list()
	if len(list) != 1 || !strings.Contains(list[0].str("content"), "as its origin has it") {
		t.Fatalf("the timeline is %v", list)
	}
	p.deliver(srv, "/inbox", relay, p.activity("Delete", writer, note["id"])).want(http.StatusAccepted)
	settle(srv)
	if list := root.get("/api/v1/timelines/public").want(200).list(); len(list) != 1 {
		t.Error("a post is gone because a relay said so")
	}
	p.remove(note["id"].(string), http.StatusGone)
	p.deliver(srv, "/inbox", relay, p.activity("Delete", writer, note["id"])).want(http.StatusAccepted)
	settle(srv)
	if list := root.get("/api/v1/timelines/public").want(200).list(); len(list) != 0 {
		t.Error("a post is there that its origin has not any more")
	}
}

// Case 127: leaving a relay, also one that is gone.
func TestUnfollowRelay(t *testing.T) {
	srv, p := startWithPeer(t)
	root := srv.relayAdmin()
	relay := followFakeRelay(t, srv, root, p)
	for _, tt := range []struct {
		body map[string]any
		want int
	}{
		{map[string]any{}, 400},
		{map[string]any{"relay_url": ""}, 400},
		{map[string]any{"relay_url": p.url + "/nobody"}, 404},
		{map[string]any{"relay_url": relay}, 200},
		{map[string]any{"relay_url": relay}, 404},
	} {
		a := root.send("DELETE", "/api/v1/svc/admin/relay", tt.body).want(tt.want)
		if tt.want == 200 && strings.TrimSpace(string(a.body)) != `"`+relay+`"` {
			t.Errorf("the answer is %s", a.body)
		}
	}
	settle(srv)
	undo := lastOf(t, p, "Undo")
	if inner, _ := undo["object"].(doc); inner["type"] != "Follow" || inner["object"] != relay {
		t.Errorf("it was told %v", undo)
	}
	wantRelays(t, root)
	note := p.note(p.actor("writer"), "<p>late</p>")
	p.serve(note)
	p.receive(srv, p.activity("Announce", relay, note["id"]))
	if got := root.get("/api/v1/timelines/public").want(200).list(); len(got) != 0 {
		t.Errorf("a relay that was left goes on: %v", got)
	}
	before := len(p.delivered())
	srv.signUp("alice").publish("nobody's business")
	settle(srv)
	if got := p.delivered()[before:]; len(got) != 0 {
		t.Errorf("a relay that was left still gets %v", got)
	}

	relay = followFakeRelay(t, srv, root, p)
	p.remove(relay, http.StatusGone)
	p.refuse(http.StatusServiceUnavailable)
	root.send("DELETE", "/api/v1/svc/admin/relay", map[string]any{"relay_url": relay}).want(400)
	wantRelays(t, root, relay+"+")
	root.send("DELETE", "/api/v1/svc/admin/relay", map[string]any{"relay_url": relay, "force": true}).want(200)
	wantRelays(t, root)
}

// Addresses that are none of a relay are refused and leave nothing behind.
func TestRelayRefusals(t *testing.T) {
	srv, p := startWithPeer(t)
	root := srv.relayAdmin()
	for _, address := range []string{"", "x", "ftp://example.org/actor", srv.url + "/relay", p.url + "/nobody", "javascript:alert(1)", "http://127.0.0.1:1/actor"} {
		root.post("/api/v1/svc/admin/relay", "relay_url", address).want(400)
	}
	root.send("POST", "/api/v1/svc/admin/relay", map[string]any{"relay_url": []any{1, 2}}).want(400)
	wantRelays(t, root)
	srv.signUp("alice").post("/api/v1/svc/admin/relay", "relay_url", p.url+"/x").want(403)
}

// Two servers of this kind are relays for one another.
func TestRelayForOneAnother(t *testing.T) {
	peers := startPeers(t, 2)
	a, b := peers[0], peers[1]
	root, bob := a.relayAdmin(), b.signUp("bob")
	root.post("/api/v1/svc/admin/relay", "relay_url", b.url+"/relay").want(200)
	settle(a, b)
	wantRelays(t, root, b.url+"/relay+")
	st := bob.publish("hello from far away")
	settle(a, b)
	list := root.get("/api/v1/timelines/public").want(200).list()
	if len(list) != 1 || list[0].str("uri") != st.str("uri") {
		t.Fatalf("the timeline is %v", list)
	}
	bob.send("DELETE", "/api/v1/statuses/"+st.str("id"), nil).want(200)
	settle(a, b)
	if list := root.get("/api/v1/timelines/public").want(200).list(); len(list) != 0 {
		t.Errorf("what was deleted is there: %v", list)
	}
}

// Case 123: relays answer in many forms, of which each is taken from the relay that was asked, and from nobody else.
func TestRelayAnswers(t *testing.T) {
	type asked struct {
		srv    *api
		follow doc
	}
	inner := func(a asked, changes doc) doc {
		d := doc{"type": "Follow", "actor": a.srv.url + "/relay", "object": a.follow["object"]}
		for k, v := range changes {
			d[k] = v
		}
		return d
	}
	for _, tt := range []struct {
		name   string
		object func(asked) any
		want   bool
	}{
		{"the Follow", func(a asked) any { return a.follow }, true},
		{"its id", func(a asked) any { return a.follow["id"] }, true},
		{"a Follow with its id only", func(a asked) any { return doc{"id": a.follow["id"], "type": "Follow"} }, true},
		{"a Follow without an id", func(a asked) any { return inner(a, nil) }, true},
		{"a Follow of another id", func(a asked) any { return inner(a, doc{"id": "http://127.0.0.1:1/follows/7"}) }, true},
		{"a Follow of all", func(a asked) any { return inner(a, doc{"object": toPublic}) }, true},
		{"a Follow of all with another id", func(a asked) any { return inner(a, doc{"id": a.srv.url + "/activities/x", "object": toPublic}) }, true},
		{"another id alone", func(asked) any { return "http://127.0.0.1:1/follows/7" }, true},
		{"an id of ours that is another's", func(a asked) any { return a.srv.url + "/activities/x" }, false},
		{"a Follow by somebody else", func(a asked) any { return inner(a, doc{"actor": a.srv.url + "/users/alice"}) }, false},
		{"a favourite", func(a asked) any { return inner(a, doc{"type": "Like"}) }, false},
		{"nothing", func(asked) any { return nil }, false},
	} {
		styles := []string{"Application", "inbox"}
		if tt.name == "the Follow" {
			styles = append(styles, "Service", "Person")
		}
		for _, style := range styles {
			t.Run(style+" accepts "+tt.name, func(t *testing.T) {
				srv, p := startWithPeer(t)
				root := srv.relayAdmin()
				kind := style
				if style == "inbox" {
					kind = "Application"
				}
				// Without WebFinger, an outbox and the like, as many relays are.
				relay := p.actor("relay", doc{"type": kind, "inbox": p.url + "/inbox", "outbox": nil, "followers": nil, "following": nil, "endpoints": nil})
				p.respond("/.well-known/webfinger?resource=acct%3Arelay%40"+strings.ReplaceAll(p.host, ":", "%3A"), http.StatusNotFound, "text/plain", nil)
				stranger := p.url + "/users/relay"
				address := relay
				if style == "inbox" {
					address = p.url + "/inbox"
				} else {
					stranger = p.actor("stranger", doc{"type": "Application"})
				}
				root.post("/api/v1/svc/admin/relay", "relay_url", address).want(200)
				settle(srv)
				a := asked{srv, lastOf(t, p, "Follow")}
				if stranger != relay {
					p.receive(srv, p.activity("Accept", stranger, tt.object(a)))
					wantRelays(t, root, address)
				}
				p.receive(srv, p.activity("Accept", relay, tt.object(a)))
				want := address
				if tt.want {
					want += "+"
				}
				wantRelays(t, root, want)
			})
		}
	}
}

// A relay that could not be had is asked again as soon as the staff wants it.
func TestRelayThatComesLate(t *testing.T) {
	srv, p := startWithPeer(t)
	root := srv.relayAdmin()
	address := p.url + "/users/relay"
	root.post("/api/v1/svc/admin/relay", "relay_url", address).want(400)
	p.actor("relay", doc{"type": "Application"})
	root.post("/api/v1/svc/admin/relay", "relay_url", address).want(200)
	settle(srv)
	first := lastOf(t, p, "Follow")
	root.post("/api/v1/svc/admin/relay", "relay_url", address).want(200) // it has not answered
	settle(srv)
	if again := lastOf(t, p, "Follow"); len(p.delivered("Follow")) != 2 || again["id"] != first["id"] {
		t.Errorf("it was asked again by %v", again)
	}
	p.remove(address, http.StatusNotFound)
	root.send("DELETE", "/api/v1/svc/admin/relay", map[string]any{"relay_url": address}).want(400)
	p.actor("relay", doc{"type": "Application"})
	p.receive(srv, p.activity("Accept", address, first))
	wantRelays(t, root, address+"+")
	root.send("DELETE", "/api/v1/svc/admin/relay", map[string]any{"relay_url": address}).want(200)
	settle(srv)
	p.receive(srv, p.activity("Accept", address, first)) // of what is no more
	wantRelays(t, root)
}

// The actor for relays is there only where there is something for it to do.
func TestRelayActorIsThere(t *testing.T) {
	srv, p := startWithPeer(t, func(c *config.Config) { c.Federation.AllowRelay = false })
	root := srv.relayAdmin()
	relay := p.actor("relay", doc{"type": "Application"})
	wanted := func(status int) {
		t.Helper()
		for _, path := range []string{"/relay", "/relay/followers", "/relay/following", "/.well-known/webfinger?resource=" + srv.url + "/relay"} {
			srv.as(nil).get(path).want(status)
		}
	}
	wanted(404)
	// Who was not asked must not follow.
	follow := p.activity("Follow", relay, srv.url+"/relay")
	p.receive(srv, follow)
	if r := lastOf(t, p, "Reject"); r["actor"] != srv.url+"/relay" || r["object"].(doc)["id"] != follow["id"] {
		t.Errorf("the follow is answered with %v", r)
	}
	root.post("/api/v1/svc/admin/relay", "relay_url", relay).want(200)
	wanted(200)
	settle(srv)
	p.receive(srv, p.activity("Reject", relay, lastOf(t, p, "Follow")))
	wantRelays(t, root, relay)
	root.send("DELETE", "/api/v1/svc/admin/relay", map[string]any{"relay_url": relay}).want(200)
	wanted(404)
}

// What a relay is told while it is away is the last that was wanted of it.
func TestRelayAway(t *testing.T) {
	srv, p := startWithPeer(t)
	root := srv.relayAdmin()
	relay := p.actor("relay", doc{"type": "Application"})
	p.refuse(http.StatusServiceUnavailable)
	for range 2 {
		root.post("/api/v1/svc/admin/relay", "relay_url", relay).want(200)
	}
	settle(srv)
	root.send("DELETE", "/api/v1/svc/admin/relay", map[string]any{"relay_url": relay}).want(200)
	settle(srv)
	p.forget()
	p.refuse(0)
	if _, err := srv.fed.Retry(t.Context(), federation.RetryQuery{All: true}); err != nil {
		t.Fatal(err)
	}
	settle(srv)
	if got := p.delivered(); len(got) != 1 || got[0]["type"] != "Undo" {
		t.Errorf("it is told %v", got)
	}
}

// Posts that are sent to the actors of the server itself are for nobody.
func TestPostsToTheServer(t *testing.T) {
	srv, p := startWithPeer(t)
	bob := p.actor("bob")
	for _, path := range []string{"/relay/inbox", "/internal/fetch/inbox"} {
		for _, to := range []string{srv.url + "/relay", srv.url + "/internal/fetch", bob + "/followers"} {
			p.deliver(srv, path, bob, p.create(p.note(bob, "<p>psst</p>", doc{"to": []any{to}, "cc": []any{}}))).want(http.StatusAccepted)
		}
	}
	settle(srv)
	if n := srv.count(`SELECT count(*) FROM statuses`); n > 0 {
		t.Errorf("%d posts are kept", n)
	}
}
