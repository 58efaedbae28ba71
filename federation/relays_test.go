package federation_test

import (
	"net/http"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/federation"
	"svc/internal/config"
)

// wantRelays compares the list of relays: addresses, with a + if they have accepted.
func wantRelays(t *testing.T, m *apptest.User, want ...string) {
	t.Helper()
	var got []string
	for _, r := range m.Get("/api/v1/svc/admin/relay").Want(200).List() {
		text := r.Str("actor")
		if r.Bool("followed_back") {
			text += "+"
		}
		got = append(got, text)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the relays are %q, want %q", got, want)
	}
}

// FollowFakeRelay subscribes to a relay of the LitePub style that accepts and follows back. It returns the relay's id.
func FollowFakeRelay(t *testing.T, srv *apptest.Server, m *apptest.User, p *apptest.FakeServer) string {
	t.Helper()
	relay := p.AddActor("relay", apptest.Doc{"type": "Application", "endpoints": nil})
	m.Post("/api/v1/svc/admin/relay", "relay_url", relay).Want(200)
	apptest.Settle(srv)
	p.PostAndSettle(srv, p.Activity("Accept", relay, apptest.LastDelivered(t, p, "Follow")))
	p.PostAndSettle(srv, p.Activity("Follow", relay, srv.URL+"/relay"))
	return relay
}

// TestFollowRelay checks that /relay follows a relay, which is listed as accepted once it accepts, and may then follow back (case 123).
func TestFollowRelay(t *testing.T) {
	srv, p := apptest.StartWithFake(t)
	root := srv.SignUpAdmin()
	relay := p.AddActor("relay", apptest.Doc{"type": "Application"})
	o := root.SendJSON("POST", "/api/v1/svc/admin/relay", map[string]any{"relay_url": relay}).Want(200).Object()
	if o.Str("actor") != relay || o.Bool("followed_back") {
		t.Errorf("the new relay is %v", o.Fields)
	}
	apptest.Settle(srv)
	follow := apptest.LastDelivered(t, p, "Follow")
	if follow["actor"] != srv.URL+"/relay" || follow["object"] != relay {
		t.Errorf("its Follow is %v", follow)
	}
	wantRelays(t, root, relay)
	asked := follow["id"].(string)
	srv.GetDocument(asked).WantError(404, "Record not found") // relays are not public
	p.FetchAs(srv, asked, relay, apptest.ActivityJSON).Want(200).WantFields(apptest.Doc{"id": asked, "type": "Follow", "actor": srv.URL + "/relay", "object": relay})

	other := p.AddActor("other", apptest.Doc{"type": "Application"})
	p.PostAndSettle(srv, p.Activity("Accept", other, follow))
	wantRelays(t, root, relay)
	p.PostAndSettle(srv, p.Activity("Accept", relay, follow["id"]))
	wantRelays(t, root, relay+"+")

	root.Post("/api/v1/svc/admin/relay", "relay_url", relay).Want(200)
	apptest.Settle(srv)
	if n := len(p.Delivered("Follow")); n != 1 {
		t.Errorf("a relay that has accepted received %d Follows", n)
	}

	p.PostAndSettle(srv, p.Activity("Follow", relay, srv.URL+"/relay"))
	if accept := apptest.LastDelivered(t, p, "Accept"); accept["actor"] != srv.URL+"/relay" {
		t.Errorf("its follow is answered with %v", accept)
	}
	p.PostAndSettle(srv, p.Activity("Reject", relay, follow))
	wantRelays(t, root, relay)
}

