package server_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/internal/config"
	"svc/store"
)

// The end is told of once: to the author, to those here who voted, and to open streams.
func TestPollEnd(t *testing.T) {
	srv := startAPI(t)
	var edited []store.StatusID
	srv.db.Subscribe(func(events []store.Event) {
		for _, e := range events {
			if e, ok := e.(store.StatusEdited); ok {
				edited = append(edited, e.Status.ID)
			}
		}
	})
	alice, bob, carol, dave, erin := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol"), srv.signUp("dave"), srv.signUp("erin")
	for _, m := range []*member{carol, dave} {
		srv.letFollow(m, alice)
	}
	st := alice.publish("for followers and @bob", "visibility", "private", "poll[options][]", "a", "poll[options][]", "b", "poll[expires_in]", "60", "poll[multiple]", "1")
	for _, m := range []*member{bob, carol, dave} {
		m.vote(st, 0, 1).want(200)
	}
	wantMembers(t, "before", bob.get("/api/v1/statuses/"+st.id()).object(), jsonBody{"poll.expired": false})
	srv.settle()
	if got := alice.notified(); len(got) != 0 {
		t.Errorf("alice is told %v before the end", got)
	}
	dave.post("/api/v1/accounts/" + alice.id + "/unfollow").want(200)
	// A job that comes too soon does nothing; it is the time that ends a poll, not the job.
	srv.insert(`UPDATE jobs SET run_at = 1000 WHERE kind = 'close_poll'`)
	srv.settle()
	if got := alice.notified(); len(got) != 0 {
		t.Errorf("alice is told %v before the end", got)
	}
	srv.insert(`UPDATE polls SET expires_at = 1000`)
	wantMembers(t, "ended", bob.get("/api/v1/statuses/"+st.id()).object(), jsonBody{"poll.expired": true})
	closing := func() {
		t.Helper()
		err := srv.db.Update(t.Context(), func(tx *store.Tx) error {
			return tx.Enqueue(t.Context(), store.ClosePoll{StatusID: statusID(st.id())})
		})
		if err != nil {
			t.Fatal(err)
		}
		srv.settle()
	}
	closing()
	for m, want := range map[*member][]string{
		alice: {"poll alice"}, bob: {"poll alice", "mention alice"}, carol: {"poll alice"}, dave: {}, erin: {},
	} {
		if got := m.notified(); !slices.Equal(got, want) {
			t.Errorf("%s is told %v, want %v", m.nick, got, want)
		}
	}
	n := bob.get("/api/v1/notifications", "types[]", "poll").want(200).list()[0]
	wantMembers(t, "the notification", n, jsonBody{"status.id": st.id(), "status.poll.expired": true, "status.poll.own_votes": []any{0.0, 1.0}, "account.id": alice.id})
	if !slices.Equal(edited, []store.StatusID{statusID(st.id())}) {
		t.Errorf("edited are %v", edited)
	}
	bob.post("/api/v1/notifications/clear").want(200)
	closing() // as after a crash between the deed and its record
	if got := bob.notified(); len(got) != 0 {
		t.Errorf("bob is told again: %v", got)
	}
}

// Jobs outlive the process: a poll ends, a scheduled status goes out and an expiring one goes after a restart.
func TestTimesAfterRestart(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	st := alice.ask([]string{"a", "b"})
	expiring := alice.publish("soon gone", "expires_in", "3601").id()
	alice.post("/api/v1/statuses", "status", "later", "scheduled_at", time.Now().Add(time.Hour).Format(time.RFC3339)).want(200)
	srv.insert(`UPDATE polls SET expires_at = 1000`)
	srv.insert(`UPDATE statuses SET expires_at = 1000 WHERE expires_at IS NOT NULL`)
	srv.insert(`UPDATE scheduled_statuses SET scheduled_at = 1000`)
	srv.insert(`UPDATE jobs SET run_at = 1000`)
	if err := srv.db.Close(); err != nil {
		t.Fatal(err)
	}
	again := startAPI(t, func(c *config.Config) { c.Data.Dir = srv.dir })
	again.settle()
	alice.caller.api = again
	if got, want := alice.notified(), []string{"poll alice"}; !slices.Equal(got, want) {
		t.Errorf("alice is told %v, want %v", got, want)
	}
	posts := alice.get("/api/v1/accounts/alice/statuses").want(200)
	if ids := posts.ids(); len(ids) != 2 || ids[1] != st.id() || slices.Contains(ids, expiring) || !strings.Contains(posts.list()[0].str("content"), "later") {
		t.Errorf("there are %s", posts.body)
	}
}

