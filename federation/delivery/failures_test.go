package delivery_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/federation"
	"svc/store"
)

// TestRetryAfter checks that Retry-After is respected, also when the host sends something, or has accepted another delivery meanwhile
// (case 45).
func TestRetryAfter(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	bob := home.AddFollower(srv, "bob", true, alice)
	alice.Publish("one") // the host is known to answer
	apptest.Settle(srv)
	home.TakeOne("Create")
	home.Respond(http.StatusTooManyRequests, "Retry-After", "3600")
	alice.Publish("two")
	apptest.Settle(srv)
	home.TakeOne("Create")
	rests := func(when string) {
		t.Helper()
		left := time.Until(time.UnixMilli(int64(srv.Count(`SELECT due_at FROM hosts`))))
		if left < 59*time.Minute || left > 61*time.Minute {
			t.Errorf("%s: it is retried in %v", when, left)
		}
	}
	rests("at first")
	home.Respond(202)
	for _, away := range []time.Duration{0, time.Hour} {
		srv.Exec(`UPDATE hosts SET unreachable_since = ?`, store.At(time.Now().Add(-away)))
		if err := srv.Federation.MarkReachable(t.Context(), bob.Domain); err != nil {
			t.Fatal(err)
		}
		alice.Publish("three")
		apptest.Settle(srv)
		rests("after it sent an activity")
		if got := home.Take(); len(got) > 0 {
			t.Errorf("got %s", apptest.DeliveredTypes(got))
		}
	}
	srv.MakeDeliveriesDue()
	apptest.Settle(srv)
	if got := home.Take(); len(got) != 3 {
		t.Errorf("got %s after the pause", apptest.DeliveredTypes(got))
	}
}

// TestConcurrentRetryAfter checks a host that accepts one delivery and answers 429 to another at the same time.
func TestConcurrentRetryAfter(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	home.AddFollower(srv, "bob", true, alice)
	alice.Publish("the host is known to answer")
	apptest.Settle(srv)
	home.Take()
	for range 4 {
		alice.Publish("hello")
	}
	srv.RunJobs()
	first := make(chan bool, 1)
	first <- true
	home.RespondFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case <-first:
			w.Header().Set("Retry-After", "600")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	stop := srv.RunFederation()
	home.WaitFor(4, 5*time.Second)
	for deadline := time.Now().Add(5 * time.Second); srv.Count(`SELECT count(*) FROM deliveries`) > 1 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond) // until it is recorded
	}
	stop()
	if left := time.Until(time.UnixMilli(int64(srv.Count(`SELECT backoff_until FROM hosts`)))); left < 9*time.Minute {
		t.Errorf("it rests for %v", left)
	}
}

// TestFirst401 checks that a first 401 is not final for a delivery that failed otherwise before.
func TestFirst401(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	home.AddFollower(srv, "bob", true, alice)
	alice.Publish("hello")
	for _, tt := range []struct{ status, left int }{{500, 1}, {502, 1}, {503, 1}, {401, 1}, {401, 0}} {
		home.Respond(tt.status)
		srv.MakeDeliveriesDue()
		apptest.Settle(srv)
		if n := srv.Count(`SELECT count(*) FROM deliveries`); n != tt.left {
			t.Fatalf("%d deliveries wait after %d", n, tt.status)
		}
	}
}

// TestInboxMoved checks that one redirect within the host is followed, with a signature of its own (federation 3.3).
func TestInboxMoved(t *testing.T) {
	other := apptest.StartInboxServer(t)
	for _, tt := range []struct {
		name   string
		status int
		to     string
		paths  []string
		waits  int
	}{
		{"for now", 307, "/new", []string{"/inbox", "/new"}, 0},
		{"permanently", 308, "/new?x=1", []string{"/inbox", "/new"}, 0},
		{"to itself", 307, "/inbox", []string{"/inbox", "/inbox"}, 1},
		{"to another host", 307, other.URL + "/inbox", []string{"/inbox"}, 1},
		{"to nowhere", 308, "", []string{"/inbox"}, 1},
		{"as a page", 302, "/new", []string{"/inbox"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, alice, home := apptest.StartWithInboxServer(t)
			home.AddFollower(srv, "bob", true, alice)
			home.RespondFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/inbox" {
					return
				}
				if tt.to != "" {
					w.Header().Set("Location", tt.to)
				}
				w.WriteHeader(tt.status)
			})
			alice.Publish("hello")
			apptest.Settle(srv)
			got := home.Take()
			if len(got) != len(tt.paths) {
				t.Fatalf("got %s", apptest.DeliveredTypes(got))
			}
			for i, m := range got {
				if m.Path != tt.paths[i] {
					t.Errorf("request %d went to %s, want %s", i, m.Path, tt.paths[i])
				}
			}
			if tt.paths[len(tt.paths)-1] == "/new" && got[0].Header.Get("Signature") == got[1].Header.Get("Signature") {
				t.Error("the signature is that for the first address")
			}
			if n := srv.Count(`SELECT count(*) FROM deliveries`); n != tt.waits {
				t.Errorf("%d deliveries wait", n)
			}
			if got := other.Take(); len(got) > 0 {
				t.Errorf("another host got %s", apptest.DeliveredTypes(got))
			}
		})
	}
}