// TestFollowedAsRelay checks who may follow the relay actor: relays that this server follows, and other servers if it is a relay
// itself; users never.
func TestFollowedAsRelay(t *testing.T) {
	for _, open := range []bool{true, false} {
		srv, p := apptest.StartWithFake(t, func(c *config.Config) { c.Federation.AllowRelay = open })
		server, person := p.AddActor("server", apptest.Doc{"type": "Application"}), p.AddActor("person")
		for _, tt := range []struct {
			who, object string
			welcome     bool
		}{
			{server, srv.URL + "/relay", open},
			{server, apptest.Public, open},
			{person, srv.URL + "/relay", false},
		} {
			before := len(p.Delivered("Accept"))
			follow := p.Activity("Follow", tt.who, tt.object)
			p.PostAndSettle(srv, follow)
			if got := len(p.Delivered("Accept")) > before; got != tt.welcome {
				t.Errorf("allow_relay = %v: %s follows %s: %v", open, tt.who, tt.object, p.Delivered())
			}
			if tt.welcome {
				alice := srv.SignUp("a" + strings.ReplaceAll(p.NewID("x"), p.URL+"/x/", ""))
				st := alice.Publish("hello")
				apptest.Settle(srv)
				if a := apptest.LastDelivered(t, p, "Announce"); a["object"] != st.Str("uri") || a["actor"] != srv.URL+"/relay" {
					t.Errorf("the follower of the relay got %v", a)
				}
				n := len(p.Delivered("Announce"))
				p.PostAndSettle(srv, p.Activity("Undo", tt.who, follow))
				alice.Publish("hello again")
				apptest.Settle(srv)
				if got := len(p.Delivered("Announce")); got != n {
					t.Errorf("a former follower received %v", p.Delivered("Announce"))
				}
			}
		}
	}
}

// TestRelaysGetPublicPosts checks which local posts relays receive (case 124).
func TestRelaysGetPublicPosts(t *testing.T) {
	for _, style := range []string{"litepub", "mastodon"} {
		t.Run(style, func(t *testing.T) {
			srv, p := apptest.StartWithFake(t, func(c *config.Config) { c.Federation.AllowRelay = style == "litepub" })
			root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
			if style == "litepub" {
				FollowFakeRelay(t, srv, root, p)
			} else {
				relay := p.AddActor("actor", apptest.Doc{"type": "Application", "inbox": p.URL + "/inbox"})
				root.Post("/api/v1/svc/admin/relay", "relay_url", p.URL+"/inbox").Want(200)
				apptest.Settle(srv)
				follow := apptest.LastDelivered(t, p, "Follow")
				if follow["object"] != apptest.Public {
					t.Errorf("its Follow is %v", follow)
				}
				p.PostAndSettle(srv, p.Activity("Accept", relay, follow))
			}
			wanted := map[string]string{"litepub": "Announce", "mastodon": "Create"}[style]
			hello := alice.Publish("hello")
			for _, v := range []string{"unlisted", "private", "direct", "local"} {
				alice.Publish("not for relays", "visibility", v)
			}
			alice.Post("/api/v1/statuses/" + hello.Str("id") + "/reblog").Want(200)
			apptest.Settle(srv)
			got := append(p.Delivered("Create"), p.Delivered("Announce")...)
			if len(got) != 1 || got[0]["type"] != wanted {
				t.Fatalf("the relay got %v", got)
			}
			if wanted == "Announce" && got[0]["object"] != hello.Str("uri") {
				t.Errorf("it was announced %v", got[0]["object"])
			}
			alice.SendJSON("PUT", "/api/v1/statuses/"+hello.Str("id"), map[string]any{"status": "hello, all"}).Want(200)
			apptest.Settle(srv)
			if style == "mastodon" {
				apptest.LastDelivered(t, p, "Update")
			}
			alice.SendJSON("DELETE", "/api/v1/statuses/"+hello.Str("id"), nil).Want(200)
			apptest.Settle(srv)
			if d := apptest.LastDelivered(t, p, "Delete"); d["actor"] != srv.URL+"/users/"+alice.ID {
				t.Errorf("the Delete of the post is by %v", d["actor"])
			}
		})
	}
}

