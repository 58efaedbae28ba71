package server_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

// TestPollEnd checks that the author, the local voters and open streams are notified once when a poll ends.
func TestPollEnd(t *testing.T) {
	srv := apptest.Start(t)
	var edited []store.StatusID
	srv.DB.Subscribe(func(events []store.Event) {
		for _, e := range events {
			if e, ok := e.(store.StatusEdited); ok {
				edited = append(edited, e.Status.ID)
			}
		}
	})
	alice, bob, carol, dave, erin := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol"), srv.SignUp("dave"), srv.SignUp("erin")
	for _, m := range []*apptest.User{carol, dave} {
		srv.AddFollow(m, alice)
	}
	st := alice.Publish("for followers and @bob", "visibility", "private", "poll[options][]", "a", "poll[options][]", "b", "poll[expires_in]", "60", "poll[multiple]", "1")
	for _, m := range []*apptest.User{bob, carol, dave} {
		m.Vote(st, 0, 1).Want(200)
	}
	apptest.WantFields(t, "before", bob.Get("/api/v1/statuses/"+st.ID()).Object(), apptest.Doc{"poll.expired": false})
	srv.RunJobs()
	if got := alice.Notifications(); len(got) != 0 {
		t.Errorf("alice has the notifications %v before the end", got)
	}
	dave.Post("/api/v1/accounts/" + alice.ID + "/unfollow").Want(200)
	// A job that runs too early does nothing: the poll ends at its time, not when the job runs.
	srv.Exec(`UPDATE jobs SET run_at = 1000 WHERE kind = 'close_poll'`)
	srv.RunJobs()
	if got := alice.Notifications(); len(got) != 0 {
		t.Errorf("alice has the notifications %v before the end", got)
	}
	srv.Exec(`UPDATE polls SET expires_at = 1000`)
	apptest.WantFields(t, "ended", bob.Get("/api/v1/statuses/"+st.ID()).Object(), apptest.Doc{"poll.expired": true})
	closing := func() {
		t.Helper()
		err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
			return tx.Enqueue(t.Context(), store.ClosePoll{StatusID: apptest.StatusID(st.ID())})
		})
		if err != nil {
			t.Fatal(err)
		}
		srv.RunJobs()
	}
	closing()
	for m, want := range map[*apptest.User][]string{
		alice: {"poll alice"}, bob: {"poll alice", "mention alice"}, carol: {"poll alice"}, dave: {}, erin: {},
	} {
		if got := m.Notifications(); !slices.Equal(got, want) {
			t.Errorf("%s has the notifications %v, want %v", m.Nickname, got, want)
		}
	}
	n := bob.Get("/api/v1/notifications", "types[]", "poll").Want(200).List()[0]
	apptest.WantFields(t, "the notification", n, apptest.Doc{"status.id": st.ID(), "status.poll.expired": true, "status.poll.own_votes": []any{0.0, 1.0}, "account.id": alice.ID})
	if !slices.Equal(edited, []store.StatusID{apptest.StatusID(st.ID())}) {
		t.Errorf("edited statuses are %v", edited)
	}
	bob.Post("/api/v1/notifications/clear").Want(200)
	closing() // as after a crash between the transaction and the removal of the job
	if got := bob.Notifications(); len(got) != 0 {
		t.Errorf("bob is notified again: %v", got)
	}
}

// TestTimesAfterRestart checks that polls end, scheduled statuses are published and expiring ones are deleted after a restart.
func TestTimesAfterRestart(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	st := alice.PublishPoll([]string{"a", "b"})
	expiring := alice.Publish("expires soon", "expires_in", "3601").ID()
	alice.Post("/api/v1/statuses", "status", "later", "scheduled_at", time.Now().Add(time.Hour).Format(time.RFC3339)).Want(200)
	srv.Exec(`UPDATE polls SET expires_at = 1000`)
	srv.Exec(`UPDATE statuses SET expires_at = 1000 WHERE expires_at IS NOT NULL`)
	srv.Exec(`UPDATE scheduled_statuses SET scheduled_at = 1000`)
	srv.Exec(`UPDATE jobs SET run_at = 1000`)
	again := srv.StartAgain()
	again.RunJobs()
	alice.Client.Server = again
	if got, want := alice.Notifications(), []string{"poll alice"}; !slices.Equal(got, want) {
		t.Errorf("alice has the notifications %v, want %v", got, want)
	}
	posts := alice.Get("/api/v1/accounts/alice/statuses").Want(200)
	if ids := posts.IDs(); len(ids) != 2 || ids[1] != st.ID() || slices.Contains(ids, expiring) || !strings.Contains(posts.List()[0].Str("content"), "later") {
		t.Errorf("statuses are %s", posts.Body)
	}
}

