package inbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/internal/activity"
	"svc/store"
)

// arrive adds an activity of a sender to a queue. It returns false if the queue is full.
func arrive(q *queue, id int, from store.AccountID, host string, refs ...string) bool {
	sn := q.reserve(from, host, 1)
	if sn == nil {
		return false
	}
	doc := activity.Object{"id": fmt.Sprint("activity ", id)}
	if len(refs) > 0 {
		doc["object"] = refs[0]
	}
	q.add(&Activity{id: store.QueuedActivityID(id), sender: sn, weight: 1, Object: doc, Row: &store.QueuedActivity{ID: store.QueuedActivityID(id), Body: strings.Repeat("x", 1000)}})
	return true
}

func TestQueueTurns(t *testing.T) {
	q := newQueue()
	for id := 1; id <= 30; id++ {
		arrive(q, id, store.AccountID(id%3+1), "big") // three senders of many
	}
	arrive(q, 31, 9, "small")
	arrive(q, 33, 10, "tiny")
	arrive(q, 32, 10, "tiny") // arrives after a later one
	var got []int
	for range 33 {
		it := q.next(t.Context())
		got = append(got, int(it.id))
		q.done(it)
		q.remove(it)
	}
	if i := slices.Index(got, 31); i > 2 {
		t.Errorf("the only activity of a host is number %d: %v", i, got)
	}
	if slices.Index(got, 33) < slices.Index(got, 32) {
		t.Errorf("out of order: %v", got)
	}
	for sender := range 3 {
		var own []int
		for _, id := range got {
			if id <= 30 && id%3 == sender {
				own = append(own, id)
			}
		}
		if !slices.IsSorted(own) {
			t.Errorf("out of order: %v", own)
		}
	}
	if q.weight != 0 || q.bytes != 0 || len(q.senders)+len(q.hosts)+len(q.items) != 0 {
		t.Errorf("the queue is not empty: %+v", q)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop := context.AfterFunc(ctx, q.wakeAll)
	defer stop()
	time.AfterFunc(10*time.Millisecond, cancel)
	if it := q.next(ctx); it != nil {
		t.Errorf("got %v of an empty queue", it.id)
	}
}

// TestQueueShares checks that neither a sender nor hosts fill the queue, and that its memory is bounded.
func TestQueueShares(t *testing.T) {
	q := newQueue()
	id := 0
	flood := func(from store.AccountID, host string) (n int) {
		for {
			if id++; !arrive(q, id, from, host) {
				return n
			}
			n++
		}
	}
	one := flood(1, "big")
	if one < maxQueued/4 || one > maxQueued/2 {
		t.Errorf("one sender has %d of %d places", one, maxQueued)
	}
	host := one
	for from := store.AccountID(2); from < 20; from++ {
		host += flood(from, "big")
	}
	if host > maxQueued/2+1 {
		t.Errorf("one host has %d of %d places", host, maxQueued)
	}
	if !arrive(q, 1_000_000, 100, "small") {
		t.Error("the queue refuses another host")
	}
	if q.bytes > maxBytesInMemory {
		t.Errorf("%d bytes in memory", q.bytes)
	}
}

// TestQueueLength checks that activities count by their length, and that finished ones no longer count.
func TestQueueLength(t *testing.T) {
	q := newQueue()
	weight := weightOf(1 << 20)
	var held []*senderQueue
	for host := range 100 {
		sn := q.reserve(store.AccountID(host), fmt.Sprint(host), weight)
		for ; sn != nil; sn = q.reserve(store.AccountID(host), fmt.Sprint(host), weight) {
			held = append(held, sn)
		}
	}
	if n := len(held); n > 1000 {
		t.Errorf("%d MiB are queued", n)
	}
	for _, sn := range held {
		q.unreserve(sn, weight)
	}
	if q.weight != 0 || len(q.hosts) != 0 || len(q.senders) != 0 {
		t.Errorf("finished activities still count: %d, %d hosts, %d senders", q.weight, len(q.hosts), len(q.senders))
	}
}

// TestQueueSlow checks that a slow activity delays later ones only if they are about the same object.
func TestQueueSlow(t *testing.T) {
	q := newQueue()
	arrive(q, 1, 1, "host", "post a")
	arrive(q, 2, 1, "host", "post b")
	arrive(q, 3, 1, "host", "post a")
	arrive(q, 4, 1, "host", "post c")
	first := q.next(t.Context())
	q.moveToSlow(first)
	second := q.next(t.Context())
	if second.id != 2 || q.requeueIfBlocked(second) {
		t.Errorf("got %d", second.id)
	}
	q.done(second)
	third := q.next(t.Context())
	if third.id != 3 || !q.requeueIfBlocked(third) {
		t.Errorf("%d does not wait for an activity on the same object", third.id)
	}
	if len(q.fast) != 0 {
		t.Error("a blocked activity is taken")
	}
	slow := q.nextSlow(t.Context())
	if slow != first {
		t.Errorf("got %d", slow.id)
	}
	q.done(slow)
	for _, want := range []store.QueuedActivityID{3, 4} {
		it := q.next(t.Context())
		if it.id != want || q.requeueIfBlocked(it) {
			t.Errorf("got %d, want %d", it.id, want)
		}
		q.done(it)
	}
	// A failed activity is retried at its time.
	now := time.Now()
	q.retryLater(slow, now.Add(time.Hour))
	q.retryLater(second, now.Add(time.Minute))
	if next := q.scheduleDue(now); !next.Equal(now.Add(time.Minute)) {
		t.Errorf("next at %v", next)
	}
	if next := q.scheduleDue(now.Add(time.Minute)); !next.Equal(now.Add(time.Hour)) || q.nextSlow(t.Context()) != second {
		t.Errorf("next at %v", next)
	}
	q.addStored(&store.QueuedActivityHeader{ID: slow.id, SignerID: 1, Size: 1000, RunAt: store.At(now)}, "host")
	if next := q.scheduleDue(now.Add(time.Minute)); !next.IsZero() || q.nextSlow(t.Context()) != slow {
		t.Errorf("next at %v", next)
	}
}

// TestQueueBegin checks that an activity is begun without storing it only if it delays none and precedes none; else it waits for its turn.
func TestQueueBegin(t *testing.T) {
	q := newQueue()
	begin := func(from store.AccountID, ref string) *Activity {
		it := &Activity{Object: activity.Object{"id": "activity of " + ref, "object": ref}, Row: &store.QueuedActivity{Body: "x"}, weight: 1}
		if !q.start(it, from, "host") {
			return nil
		}
		return it
	}
	wantTurn := func(it *Activity, want bool, when string) {
		t.Helper()
		if it == nil {
			t.Fatalf("an activity is not begun %s", when)
		}
		if got := it.turn == nil || len(it.turn) == 1; got != want {
			t.Errorf("an activity has its turn %s: %v", when, got)
		}
	}
	first := begin(1, "post a")
	wantTurn(first, true, "while the queue is empty")
	next := begin(1, "post b")
	wantTurn(next, false, "before the first of its sender is done")
	arrive(q, 1, 1, "host", "post b")
	if len(q.fast) != 0 {
		t.Error("an activity queued behind it is taken")
	}
	other := begin(2, "post a")
	wantTurn(other, true, "that is of another sender")
	q.done(first)
	q.remove(first)
	wantTurn(next, true, "after the first of its sender")
	q.done(next)
	q.remove(next)
	late := begin(3, "post c")
	wantTurn(late, false, "while another is queued")
	second := q.next(t.Context())
	if second.id != 1 {
		t.Errorf("got %d", second.id)
	}
	stop, cancel := context.WithCancel(t.Context())
	go func() {
		q.waitForTurn(late)
		cancel()
		q.wakeAll()
	}()
	if q.next(stop) != nil {
		t.Error("a worker gets an activity that its request processes")
	}
	q.done(late)
	q.remove(late)
	q.moveToSlow(second)
	if begin(1, "post b") != nil {
		t.Error("an activity on the object of a slow one is begun")
	}
	third := begin(1, "post c")
	if third == nil {
		t.Fatal("a slow activity prevents another from being begun")
	}
	third.Row.ID = 7 // it failed, and is in the database now
	if !q.markStored(third) || q.items[7] != third {
		t.Error("a queued activity is not known")
	}
	other.Row.ID = 7
	if q.markStored(other) || q.senders[2] != nil {
		t.Error("an activity read from the database is processed twice")
	}
	for _, it := range []*Activity{q.nextSlow(t.Context()), third} {
		q.done(it)
		q.remove(it)
	}
	if q.weight != 0 || q.bytes != 0 || len(q.senders)+len(q.hosts)+len(q.items) != 0 {
		t.Errorf("the queue is not empty: %+v", q)
	}
}

func TestSeen(t *testing.T) {
	r := newSeen(nil)
	mark := r.mark()
	key := func(i int) store.SeenKey { return store.NewSeenKey(fmt.Sprint(i)) }
	if seen, certain := r.recent(key(0), mark); seen || !certain {
		t.Errorf("got %v %v without activities", seen, certain)
	}
	for i := range 2 * maxRecentlySeen {
		r.Add(key(i))
		r.Add(key(i))
	}
	if seen, certain := r.recent(key(2*maxRecentlySeen-1), mark); !seen || !certain {
		t.Errorf("got %v %v for the last", seen, certain)
	}
	if seen, certain := r.recent(key(0), mark); seen || certain {
		t.Errorf("got %v %v for an old one", seen, certain)
	}
	if seen, certain := r.recent(key(-1), r.mark()); seen || !certain {
		t.Errorf("got %v %v for a new one", seen, certain)
	}
	if len(r.keys) != maxRecentlySeen || len(r.ring) != maxRecentlySeen {
		t.Errorf("%d and %d are stored", len(r.keys), len(r.ring))
	}
}