func TestPollEdits(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	poll := func(in any, multiple bool, options ...string) jsonBody {
		return jsonBody{"options": options, "multiple": multiple, "expires_in": in}
	}
	for _, tt := range []struct {
		name     string
		edit     jsonBody
		options  string // "": there is no poll
		votes    float64
		versions int
	}{
		{"nothing", jsonBody{"status": "x", "poll": poll(nil, false, "a", "b")}, "a 0, b 1", 1, 1},
		{"another end", jsonBody{"status": "x", "poll": poll(600, false, "a", "b")}, "a 0, b 1", 1, 1},
		{"white space and an empty field", jsonBody{"status": "x", "poll": poll(nil, false, " a", "b", "")}, "a 0, b 1", 1, 1},
		{"hidden totals", jsonBody{"status": "x", "poll": jsonBody{"options": []string{"a", "b"}, "hide_totals": true}}, "a ?, b ?", 1, 1},
		{"the text", jsonBody{"status": "y", "poll": poll(nil, false, "a", "b")}, "a 0, b 1", 1, 2},
		{"an option", jsonBody{"status": "x", "poll": poll(600, false, "a", "c")}, "a 0, c 0", 0, 2},
		{"the order", jsonBody{"status": "x", "poll": poll(600, false, "b", "a")}, "b 0, a 0", 0, 2},
		{"one more", jsonBody{"status": "x", "poll": poll(600, false, "a", "b", "c")}, "a 0, b 0, c 0", 0, 2},
		{"multiple", jsonBody{"status": "x", "poll": poll(600, true, "a", "b")}, "a 0, b 0", 0, 2},
		{"no poll", jsonBody{"status": "x"}, "", 0, 2},
		{"null", jsonBody{"status": "x", "poll": nil}, "", 0, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := alice.publish("x", "poll[options][]", "a", "poll[options][]", "b", "poll[expires_in]", "86400")
			bob.vote(st, 1).want(200)
			bob.get("/api/v1/statuses/" + st.id()).want(200) // so that it is rendered before
			edited := alice.edit(st.id(), tt.edit).want(200).object()
			history := bob.get("/api/v1/statuses/" + st.id() + "/history").want(200).list()
			if len(history) != tt.versions {
				t.Errorf("there are %d versions, want %d", len(history), tt.versions)
			}
			if got := fmt.Sprint(history[0].at("poll")); got != "map[options:[map[title:a] map[title:b]]]" {
				t.Errorf("the first version has %s", got)
			}
			path := "/api/v1/polls/" + st.str("poll.id")
			if tt.options == "" {
				if got := bob.get("/api/v1/statuses/" + st.id()).object().at("poll"); got != nil || edited.at("poll") != nil || history[1].at("poll") != nil {
					t.Errorf("there is still a poll: %v", got)
				}
				bob.get(path).wantError(404, "Record not found")
				return
			}
			p := bob.get(path).want(200).object()
			if got := pollOptions(p); got != tt.options || p.at("votes_count") != tt.votes || p.at("voters_count") != tt.votes || p.truth("voted") != (tt.votes > 0) {
				t.Errorf("the poll is %v, want %s", p.m, tt.options)
			}
			if got := pollOptions(pollOf(edited)); got != tt.options {
				t.Errorf("the answer has %q", got)
			}
			in, ok := tt.edit["poll"].(jsonBody)["expires_in"].(int)
			end, _ := time.Parse(time.RFC3339, p.str("expires_at"))
			if soon := time.Until(end) < time.Hour; soon != (ok && in == 600) {
				t.Errorf("it ends at %v", end)
			}
			if tt.votes == 0 {
				bob.vote(st, 0).want(200)
			}
		})
	}

	st := alice.publish("x", "poll[options][]", "a", "poll[options][]", "b", "poll[expires_in]", "86400")
	for _, tt := range []struct {
		poll  jsonBody
		want  int
		error string
	}{
		{poll(nil, false, "a", "c"), 400, "Missing field: expires_in."},
		{poll(600, false, "a"), 422, "Poll must contain at least 2 options"},
		{poll(-1, false, "a", "b"), 422, "Expiration date is too soon"},
	} {
		alice.edit(st.id(), jsonBody{"status": "y", "poll": tt.poll}).wantError(tt.want, tt.error)
	}
	wantMembers(t, "after edits that failed", alice.get("/api/v1/statuses/"+st.id()).object(), jsonBody{"content": "<p>x</p>", "edited_at": nil})

	// What has ended stays so while it asks the same, and is a new poll when it asks something else.
	bob.vote(st, 0).want(200)
	srv.endPoll(st)
	alice.edit(st.id(), jsonBody{"status": "y", "poll": poll(-5, false, "a", "b")}).want(200)
	wantMembers(t, "ended", bob.get("/api/v1/statuses/"+st.id()).object(), jsonBody{"poll.expired": true, "poll.votes_count": 1.0, "content": "<p>y</p>"})
	srv.settle()
	if got, want := bob.notified(), []string{"poll alice"}; !slices.Equal(got, want) {
		t.Errorf("bob is told %v, want %v", got, want)
	}
	alice.edit(st.id(), jsonBody{"status": "y", "poll": poll(600, false, "c", "d")}).want(200)
	if got := bob.notified(); len(got) != 0 {
		t.Errorf("bob is still told %v", got)
	}
	bob.vote(st, 1).want(200)
	srv.endPoll(st)
	if got, want := bob.notified(), []string{"poll alice"}; !slices.Equal(got, want) {
		t.Errorf("bob is told %v, want %v", got, want)
	}

	// A poll may come later.
	plain := alice.publish("what?").id()
	with := alice.edit(plain, jsonBody{"status": "what?", "poll": poll(600, false, "a", "b")}).want(200).object()
	bob.vote(with, 0).want(200)
	if h := bob.get("/api/v1/statuses/" + plain + "/history").list(); len(h) != 2 || h[0].at("poll") != nil || h[1].at("poll") == nil {
		t.Errorf("versions of what got a poll later: %v", h)
	}
}

