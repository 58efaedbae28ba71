package server_test

import (
	"slices"
	"strings"
	"testing"

	"svc/internal/config"
	"svc/store"
)

// startWithPeer starts a server that talks with a peer of another kind.
func startWithPeer(t *testing.T, change ...func(*config.Config)) (*api, *fakePeer) {
	t.Helper()
	srv := startPeers(t, 1, change...)[0]
	return srv, startFake(t)
}

// known returns the id, as the API has it, of the account of an ActivityPub id; "" if there is none.
func (a *api) known(uri string) string {
	a.t.Helper()
	list, err := a.db.AccountsByURI(a.t.Context(), []string{uri})
	if err != nil {
		a.t.Fatal(err)
	}
	if list[uri] == nil {
		return ""
	}
	return list[uri].ID.String()
}

// meet has an actor of a peer known here, and returns its account's id.
func (a *api) meet(uri string) string {
	a.t.Helper()
	account, err := a.fed.Actor(a.t.Context(), uri)
	if err != nil {
		a.t.Fatal(err)
	}
	return account.ID.String()
}

// told returns the types of what a member was notified of, newest first.
func (m *member) told() []string {
	m.api.t.Helper()
	var query []string
	for _, kind := range strings.Fields("mention follow follow_request reblog favourite poll move status update svc:emoji_reaction svc:chat_mention svc:report") {
		query = append(query, "include_types[]", kind)
	}
	return types(m.get("/api/v1/notifications", query...).want(200))
}

// only returns the one activity of a type that was delivered, and fails the test if there are more or none.
func (p *fakePeer) only(verb string) doc {
	p.t.Helper()
	list := p.delivered(verb)
	if len(list) != 1 {
		p.t.Fatalf("%d of type %s were delivered, want 1: %v", len(list), verb, p.delivered())
	}
	return list[0]
}

// forget has what was delivered forgotten.
func (p *fakePeer) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inbox = nil
}

// wantAmong fails the test if something has not been said.
func (l *listener) wantAmong(want string) {
	l.t.Helper()
	heard := l.heard()
	if !slices.ContainsFunc(heard, func(s said) bool { return s.String() == want }) {
		l.t.Errorf("heard %q, want %q among it", heard, want)
	}
}

// wantMember checks a member of a document, by path of keys.
func wantMember(t *testing.T, d doc, want any, path ...string) {
	t.Helper()
	var v any = d
	for _, key := range path {
		m, _ := v.(doc)
		v = m[key]
	}
	if v != want {
		t.Errorf("%v: got %v, want %v, in %v", path, v, want, d)
	}
}

// Case 96: who is not locked is followed at once, who is decides; a Follow that comes again is answered again.
func TestIncomingFollow(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, locked := srv.signUp("alice"), srv.signUp("locked")
	locked.lock()
	bob := peer.actor("bob")
	stream := srv.listen(alice.caller, "stream", "user")

	first := peer.activity("Follow", bob, alice.uri())
	peer.receive(srv, first)
	id := srv.known(bob)
	alice.relationship(id).wantTruths(relations, "followed_by")
	wantList(t, "alice is told", alice.told(), "follow")
	accept := peer.only("Accept")
	wantMember(t, accept, alice.uri(), "actor")
	wantMember(t, accept, first["id"], "object", "id")
	wantMember(t, accept, "Follow", "object", "type")
	wantMember(t, accept, bob, "object", "actor")
	wantMember(t, accept, alice.uri(), "object", "object")
	stream.wantAmong("user: notification follow")

	peer.forget()
	peer.receive(srv, first) // our answer was lost
	again := peer.activity("Follow", bob, alice.uri())
	peer.receive(srv, again)
	accepts := peer.delivered("Accept")
	if len(accepts) != 2 || accepts[0]["id"] == accepts[1]["id"] || accepts[0]["id"] == accept["id"] {
		t.Fatalf("what is followed already is accepted by %v, want twice with ids of their own", accepts)
	}
	wantMember(t, accepts[1], again["id"], "object", "id")
	wantList(t, "alice is told again", alice.told(), "follow")
	if n := alice.get("/api/v1/accounts/" + alice.id).want(200).object().num("followers_count"); n != 1 {
		t.Errorf("%d followers, want 1", n)
	}

	peer.forget()
	request := peer.activity("Follow", bob, doc{"type": "Person", "id": locked.uri()})
	peer.receive(srv, request)
	locked.relationship(id).wantTruths(relations, "requested_by")
	wantList(t, "locked is told", locked.told(), "follow_request")
	newer := peer.activity("Follow", bob, locked.uri())
	peer.receive(srv, newer)
	if got := peer.delivered(); len(got) > 0 {
		t.Errorf("a request was answered with %v", got)
	}
	locked.post("/api/v1/follow_requests/" + id + "/authorize").want(200)
	settle(srv)
	wantMember(t, peer.only("Accept"), newer["id"], "object", "id")

	// Whose request was denied may ask again by the same id, as some servers do.
	peer.forget()
	carol := peer.actor("carol")
	asked := peer.activity("Follow", carol, locked.uri())
	peer.receive(srv, asked)
	locked.post("/api/v1/follow_requests/" + srv.known(carol) + "/reject").want(200)
	settle(srv)
	wantMember(t, peer.only("Reject"), asked["id"], "object", "id")
	peer.receive(srv, asked)
	locked.relationship(srv.known(carol)).wantTruths(relations, "requested_by")
}

