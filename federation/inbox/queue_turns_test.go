package inbox

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"svc/internal/activity"
	"svc/store"
)

// request lets an activity of a sender begin or wait for its turn. It returns nil if the activity has to be stored.
func request(q *queue, from store.AccountID, ref string) *Activity {
	it := &Activity{Object: activity.Object{"id": "activity of " + ref, "object": ref}, Row: &store.QueuedActivity{Body: "x"}, weight: 1}
	if !q.start(it, from, "host") {
		return nil
	}
	return it
}

// end ends an activity that was processed.
func end(q *queue, it *Activity) {
	q.done(it)
	q.remove(it)
}

func wantEmpty(t *testing.T, q *queue) {
	t.Helper()
	if q.weight != 0 || q.bytes != 0 || q.turns != 0 || len(q.senders)+len(q.hosts)+len(q.items)+len(q.fast) != 0 {
		t.Errorf("the queue is not empty: %+v", q)
	}
}

// TestTurnsInOrder checks that the activities of one sender get their turns in the order in which they came.
func TestTurnsInOrder(t *testing.T) {
	q := newQueue()
	var list []*Activity
	for i := range 1 + maxSenderTurns {
		list = append(list, request(q, 1, fmt.Sprint("post ", i)))
	}
	for i, it := range list {
		if !q.waitForTurn(it) {
			t.Fatalf("activity %d has to be stored", i)
		}
		for _, later := range list[i+1:] {
			if len(later.turn) != 0 {
				t.Errorf("one after activity %d has its turn", i)
			}
		}
		end(q, it)
	}
	wantEmpty(t, q)
}

// TestMaxTurns checks how many activities wait for their turn, of one sender and of all.
func TestMaxTurns(t *testing.T) {
	q := newQueue()
	var waiting []*Activity
	for from := store.AccountID(1); from < 100; from++ {
		for n := 0; ; n++ {
			it := request(q, from, fmt.Sprint("post ", n))
			if it == nil {
				break
			}
			if waiting = append(waiting, it); n > maxSenderTurns {
				t.Fatalf("%d activities of one sender wait", n)
			}
		}
	}
	if q.turns != maxTurns || len(waiting) != 99+maxTurns {
		t.Errorf("%d wait and %d are processed", q.turns, len(waiting)-q.turns)
	}
	for _, it := range waiting {
		if !q.waitForTurn(it) {
			t.Fatal("an activity does not get its turn")
		}
		end(q, it)
	}
	wantEmpty(t, q)
}

// TestTurnAfterSlow checks that an activity is stored if an earlier one about the same object needs a fetch.
func TestTurnAfterSlow(t *testing.T) {
	q := newQueue()
	first, same, other := request(q, 1, "post a"), request(q, 1, "post a"), request(q, 1, "post b")
	first.Row.ID = 1
	if !q.markStored(first) {
		t.Fatal("the first activity is known already")
	}
	q.moveToSlow(first)
	if q.waitForTurn(same) {
		t.Error("an activity overtakes an earlier one about the same object")
	}
	if !q.waitForTurn(other) {
		t.Error("an activity about another object has to be stored")
	}
	end(q, other)
	end(q, q.nextSlow(t.Context()))
	wantEmpty(t, q)
}

// TestTurnTakesTooLong checks that an activity is stored if its turn does not come soon, and that a worker gets it then.
func TestTurnTakesTooLong(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before func(q *queue) *Activity // what keeps the activity from its turn
	}{
		{"behind one of its sender", func(q *queue) *Activity { return request(q, 1, "post a") }},
		{"behind others", func(q *queue) *Activity {
			arrive(q, 1, 2, "other", "post a")
			return nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue()
				first := tt.before(q)
				it := request(q, 1, "post b")
				start := time.Now()
				if q.waitForTurn(it) {
					t.Fatal("an activity does not wait for its turn")
				}
				if took := time.Since(start); took != maxTurnWait {
					t.Errorf("it waited for %v", took)
				}
				if first == nil {
					first = q.next(t.Context())
				}
				it.sender, it.id = q.reserve(1, "host", it.weight), 7
				q.add(it)
				end(q, first)
				if got := q.next(t.Context()); got != it {
					t.Errorf("a worker gets %v", got)
				}
				end(q, it)
				wantEmpty(t, q)
			})
		})
	}
}