// Deleting a status returns its poll to write it anew, and leaves nothing behind. So does deleting an account.
func TestPollsGo(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	deleted, kept := alice.ask([]string{"a", "b"}), alice.ask([]string{"a", "b"}, "multiple", "true")
	own := bob.ask([]string{"a", "b"})
	bob.vote(deleted, 0).want(200)
	bob.vote(kept, 0, 1).want(200)
	carol.vote(kept, 1).want(200)
	carol.vote(own, 1).want(200)
	gone := alice.do("DELETE", "/api/v1/statuses/"+deleted.id(), "", nil).want(200).object()
	if got := pollOptions(pollOf(gone)); got != "a 1, b 0" || gone.str("text") == "" {
		t.Errorf("deleted was %v", gone.m)
	}
	if err := srv.social.DeleteAccount(t.Context(), bob.accountID()); err != nil {
		t.Fatal(err)
	}
	srv.settle()
	p := carol.get("/api/v1/polls/" + kept.str("poll.id")).object()
	wantMembers(t, "what bob voted in", p, jsonBody{"votes_count": 1.0, "voters_count": 1.0})
	if got := pollOptions(p); got != "a 0, b 1" {
		t.Errorf("options are %q", got)
	}
	carol.get("/api/v1/polls/"+own.str("poll.id")).wantError(404, "Record not found")
	for what, query := range map[string]string{
		"votes": `SELECT 1 FROM poll_votes WHERE account_id <> ?`, "jobs": `SELECT 1 FROM jobs WHERE kind = 'close_poll' AND unique_key <> 'poll:' || ?`,
	} {
		of := any(carol.accountID())
		if what == "jobs" {
			of = kept.id()
		}
		if left, err := srv.has(query, of); left || err != nil {
			t.Errorf("%s are left: %v", what, err)
		}
	}
}