func TestPollEdits(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	poll := func(in any, multiple bool, options ...string) apptest.Doc {
		return apptest.Doc{"options": options, "multiple": multiple, "expires_in": in}
	}
	for _, tt := range []struct {
		name     string
		edit     apptest.Doc
		options  string // "": there is no poll
		votes    float64
		versions int
	}{
		{"no change", apptest.Doc{"status": "x", "poll": poll(nil, false, "a", "b")}, "a 0, b 1", 1, 1},
		{"another end", apptest.Doc{"status": "x", "poll": poll(600, false, "a", "b")}, "a 0, b 1", 1, 1},
		{"white space and an empty field", apptest.Doc{"status": "x", "poll": poll(nil, false, " a", "b", "")}, "a 0, b 1", 1, 1},
		{"hidden totals", apptest.Doc{"status": "x", "poll": apptest.Doc{"options": []string{"a", "b"}, "hide_totals": true}}, "a ?, b ?", 1, 1},
		{"the text", apptest.Doc{"status": "y", "poll": poll(nil, false, "a", "b")}, "a 0, b 1", 1, 2},
		{"an option", apptest.Doc{"status": "x", "poll": poll(600, false, "a", "c")}, "a 0, c 0", 0, 2},
		{"the order", apptest.Doc{"status": "x", "poll": poll(600, false, "b", "a")}, "b 0, a 0", 0, 2},
		{"one more", apptest.Doc{"status": "x", "poll": poll(600, false, "a", "b", "c")}, "a 0, b 0, c 0", 0, 2},
		{"multiple", apptest.Doc{"status": "x", "poll": poll(600, true, "a", "b")}, "a 0, b 0", 0, 2},
		{"no poll", apptest.Doc{"status": "x"}, "", 0, 2},
		{"null", apptest.Doc{"status": "x", "poll": nil}, "", 0, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := alice.Publish("x", "poll[options][]", "a", "poll[options][]", "b", "poll[expires_in]", "86400")
			bob.Vote(st, 1).Want(200)
			bob.Get("/api/v1/statuses/" + st.ID()).Want(200) // so that a rendered copy is cached
			edited := alice.EditStatus(st.ID(), tt.edit).Want(200).Object()
			history := bob.Get("/api/v1/statuses/" + st.ID() + "/history").Want(200).List()
			if len(history) != tt.versions {
				t.Errorf("there are %d versions, want %d", len(history), tt.versions)
			}
			if got := fmt.Sprint(history[0].At("poll")); got != "map[options:[map[title:a] map[title:b]]]" {
				t.Errorf("the first version has %s", got)
			}
			path := "/api/v1/polls/" + st.Str("poll.id")
			if tt.options == "" {
				if got := bob.Get("/api/v1/statuses/" + st.ID()).Object().At("poll"); got != nil || edited.At("poll") != nil || history[1].At("poll") != nil {
					t.Errorf("there is still a poll: %v", got)
				}
				bob.Get(path).WantError(404, "Record not found")
				return
			}
			p := bob.Get(path).Want(200).Object()
			if got := apptest.PollOptions(p); got != tt.options || p.At("votes_count") != tt.votes || p.At("voters_count") != tt.votes || p.Bool("voted") != (tt.votes > 0) {
				t.Errorf("the poll is %v, want %s", p.Fields, tt.options)
			}
			if got := apptest.PollOptions(apptest.PollOf(edited)); got != tt.options {
				t.Errorf("the response has %q", got)
			}
			in, ok := tt.edit["poll"].(apptest.Doc)["expires_in"].(int)
			end, _ := time.Parse(time.RFC3339, p.Str("expires_at"))
			if soon := time.Until(end) < time.Hour; soon != (ok && in == 600) {
				t.Errorf("it ends at %v", end)
			}
			if tt.votes == 0 {
				bob.Vote(st, 0).Want(200)
			}
		})
	}

	st := alice.Publish("x", "poll[options][]", "a", "poll[options][]", "b", "poll[expires_in]", "86400")
	for _, tt := range []struct {
		poll  apptest.Doc
		want  int
		error string
	}{
		{poll(nil, false, "a", "c"), 400, "Missing field: expires_in."},
		{poll(600, false, "a"), 422, "Poll must contain at least 2 options"},
		{poll(-1, false, "a", "b"), 422, "Expiration date is too soon"},
	} {
		alice.EditStatus(st.ID(), apptest.Doc{"status": "y", "poll": tt.poll}).WantError(tt.want, tt.error)
	}
	apptest.WantFields(t, "after edits that failed", alice.Get("/api/v1/statuses/"+st.ID()).Object(), apptest.Doc{"content": "<p>x</p>", "edited_at": nil})

	// A poll that ended stays ended when an edit keeps its options, and is replaced by a new poll when they change.
	bob.Vote(st, 0).Want(200)
	srv.EndPoll(st)
	alice.EditStatus(st.ID(), apptest.Doc{"status": "y", "poll": poll(-5, false, "a", "b")}).Want(200)
	apptest.WantFields(t, "ended", bob.Get("/api/v1/statuses/"+st.ID()).Object(), apptest.Doc{"poll.expired": true, "poll.votes_count": 1.0, "content": "<p>y</p>"})
	srv.RunJobs()
	if got, want := bob.Notifications(), []string{"poll alice"}; !slices.Equal(got, want) {
		t.Errorf("bob has the notifications %v, want %v", got, want)
	}
	alice.EditStatus(st.ID(), apptest.Doc{"status": "y", "poll": poll(600, false, "c", "d")}).Want(200)
	if got := bob.Notifications(); len(got) != 0 {
		t.Errorf("bob still has the notifications %v", got)
	}
	bob.Vote(st, 1).Want(200)
	srv.EndPoll(st)
	if got, want := bob.Notifications(), []string{"poll alice"}; !slices.Equal(got, want) {
		t.Errorf("bob has the notifications %v, want %v", got, want)
	}

	// A poll can be added by an edit.
	plain := alice.Publish("what?").ID()
	with := alice.EditStatus(plain, apptest.Doc{"status": "what?", "poll": poll(600, false, "a", "b")}).Want(200).Object()
	bob.Vote(with, 0).Want(200)
	if h := bob.Get("/api/v1/statuses/" + plain + "/history").List(); len(h) != 2 || h[0].At("poll") != nil || h[1].At("poll") == nil {
		t.Errorf("versions of the status with an added poll: %v", h)
	}
}