// TestRelayAnnounces checks that what a relay announces is in the federated timeline only (case 125).
func TestRelayAnnounces(t *testing.T) {
	srv, p := apptest.StartWithFake(t)
	root := srv.SignUpAdmin()
	relay := FollowFakeRelay(t, srv, root, p)
	writer := p.AddActor("writer")
	note := p.Note(writer, "<p>by a relay</p>")
	p.Serve(note)
	p.PostAndSettle(srv, p.Activity("Announce", relay, note["id"]))
	timeline := root.Get("/api/v1/timelines/public").Want(200).List()
	if len(timeline) != 1 || timeline[0].Str("uri") != note["id"] || timeline[0].Fields["reblog"] != nil || timeline[0].Int("reblogs_count") != 0 {
		t.Fatalf("the federated timeline is %v", timeline)
	}
	if n := root.Get("/api/v1/notifications").Want(200).List(); len(n) != 0 {
		t.Errorf("the relay notifies: %v", n)
	}

	other := p.AddActor("other", apptest.Doc{"type": "Application"})
	unrelated := p.Note(writer, "<p>unrelated</p>")
	p.Serve(unrelated)
	p.PostAndSettle(srv, p.Activity("Announce", other, unrelated["id"]))
	if got := root.Get("/api/v1/timelines/public").Want(200).List(); len(got) != 1 {
		t.Errorf("an Announce by an account that is not a relay: %v", got)
	}
}

// TestRelayForwards checks that of a forwarded activity only the id is used (case 126).
func TestRelayForwards(t *testing.T) {
	srv, p := apptest.StartWithFake(t)
	root := srv.SignUpAdmin()
	relay := FollowFakeRelay(t, srv, root, p)
	writer := p.AddActor("writer")
	note := p.Note(writer, "<p>as its origin has it</p>")
	p.Serve(note)
	forged := p.Create(note)
	forged["object"] = apptest.Doc{"id": note["id"], "type": "Note", "attributedTo": writer, "content": "<p>forged</p>", "to": []any{apptest.Public}}
	p.Deliver(srv, "/inbox", relay, forged).Want(http.StatusAccepted)
	apptest.Settle(srv)
	list := root.Get("/api/v1/timelines/public").Want(200).List()
	if len(list) != 1 || !strings.Contains(list[0].Str("content"), "as its origin has it") {
		t.Fatalf("the timeline is %v", list)
	}
	p.Deliver(srv, "/inbox", relay, p.Activity("Delete", writer, note["id"])).Want(http.StatusAccepted)
	apptest.Settle(srv)
	if list := root.Get("/api/v1/timelines/public").Want(200).List(); len(list) != 1 {
		t.Error("a post is gone because a relay said so")
	}
	p.Remove(note["id"].(string), http.StatusGone)
	p.Deliver(srv, "/inbox", relay, p.Activity("Delete", writer, note["id"])).Want(http.StatusAccepted)
	apptest.Settle(srv)
	if list := root.Get("/api/v1/timelines/public").Want(200).List(); len(list) != 0 {
		t.Error("a post is stored that its origin has deleted")
	}
}

