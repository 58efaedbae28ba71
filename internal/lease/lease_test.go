package lease_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc/internal/lease"
	"svc/internal/objects"
)

// site is a place that can be out of reach.
type site struct {
	t      *testing.T
	path   string
	down   atomic.Bool
	forget atomic.Bool // the answers to Put are lost
}

func newSite(t *testing.T) *site { return &site{t: t, path: t.TempDir()} }

var errDown = fmt.Errorf("%w: no route", objects.ErrUnreachable)

func (s *site) open(ctx context.Context) (objects.Store, error) {
	if s.down.Load() {
		return nil, errDown
	}
	l, err := objects.ParseLocation(s.path)
	if err != nil {
		return nil, err
	}
	store, err := objects.Open(ctx, l, objects.Options{})
	return &siteStore{store, s}, err
}

type siteStore struct {
	objects.Store
	site *site
}

func (s *siteStore) Put(ctx context.Context, name string, body io.Reader, size int64, o objects.PutOptions) (objects.Object, error) {
	if s.site.down.Load() {
		return objects.Object{}, errDown
	}
	object, err := s.Store.Put(ctx, name, body, size, o)
	if s.site.forget.Load() {
		return objects.Object{}, errDown
	}
	return object, err
}

func (s *siteStore) List(ctx context.Context, prefix, after string, limit int) ([]objects.Object, error) {
	if s.site.down.Load() {
		return nil, errDown
	}
	return s.Store.List(ctx, prefix, after, limit)
}

// age makes an object ten minutes old.
func (s *site) age(name string) {
	s.t.Helper()
	old := time.Now().Add(-10 * time.Minute)
	if err := os.Chtimes(filepath.Join(s.path, "lease", name), old, old); err != nil {
		s.t.Fatal(err)
	}
}

// server is a data directory.
type server struct {
	site *site
	dir  string
}

func (s *site) server() server { return server{s, s.t.TempDir()} }

func (s server) options() lease.Options {
	return lease.Options{
		Open: s.site.open, Prefix: "lease/", Record: filepath.Join(s.dir, "lease.json"), Version: "1.2.3",
		CheckEach: 10 * time.Millisecond, HandOver: 300 * time.Millisecond,
	}
}

func (s server) take(takeOver bool) (*lease.Lease, error) {
	o := s.options()
	o.TakeOver = takeOver
	return lease.Take(s.site.t.Context(), o)
}

// mustTake takes the lease with a number.
func (s server) mustTake(takeOver bool, number uint64) *lease.Lease {
	s.site.t.Helper()
	l, err := s.take(takeOver)
	if err != nil {
		s.site.t.Fatal(err)
	}
	if got := l.Holder().Number; got != number {
		s.site.t.Errorf("the number is %d, want %d", got, number)
	}
	return l
}

// watch returns what Watch returns.
func watch(t *testing.T, l *lease.Lease) <-chan error {
	result := make(chan error, 1)
	go func() { result <- l.Watch(t.Context()) }()
	return result
}

