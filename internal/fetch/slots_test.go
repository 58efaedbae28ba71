package fetch

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// What is remembered of hosts does not outlast the requests to them, and the line of those who wait has an end.
func TestSlotsAreForgotten(t *testing.T) {
	s := NewSlots(2, 1, 3)
	ctx, cancel := context.WithCancel(t.Context())
	first, err := s.Take(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error)
	for range 3 {
		go func() {
			_, err := s.Take(ctx, "a")
			failed <- err
		}()
	}
	for s.count() < 4 {
	}
	if _, err := s.Take(ctx, "a"); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	second, err := s.Take(ctx, "b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Take(ctx, "c"); !errors.Is(err, ErrBusy) { // as many as may be, in all
		t.Errorf("got %v, want ErrBusy", err)
	}
	cancel()
	for range 3 {
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want a cancelled wait", err)
		}
	}
	first()
	first() // doing it twice is no error
	second()
	for i := range 100 {
		release, err := s.Take(t.Context(), fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
	if len(s.hosts) != 0 || s.users != 0 || len(s.all) != 0 {
		t.Errorf("%d hosts, %d users, %d places are still remembered", len(s.hosts), s.users, len(s.all))
	}
}

func (s *Slots) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.users
}