// TestUnfollowRelay covers unfollowing a relay, also one that is gone (case 127).
func TestUnfollowRelay(t *testing.T) {
	srv, p := apptest.StartWithFake(t)
	root := srv.SignUpAdmin()
	relay := FollowFakeRelay(t, srv, root, p)
	for _, tt := range []struct {
		body map[string]any
		want int
	}{
		{map[string]any{}, 400},
		{map[string]any{"relay_url": ""}, 400},
		{map[string]any{"relay_url": p.URL + "/nobody"}, 404},
		{map[string]any{"relay_url": relay}, 200},
		{map[string]any{"relay_url": relay}, 404},
	} {
		a := root.SendJSON("DELETE", "/api/v1/svc/admin/relay", tt.body).Want(tt.want)
		if tt.want == 200 && strings.TrimSpace(string(a.Body)) != `"`+relay+`"` {
			t.Errorf("the answer is %s", a.Body)
		}
	}
	apptest.Settle(srv)
	undo := apptest.LastDelivered(t, p, "Undo")
	if inner, _ := undo["object"].(apptest.Doc); inner["type"] != "Follow" || inner["object"] != relay {
		t.Errorf("it received %v", undo)
	}
	wantRelays(t, root)
	note := p.Note(p.AddActor("writer"), "<p>late</p>")
	p.Serve(note)
	p.PostAndSettle(srv, p.Activity("Announce", relay, note["id"]))
	if got := root.Get("/api/v1/timelines/public").Want(200).List(); len(got) != 0 {
		t.Errorf("a relay that was left goes on: %v", got)
	}
	before := len(p.Delivered())
	srv.SignUp("alice").Publish("hello")
	apptest.Settle(srv)
	if got := p.Delivered()[before:]; len(got) != 0 {
		t.Errorf("a relay that was left still gets %v", got)
	}

	relay = FollowFakeRelay(t, srv, root, p)
	p.Remove(relay, http.StatusGone)
	p.RefuseDeliveries(http.StatusServiceUnavailable)
	root.SendJSON("DELETE", "/api/v1/svc/admin/relay", map[string]any{"relay_url": relay}).Want(400)
	wantRelays(t, root, relay+"+")
	root.SendJSON("DELETE", "/api/v1/svc/admin/relay", map[string]any{"relay_url": relay, "force": true}).Want(200)
	wantRelays(t, root)
}

// TestRelayRefusals checks that addresses that are not relays are refused and store nothing.
func TestRelayRefusals(t *testing.T) {
	srv, p := apptest.StartWithFake(t)
	root := srv.SignUpAdmin()
	for _, address := range []string{"", "x", "ftp://example.org/actor", srv.URL + "/relay", p.URL + "/nobody", "javascript:alert(1)", "http://127.0.0.1:1/actor"} {
		root.Post("/api/v1/svc/admin/relay", "relay_url", address).Want(400)
	}
	root.SendJSON("POST", "/api/v1/svc/admin/relay", map[string]any{"relay_url": []any{1, 2}}).Want(400)
	wantRelays(t, root)
	srv.SignUp("alice").Post("/api/v1/svc/admin/relay", "relay_url", p.URL+"/x").Want(403)
}

// TestServersAsRelays lets two servers be relays for each other.
func TestServersAsRelays(t *testing.T) {
	peers := apptest.StartPeers(t, 2)
	a, b := peers[0], peers[1]
	root, bob := a.SignUpAdmin(), b.SignUp("bob")
	root.Post("/api/v1/svc/admin/relay", "relay_url", b.URL+"/relay").Want(200)
	apptest.Settle(a, b)
	wantRelays(t, root, b.URL+"/relay+")
	st := bob.Publish("hello from far away")
	apptest.Settle(a, b)
	list := root.Get("/api/v1/timelines/public").Want(200).List()
	if len(list) != 1 || list[0].Str("uri") != st.Str("uri") {
		t.Fatalf("the timeline is %v", list)
	}
	bob.SendJSON("DELETE", "/api/v1/statuses/"+st.Str("id"), nil).Want(200)
	apptest.Settle(a, b)
	if list := root.Get("/api/v1/timelines/public").Want(200).List(); len(list) != 0 {
		t.Errorf("the deleted post is stored: %v", list)
	}
}