// wantLost waits until a lease was taken over.
func wantLost(t *testing.T, lost <-chan error) {
	t.Helper()
	select {
	case err := <-lost:
		if !errors.Is(err, lease.ErrHeld) || !strings.Contains(err.Error(), "svc 1.2.3") {
			t.Errorf("the lease ends with %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("the lease was not lost")
	}
}

// wantHeld checks that a lease is not lost while it is checked several times.
func wantHeld(t *testing.T, lost <-chan error) {
	t.Helper()
	select {
	case err := <-lost:
		t.Errorf("the lease was lost: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
}

// TestTake checks which servers get the lease, and which are refused.
func TestTake(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a, b := s.server(), s.server()
	first := a.mustTake(false, 1)
	lost := watch(t, first)
	host, _ := os.Hostname()
	if _, err := b.take(false); !errors.Is(err, lease.ErrHeld) || !strings.Contains(err.Error(), host) || !strings.Contains(err.Error(), "last seen at") {
		t.Errorf("another server: %v", err)
	}
	wantHeld(t, lost)
	second := b.mustTake(true, 2)
	wantLost(t, lost)
	if _, err := a.take(false); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("the first one after it was taken over: %v", err)
	}
	lost = watch(t, second)
	wantHeld(t, lost)
	b.mustTake(false, 3) // after a crash
	wantLost(t, lost)    // another process with the same data directory
	if err := second.Release(t.Context()); err != nil {
		t.Error(err)
	}
	state := readState(t, s)
	if state.Holder.Number != 3 || state.Released || time.Since(state.Since).Abs() > time.Minute || state.Holder.Host != host {
		t.Errorf("the state is %+v", state)
	}
}

func readState(t *testing.T, s *site) lease.State {
	t.Helper()
	store, err := s.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	state, err := lease.Read(t.Context(), store, "lease/")
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// TestTakeAtOnce lets many servers take the lease at the same time: one has it, whether they may take over or not.
func TestTakeAtOnce(t *testing.T) {
	t.Parallel()
	for _, takeOver := range []bool{false, true} {
		s := newSite(t)
		var all sync.WaitGroup
		var mu sync.Mutex
		var leases []*lease.Lease
		for range 8 {
			server := s.server()
			all.Go(func() {
				l, err := server.take(takeOver)
				if err != nil && !errors.Is(err, lease.ErrHeld) {
					t.Error(err)
				}
				if err == nil {
					mu.Lock()
					leases = append(leases, l)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if want := 1; !takeOver && len(leases) != want {
			t.Fatalf("%d servers have the lease", len(leases))
		}
		holder := readState(t, s).Holder.Number
		for _, l := range leases {
			if lost := watch(t, l); l.Holder().Number == holder {
				wantHeld(t, lost)
			} else {
				wantLost(t, lost)
			}
		}
	}
}

// TestUnreachable starts servers while the place cannot be reached.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a, b := s.server(), s.server()
	if err := a.mustTake(false, 1).Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.down.Store(true)
	if _, err := b.take(false); !errors.Is(err, lease.ErrUnknown) || !errors.Is(err, objects.ErrUnreachable) {
		t.Errorf("a server that never held the lease: %v", err)
	}
	if _, err := b.take(true); !errors.Is(err, objects.ErrUnreachable) {
		t.Errorf("a server that takes over: %v", err)
	}
	l := a.mustTake(false, 0)
	lost := watch(t, l)
	wantHeld(t, lost)
	if since, err := l.Problem(); err == nil || since.IsZero() {
		t.Errorf("the problem is %v since %s", err, since)
	}
	s.down.Store(false)
	waitFor(t, func() bool { return l.Holder().Number == 2 })
	waitFor(t, func() bool { _, err := l.Problem(); return err == nil })
	wantHeld(t, lost)

	s.down.Store(true) // while it runs
	waitFor(t, func() bool { _, err := l.Problem(); return err != nil })
	wantHeld(t, lost)
	s.down.Store(false)
	waitFor(t, func() bool { _, err := l.Problem(); return err == nil })
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}

	s.down.Store(true)
	l = a.mustTake(false, 0)
	lost = watch(t, l)
	s.down.Store(false)
	waitFor(t, func() bool { return l.Holder().Number == 3 })
	s.down.Store(true)
	wantHeld(t, lost)
	s2 := &site{t: t, path: s.path} // another server reaches it
	server{s2, b.dir}.mustTake(true, 4)
	wantHeld(t, lost)
	s.down.Store(false)
	wantLost(t, lost)
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}

// TestLostAnswer checks that a number is known as one's own if the answer to its Put was lost, and as another's if that took it.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a, b := s.server(), s.server()
	s.forget.Store(true)
	if _, err := a.take(false); !errors.Is(err, objects.ErrUnreachable) {
		t.Fatalf("without an answer: %v", err)
	}
	s.forget.Store(false)
	if _, err := b.take(false); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("another server: %v", err)
	}
	a.mustTake(false, 2)
	s.forget.Store(true)
	l := a.mustTake(false, 0)
	lost := watch(t, l)
	s.forget.Store(false)
	waitFor(t, func() bool { return l.Holder().Number > 3 })
	wantHeld(t, lost)
	b.mustTake(true, l.Holder().Number+1)
	wantLost(t, lost)
}

// TestHandOver checks how long a server waits that takes over.
func TestHandOver(t *testing.T) {
	t.Parallel()
	took := func(start time.Time, from, to time.Duration) {
		t.Helper()
		if d := time.Since(start); d < from || d > to {
			t.Errorf("it took %s, want %s to %s", d, from, to)
		}
	}
	s := newSite(t)
	a, b := s.server(), s.server()
	first := a.mustTake(false, 1)
	start := time.Now()
	b.mustTake(true, 2) // from one that was killed
	took(start, 300*time.Millisecond, 10*time.Second)

	first = a.mustTake(true, 3)
	stopped := make(chan time.Time, 1)
	go func() {
		first.Watch(t.Context())
		time.Sleep(50 * time.Millisecond) // its last requests
		stopped <- time.Now()
		first.Release(t.Context())
	}()
	o := b.options()
	o.TakeOver, o.HandOver = true, time.Minute
	second, err := lease.Take(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if time.Now().Before(<-stopped) {
		t.Error("the second server has the lease before the first one has stopped")
	}
	if err := second.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	start = time.Now()
	o = a.options()
	o.TakeOver, o.HandOver = true, time.Minute
	if _, err := lease.Take(t.Context(), o); err != nil { // from one that has stopped
		t.Fatal(err)
	}
	took(start, 0, 10*time.Second)
	if state := readState(t, s); state.Holder.Number != 5 || state.Released {
		t.Errorf("the state is %+v", state)
	}
	s.age("0000000005")
	o = b.options()
	o.TakeOver, o.HandOver = true, time.Minute // from one that was not seen for long
	start = time.Now()
	if _, err := lease.Take(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	took(start, 0, 10*time.Second)
}

// TestCopies checks that a copy of a data directory is another server.
func TestCopies(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a, b := s.server(), s.server()
	copyRecord := func() {
		t.Helper()
		text, err := os.ReadFile(a.options().Record)
		if err == nil {
			err = os.WriteFile(b.options().Record, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	a.mustTake(false, 1)
	copyRecord()
	a.mustTake(false, 2)
	if _, err := b.take(false); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("an older copy: %v", err)
	}
	copyRecord()
	name := filepath.Join(s.path, "lease", "0000000002")
	var holder lease.Holder
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &holder)
	}
	if err != nil {
		t.Fatal(err)
	}
	holder.Host = "other.example"
	if text, err = json.Marshal(holder); err == nil {
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.take(false); !errors.Is(err, lease.ErrHeld) || !strings.Contains(err.Error(), "other.example") {
		t.Errorf("a copy of one that runs on another host: %v", err)
	}
	s.age("0000000002")
	b.mustTake(false, 3) // it was moved to another host
}

// TestPlaces has places with what servers did not write, and many numbers.
func TestPlaces(t *testing.T) {
	t.Parallel()
	write := func(t *testing.T, s *site, name, text string) {
		t.Helper()
		path := filepath.Join(s.path, "lease", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("not JSON", func(t *testing.T) {
		s := newSite(t)
		write(t, s, "0000000007", strings.Repeat("x", 100_000))
		if _, err := s.server().take(false); !errors.Is(err, lease.ErrHeld) || !strings.Contains(err.Error(), "unknown host") || len(err.Error()) > 1000 {
			t.Errorf("the error is %v", err)
		}
		s.server().mustTake(true, 8)
	})
	t.Run("other names", func(t *testing.T) {
		s := newSite(t)
		for _, name := range []string{"7", "0000000007.seen", "000000000007", "-000000001", "note.txt", "sub/0000000009", "99999999999999999999999"} {
			write(t, s, name, "x")
		}
		s.server().mustTake(false, 1)
	})
	t.Run("too many", func(t *testing.T) {
		s := newSite(t)
		for i := range 1000 {
			write(t, s, fmt.Sprint("x", i), "")
		}
		if _, err := s.server().take(true); err == nil || !strings.Contains(err.Error(), "1000 objects") {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("old numbers", func(t *testing.T) {
		s := newSite(t)
		a := s.server()
		for n := range uint64(20) {
			if err := a.mustTake(false, n+1).Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		entries, err := os.ReadDir(filepath.Join(s.path, "lease"))
		if err != nil || len(entries) > 36 {
			t.Errorf("the place has %d objects, %v", len(entries), err)
		}
		last := a.mustTake(false, 21)
		lost := watch(t, last)
		if err := os.RemoveAll(filepath.Join(s.path, "lease")); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { return last.Holder().Number >= 22 }) // it is the only one that knows
		wantHeld(t, lost)
	})
	t.Run("nobody", func(t *testing.T) {
		s := newSite(t)
		store, err := s.open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		if _, err := lease.Read(t.Context(), store, "lease/"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("damaged record", func(t *testing.T) {
		s := newSite(t)
		a := s.server()
		if err := os.WriteFile(a.options().Record, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := a.take(false); err == nil || !strings.Contains(err.Error(), "lease.json") {
			t.Errorf("the error is %v", err)
		}
	})
}
