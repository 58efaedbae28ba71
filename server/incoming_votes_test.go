package server_test

import (
	"testing"
	"time"
)

// Vote makes the Create of a vote, as most servers send it.
func (p *FakeServer) Vote(voter string, poll *Object, author *User, options ...string) Doc {
	var notes []any
	for _, option := range options {
		notes = append(notes, Doc{
			"id": p.NewID("votes"), "type": "Note", "attributedTo": voter, "name": option, "inReplyTo": poll.Str("uri"), "to": []any{author.URI()},
			"published": time.Now().UTC().Format(time.RFC3339),
		})
	}
	d := p.Activity("Create", voter, notes[0], Doc{"to": []any{author.URI()}, "cc": []any{}})
	if len(notes) > 1 {
		d["object"] = notes
	}
	return d
}

// voteCounts returns how a poll stands.
func (m *User) voteCounts(st *Object) string {
	m.Server.T.Helper()
	return PollOptions(&Object{m.Server.T, m.Get("/api/v1/statuses/" + st.ID()).Want(200).Object().At("poll").(map[string]any)})
}

// Cases 77 to 80: votes are counted once each, and nothing is to be seen of them.
func TestIncomingVotes(t *testing.T) {
	srv, peer := StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, carol := peer.AddActor("bob"), peer.AddActor("carol")
	st := alice.PublishPoll([]string{"yes", "café", "no"})
	vote := func(voter string, options ...string) Doc { return peer.Vote(voter, st, alice, options...) }
	want := func(what, want string) {
		t.Helper()
		if got := alice.voteCounts(st); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	peer.PostAndSettle(srv, vote(bob, " cafe\u0301 ")) // the same in another normal form
	want("after a vote", "yes 0, café 1, no 0")
	peer.PostAndSettle(srv, vote(bob, "no"))
	peer.PostAndSettle(srv, vote(bob, "café"))
	want("after a second and a third vote", "yes 0, café 1, no 0")
	peer.PostAndSettle(srv, vote(carol, "perhaps"))
	want("after a vote for what cannot be chosen", "yes 0, café 1, no 0")
	forged := vote(carol, "yes")
	forged["object"].(Doc)["attributedTo"] = peer.URL + "/users/dave"
	peer.PostAndSettle(srv, forged)
	want("after a vote in the name of another", "yes 0, café 1, no 0")
	pleroma := vote(carol, "yes")
	pleroma["to"], pleroma["cc"] = []any{}, []any{}
	pleroma["object"].(Doc)["to"], pleroma["object"].(Doc)["cc"] = []any{}, []any{alice.URI()}
	pleroma["object"].(Doc)["type"], pleroma["object"].(Doc)["content"] = "Answer", ""
	peer.PostAndSettle(srv, pleroma)
	want("after a vote addressed in another way", "yes 1, café 1, no 0")

	many := alice.PublishPoll([]string{"a", "b", "c"}, "multiple", "true")
	peer.PostAndSettle(srv, peer.Vote(bob, many, alice, "a", "c"))
	peer.PostAndSettle(srv, peer.Vote(bob, many, alice, "b"))
	peer.PostAndSettle(srv, peer.Vote(bob, many, alice, "b"))
	if got := alice.voteCounts(many); got != "a 1, b 1, c 1" {
		t.Errorf("several choices: %s", got)
	}
	if n := alice.Get("/api/v1/statuses/" + many.ID()).Object().Int("poll.voters_count"); n != 1 {
		t.Errorf("%d voters, want 1", n)
	}

	srv.EndPoll(st)
	dave := peer.AddActor("dave")
	peer.PostAndSettle(srv, vote(dave, "no"))
	want("after a vote that is too late", "yes 1, café 1, no 0")
	secret := alice.Publish("for followers", "visibility", "private", "poll[options][]", "x", "poll[options][]", "y", "poll[expires_in]", "86400")
	peer.PostAndSettle(srv, peer.Vote(bob, secret, alice, "x"))
	if got := alice.voteCounts(secret); got != "x 0, y 0" {
		t.Errorf("a poll that bob cannot see: %s", got)
	}
	plain := alice.Publish("no poll")
	peer.PostAndSettle(srv, peer.Vote(bob, plain, alice, "x"))

	if got := alice.NotificationTypes(); len(got) != 1 || got[0] != "poll" {
		t.Errorf("alice is told %q, want the end of her poll only", got)
	}
	for _, path := range []string{"/api/v1/timelines/public", "/api/v1/timelines/home", "/api/v1/conversations"} {
		for _, o := range alice.Get(path).Want(200).List() {
			if o.Has("account") && o.Str("account.id") != alice.ID {
				t.Errorf("%s shows a vote: %v", path, o.Fields)
			}
		}
	}
	for _, st := range []*Object{st, many, plain} {
		context := alice.Get("/api/v1/statuses/" + st.ID() + "/context").Want(200).Object()
		if n := len(context.At("descendants").([]any)); n > 0 {
			t.Errorf("a vote is a reply")
		}
		if n := alice.Get("/api/v1/statuses/" + st.ID()).Object().Int("replies_count"); n > 0 {
			t.Errorf("a vote is counted as a reply")
		}
	}
}

// Who has voted in a poll elsewhere hears once that it has ended, whether its server says so or it was known before, and however often
// that server tells it; who has not voted does not.
func TestVotersHear(t *testing.T) {
	srv, peer := StartWithFake(t)
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	options := []any{Doc{"type": "Note", "name": "yes"}, Doc{"type": "Note", "name": "no"}}
	closed := func(note Doc, changes Doc) {
		t.Helper()
		peer.PostAndSettle(srv, peer.Activity("Update", bob, With(note, changes)))
	}
	for _, tt := range []struct {
		name string
		poll Doc
		end  func(note Doc, st *Object)
	}{
		{"at the time that was set", Doc{"endTime": FromNow(time.Hour)}, func(note Doc, st *Object) {
			srv.EndPoll(st)
			closed(note, Doc{"endTime": FromNow(-time.Minute), "closed": FromNow(-time.Minute)})
		}},
		{"before that", Doc{"endTime": FromNow(time.Hour)}, func(note Doc, st *Object) {
			closed(note, Doc{"closed": FromNow(-time.Second)})
			closed(note, Doc{"endTime": FromNow(-time.Second)})
		}},
		{"without a time", Doc{"endTime": nil}, func(note Doc, st *Object) {
			closed(note, Doc{"closed": true})
			closed(note, Doc{"closed": true})
		}},
		{"with an edit", Doc{"endTime": FromNow(time.Hour)}, func(note Doc, st *Object) {
			closed(note, Doc{"content": "<p>closed</p>", "updated": FromNow(0), "closed": FromNow(-time.Second)})
			closed(note, Doc{"content": "<p>closed now</p>", "updated": FromNow(time.Second), "closed": FromNow(-time.Second)})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.Note(bob, "<p>tea?</p>", Doc{"type": "Question", "oneOf": options, "published": FromNow(-time.Hour)}, tt.poll)
			peer.PostAndSettle(srv, peer.Create(note))
			st := alice.WantPost(note["id"])
			alice.Vote(st, 0).Want(200)
			Settle(srv)
			WantList(t, "before the end alice is told", alice.NotificationTypes())
			tt.end(note, st)
			Settle(srv)
			WantList(t, "alice is told", alice.NotificationTypes(), "poll")
			WantList(t, "carol is told", carol.NotificationTypes())
			if !alice.WantPost(note["id"]).Bool("poll.expired") {
				t.Error("it is open yet")
			}
			alice.Post("/api/v1/notifications/clear").Want(200)
		})
	}
}

// A poll of one server in which people of another vote stands alike on both, and all who had to do with it hear once of its end.
func TestPollOfPeers(t *testing.T) {
	here, there, alice, bob, carol := StartTwo(t)
	st := alice.PublishPoll([]string{"yes & no", " <b>maybe</b>  not ", "never"}, "multiple", "true")
	Settle(here, there)
	uri := st.Str("uri")
	bob.Vote(bob.WantPost(uri), 0, 1).Want(200)
	carol.Vote(carol.WantPost(uri), 1).Want(200)
	bob.Vote(bob.WantPost(uri), 2).WantError(422, "Already voted")
	Settle(here, there)
	here.runDelayedJobs()
	Settle(here, there)
	want := alice.voteCounts(st)
	if want != "yes & no 1, <b>maybe</b>  not 2, never 0" {
		t.Errorf("here it stands %s", want)
	}
	for _, m := range []*User{bob, carol} {
		at := m.WantPost(uri)
		if got := m.voteCounts(at); got != want || at.Int("poll.voters_count") != 2 || !at.Bool("poll.voted") {
			t.Errorf("%s sees %s, %v", m.Nickname, got, at.At("poll"))
		}
	}
	here.EndPoll(st)
	Settle(here, there)
	for m, want := range map[*User]int{alice: 1, bob: 1, carol: 1} {
		polls := 0
		for _, kind := range m.NotificationTypes() {
			if kind == "poll" {
				polls++
			}
		}
		if polls != want {
			t.Errorf("%s is told %q", m.Nickname, m.NotificationTypes())
		}
	}
	if !bob.WantPost(uri).Bool("poll.expired") {
		t.Error("it is open for bob")
	}
	bob.Vote(bob.WantPost(uri), 2).WantError(422, "The poll has already ended")
}