// TestPollDeletion checks that deleting a status returns its poll for a new draft, and that deleting a status or account deletes its polls and votes.
func TestPollDeletion(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	deleted, kept := alice.PublishPoll([]string{"a", "b"}), alice.PublishPoll([]string{"a", "b"}, "multiple", "true")
	own := bob.PublishPoll([]string{"a", "b"})
	bob.Vote(deleted, 0).Want(200)
	bob.Vote(kept, 0, 1).Want(200)
	carol.Vote(kept, 1).Want(200)
	carol.Vote(own, 1).Want(200)
	gone := alice.Do("DELETE", "/api/v1/statuses/"+deleted.ID(), "", nil).Want(200).Object()
	if got := apptest.PollOptions(apptest.PollOf(gone)); got != "a 1, b 0" || gone.Str("text") == "" {
		t.Errorf("the deleted status was returned as %v", gone.Fields)
	}
	if err := srv.Social.DeleteAccount(t.Context(), bob.AccountID()); err != nil {
		t.Fatal(err)
	}
	srv.RunJobs()
	p := carol.Get("/api/v1/polls/" + kept.Str("poll.id")).Object()
	apptest.WantFields(t, "the poll that bob voted in", p, apptest.Doc{"votes_count": 1.0, "voters_count": 1.0})
	if got := apptest.PollOptions(p); got != "a 0, b 1" {
		t.Errorf("options are %q", got)
	}
	carol.Get("/api/v1/polls/"+own.Str("poll.id")).WantError(404, "Record not found")
	for what, query := range map[string]string{
		"votes": `SELECT 1 FROM poll_votes WHERE account_id <> ?`, "jobs": `SELECT 1 FROM jobs WHERE kind = 'close_poll' AND unique_key <> 'poll:' || ?`,
	} {
		of := any(carol.AccountID())
		if what == "jobs" {
			of = kept.ID()
		}
		if left, err := srv.HasRow(query, of); left || err != nil {
			t.Errorf("%s remain: %v", what, err)
		}
	}
}