// Cases 96 and 105: who must not be followed is not, and who asks is told where there is somebody to tell of.
func TestIncomingFollowRefused(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, gone, moved, wary := srv.signUp("alice"), srv.signUp("gone"), srv.signUp("moved"), srv.signUp("wary")
	bob := peer.actor("bob")
	id := srv.meet(bob)
	alice.to(id, "block")
	wary.post("/api/v1/domain_blocks", "domain", peer.host).want(200)
	srv.withhold(gone)
	srv.changeAccount(moved, func(a *store.Account) { target := alice.accountID(); a.MovedToID = &target })
	for _, tt := range []struct {
		name     string
		object   any
		rejected bool
	}{
		{"by a block", alice.uri(), true},
		{"by a block of the domain", wary.uri(), true},
		{"who has moved away", moved.uri(), true},
		{"who is deactivated", gone.uri(), false},
		{"the actor that fetches", srv.url + "/internal/fetch", false},
		{"nobody", srv.url + "/users/nobody", false},
		{"somebody elsewhere", peer.url + "/users/carol", false},
		{"a post", srv.url + "/objects/1", false},
		{"nothing", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			peer.forget()
			follow := peer.activity("Follow", bob, tt.object)
			peer.receive(srv, follow)
			if rejects := peer.delivered(); !tt.rejected && len(rejects) > 0 {
				t.Errorf("answered with %v", rejects)
			} else if tt.rejected {
				wantMember(t, peer.only("Reject"), follow["id"], "object", "id")
			}
			if got, err := srv.has(`SELECT 1 FROM follows`); got || err != nil {
				t.Errorf("there is a follow: %v %v", got, err)
			}
		})
	}
	wantList(t, "alice is told", alice.told())

	// An id that another follow has is of no use.
	carol, dave := peer.actor("carol"), peer.actor("dave")
	alice.to(id, "unblock")
	follow := peer.activity("Follow", carol, alice.uri())
	peer.receive(srv, follow)
	follow["actor"] = dave
	peer.receive(srv, follow)
	alice.relationship(srv.known(dave)).wantTruths(relations)
	alice.relationship(srv.known(carol)).wantTruths(relations, "followed_by")
	if n := srv.count(`SELECT count(*) FROM inbox`); n > 0 {
		t.Errorf("%d activities are tried again", n)
	}
}

