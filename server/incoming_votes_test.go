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

// Who has voted in a poll elsewhere hears once that it has ended, whether its server says so or it was known before, and however often
// that server tells it; who has not voted does not.
func TestVotersHear(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, carol := srv.signUp("alice"), srv.signUp("carol")
	bob := peer.actor("bob")
	alice.follows(bob)
	options := []any{doc{"type": "Note", "name": "yes"}, doc{"type": "Note", "name": "no"}}
	closed := func(note doc, changes doc) {
		t.Helper()
		peer.receive(srv, peer.activity("Update", bob, with(note, changes)))
	}
	for _, tt := range []struct {
		name string
		poll doc
		end  func(note doc, st *object)
	}{
		{"at the time that was set", doc{"endTime": fromNow(time.Hour)}, func(note doc, st *object) {
			srv.endPoll(st)
			closed(note, doc{"endTime": fromNow(-time.Minute), "closed": fromNow(-time.Minute)})
		}},
		{"before that", doc{"endTime": fromNow(time.Hour)}, func(note doc, st *object) {
			closed(note, doc{"closed": fromNow(-time.Second)})
			closed(note, doc{"endTime": fromNow(-time.Second)})
		}},
		{"without a time", doc{"endTime": nil}, func(note doc, st *object) {
			closed(note, doc{"closed": true})
			closed(note, doc{"closed": true})
		}},
		{"with an edit", doc{"endTime": fromNow(time.Hour)}, func(note doc, st *object) {
			closed(note, doc{"content": "<p>closed</p>", "updated": fromNow(0), "closed": fromNow(-time.Second)})
			closed(note, doc{"content": "<p>closed now</p>", "updated": fromNow(time.Second), "closed": fromNow(-time.Second)})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.note(bob, "<p>tea?</p>", doc{"type": "Question", "oneOf": options, "published": fromNow(-time.Hour)}, tt.poll)
			peer.receive(srv, peer.create(note))
			st := alice.wantPost(note["id"])
			alice.vote(st, 0).want(200)
			settle(srv)
			wantList(t, "before the end alice is told", alice.told())
			tt.end(note, st)
			settle(srv)
			wantList(t, "alice is told", alice.told(), "poll")
			wantList(t, "carol is told", carol.told())
			if !alice.wantPost(note["id"]).truth("poll.expired") {
				t.Error("it is open yet")
			}
			alice.post("/api/v1/notifications/clear").want(200)
		})
	}
}

// A poll of one server in which people of another vote stands alike on both, and all who had to do with it hear once of its end.
func TestPollOfPeers(t *testing.T) {
	here, there, alice, bob, carol := startNeighbours(t)
	st := alice.ask([]string{"yes & no", " <b>maybe</b>  not ", "never"}, "multiple", "true")
	settle(here, there)
	uri := st.str("uri")
	bob.vote(bob.wantPost(uri), 0, 1).want(200)
	carol.vote(carol.wantPost(uri), 1).want(200)
	bob.vote(bob.wantPost(uri), 2).wantError(422, "Already voted")
	settle(here, there)
	here.soon()
	settle(here, there)
	want := alice.tally(st)
	if want != "yes & no 1, <b>maybe</b>  not 2, never 0" {
		t.Errorf("here it stands %s", want)
	}
	for _, m := range []*member{bob, carol} {
		at := m.wantPost(uri)
		if got := m.tally(at); got != want || at.num("poll.voters_count") != 2 || !at.truth("poll.voted") {
			t.Errorf("%s sees %s, %v", m.nick, got, at.at("poll"))
		}
	}
	here.endPoll(st)
	settle(here, there)
	for m, want := range map[*member]int{alice: 1, bob: 1, carol: 1} {
		polls := 0
		for _, kind := range m.told() {
			if kind == "poll" {
				polls++
			}
		}
		if polls != want {
			t.Errorf("%s is told %q", m.nick, m.told())
		}
	}
	if !bob.wantPost(uri).truth("poll.expired") {
		t.Error("it is open for bob")
	}
	bob.vote(bob.wantPost(uri), 2).wantError(422, "The poll has already ended")
}
