package limit_test

import (
	"errors"
	"testing"
	"time"

	"svc/internal/limit"
)

// TestBytesShares fills the memory of large answers as several clients, and checks who still gets some.
func TestBytesShares(t *testing.T) {
	b := limit.NewBytes(80)
	grow := func(by limit.Holder, n int64) (*limit.Hold, error) {
		h := b.NewHold(by)
		return h, h.Grow(t.Context(), n, time.Millisecond)
	}
	visitor := func(key int) limit.Holder { return limit.Holder{Key: key, Anonymous: true} }
	member := func(name string) limit.Holder { return limit.Holder{Key: name} }
	var held []*limit.Hold
	for _, tt := range []struct {
		name string
		by   limit.Holder
		n    int64
		busy bool
	}{
		{"a visitor", visitor(1), 20, false},
		{"the same visitor beyond a quarter", visitor(1), 1, true},
		{"another visitor", visitor(2), 20, false},
		{"a third one beyond the half of all visitors", visitor(3), 1, true},
		{"a member, more than one may have", member("alice"), 1000, false},
		{"the same member", member("alice"), 1, true},
		{"another member", member("bob"), 20, false},
		{"a third member, when everything is used", member("carol"), 1, true},
	} {
		h, err := grow(tt.by, tt.n)
		if got := errors.Is(err, limit.ErrBusy); got != tt.busy || err != nil && !got {
			t.Errorf("%s: %v, want busy: %v", tt.name, err, tt.busy)
		}
		held = append(held, h)
	}
	if used, peak := b.Used(); used != 80 || peak != 80 {
		t.Errorf("%d bytes are used, at most %d, want 80", used, peak)
	}
	held[4].Shrink(5)
	if _, err := grow(member("carol"), 15); err != nil {
		t.Errorf("after another member gave back 15 bytes: %v", err)
	}
	for _, h := range held {
		h.Release()
		h.Release() // no harm
	}
	if used, _ := b.Used(); used != 15 {
		t.Errorf("%d bytes are used after they were given back, want 15", used)
	}
}

// TestBytesQueue checks that a visitor whose share is used up does not hold up a member.
func TestBytesQueue(t *testing.T) {
	b := limit.NewBytes(8)
	var visitors []*limit.Hold
	for i := range 2 {
		h := b.NewHold(limit.Holder{Key: i, Anonymous: true})
		if err := h.Grow(t.Context(), 2, time.Second); err != nil {
			t.Fatal(err)
		}
		visitors = append(visitors, h)
	}
	waited := make(chan error)
	go func() {
		waited <- b.NewHold(limit.Holder{Key: 2, Anonymous: true}).Grow(t.Context(), 2, time.Minute)
	}()
	if err := b.NewHold(limit.Holder{Key: "alice"}).Grow(t.Context(), 2, time.Minute); err != nil {
		t.Errorf("a member beside waiting visitors: %v", err)
	}
	visitors[0].Release()
	if err := <-waited; err != nil {
		t.Error(err)
	}
}

// TestBytesDropSlow checks that an answer whose client does not read it makes room for one that waits.
func TestBytesDropSlow(t *testing.T) {
	b := limit.NewBytes(8)
	slow := b.NewHold(limit.Holder{Key: "slow"})
	if err := slow.Grow(t.Context(), 2, time.Second); err != nil {
		t.Fatal(err)
	}
	slow.Sending(func() { go slow.Release() })
	release, err := b.Take(t.Context(), 6)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	other := b.NewHold(limit.Holder{Key: "other"})
	for began := time.Now(); ; {
		err := other.Grow(t.Context(), 2, 100*time.Millisecond)
		if err == nil {
			break
		}
		if !errors.Is(err, limit.ErrBusy) || time.Since(began) > 20*time.Second {
			t.Fatalf("after %v: %v", time.Since(began), err)
		}
	}
}

// TestBytesFairness lets visitors and a member with another answer wait before a member who holds nothing: this one is served first.
func TestBytesFairness(t *testing.T) {
	b := limit.NewBytes(40)
	held := make(map[string]*limit.Hold)
	for _, key := range []string{"bob", "carol", "dave", "mallory"} {
		held[key] = b.NewHold(limit.Holder{Key: key})
		if !held[key].TryGrow(10) {
			t.Fatalf("%s gets nothing", key)
		}
	}
	served := make(chan string, 3)
	for i, w := range []struct {
		name string
		by   limit.Holder
		n    int64
	}{{"a visitor", limit.Holder{Key: 1, Anonymous: true}, 8}, {"carol", limit.Holder{Key: "carol"}, 8}, {"alice", limit.Holder{Key: "alice"}, 8}} {
		go func() {
			h := b.NewHold(w.by)
			if err := h.Grow(t.Context(), w.n, time.Minute); err != nil {
				t.Errorf("%s: %v", w.name, err)
			}
			served <- w.name
			h.Release()
		}()
		for b.Waiting() != i+1 {
			time.Sleep(time.Millisecond)
		}
	}
	held["bob"].Release()
	for _, want := range []string{"alice", "a visitor"} {
		if got := <-served; got != want {
			t.Errorf("%s is served, want %s", got, want)
		}
	}
	held["carol"].Release()
	if got := <-served; got != "carol" {
		t.Errorf("%s is served, want carol", got)
	}
}

// TestBytesTurns lets a member ask for more and more, and then another one: the answer after the first is for the other.
func TestBytesTurns(t *testing.T) {
	b := limit.NewBytes(10)
	all := b.NewHold(limit.Holder{})
	if !all.TryGrow(8) {
		t.Fatal("nothing to begin with")
	}
	first := b.NewHold(limit.Holder{Key: "mallory"})
	if !first.TryGrow(2) {
		t.Fatal("mallory gets nothing")
	}
	served := make(chan string, 4)
	for i, name := range []string{"mallory", "mallory", "mallory", "alice"} {
		go func() {
			h := b.NewHold(limit.Holder{Key: name})
			if err := h.Grow(t.Context(), 2, time.Minute); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			served <- name
			h.Release()
		}()
		for b.Waiting() != i+1 {
			time.Sleep(time.Millisecond)
		}
	}
	first.Release()
	for i, want := range []string{"alice", "mallory", "mallory", "mallory"} {
		if got := <-served; got != want {
			t.Errorf("%d: %s is served, want %s", i, got, want)
		}
	}
}
