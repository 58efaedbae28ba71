package store_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc/store"
)

func TestFlakes(t *testing.T) {
	db := open(t) // draws the worker number
	var ids []int64
	for range 2000 {
		ids = append(ids, rand.Int64N(1<<53))
	}
	now := time.Now().UnixMilli() << 10
	ids = append(ids, 1, now, now+1, now+1023, now+1024, 1<<53-1)
	slices.Sort(ids)
	var texts []string
	for _, id := range ids {
		text := store.StatusID(id).String()
		if len(text) != 18 {
			t.Fatalf("%d is %q, not 18 characters", id, text)
		}
		var back store.StatusID
		if back.UnmarshalText([]byte(text)); int64(back) != id {
			t.Fatalf("%d became %q and %d", id, text, back)
		}
		if at, ok := store.ParsePosition(text); !ok || at != id {
			t.Fatalf("%q is position %d, want %d", text, at, id)
		}
		texts = append(texts, text)
	}
	if !slices.IsSorted(texts) {
		t.Error("the order of the texts is not that of the ids")
	}
	if !strings.ContainsAny(store.StatusID(now).String(), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") {
		t.Error("an id of today looks like a number")
	}
	_ = db
}

func TestForeignIDs(t *testing.T) {
	open(t)
	for _, text := range []string{"", "x", "000000000000000000", "zzzzzzzzzzzzzzzzzz", "BCdqOVXtpI16jGtGn!", strings.Repeat("A", 400), "9007199254740993"} {
		var id store.StatusID
		if id.UnmarshalText([]byte(text)); id != 0 {
			t.Errorf("%q is id %d, want none", text, id)
		}
	}
	// Another server's flake is not an id of this server, but a position in time.
	foreign := "BCdqOVXtpI16jGtGnz"
	var id store.StatusID
	if id.UnmarshalText([]byte(foreign)); id != 0 {
		t.Skip("the worker number drawn happens to be that of the example")
	}
	if at, ok := store.ParsePosition(foreign); !ok || at <= 0 {
		t.Errorf("another server's flake is not a position: %d %v", at, ok)
	}
	for text, ok := range map[string]bool{"123": true, "0": true, "-1": false, "1e5": false, "abc": false, "zzzzzzzzzzzzzzzzzz": true} {
		if _, got := store.ParsePosition(text); got != ok {
			t.Errorf("ParsePosition(%q) is %v, want %v", text, got, ok)
		}
	}
}

// TestIDsNeverGoBack checks that ids grow although the clock goes back, and after a restart.
func TestIDsNeverGoBack(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	var last store.StatusID
	for round, clock := range []time.Time{now, now.Add(-time.Hour), now.Add(-10 * 365 * 24 * time.Hour), now.Add(time.Second)} {
		db, err := openAt(dir, clock)
		if err != nil {
			t.Fatal(err)
		}
		for range 3000 {
			err := db.Update(t.Context(), func(tx *store.Tx) error {
				id := tx.NewStatusID()
				if id <= last {
					t.Errorf("round %d: %d comes after %d", round, id, last)
				}
				last = id
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if round > 0 {
				break
			}
		}
		db.Close()
	}
}

// clockJob is a job of TestClockIsSetBack.
type clockJob struct{ Name string }

func (clockJob) Kind() store.JobKind { return store.JobKind{Name: "clock_test"} }

// TestClockIsSetBack queues jobs and a delivery while the clock is two days ahead, and was three days ahead before. Once it is right again, at a
// restart or while the server runs, the jobs that were due at once run; those scheduled for later wait.
func TestClockIsSetBack(t *testing.T) {
	for _, restart := range []bool{true, false} {
		dir := t.TempDir()
		var ahead atomic.Int64
		ahead.Store(int64(72 * time.Hour))
		clock := func(o *store.Options) {
			o.Now = func() time.Time { return wallClock(time.Duration(ahead.Load())) }
		}
		db, log := openLogged(t, dir, clock)
		alice := addAccount(t, db, "alice") // later ids are three days ahead
		ahead.Store(int64(48 * time.Hour))
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			if err := tx.EnqueueAt(t.Context(), time.Now().Add(72*time.Hour), clockJob{"later"}); err != nil {
				return err
			}
			if err := tx.Enqueue(t.Context(), clockJob{"now"}); err != nil {
				return err
			}
			if err := tx.EnqueueDeliveries(t.Context(), &store.OutgoingActivity{
				Activity: store.Activity{AccountID: alice.ID, Body: `{}`},
				Targets:  []store.DeliveryTarget{{Inbox: "https://peer.example/inbox", Domain: "peer.example"}},
			}); err != nil {
				return err
			}
			return tx.ScheduleHosts(t.Context(), []string{"peer.example"})
		})
		if err != nil {
			t.Fatal(err)
		}
		if restart {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if !restart {
			waitForGuard(t, db)
		}
		ahead.Store(0)
		if restart {
			db, log = openLogged(t, dir, clock)
		}
		done := make(chan string, 9)
		w := store.NewWorker(db, 1, slog.New(slog.DiscardHandler))
		store.Handle(w, func(_ context.Context, j clockJob) error { done <- j.Name; return nil })
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
		ended := make(chan struct{})
		go func() { defer close(ended); w.Run(ctx) }()
		select {
		case name := <-done:
			if name != "now" || !log.has("the clock was set back") {
				t.Errorf("restart %v: %s is done; the log is\n%s", restart, name, log)
			}
		case <-ctx.Done():
			t.Errorf("restart %v: the job is not done", restart)
		}
		stop()
		<-ended
		if due, err := db.NextHostDue(t.Context()); err != nil || due.After(time.Now()) {
			t.Errorf("restart %v: the delivery is due at %v, %v", restart, due, err)
		}
		if rows, err := db.DueDeliveries(t.Context(), []string{"peer.example"}, 9); err != nil || len(rows["peer.example"]) != 1 {
			t.Errorf("restart %v: due deliveries are %v, %v", restart, rows, err)
		}
		if len(done) > 0 {
			t.Errorf("restart %v: %s is done too early", restart, <-done)
		}
	}
}

func FuzzParsePosition(f *testing.F) {
	f.Add("BCdqOVXtpI16jGtGnz")
	f.Add("1234")
	f.Fuzz(func(t *testing.T, text string) {
		if at, ok := store.ParsePosition(text); ok && at < 0 {
			t.Errorf("%q is position %d", text, at)
		}
		var id store.AccountID
		id.UnmarshalText([]byte(text))
		if id != 0 && id.String() != text {
			t.Errorf("%q is %d is %q", text, id, id)
		}
	})
}