// TestDeliveriesOfUnavailableAccounts checks that queued posts of deactivated and deleted accounts are not delivered, and that the
// Delete of the account is.
func TestDeliveriesOfUnavailableAccounts(t *testing.T) {
	for _, forGood := range []bool{false, true} {
		srv, alice, home := apptest.StartWithInboxServer(t)
		home.AddFollower(srv, "bob", true, alice)
		home.Respond(503)
		st := alice.Publish("hello").ID()
		apptest.Settle(srv)
		alice.EditStatus(st, apptest.Doc{"status": "hello again"}).Want(200)
		apptest.Settle(srv)
		home.Take()
		srv.DeleteOrDeactivate(alice, forGood)
		home.Respond(202)
		srv.MakeDeliveriesDue()
		if forGood {
			apptest.Settle(srv)
			home.TakeOne("Delete")
		} else if err := srv.Federation.Settle(t.Context()); err != nil {
			t.Fatal(err)
		} else if got := home.Take(); len(got) > 0 {
			t.Errorf("got %s of a deactivated account", apptest.DeliveredTypes(got))
		}
		if n := srv.Count(`SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM activities)`); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	}
}

// TestRetryParked retries parked deliveries: not those of posts that were deleted since.
func TestRetryParked(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	bob := home.AddFollower(srv, "bob", true, alice)
	note := srv.AddRemoteStatus(bob).ID.String()
	home.Respond(503)
	alice.AccountAction(bob.ID.String(), "follow")
	alice.Post("/api/v1/statuses/" + note + "/favourite").Want(200)
	st := alice.Publish("one").ID()
	apptest.Settle(srv)
	alice.EditStatus(st, apptest.Doc{"status": "two"}).Want(200)
	apptest.Settle(srv)
	srv.Exec(`UPDATE deliveries SET parked = 1`)
	home.Take()
	home.Respond(202)
	srv.Exec(`UPDATE hosts SET failures = 0, backoff_until = 0, unreachable_since = NULL`)
	alice.AccountAction(bob.ID.String(), "unfollow")
	alice.Post("/api/v1/statuses/" + note + "/unfavourite").Want(200)
	alice.EditStatus(st, apptest.Doc{"status": "three"}).Want(200)
	apptest.Settle(srv)
	home.Take()
	if _, err := srv.Federation.Operator.Retry(t.Context(), federation.RetryQuery{All: true}); err != nil {
		t.Fatal(err)
	}
	apptest.Settle(srv)
	if got := apptest.DeliveredTypes(home.Take()); got != "Create /inbox" {
		t.Errorf("got %s once more", got)
	}
}

// TestShortOutage checks that a host which was away for a short time gets all that waits as soon as it takes one delivery.
func TestShortOutage(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	home.AddFollower(srv, "bob", true, alice)
	alice.Publish("before")
	apptest.Settle(srv)
	home.Take()
	home.RespondFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for range 3 {
		alice.Publish("while it is away")
	}
	// pass moves the times so that the host is due.
	pass := func() {
		t.Helper()
		apptest.Settle(srv)
		if n := srv.Count(`SELECT count(*) FROM deliveries d JOIN hosts h ON h.domain = d.domain WHERE d.run_at > h.backoff_until`); n != 0 {
			t.Errorf("%d deliveries wait for longer than the host rests", n)
		}
		rest := srv.Count(`SELECT backoff_until FROM hosts`) - int(store.At(time.Now()))
		srv.Exec(`UPDATE deliveries SET run_at = run_at - ?`, rest)
		srv.Exec(`UPDATE hosts SET backoff_until = backoff_until - ?1, due_at = due_at - ?1`, rest)
	}
	for range 4 {
		pass()
	}
	home.Take()
	home.Respond(202)
	apptest.Settle(srv)
	if got := home.Take(); len(got) != 3 {
		t.Errorf("got %s when it was back", apptest.DeliveredTypes(got))
	}
}

// TestPoisonousActivity checks that a host which answers one activity with 500 and takes others is not unreachable.
func TestPoisonousActivity(t *testing.T) {
	srv, alice, home := apptest.StartWithInboxServer(t)
	home.AddFollower(srv, "bob", true, alice)
	home.RespondFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("poison")) {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	alice.Publish("poison")
	for try := range 5 {
		apptest.Settle(srv)
		if n := srv.Count(`SELECT count(*) FROM hosts WHERE unreachable_since IS NOT NULL`); n != 0 {
			t.Errorf("after %d tries it is unreachable", try+1)
		}
		if n := srv.Count(`SELECT attempts FROM deliveries`); n != try+1 {
			t.Errorf("%d attempts, want %d", n, try+1)
		}
		home.Take()
		alice.Publish("hello")
		apptest.Settle(srv)
		if got := home.Take(); len(got) != 1 {
			t.Errorf("got %s after %d tries", apptest.DeliveredTypes(got), try+1)
		}
		srv.MakeDeliveriesDue()
	}
}
