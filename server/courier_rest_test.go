package server_test

import (
	"net/http"
	"testing"
	"time"

	"svc/federation"
	"svc/store"
)

// TestTooMany looks at a server that asks to be left alone: it is, also if it makes itself heard, or has taken something else meanwhile
// (case 45).
func TestTooMany(t *testing.T) {
	srv, alice, home := startOutbox(t)
	bob := home.follower(srv, "bob", true, alice)
	alice.publish("one") // the host is known to answer
	settle(srv)
	home.one("Create")
	home.answer(http.StatusTooManyRequests, "Retry-After", "3600")
	alice.publish("two")
	settle(srv)
	home.one("Create")
	rests := func(when string) {
		t.Helper()
		left := time.Until(time.UnixMilli(int64(srv.count(`SELECT due_at FROM hosts`))))
		if left < 59*time.Minute || left > 61*time.Minute {
			t.Errorf("%s: it is tried again in %v", when, left)
		}
	}
	rests("at first")
	home.answer(202)
	for _, away := range []time.Duration{0, time.Hour} {
		srv.insert(`UPDATE hosts SET unreachable_since = ?`, store.At(time.Now().Add(-away)))
		if err := srv.fed.Heard(t.Context(), bob.Domain); err != nil {
			t.Fatal(err)
		}
		alice.publish("three")
		settle(srv)
		rests("when it was heard")
		if got := home.take(); len(got) > 0 {
			t.Errorf("got %s", kinds(got))
		}
	}
	srv.hurry()
	settle(srv)
	if got := home.take(); len(got) != 3 {
		t.Errorf("got %s when the time had come", kinds(got))
	}
}

// TestTooManyAtOnce has a server take one delivery and ask to be left alone by another that is under way at the same time.
func TestTooManyAtOnce(t *testing.T) {
	srv, alice, home := startOutbox(t)
	home.follower(srv, "bob", true, alice)
	alice.publish("the host is known to answer")
	settle(srv)
	home.take()
	for range 4 {
		alice.publish("hello")
	}
	srv.settle()
	first := make(chan bool, 1)
	first <- true
	home.mu.Lock()
	home.reply = func(w http.ResponseWriter, _ *http.Request) {
		select {
		case <-first:
			w.Header().Set("Retry-After", "600")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}
	home.mu.Unlock()
	stop := srv.runCourier()
	home.waitFor(4, 5*time.Second)
	for deadline := time.Now().Add(5 * time.Second); srv.count(`SELECT count(*) FROM deliveries`) > 1 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond) // until it is recorded
	}
	stop()
	if left := time.Until(time.UnixMilli(int64(srv.count(`SELECT rest_until FROM hosts`)))); left < 9*time.Minute {
		t.Errorf("it rests for %v", left)
	}
}

// TestLateRefusal has a delivery answered with 401 that has failed otherwise before: that is no lasting refusal yet.
func TestLateRefusal(t *testing.T) {
	srv, alice, home := startOutbox(t)
	home.follower(srv, "bob", true, alice)
	alice.publish("hello")
	for _, tt := range []struct{ status, left int }{{500, 1}, {502, 1}, {503, 1}, {401, 1}, {401, 0}} {
		home.answer(tt.status)
		srv.hurry()
		settle(srv)
		if n := srv.count(`SELECT count(*) FROM deliveries`); n != tt.left {
			t.Fatalf("%d deliveries wait after %d", n, tt.status)
		}
	}
}

// TestInboxMoved has an inbox answer with redirects: one to another address of the host is followed, once and with a signature of its
// own (federation 3.3).
func TestInboxMoved(t *testing.T) {
	elsewhere := startLetterbox(t)
	for _, tt := range []struct {
		name   string
		status int
		to     string
		paths  []string
		waits  int
	}{
		{"for now", 307, "/new", []string{"/inbox", "/new"}, 0},
		{"for good", 308, "/new?x=1", []string{"/inbox", "/new"}, 0},
		{"again and again", 307, "/inbox", []string{"/inbox", "/inbox"}, 1},
		{"to another host", 307, elsewhere.url + "/inbox", []string{"/inbox"}, 1},
		{"to nowhere", 308, "", []string{"/inbox"}, 1},
		{"as a page", 302, "/new", []string{"/inbox"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, alice, home := startOutbox(t)
			home.follower(srv, "bob", true, alice)
			home.mu.Lock()
			home.reply = func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/inbox" {
					return
				}
				if tt.to != "" {
					w.Header().Set("Location", tt.to)
				}
				w.WriteHeader(tt.status)
			}
			home.mu.Unlock()
			alice.publish("hello")
			settle(srv)
			got := home.take()
			if len(got) != len(tt.paths) {
				t.Fatalf("got %s", kinds(got))
			}
			for i, m := range got {
				if m.path != tt.paths[i] {
					t.Errorf("request %d went to %s, want %s", i, m.path, tt.paths[i])
				}
			}
			if tt.paths[len(tt.paths)-1] == "/new" && got[0].header.Get("Signature") == got[1].header.Get("Signature") {
				t.Error("the signature is that for the first address")
			}
			if n := srv.count(`SELECT count(*) FROM deliveries`); n != tt.waits {
				t.Errorf("%d deliveries wait", n)
			}
			if got := elsewhere.take(); len(got) > 0 {
				t.Errorf("another host got %s", kinds(got))
			}
		})
	}
}

// TestOutOfService deactivates and deletes accounts whose posts wait for a server: those are not delivered any more, the end of the
// account is.
func TestOutOfService(t *testing.T) {
	for _, forGood := range []bool{false, true} {
		srv, alice, home := startOutbox(t)
		home.follower(srv, "bob", true, alice)
		home.answer(503)
		st := alice.publish("hello").id()
		settle(srv)
		alice.edit(st, jsonBody{"status": "hello again"}).want(200)
		settle(srv)
		home.take()
		srv.leave(alice, forGood)
		home.answer(202)
		srv.hurry()
		if forGood {
			settle(srv)
			home.one("Delete")
		} else if err := srv.fed.Settle(t.Context()); err != nil {
			t.Fatal(err)
		} else if got := home.take(); len(got) > 0 {
			t.Errorf("got %s of somebody who is deactivated", kinds(got))
		}
		if n := srv.count(`SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM activities)`); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	}
}

// TestGivenUpAndTakenBack tries once more what was given up: not what has been taken back since.
func TestGivenUpAndTakenBack(t *testing.T) {
	srv, alice, home := startOutbox(t)
	bob := home.follower(srv, "bob", true, alice)
	note := srv.foreign(bob).ID.String()
	home.answer(503)
	alice.to(bob.ID.String(), "follow")
	alice.post("/api/v1/statuses/" + note + "/favourite").want(200)
	st := alice.publish("one").id()
	settle(srv)
	alice.edit(st, jsonBody{"status": "two"}).want(200)
	settle(srv)
	srv.insert(`UPDATE deliveries SET parked = 1`)
	home.take()
	home.answer(202)
	srv.insert(`UPDATE hosts SET failures = 0, rest_until = 0, unreachable_since = NULL`)
	alice.to(bob.ID.String(), "unfollow")
	alice.post("/api/v1/statuses/" + note + "/unfavourite").want(200)
	alice.edit(st, jsonBody{"status": "three"}).want(200)
	settle(srv)
	home.take()
	if _, err := srv.fed.Retry(t.Context(), federation.RetryQuery{All: true}); err != nil {
		t.Fatal(err)
	}
	settle(srv)
	if got := kinds(home.take()); got != "Create /inbox" {
		t.Errorf("got %s once more", got)
	}
}