// TestPollIsPublishedOnce checks that an idempotency key creates one poll.
func TestPollIsPublishedOnce(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	post := func() *apptest.Object {
		req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/api/v1/statuses?status=x&poll[options][]=a&poll[options][]=b&poll[expires_in]=60", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Idempotency-Key", "key")
		return alice.DoRequest(req).Want(200).Object()
	}
	first, second := post(), post()
	srv.Entities.InvalidateAll()
	read := alice.Get("/api/v1/statuses/" + first.ID()).Want(200).Object()
	if !reflect.DeepEqual(first.Fields, second.Fields) || !reflect.DeepEqual(first.Fields, read.Fields) {
		t.Errorf("first\n%v\nagain\n%v\nread\n%v", first.Fields, second.Fields, read.Fields)
	}
}

// TestRemotePolls checks remote polls, whose number of voters is unknown, and remote votes.
func TestRemotePolls(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	far := srv.AddRemoteAccount("far", "example.com")
	var author *store.Account
	poll := &store.Poll{Multiple: true}
	poll.Options.V = []store.PollOption{{Title: "a", Votes: 3}, {Title: "b"}}
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
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
		now := store.At(srv.DB.Now())
		poll.StatusID, poll.FetchedAt = st.ID, &now
		return tx.AddPoll(t.Context(), poll)
	})
	if err != nil {
		t.Fatal(err)
	}
	path := "/api/v1/polls/" + poll.ID.String()
	apptest.WantFields(t, "without an end", alice.Get(path).Want(200).Object(), apptest.Doc{"expires_at": nil, "expired": false, "voters_count": nil, "votes_count": 3.0})
	apptest.WantFields(t, "voted", alice.Post(path+"/votes", "choices[]", "1").Want(200).Object(), apptest.Doc{"voters_count": nil, "votes_count": 4.0, "own_votes": []any{1.0}})

	// Each remote vote is for one option.
	multiple := bob.PublishPoll([]string{"a", "b", "c"}, "multiple", "true")
	var id store.PollID
	id.UnmarshalText([]byte(multiple.Str("poll.id")))
	for _, tt := range []struct {
		choice int
		want   string
	}{{0, ""}, {2, ""}, {0, "Already voted"}, {5, "Invalid indices"}} {
		if _, err := srv.Social.Vote(t.Context(), author, id, []int{tt.choice}); fmt.Sprint(err) != tt.want && (err != nil || tt.want != "") {
			t.Errorf("the vote for %d: %v, want %q", tt.choice, err, tt.want)
		}
	}
	apptest.WantFields(t, "voted by a remote account", alice.Get("/api/v1/polls/"+multiple.Str("poll.id")).Object(), apptest.Doc{"voters_count": 1.0, "votes_count": 2.0})
	srv.EndPoll(multiple)
	if got, want := bob.Notifications(), []string{"poll bob"}; !slices.Equal(got, want) {
		t.Errorf("bob has the notifications %v, want %v", got, want)
	}
}