// Cases 97, 98, 99: answers count if they are of who was asked, about what was asked, in each of their forms.
func TestIncomingAnswers(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, carol := srv.signUp("alice"), srv.signUp("carol")
	bob, mallory := peer.actor("bob"), peer.actor("mallory")
	id := srv.meet(bob)
	srv.meet(mallory)
	ask := func() string {
		t.Helper()
		peer.forget()
		if rel := alice.to(id, "follow"); !rel.truth("requested") || rel.truth("following") {
			t.Fatalf("before the answer: %v", rel.m)
		}
		settle(srv)
		return peer.only("Follow")["id"].(string)
	}
	pair := doc{"type": "Follow", "actor": alice.uri(), "object": bob}
	for _, tt := range []struct {
		name   string
		actor  string
		object func(follow string) any
		want   string // "" the request stays
	}{
		{"by the id", bob, func(f string) any { return f }, "following"},
		{"with the Follow", bob, func(f string) any { return doc{"id": f, "type": "Follow", "actor": alice.uri(), "object": bob} }, "following"},
		{"with a list", bob, func(f string) any { return []any{doc{"id": f, "type": "Follow"}} }, "following"},
		{"with a Follow without an id", bob, func(string) any { return pair }, "following"},
		{"with a Follow of an id of its own", bob, func(string) any {
			return doc{"id": peer.url + "/follows/1", "type": "Follow", "actor": alice.uri(), "object": bob}
		}, "following"},
		{"by another", mallory, func(f string) any { return f }, ""},
		{"by another with the Follow", mallory, func(f string) any { return doc{"id": f, "type": "Follow", "actor": alice.uri(), "object": bob} }, ""},
		{"by another with the pair", mallory, func(string) any { return pair }, ""},
		{"of a follow that there is not", bob, func(string) any { return srv.url + "/activities/" + alice.id }, ""},
		{"of somebody who has not asked", bob, func(string) any { return doc{"type": "Follow", "actor": carol.uri(), "object": bob} }, ""},
		{"of a favourite", bob, func(f string) any { return doc{"id": f + "0", "type": "Like", "actor": alice.uri(), "object": bob} }, ""},
		{"of nothing", bob, func(string) any { return nil }, ""},
	} {
		t.Run("accepted "+tt.name, func(t *testing.T) {
			peer.receive(srv, peer.activity("Accept", tt.actor, tt.object(ask())))
			if tt.want == "" {
				tt.want = "requested"
			}
			alice.relationship(id).wantTruths(relations, tt.want)
			carol.relationship(id).wantTruths(relations)
			alice.to(id, "unfollow")
			settle(srv)
		})
	}

	// An Accept of what has been taken back makes no follow.
	late := ask()
	alice.to(id, "unfollow")
	peer.receive(srv, peer.activity("Accept", bob, late))
	alice.relationship(id).wantTruths(relations)

	stream := srv.listen(alice.caller, "stream", "user")
	for name, end := range map[string]func(follow string) doc{
		"a Reject":             func(f string) doc { return peer.activity("Reject", bob, f) },
		"a Reject of the pair": func(string) doc { return peer.activity("Reject", bob, pair) },
		"an Undo of the Accept": func(f string) doc {
			return peer.activity("Undo", bob, doc{"type": "Accept", "id": peer.id("accepts"), "actor": bob, "object": doc{"type": "Follow", "id": f}})
		},
	} {
		follow := ask()
		peer.receive(srv, peer.activity("Accept", bob, follow))
		stream.wantAmong("user: svc:follow_relationships_update follow_accept")
		peer.receive(srv, peer.activity("Reject", mallory, follow))
		alice.relationship(id).wantTruths(relations, "following")
		peer.receive(srv, end(follow))
		alice.relationship(id).wantTruths(relations)
		stream.wantAmong("user: svc:follow_relationships_update follow_reject")
		if t.Failed() {
			t.Fatalf("after %s", name)
		}
	}
	peer.receive(srv, peer.activity("Reject", bob, ask()))
	alice.relationship(id).wantTruths(relations)
	if got := peer.delivered("Accept", "Reject"); len(got) > 0 {
		t.Errorf("what was answered was answered: %v", got)
	}
}

// Case 100: who is removed from the followers hears that their own Follow is rejected.
func TestRemoveFollowerElsewhere(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	follow := peer.activity("Follow", bob, alice.uri())
	peer.receive(srv, follow)
	alice.to(srv.known(bob), "remove_from_followers")
	settle(srv)
	reject := peer.only("Reject")
	wantMember(t, reject, follow["id"], "object", "id")
	wantMember(t, reject, bob, "object", "actor")
}

// Case 101: a block ends the follows in both directions and is kept until it is taken back.
func TestIncomingBlock(t *testing.T) {
	for _, form := range []string{"embedded", "by id", "by the pair"} {
		t.Run("undone "+form, func(t *testing.T) {
			srv, peer := startWithPeer(t)
			alice := srv.signUp("alice")
			bob := peer.actor("bob")
			peer.receive(srv, peer.activity("Follow", bob, alice.uri()))
			id := srv.known(bob)
			alice.to(id, "follow")
			settle(srv)
			peer.receive(srv, peer.activity("Accept", bob, peer.only("Follow")["id"]))
			alice.relationship(id).wantTruths(relations, "following", "followed_by")
			before := alice.told()

			peer.receive(srv, peer.activity("Block", bob, alice.uri(), doc{"target": peer.url + "/c/cats"})) // of a community
			alice.relationship(id).wantTruths(relations, "following", "followed_by")
			block := peer.activity("Block", bob, alice.uri())
			peer.receive(srv, block)
			peer.receive(srv, peer.activity("Block", bob, alice.uri(), doc{"id": block["id"]}))
			alice.relationship(id).wantTruths(relations, "blocked_by")
			if got := alice.told(); len(got) > len(before) {
				t.Errorf("alice was told %q", got)
			}
			alice.post("/api/v1/accounts/" + id + "/follow").want(403)

			mallory := peer.actor("mallory")
			srv.meet(mallory)
			peer.receive(srv, peer.activity("Undo", mallory, block["id"]))
			alice.relationship(id).wantTruths(relations, "blocked_by")
			undone := map[string]any{"embedded": block, "by id": block["id"], "by the pair": doc{"type": "Block", "actor": bob, "object": alice.uri()}}[form]
			peer.receive(srv, peer.activity("Undo", bob, undone))
			alice.relationship(id).wantTruths(relations)
			alice.to(id, "follow").wantTruths(relations, "requested")
		})
	}
}
