package server_test

import (
	"testing"
	"time"
)

// vote makes the Create of a vote, as most servers send it.
func (p *fakePeer) vote(voter string, poll *object, author *member, options ...string) doc {
	var notes []any
	for _, option := range options {
		notes = append(notes, doc{
			"id": p.id("votes"), "type": "Note", "attributedTo": voter, "name": option, "inReplyTo": poll.str("uri"), "to": []any{author.uri()},
			"published": time.Now().UTC().Format(time.RFC3339),
		})
	}
	d := p.activity("Create", voter, notes[0], doc{"to": []any{author.uri()}, "cc": []any{}})
	if len(notes) > 1 {
		d["object"] = notes
	}
	return d
}

// tally returns how a poll stands.
func (m *member) tally(st *object) string {
	m.api.t.Helper()
	return pollOptions(&object{m.api.t, m.get("/api/v1/statuses/" + st.id()).want(200).object().at("poll").(map[string]any)})
}

// Cases 77 to 80: votes are counted once each, and nothing is to be seen of them.
func TestIncomingVotes(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, carol := peer.actor("bob"), peer.actor("carol")
	st := alice.ask([]string{"yes", "café", "no"})
	vote := func(voter string, options ...string) doc { return peer.vote(voter, st, alice, options...) }
	want := func(what, want string) {
		t.Helper()
		if got := alice.tally(st); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	peer.receive(srv, vote(bob, " cafe\u0301 ")) // the same in another normal form
	want("after a vote", "yes 0, café 1, no 0")
	peer.receive(srv, vote(bob, "no"))
	peer.receive(srv, vote(bob, "café"))
	want("after a second and a third vote", "yes 0, café 1, no 0")
	peer.receive(srv, vote(carol, "perhaps"))
	want("after a vote for what cannot be chosen", "yes 0, café 1, no 0")
	forged := vote(carol, "yes")
	forged["object"].(doc)["attributedTo"] = peer.url + "/users/dave"
	peer.receive(srv, forged)
	want("after a vote in the name of another", "yes 0, café 1, no 0")
	pleroma := vote(carol, "yes")
	pleroma["to"], pleroma["cc"] = []any{}, []any{}
	pleroma["object"].(doc)["to"], pleroma["object"].(doc)["cc"] = []any{}, []any{alice.uri()}
	pleroma["object"].(doc)["type"], pleroma["object"].(doc)["content"] = "Answer", ""
	peer.receive(srv, pleroma)
	want("after a vote addressed in another way", "yes 1, café 1, no 0")

	many := alice.ask([]string{"a", "b", "c"}, "multiple", "true")
	peer.receive(srv, peer.vote(bob, many, alice, "a", "c"))
	peer.receive(srv, peer.vote(bob, many, alice, "b"))
	peer.receive(srv, peer.vote(bob, many, alice, "b"))
	if got := alice.tally(many); got != "a 1, b 1, c 1" {
		t.Errorf("several choices: %s", got)
	}
	if n := alice.get("/api/v1/statuses/" + many.id()).object().num("poll.voters_count"); n != 1 {
		t.Errorf("%d voters, want 1", n)
	}

	srv.endPoll(st)
	dave := peer.actor("dave")
	peer.receive(srv, vote(dave, "no"))
	want("after a vote that is too late", "yes 1, café 1, no 0")
	secret := alice.publish("for followers", "visibility", "private", "poll[options][]", "x", "poll[options][]", "y", "poll[expires_in]", "86400")
	peer.receive(srv, peer.vote(bob, secret, alice, "x"))
	if got := alice.tally(secret); got != "x 0, y 0" {
		t.Errorf("a poll that bob cannot see: %s", got)
	}
	plain := alice.publish("no poll")
	peer.receive(srv, peer.vote(bob, plain, alice, "x"))

	if got := alice.told(); len(got) != 1 || got[0] != "poll" {
		t.Errorf("alice is told %q, want the end of her poll only", got)
	}
	for _, path := range []string{"/api/v1/timelines/public", "/api/v1/timelines/home", "/api/v1/conversations"} {
		for _, o := range alice.get(path).want(200).list() {
			if o.has("account") && o.str("account.id") != alice.id {
				t.Errorf("%s shows a vote: %v", path, o.m)
			}
		}
	}
	for _, st := range []*object{st, many, plain} {
		context := alice.get("/api/v1/statuses/" + st.id() + "/context").want(200).object()
		if n := len(context.at("descendants").([]any)); n > 0 {
			t.Errorf("a vote is a reply")
		}
		if n := alice.get("/api/v1/statuses/" + st.id()).object().num("replies_count"); n > 0 {
			t.Errorf("a vote is counted as a reply")
		}
	}
}