// TestRelayAnswers checks that Accept and Reject of a relay are accepted in many forms, from that relay only (case 123).
func TestRelayAnswers(t *testing.T) {
	type asked struct {
		srv    *apptest.Server
		follow apptest.Doc
	}
	inner := func(a asked, changes apptest.Doc) apptest.Doc {
		d := apptest.Doc{"type": "Follow", "actor": a.srv.URL + "/relay", "object": a.follow["object"]}
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
		{"a Follow with its id only", func(a asked) any { return apptest.Doc{"id": a.follow["id"], "type": "Follow"} }, true},
		{"a Follow without an id", func(a asked) any { return inner(a, nil) }, true},
		{"a Follow of another id", func(a asked) any { return inner(a, apptest.Doc{"id": "http://127.0.0.1:1/follows/7"}) }, true},
		{"a Follow of all", func(a asked) any { return inner(a, apptest.Doc{"object": apptest.Public}) }, true},
		{"a Follow of all with another id", func(a asked) any {
			return inner(a, apptest.Doc{"id": a.srv.URL + "/activities/x", "object": apptest.Public})
		}, true},
		{"another id alone", func(asked) any { return "http://127.0.0.1:1/follows/7" }, true},
		{"an id of ours that is another's", func(a asked) any { return a.srv.URL + "/activities/x" }, false},
		{"a Follow by another account", func(a asked) any { return inner(a, apptest.Doc{"actor": a.srv.URL + "/users/alice"}) }, false},
		{"a favourite", func(a asked) any { return inner(a, apptest.Doc{"type": "Like"}) }, false},
		{"nothing", func(asked) any { return nil }, false},
	} {
		styles := []string{"Application", "inbox"}
		if tt.name == "the Follow" {
			styles = append(styles, "Service", "Person")
		}
		for _, style := range styles {
			t.Run(style+" accepts "+tt.name, func(t *testing.T) {
				srv, p := apptest.StartWithFake(t)
				root := srv.SignUpAdmin()
				kind := style
				if style == "inbox" {
					kind = "Application"
				}
				// Many relays have no WebFinger, outbox and the like.
				relay := p.AddActor("relay", apptest.Doc{"type": kind, "inbox": p.URL + "/inbox", "outbox": nil, "followers": nil, "following": nil, "endpoints": nil})
				p.Respond("/.well-known/webfinger?resource=acct%3Arelay%40"+strings.ReplaceAll(p.Host, ":", "%3A"), http.StatusNotFound, "text/plain", nil)
				other := p.URL + "/users/relay"
				address := relay
				if style == "inbox" {
					address = p.URL + "/inbox"
				} else {
					other = p.AddActor("other", apptest.Doc{"type": "Application"})
				}
				root.Post("/api/v1/svc/admin/relay", "relay_url", address).Want(200)
				apptest.Settle(srv)
				a := asked{srv, apptest.LastDelivered(t, p, "Follow")}
				if other != relay {
					p.PostAndSettle(srv, p.Activity("Accept", other, tt.object(a)))
					wantRelays(t, root, address)
				}
				p.PostAndSettle(srv, p.Activity("Accept", relay, tt.object(a)))
				want := address
				if tt.want {
					want += "+"
				}
				wantRelays(t, root, want)
			})
		}
	}
}

// TestRefollowUnreachableRelay checks that following an unreachable relay again sends the Follow again.
func TestRefollowUnreachableRelay(t *testing.T) {
	srv, p := apptest.StartWithFake(t)
	root := srv.SignUpAdmin()
	address := p.URL + "/users/relay"
	root.Post("/api/v1/svc/admin/relay", "relay_url", address).Want(400)
	p.AddActor("relay", apptest.Doc{"type": "Application"})
	root.Post("/api/v1/svc/admin/relay", "relay_url", address).Want(200)
	apptest.Settle(srv)
	first := apptest.LastDelivered(t, p, "Follow")
	root.Post("/api/v1/svc/admin/relay", "relay_url", address).Want(200) // it has not responded
	apptest.Settle(srv)
	if again := apptest.LastDelivered(t, p, "Follow"); len(p.Delivered("Follow")) != 2 || again["id"] != first["id"] {
		t.Errorf("the second Follow is %v", again)
	}
	p.Remove(address, http.StatusNotFound)
	root.SendJSON("DELETE", "/api/v1/svc/admin/relay", map[string]any{"relay_url": address}).Want(400)
	p.AddActor("relay", apptest.Doc{"type": "Application"})
	p.PostAndSettle(srv, p.Activity("Accept", address, first))
	wantRelays(t, root, address+"+")
	root.SendJSON("DELETE", "/api/v1/svc/admin/relay", map[string]any{"relay_url": address}).Want(200)
	apptest.Settle(srv)
	p.PostAndSettle(srv, p.Activity("Accept", address, first)) // of a withdrawn Follow
	wantRelays(t, root)
}

