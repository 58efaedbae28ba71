package delivery_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

// TestDeliveryResponses checks what happens to a delivery by the response to it (federation 3.3; case 45).
func TestDeliveryResponses(t *testing.T) {
	const retried, dropped = true, false
	for _, tt := range []struct {
		status  int
		header  string // Retry-After
		posts   int    // at first: 2 if both signatures were tried
		waits   bool
		atLeast time.Duration
	}{
		{200, "", 1, dropped, 0},
		{202, "", 1, dropped, 0},
		{301, "", 1, retried, 20 * time.Second},
		{400, "", 2, dropped, 0},
		{401, "", 2, retried, 20 * time.Second},
		{403, "", 1, dropped, 0},
		{404, "", 1, dropped, 0},
		{410, "", 1, dropped, 0},
		{413, "", 1, dropped, 0},
		{501, "", 1, dropped, 0},
		{408, "", 1, retried, 20 * time.Second},
		{429, "120", 1, retried, 119 * time.Second},
		{429, "1", 1, retried, 20 * time.Second},
		{500, "", 1, retried, 20 * time.Second},
		{503, "999999", 1, retried, 24*time.Hour - time.Second},
		{521, "", 1, retried, 20 * time.Second},
	} {
		t.Run(fmt.Sprintf("%d %s", tt.status, tt.header), func(t *testing.T) {
			srv, alice, home := apptest.StartWithInboxServer(t)
			home.AddFollower(srv, "bob", true, alice)
			if tt.header != "" {
				home.Respond(tt.status, "Retry-After", tt.header)
			} else {
				home.Respond(tt.status)
			}
			start := time.Now()
			alice.Publish("hello")
			apptest.Settle(srv)
			if got := home.Take(); len(got) != tt.posts {
				t.Errorf("%d requests, want %d", len(got), tt.posts)
			}
			if n := srv.Count(`SELECT count(*) FROM deliveries`); (n == 1) != tt.waits {
				t.Fatalf("%d deliveries wait", n)
			}
			if n := srv.Count(`SELECT count(*) FROM activities`); (n == 1) != tt.waits {
				t.Errorf("%d activities are left", n)
			}
			if !tt.waits {
				return
			}
			at := time.UnixMilli(int64(srv.Count(`SELECT run_at FROM deliveries`)))
			if at.Before(start.Add(tt.atLeast)) || at.After(start.Add(24*time.Hour+time.Minute)) {
				t.Errorf("it is retried %v later", at.Sub(start))
			}
			if due := srv.Count(`SELECT due_at FROM hosts`); due < int(store.At(at)) {
				t.Errorf("the host is due at %d, its delivery at %d", due, store.At(at))
			}
			home.Respond(202)
			srv.MakeDeliveriesDue()
			apptest.Settle(srv)
			if got := home.Take(); len(got) != 1 {
				t.Errorf("%d requests when it is well again", len(got))
			}
			if n := srv.Count(`SELECT count(*) FROM deliveries`); n != 0 {
				t.Errorf("%d deliveries are left", n)
			}
		})
	}
}

// TestRetriesAndExpiry follows a failing delivery: growing pauses, parked after the last attempt, deleted in the end.
func TestRetriesAndExpiry(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	home.AddFollower(srv, "bob", true, alice)
	home.Respond(500)
	alice.Publish("hello")
	apptest.Settle(srv)
	var before time.Duration
	for try := 1; srv.Count(`SELECT parked FROM deliveries`) == 0; try++ {
		if n := srv.Count(`SELECT attempts FROM deliveries`); n != try {
			t.Fatalf("%d tries, want %d", n, try)
		}
		wait := time.Until(time.UnixMilli(int64(srv.Count(`SELECT run_at FROM deliveries`))))
		if wait <= before {
			t.Errorf("after %v it waits %v", before, wait)
		}
		before = wait
		srv.MakeDeliveriesDue()
		apptest.Settle(srv)
	}
	if got := len(home.Take()); got != 12 {
		t.Errorf("%d tries", got)
	}
	if n := srv.Count(`SELECT count(*) FROM hosts WHERE due_at IS NOT NULL`); n != 0 {
		t.Error("the host is due though nothing waits")
	}
	prune := func() {
		t.Helper()
		if err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { _, err := tx.PruneDeliveries(t.Context()); return err }); err != nil {
			t.Fatal(err)
		}
	}
	prune()
	if n := srv.Count(`SELECT count(*) FROM deliveries`); n != 1 {
		t.Error("a parked delivery is forgotten at once")
	}
	srv.Exec(`UPDATE deliveries SET id = ?`, time.Now().Add(-31*24*time.Hour).UnixMilli()<<10)
	prune()
	if n := srv.Count(`SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM activities)`); n != 0 {
		t.Error("a parked delivery is never forgotten")
	}
}