// A key makes one poll, and what is made is what is read.
func TestPollIsPublishedOnce(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	post := func() *object {
		req, err := http.NewRequestWithContext(t.Context(), "POST", srv.url+"/api/v1/statuses?status=x&poll[options][]=a&poll[options][]=b&poll[expires_in]=60", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Idempotency-Key", "key")
		return alice.request(req).want(200).object()
	}
	first, second := post(), post()
	srv.entities.Forget()
	read := alice.get("/api/v1/statuses/" + first.id()).want(200).object()
	if !reflect.DeepEqual(first.m, second.m) || !reflect.DeepEqual(first.m, read.m) {
		t.Errorf("first\n%v\nagain\n%v\nread\n%v", first.m, second.m, read.m)
	}
}

// Polls and votes from elsewhere are like any other, but for what only their server knows.
func TestRemotePolls(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	far := srv.remote("far", "example.com")
	var author *store.Account
	poll := &store.Poll{Multiple: true}
	poll.Options.V = []store.PollOption{{Title: "a", Votes: 3}, {Title: "b"}}
	err := srv.db.Update(t.Context(), func(tx *store.Tx) error {
		var err error
		var id store.AccountID
		id.UnmarshalText([]byte(far))
		if author, err = tx.Account(t.Context(), id); err != nil {
			return err
		}
		st := &store.Status{ID: tx.NewStatusID(), AccountID: author.ID, Domain: author.Domain, URI: "https://example.com/q", HasPoll: true, Content: "<p>?</p>"}
		if err := tx.AddStatus(t.Context(), st); err != nil {
			return err
		}
		now := store.At(srv.db.Now())
		poll.StatusID, poll.FetchedAt = st.ID, &now
		return tx.AddPoll(t.Context(), poll)
	})
	if err != nil {
		t.Fatal(err)
	}
	path := "/api/v1/polls/" + poll.ID.String()
	wantMembers(t, "open for good", alice.get(path).want(200).object(), jsonBody{"expires_at": nil, "expired": false, "voters_count": nil, "votes_count": 3.0})
	wantMembers(t, "voted", alice.post(path+"/votes", "choices[]", "1").want(200).object(), jsonBody{"voters_count": nil, "votes_count": 4.0, "own_votes": []any{1.0}})

	// Votes from elsewhere come one option at a time.
	asked := bob.ask([]string{"a", "b", "c"}, "multiple", "true")
	var id store.PollID
	id.UnmarshalText([]byte(asked.str("poll.id")))
	for _, tt := range []struct {
		choice int
		want   string
	}{{0, ""}, {2, ""}, {0, "Already voted"}, {5, "Invalid indices"}} {
		if _, err := srv.social.Vote(t.Context(), author, id, []int{tt.choice}); fmt.Sprint(err) != tt.want && (err != nil || tt.want != "") {
			t.Errorf("the vote for %d: %v, want %q", tt.choice, err, tt.want)
		}
	}
	wantMembers(t, "asked", alice.get("/api/v1/polls/"+asked.str("poll.id")).object(), jsonBody{"voters_count": 1.0, "votes_count": 2.0})
	srv.endPoll(asked)
	if got, want := bob.notified(), []string{"poll bob"}; !slices.Equal(got, want) {
		t.Errorf("bob is told %v, want %v", got, want)
	}
}