// TestRelayActorExists checks that the relay actor exists only where relays are in use.
func TestRelayActorExists(t *testing.T) {
	srv, p := apptest.StartWithFake(t, func(c *config.Config) { c.Federation.AllowRelay = false })
	root := srv.SignUpAdmin()
	relay := p.AddActor("relay", apptest.Doc{"type": "Application"})
	wanted := func(status int) {
		t.Helper()
		for _, path := range []string{"/relay", "/relay/followers", "/relay/following", "/.well-known/webfinger?resource=" + srv.URL + "/relay"} {
			srv.As(nil).Get(path).Want(status)
		}
	}
	wanted(404)
	// An account that this server did not follow as a relay must not follow.
	follow := p.Activity("Follow", relay, srv.URL+"/relay")
	p.PostAndSettle(srv, follow)
	if r := apptest.LastDelivered(t, p, "Reject"); r["actor"] != srv.URL+"/relay" || r["object"].(apptest.Doc)["id"] != follow["id"] {
		t.Errorf("the follow is answered with %v", r)
	}
	root.Post("/api/v1/svc/admin/relay", "relay_url", relay).Want(200)
	wanted(200)
	apptest.Settle(srv)
	p.PostAndSettle(srv, p.Activity("Reject", relay, apptest.LastDelivered(t, p, "Follow")))
	wantRelays(t, root, relay)
	root.SendJSON("DELETE", "/api/v1/svc/admin/relay", map[string]any{"relay_url": relay}).Want(200)
	wanted(404)
}

// TestUnreachableRelay checks that a relay that was unreachable receives only the last change.
func TestUnreachableRelay(t *testing.T) {
	srv, p := apptest.StartWithFake(t)
	root := srv.SignUpAdmin()
	relay := p.AddActor("relay", apptest.Doc{"type": "Application"})
	p.RefuseDeliveries(http.StatusServiceUnavailable)
	for range 2 {
		root.Post("/api/v1/svc/admin/relay", "relay_url", relay).Want(200)
	}
	apptest.Settle(srv)
	root.SendJSON("DELETE", "/api/v1/svc/admin/relay", map[string]any{"relay_url": relay}).Want(200)
	apptest.Settle(srv)
	p.ClearDelivered()
	p.RefuseDeliveries(0)
	if _, err := srv.Federation.Operator.Retry(t.Context(), federation.RetryQuery{All: true}); err != nil {
		t.Fatal(err)
	}
	apptest.Settle(srv)
	if got := p.Delivered(); len(got) != 1 || got[0]["type"] != "Undo" {
		t.Errorf("it received %v", got)
	}
}

// TestPostsToTheServer checks that posts addressed to the server's own actors reach nobody.
func TestPostsToTheServer(t *testing.T) {
	srv, p := apptest.StartWithFake(t)
	bob := p.AddActor("bob")
	for _, path := range []string{"/relay/inbox", "/internal/fetch/inbox"} {
		for _, to := range []string{srv.URL + "/relay", srv.URL + "/internal/fetch", bob + "/followers"} {
			p.Deliver(srv, path, bob, p.Create(p.Note(bob, "<p>psst</p>", apptest.Doc{"to": []any{to}, "cc": []any{}}))).Want(http.StatusAccepted)
		}
	}
	apptest.Settle(srv)
	if n := srv.Count(`SELECT count(*) FROM statuses`); n > 0 {
		t.Errorf("%d posts are stored", n)
	}
}