// TestDoubleKnock checks that the second signature scheme is tried once and then remembered (federation 2.5; case 36).
func TestDoubleKnock(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	home.AddFollower(srv, "bob", true, alice)
	home.RespondFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Signature-Input") == "" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	for _, want := range []int{2, 1, 1} {
		alice.Publish("hello")
		apptest.Settle(srv)
		if got := home.Take(); len(got) != want || got[len(got)-1].Header.Get("Signature-Input") == "" {
			t.Errorf("%d requests, want %d", len(got), want)
		}
	}
	srv.Exec(`UPDATE hosts SET signature_at = 1000`) // long ago
	alice.Publish("hello")
	apptest.Settle(srv)
	if got := home.Take(); len(got) != 2 {
		t.Errorf("%d requests when it was found out long ago, want 2", len(got))
	}

	// A host that accepts neither scheme is not sent both each time.
	home.Respond(401)
	for _, want := range []int{2, 1} {
		alice.Publish("hello")
		apptest.Settle(srv)
		if got := home.Take(); len(got) != want {
			t.Errorf("%d requests, want %d", len(got), want)
		}
	}
	for range 3 {
		srv.MakeDeliveriesDue()
		apptest.Settle(srv)
	}
	if n := srv.Count(`SELECT count(*) FROM deliveries`); n != 0 {
		t.Errorf("%d deliveries wait that were refused three times", n)
	}
}

// TestHostAway checks a host that is unreachable for some time, a week and a month, and its return (federation 3.5; case 46).
func TestHostAway(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	bob := home.AddFollower(srv, "bob", true, alice)
	home.RespondFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for range 3 {
		alice.Publish("hello")
	}
	apptest.Settle(srv)
	if got := len(home.Take()); got != 1 {
		t.Errorf("%d deliveries were tried, want one: the others wait for the host", got)
	}
	if n := srv.Count(`SELECT count(*) FROM deliveries WHERE attempts = 0`); n != 2 {
		t.Errorf("%d deliveries have not been tried", n)
	}
	alice.Publish("hello again")
	apptest.Settle(srv)
	if got := len(home.Take()); got != 0 {
		t.Error("a new post wakes a host that rests")
	}

	// Unreachable for more than a week: one delivery is kept to probe the host.
	away := func(d time.Duration) {
		t.Helper()
		srv.Exec(`UPDATE hosts SET unreachable_since = ?`, store.At(time.Now().Add(-d)))
	}
	away(8 * 24 * time.Hour)
	alice.Publish("not delivered")
	apptest.Settle(srv)
	if n := srv.Count(`SELECT count(*) FROM deliveries`); n != 4 {
		t.Errorf("%d deliveries wait, want those 4 from before", n)
	}
	srv.Exec(`DELETE FROM activities`)
	alice.Publish("a probe")
	alice.Publish("not this")
	apptest.Settle(srv)
	if n := srv.Count(`SELECT count(*) FROM deliveries`); n != 1 {
		t.Errorf("%d deliveries wait, want 1", n)
	}

	// It sends an activity: queued deliveries are sent at once.
	home.Respond(202)
	err := srv.Federation.MarkReachable(t.Context(), bob.Domain)
	if err != nil {
		t.Fatal(err)
	}
	apptest.Settle(srv)
	if got := home.Take(); len(got) != 1 {
		t.Errorf("got %s when it was back", apptest.DeliveredTypes(got))
	}
	alice.Publish("welcome back")
	apptest.Settle(srv)
	home.TakeOne("Create")
	if n := srv.Count(`SELECT count(*) FROM hosts WHERE failures > 0 OR unreachable_since IS NOT NULL OR backoff_until > 0 OR due_at IS NOT NULL`); n != 0 {
		t.Error("it counts as away still")
	}

	// After a month nothing is queued for it.
	home.RespondFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	alice.Publish("hello?")
	apptest.Settle(srv)
	away(31 * 24 * time.Hour)
	if err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { _, err := tx.PruneDeliveries(t.Context()); return err }); err != nil {
		t.Fatal(err)
	}
	if n := srv.Count(`SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM activities)`); n != 0 {
		t.Errorf("%d rows wait for a server that is gone", n)
	}
}

