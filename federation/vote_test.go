package federation_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/httpsig"
)

// sendVote makes the Create of a vote, as most servers send it.
func sendVote(p *apptest.FakeServer, voter string, poll *apptest.Object, author *apptest.User, options ...string) apptest.Doc {
	var notes []any
	for _, option := range options {
		notes = append(notes, apptest.Doc{
			"id": p.NewID("votes"), "type": "Note", "attributedTo": voter, "name": option, "inReplyTo": poll.Str("uri"), "to": []any{author.URI()},
			"published": time.Now().UTC().Format(time.RFC3339),
		})
	}
	d := p.Activity("Create", voter, notes[0], apptest.Doc{"to": []any{author.URI()}, "cc": []any{}})
	if len(notes) > 1 {
		d["object"] = notes
	}
	return d
}

// voteCounts returns the tally of a poll.
func voteCounts(m *apptest.User, st *apptest.Object) string {
	m.Server.T.Helper()
	return apptest.PollOptions(&apptest.Object{T: m.Server.T, Fields: m.Get("/api/v1/statuses/" + st.ID()).Want(200).Object().At("poll").(map[string]any)})
}

// TestIncomingVotes checks that votes are counted once each, and are not visible as posts (cases 77 to 80).
func TestIncomingVotes(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, carol := peer.AddActor("bob"), peer.AddActor("carol")
	st := alice.PublishPoll([]string{"yes", "café", "no"})
	vote := func(voter string, options ...string) apptest.Doc { return sendVote(peer, voter, st, alice, options...) }
	want := func(what, want string) {
		t.Helper()
		if got := voteCounts(alice, st); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	peer.PostAndSettle(srv, vote(bob, " cafe\u0301 ")) // the same in another normal form
	want("after a vote", "yes 0, café 1, no 0")
	peer.PostAndSettle(srv, vote(bob, "no"))
	peer.PostAndSettle(srv, vote(bob, "café"))
	want("after a second and a third vote", "yes 0, café 1, no 0")
	peer.PostAndSettle(srv, vote(carol, "perhaps"))
	want("after a vote for an unknown option", "yes 0, café 1, no 0")
	forged := vote(carol, "yes")
	forged["object"].(apptest.Doc)["attributedTo"] = peer.URL + "/users/dave"
	peer.PostAndSettle(srv, forged)
	want("after a vote in the name of another", "yes 0, café 1, no 0")
	pleroma := vote(carol, "yes")
	pleroma["to"], pleroma["cc"] = []any{}, []any{}
	pleroma["object"].(apptest.Doc)["to"], pleroma["object"].(apptest.Doc)["cc"] = []any{}, []any{alice.URI()}
	pleroma["object"].(apptest.Doc)["type"], pleroma["object"].(apptest.Doc)["content"] = "Answer", ""
	peer.PostAndSettle(srv, pleroma)
	want("after a vote addressed in another way", "yes 1, café 1, no 0")

	many := alice.PublishPoll([]string{"a", "b", "c"}, "multiple", "true")
	peer.PostAndSettle(srv, sendVote(peer, bob, many, alice, "a", "c"))
	peer.PostAndSettle(srv, sendVote(peer, bob, many, alice, "b"))
	peer.PostAndSettle(srv, sendVote(peer, bob, many, alice, "b"))
	if got := voteCounts(alice, many); got != "a 1, b 1, c 1" {
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
	peer.PostAndSettle(srv, sendVote(peer, bob, secret, alice, "x"))
	if got := voteCounts(alice, secret); got != "x 0, y 0" {
		t.Errorf("a poll that bob cannot see: %s", got)
	}
	plain := alice.Publish("no poll")
	peer.PostAndSettle(srv, sendVote(peer, bob, plain, alice, "x"))

	if got := alice.NotificationTypes(); len(got) != 1 || got[0] != "poll" {
		t.Errorf("notifications of alice: %q, want the end of her poll only", got)
	}
	for _, path := range []string{"/api/v1/timelines/public", "/api/v1/timelines/home", "/api/v1/conversations"} {
		for _, o := range alice.Get(path).Want(200).List() {
			if o.Has("account") && o.Str("account.id") != alice.ID {
				t.Errorf("%s shows a vote: %v", path, o.Fields)
			}
		}
	}
	for _, st := range []*apptest.Object{st, many, plain} {
		context := alice.Get("/api/v1/statuses/" + st.ID() + "/context").Want(200).Object()
		if n := len(context.At("descendants").([]any)); n > 0 {
			t.Errorf("a vote is a reply")
		}
		if n := alice.Get("/api/v1/statuses/" + st.ID()).Object().Int("replies_count"); n > 0 {
			t.Errorf("a vote is counted as a reply")
		}
	}
}

// TestVotesWithMarkup checks votes whose content is markup without text, as snac and others write it, and that a named reply with text is a
// reply.
func TestVotesWithMarkup(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	contents := []any{"<br>", "<p></p>", "<p><br/></p>\n", "&nbsp;", "<p><span class=\"x\"> </span></p>", "\u200b", nil}
	st := alice.PublishPoll([]string{"yes", "no"})
	for i, content := range contents {
		vote := sendVote(peer, peer.AddActor("voter"+strconv.Itoa(i)), st, alice, "yes")
		vote["object"].(apptest.Doc)["content"] = content
		peer.PostAndSettle(srv, vote)
	}
	if got, want := voteCounts(alice, st), "yes "+strconv.Itoa(len(contents))+", no 0"; got != want {
		t.Errorf("the poll has %s, want %s", got, want)
	}
	apptest.WantList(t, "notifications of alice after votes", alice.NotificationTypes())
	reply := peer.Note(peer.AddActor("carol"), "<p>because</p>", apptest.Doc{
		"name": "yes", "inReplyTo": st.Str("uri"), "to": []any{alice.URI()}, "cc": []any{},
		"tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI(), "name": "@alice"}},
	})
	peer.PostAndSettle(srv, peer.Create(reply))
	apptest.WantList(t, "notifications of alice after a reply", alice.NotificationTypes(), "mention")
	if got, want := voteCounts(alice, st), "yes "+strconv.Itoa(len(contents))+", no 0"; got != want {
		t.Errorf("after a reply the poll has %s, want %s", got, want)
	}
}

// TestPollEndNotification checks that voters are notified once of the end of a remote poll, whether its server sends it or it was
// known, and others are not.
func TestPollEndNotification(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	options := []any{apptest.Doc{"type": "Note", "name": "yes"}, apptest.Doc{"type": "Note", "name": "no"}}
	closed := func(note apptest.Doc, changes apptest.Doc) {
		t.Helper()
		peer.PostAndSettle(srv, peer.Activity("Update", bob, apptest.With(note, changes)))
	}
	for _, tt := range []struct {
		name string
		poll apptest.Doc
		end  func(note apptest.Doc, st *apptest.Object)
	}{
		{"at the time that was set", apptest.Doc{"endTime": apptest.FromNow(time.Hour)}, func(note apptest.Doc, st *apptest.Object) {
			srv.EndPoll(st)
			closed(note, apptest.Doc{"endTime": apptest.FromNow(-time.Minute), "closed": apptest.FromNow(-time.Minute)})
		}},
		{"before that", apptest.Doc{"endTime": apptest.FromNow(time.Hour)}, func(note apptest.Doc, st *apptest.Object) {
			closed(note, apptest.Doc{"closed": apptest.FromNow(-time.Second)})
			closed(note, apptest.Doc{"endTime": apptest.FromNow(-time.Second)})
		}},
		{"without a time", apptest.Doc{"endTime": nil}, func(note apptest.Doc, st *apptest.Object) {
			closed(note, apptest.Doc{"closed": true})
			closed(note, apptest.Doc{"closed": true})
		}},
		{"with an edit", apptest.Doc{"endTime": apptest.FromNow(time.Hour)}, func(note apptest.Doc, st *apptest.Object) {
			closed(note, apptest.Doc{"content": "<p>closed</p>", "updated": apptest.FromNow(0), "closed": apptest.FromNow(-time.Second)})
			closed(note, apptest.Doc{"content": "<p>closed now</p>", "updated": apptest.FromNow(time.Second), "closed": apptest.FromNow(-time.Second)})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.Note(bob, "<p>tea?</p>", apptest.Doc{"type": "Question", "oneOf": options, "published": apptest.FromNow(-time.Hour)}, tt.poll)
			peer.PostAndSettle(srv, peer.Create(note))
			st := alice.WantPost(note["id"])
			alice.Vote(st, 0).Want(200)
			apptest.Settle(srv)
			apptest.WantList(t, "notifications of alice before the end", alice.NotificationTypes())
			tt.end(note, st)
			apptest.Settle(srv)
			apptest.WantList(t, "notifications of alice", alice.NotificationTypes(), "poll")
			apptest.WantList(t, "notifications of carol", carol.NotificationTypes())
			if !alice.WantPost(note["id"]).Bool("poll.expired") {
				t.Error("it is open yet")
			}
			alice.Post("/api/v1/notifications/clear").Want(200)
		})
	}
}

// TestPollRefreshSigner checks who signs the fetch of a poll's counts: for a poll of followers a voter, else a follower, so that its server
// answers.
func TestPollRefreshSigner(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	carol.FollowRemote(bob)
	followers := apptest.Doc{"to": []any{bob + "/followers"}, "cc": []any{}}
	direct := apptest.Doc{"to": []any{carol.URI()}, "cc": []any{}, "tag": []any{apptest.Doc{"type": "Mention", "href": carol.URI(), "name": "@carol"}}}
	for _, tt := range []struct {
		name   string
		to     apptest.Doc
		voter  *apptest.User
		viewer *apptest.User
		want   []string // who may sign
	}{
		{"public", nil, carol, alice, []string{srv.URL + "/internal/fetch#main-key"}},
		{"for followers, with a vote", followers, carol, alice, []string{carol.URI() + "#main-key"}},
		{"for followers", followers, nil, alice, []string{alice.URI() + "#main-key", carol.URI() + "#main-key"}},
		{"direct", direct, nil, carol, []string{carol.URI() + "#main-key"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			option := func(name string, votes int) apptest.Doc {
				return apptest.Doc{"type": "Note", "name": name, "replies": apptest.Doc{"type": "Collection", "totalItems": votes}}
			}
			note := peer.Note(bob, "<p>tea?</p>", apptest.Doc{
				"type": "Question", "oneOf": []any{option("yes", 0), option("no", 0)}, "endTime": apptest.FromNow(time.Hour),
			}, tt.to)
			peer.PostAndSettle(srv, peer.Create(note))
			st := tt.viewer.WantPost(note["id"])
			if tt.voter != nil {
				tt.voter.Vote(tt.voter.WantPost(note["id"]), 0).Want(200)
				apptest.Settle(srv)
			}
			peer.Serve(apptest.With(note, apptest.Doc{"oneOf": []any{option("yes", 5), option("no", 2)}}))
			var key string
			peer.OnRequest(strings.TrimPrefix(note["id"].(string), peer.URL), func(r *http.Request) { key = httpsig.ClaimedKeyID(r) })
			srv.Advance(10 * time.Minute)
			tt.viewer.Get("/api/v1/polls/" + st.Str("poll.id")).Want(200)
			apptest.Settle(srv)
			if got := voteCounts(tt.viewer, st); got != "yes 5, no 2" {
				t.Errorf("the poll has %s", got)
			}
			if !slices.Contains(tt.want, key) {
				t.Errorf("%s signed, want one of %q", key, tt.want)
			}
		})
	}
}

// TestPollBetweenServers checks that a poll has the same tally on both servers, and that its author and voters are notified of its end
// once.
func TestPollBetweenServers(t *testing.T) {
	here, there, alice, bob, carol := apptest.StartTwo(t)
	st := alice.PublishPoll([]string{"yes & no", " <b>maybe</b>  not ", "never"}, "multiple", "true")
	apptest.Settle(here, there)
	uri := st.Str("uri")
	bob.Vote(bob.WantPost(uri), 0, 1).Want(200)
	carol.Vote(carol.WantPost(uri), 1).Want(200)
	bob.Vote(bob.WantPost(uri), 2).WantError(422, "Already voted")
	apptest.Settle(here, there)
	here.RunDelayedJobs()
	apptest.Settle(here, there)
	want := voteCounts(alice, st)
	if want != "yes & no 1, <b>maybe</b>  not 2, never 0" {
		t.Errorf("the tally on the first server is %s", want)
	}
	for _, m := range []*apptest.User{bob, carol} {
		at := m.WantPost(uri)
		if got := voteCounts(m, at); got != want || at.Int("poll.voters_count") != 2 || !at.Bool("poll.voted") {
			t.Errorf("%s sees %s, %v", m.Nickname, got, at.At("poll"))
		}
	}
	here.EndPoll(st)
	apptest.Settle(here, there)
	for m, want := range map[*apptest.User]int{alice: 1, bob: 1, carol: 1} {
		polls := 0
		for _, kind := range m.NotificationTypes() {
			if kind == "poll" {
				polls++
			}
		}
		if polls != want {
			t.Errorf("notifications of %s: %q", m.Nickname, m.NotificationTypes())
		}
	}
	if !bob.WantPost(uri).Bool("poll.expired") {
		t.Error("it is open for bob")
	}
	bob.Vote(bob.WantPost(uri), 2).WantError(422, "The poll has already ended")
}