// TestOrderPerSubject checks that a host that was down receives activities in order, without superseded ones (federation 3.4; case 48).
func TestOrderPerSubject(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(alice *apptest.User, bob *store.Account)
		want string // kinds
	}{
		{"edited and deleted", func(alice *apptest.User, _ *store.Account) {
			st := alice.Publish("one").ID()
			apptest.Settle(alice.Server)
			alice.EditStatus(st, apptest.Doc{"status": "two"}).Want(200)
			apptest.Settle(alice.Server)
			alice.Do("DELETE", "/api/v1/statuses/"+st, "", nil).Want(200)
		}, "Delete /inbox"},
		{"edited twice", func(alice *apptest.User, _ *store.Account) {
			st := alice.Publish("one").ID()
			apptest.Settle(alice.Server)
			alice.EditStatus(st, apptest.Doc{"status": "two"}).Want(200)
			apptest.Settle(alice.Server)
			alice.EditStatus(st, apptest.Doc{"status": "three"}).Want(200)
		}, "Create /inbox, Update /inbox"},
		{"followed and unfollowed", func(alice *apptest.User, bob *store.Account) {
			alice.AccountAction(bob.ID.String(), "follow")
			apptest.Settle(alice.Server)
			alice.AccountAction(bob.ID.String(), "unfollow")
		}, "Undo /users/bob/inbox"},
		{"unfollowed and followed again", func(alice *apptest.User, bob *store.Account) {
			alice.AccountAction(bob.ID.String(), "follow")
			apptest.Settle(alice.Server)
			alice.AccountAction(bob.ID.String(), "unfollow")
			apptest.Settle(alice.Server)
			alice.AccountAction(bob.ID.String(), "follow")
		}, "Undo /users/bob/inbox, Follow /users/bob/inbox"},
		{"favourite undone", func(alice *apptest.User, bob *store.Account) {
			st := alice.Server.AddRemoteStatus(bob).ID.String()
			alice.Post("/api/v1/statuses/" + st + "/favourite").Want(200)
			apptest.Settle(alice.Server)
			alice.Post("/api/v1/statuses/" + st + "/unfavourite").Want(200)
		}, "Undo /users/bob/inbox"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, alice, home := apptest.StartWithInboxServer(t)
			bob := home.AddFollower(srv, "bob", true, alice)
			home.Respond(503)
			tt.do(alice, bob)
			apptest.Settle(srv)
			home.Take()
			home.Respond(202)
			srv.MakeDeliveriesDue()
			apptest.Settle(srv)
			if got := apptest.DeliveredTypes(home.Take()); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if n := srv.Count(`SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM activities)`); n != 0 {
				t.Errorf("%d rows are left", n)
			}
		})
	}
}

// TestDeleteRecipients checks who receives the Delete of a post: its audience and those that fetched it (case 47), also when it expires
// (case 112).
func TestDeleteRecipients(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	fetcher, liked, voted, relay := apptest.StartInboxServer(t), apptest.StartInboxServer(t), apptest.StartInboxServer(t), apptest.StartInboxServer(t)
	home.AddFollower(srv, "bob", true, alice)
	fan, voter := liked.AddAccount(srv, "fan", false), voted.AddAccount(srv, "voter", true)
	st := alice.Publish("short-lived", "expires_in", "7200", "poll[options][]", "yes", "poll[options][]", "no", "poll[expires_in]", "3600")
	apptest.Settle(srv)
	home.TakeOne("Create")
	srv.Exec(`INSERT INTO status_fetchers (status_id, inbox) VALUES (?, ?)`, apptest.StatusID(st.ID()), fetcher.URL+"/users/reader/inbox")
	if _, err := srv.Social.ReceiveFavourite(t.Context(), fan, apptest.StatusID(st.ID()), fan.URI+"/like", ""); err != nil {
		t.Fatal(err)
	}
	poll, err := srv.DB.PollOf(t.Context(), apptest.StatusID(st.ID()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := srv.Social.Vote(t.Context(), voter, poll.ID, []int{0}); err != nil {
		t.Fatal(err)
	}
	srv.Exec(`INSERT INTO relays (id, address, inbox, litepub, follow_uri, accepted) VALUES (1, ?1, ?1, 0, ?2, 1)`, relay.URL+"/inbox", srv.URL+"/activities/relayfollow")
	srv.RunDelayedJobs()
	apptest.Settle(srv)
	for _, l := range []*apptest.InboxServer{home, fetcher, liked, voted, relay} {
		if o := l.TakeOne("Update").Object; o.Str("object.type") != "Question" || o.Int("object.votersCount") != 1 {
			t.Errorf("the tally is %v", o.Fields)
		}
	}
	srv.Exec(`UPDATE statuses SET expires_at = 1000 WHERE id = ?`, apptest.StatusID(st.ID()))
	srv.Exec(`UPDATE jobs SET run_at = 1000 WHERE unique_key = ?`, "expire:"+st.ID())
	apptest.Settle(srv)
	for l, path := range map[*apptest.InboxServer]string{
		home: "/inbox", fetcher: "/users/reader/inbox", liked: "/users/fan/inbox", voted: "/inbox", relay: "/inbox",
	} {
		if m := l.TakeOne("Delete"); m.Path != path {
			t.Errorf("the Delete was sent to %s, want %s", m.Path, path)
		}
	}
	srv.GetDocument(st.Str("uri")).Want(410).WantFields(apptest.Doc{"id": st.Str("uri"), "type": "Tombstone", "formerType": "Question"})
}

// TestRelaysReceivePublicPosts checks that relays of both kinds receive public posts only (federation 6.2; case 124).
func TestRelaysReceivePublicPosts(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	litepub, raw, waiting := apptest.StartInboxServer(t), apptest.StartInboxServer(t), apptest.StartInboxServer(t)
	for i, r := range []struct {
		*apptest.InboxServer
		litepub, accepted bool
	}{{litepub, true, true}, {raw, false, true}, {waiting, true, false}} {
		srv.Exec(`INSERT INTO relays (id, address, inbox, litepub, follow_uri, accepted) VALUES (?1, ?2, ?2, ?3, ?4, ?5)`,
			i+1, r.URL+"/inbox", r.litepub, fmt.Sprintf("%s/activities/%d", srv.URL, i), r.accepted)
	}
	bob := home.AddAccount(srv, "bob", true)
	note := srv.AddRemoteStatus(bob).ID.String()
	for _, v := range []string{"unlisted", "private", "local", "direct"} {
		alice.Publish("private", "visibility", v)
	}
	alice.Post("/api/v1/statuses/" + note + "/reblog").Want(200)
	apptest.Settle(srv)
	for _, l := range []*apptest.InboxServer{litepub, raw, waiting} {
		if got := l.Take(); len(got) > 0 {
			t.Errorf("a relay got %s", apptest.DeliveredTypes(got))
		}
	}
	st := alice.Publish("public")
	apptest.Settle(srv)
	m := litepub.TakeOne("Announce")
	m.WantActivity(t, srv)
	to, _ := apptest.Addresses(m.Object)
	if m.Object.Str("actor") != srv.URL+"/relay" || m.Object.Str("object") != srv.URL+"/objects/"+st.ID() || len(to) != 1 || to[0] != srv.URL+"/relay/followers" {
		t.Errorf("announced as %s", m.Raw)
	}
	if m := raw.TakeOne("Create"); m.Object.Str("actor") != srv.URL+"/users/"+alice.ID {
		t.Errorf("the relay got a post by %s", m.Object.Str("actor"))
	}
	alice.Do("DELETE", "/api/v1/statuses/"+st.ID(), "", nil).Want(200)
	apptest.Settle(srv)
	litepub.TakeOne("Delete")
	raw.TakeOne("Delete")
	if got := waiting.Take(); len(got) > 0 {
		t.Errorf("a relay that has not accepted got %s", apptest.DeliveredTypes(got))
	}
}

// TestInboxGone checks that the owner of a personal inbox that answers 410 is fetched.
func TestInboxGone(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	home.AddFollower(srv, "bob", false, alice)
	var mu sync.Mutex
	var fetched []string
	home.RespondFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			mu.Lock()
			fetched = append(fetched, r.URL.Path)
			mu.Unlock()
		}
		w.WriteHeader(http.StatusGone)
	})
	alice.Publish("hello")
	apptest.Settle(srv)
	mu.Lock()
	defer mu.Unlock()
	if strings.Join(fetched, " ") != "/users/bob" {
		t.Errorf("fetched %v", fetched)
	}
}

// addHangingHosts adds hosts that accept a connection and never answer, with a follower on each.
func addHangingHosts(t *testing.T, srv *apptest.Server, of *apptest.User, n int) {
	t.Helper()
	for i := range n {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.3.%d.%d:0", i/200, 1+i%200))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ln.Close() })
		l := &apptest.InboxServer{T: t, URL: "http://" + ln.Addr().String(), Host: ln.Addr().String()}
		l.AddFollower(srv, "fan", true, of)
	}
}

// TestReachableHostAmongHangingHosts checks delivery to a reachable host among many that hang: those that failed before, and those that
// did not.
func TestReachableHostAmongHangingHosts(t *testing.T) {
	for _, tt := range []struct {
		name            string
		hang            int
		known, answered bool // the other hosts are known to hang, the reachable host is known to answer
		most            time.Duration
	}{
		{"that failed before", 300, true, false, 5 * time.Second},
		{"not known to hang", 300, false, false, 10 * time.Second}, // before any attempt times out
		{"not known to hang, more than there are slots", 600, false, true, 5 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, alice, home := apptest.StartWithInboxServer(t)
			addHangingHosts(t, srv, alice, tt.hang)
			if tt.known {
				srv.Exec(`INSERT INTO hosts (domain, failures, unreachable_since) SELECT DISTINCT domain, 3, 1 FROM accounts WHERE domain <> ''`)
				srv.Exec(`UPDATE hosts SET unreachable_since = ?`, store.At(time.Now()))
			}
			bob := home.AddFollower(srv, "bob", true, alice)
			srv.Exec(`INSERT INTO hosts (domain) VALUES (?)`, bob.Domain)
			if tt.answered {
				srv.Exec(`UPDATE hosts SET last_success_at = ? WHERE domain = ?`, store.At(time.Now()), bob.Domain)
			}
			alice.Publish("hello")
			srv.RunJobs()
			srv.Exec(`UPDATE hosts SET due_at = due_at + 1 WHERE domain = ?`, bob.Domain) // it is queued after the others
			stop := srv.RunFederation()
			for i := range 3 {
				if i > 0 {
					alice.Publish("hello")
					srv.RunJobs()
				}
				t.Logf("post %d after %v", i, home.WaitFor(i+1, tt.most))
			}
			waits := 3 * tt.hang
			for deadline := time.Now().Add(5 * time.Second); srv.Count(`SELECT count(*) FROM deliveries`) > waits && time.Now().Before(deadline); {
				time.Sleep(5 * time.Millisecond) // until it is recorded
			}
			begun := time.Now()
			stop()
			if took := time.Since(begun); took > time.Second {
				t.Errorf("it took %v to stop", took)
			}
			if n := srv.Count(`SELECT count(*) FROM deliveries`); n != waits {
				t.Errorf("%d deliveries wait, want %d", n, waits)
			}
		})
	}
}

// TestUndoWaitsForAttempt checks that an activity that undoes one that is being delivered waits for it.
func TestUndoWaitsForAttempt(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	bob := home.AddAccount(srv, "bob", true)
	alice.Post("/api/v1/statuses/" + srv.AddRemoteStatus(bob).ID.String() + "/favourite").Want(200)
	apptest.Settle(srv)
	home.TakeOne("Like") // the host is known to answer
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	t.Cleanup(release)
	home.RespondFunc(func(http.ResponseWriter, *http.Request) { <-held })
	srv.RunFederation()
	alice.AccountAction(bob.ID.String(), "follow")
	srv.RunJobs()
	home.WaitFor(1, 5*time.Second)
	alice.AccountAction(bob.ID.String(), "unfollow")
	srv.RunJobs()
	note := srv.AddRemoteStatus(bob)
	alice.Post("/api/v1/statuses/" + note.ID.String() + "/favourite").Want(200)
	srv.RunJobs()
	home.WaitFor(2, 5*time.Second) // activities on other objects do not wait
	if got := apptest.DeliveredTypes(home.Take()); got != "Follow /users/bob/inbox, Like /users/bob/inbox" {
		t.Errorf("got %s while the Follow was under way", got)
	}
	release()
	home.WaitFor(1, 5*time.Second)
	home.TakeOne("Undo")
}

// TestConcurrentDeliveries delivers many posts at the same time: each inbox receives each once.
func TestConcurrentDeliveries(t *testing.T) {
	srv, alice, _ := apptest.StartWithInboxServer(t)
	boxes := make([]*apptest.InboxServer, 20)
	for i := range boxes {
		boxes[i] = apptest.StartInboxServer(t)
		boxes[i].AddFollower(srv, "fan", true, alice)
	}
	srv.RunFederation()
	const posts = 20
	for range posts {
		alice.Publish("hello")
		srv.RunJobs()
	}
	for _, l := range boxes {
		l.WaitFor(posts, 20*time.Second)
	}
	for deadline := time.Now().Add(10 * time.Second); srv.Count(`SELECT count(*) FROM deliveries`) > 0 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	for _, l := range boxes {
		seen := make(map[string]bool)
		for _, m := range l.Take() {
			if id := m.Object.Str("id"); seen[id] {
				t.Errorf("%s was delivered twice", id)
			} else {
				seen[id] = true
			}
		}
	}
	if n := srv.Count(`SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM activities)`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}
