package ltx_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc/internal/disk"
	"svc/internal/ltx"
	"svc/internal/objects"
)

// compactor puts transactions at a place as Litestream does: each to level 0, then into higher levels, and removes the files there.
type compactor struct {
	*history
	put0, from1 int // the first transaction that is not in the level
	first0      int // that level 0 still has
	first1      []int
}

// step makes a random change of the place.
func (c *compactor) step(r *rand.Rand) {
	switch n := r.IntN(10); {
	case n < 6 || c.put0 == 1:
		c.commit(1 + r.IntN(40))
		c.put(0, c.put0, c.put0)
		c.put0++
	case n < 8 && c.put0 > c.from1:
		c.put(1, c.from1, c.put0-1)
		c.first1 = append(c.first1, c.from1)
		c.from1 = c.put0
	case n < 9 && c.from1 > 1: // all but the last file of level 0 that are in level 1
		for ; c.first0 < min(c.from1, c.put0-1); c.first0++ {
			c.remove(0, c.first0, c.first0)
		}
	case c.from1 > 1:
		c.put(9, 1, c.put0-1)
		if r.IntN(2) == 0 { // retention
			for i, low := range c.first1 {
				high := c.from1 - 1
				if i+1 < len(c.first1) {
					high = c.first1[i+1] - 1
				}
				c.remove(1, low, high)
			}
			c.first1 = nil
		}
	}
}

// TestFollower follows a place at which files come and are compacted, in many orders. What it needs may be gone, so that it restores anew.
func TestFollower(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 0))
		h := newHistory(t)
		c := &compactor{history: h, put0: 1, from1: 1, first0: 1}
		for range 5 {
			c.step(r)
		}
		dir := t.TempDir()
		path := filepath.Join(dir, "svc.db")
		f, err := ltx.Follow(t.Context(), h.store, "db/", path)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			for range r.IntN(12) {
				c.step(r)
			}
			if r.IntN(4) == 0 {
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				if f, err = ltx.Follow(t.Context(), h.store, "db/", path); err != nil {
					t.Fatal(err)
				}
			}
			p, err := f.Update(t.Context())
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			h.wantImage(path, p, len(h.states))
			if !f.Whole() {
				t.Error("the database is not whole after an update")
			}
			wantOnly(t, dir, "svc.db", "svc.db-position")
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFollowerInterrupted fails one change of the disk after the other, and goes on with a new Follower, as after a crash.
func TestFollowerInterrupted(t *testing.T) {
	failed := errors.New("the disk fails")
	for stop := 1; ; stop++ {
		h := newHistory(t)
		h.commit(10)
		h.put(9, 1, 1)
		path := filepath.Join(t.TempDir(), "svc.db")
		changes, armed := 0, false
		end := disk.Intercept(func(c *disk.Change, do func() error) error {
			if !armed {
				return do()
			}
			if changes++; changes >= stop {
				return failed
			}
			return do()
		})
		f, err := ltx.Follow(t.Context(), h.store, "db/", path)
		if err != nil {
			t.Fatal(err)
		}
		for i, pages := range []int{14, 8, 20} {
			h.commit(pages)
			h.put(0, i+2, i+2)
		}
		armed = true
		_, err = f.Update(t.Context())
		end()
		if changes < stop {
			if err != nil || stop < 20 {
				t.Errorf("%d changes were made: %v", changes, err)
			}
			return
		}
		if !errors.Is(err, failed) {
			t.Fatalf("change %d fails: %v", stop, err)
		}
		f.Close()
		if stop%2 == 0 { // the file that was half applied is in level 1
			h.put(1, 2, 3)
			h.remove(0, 2, 2)
			h.remove(0, 3, 3)
		}
		if f, err = ltx.Follow(t.Context(), h.store, "db/", path); err != nil {
			t.Fatal(err)
		}
		p, err := f.Update(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		h.wantImage(path, p, 4)
		f.Close()
	}
}

// TestFollowerVerifies checks that a damaged file changes nothing, and that the place of another database is refused.
func TestFollowerVerifies(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.commit(10)
	h.commit(12)
	h.put(0, 1, 1)
	path := filepath.Join(t.TempDir(), "svc.db")
	if _, err := ltx.Follow(t.Context(), newHistory(t).store, "db/", path); !errors.Is(err, ltx.ErrNone) {
		t.Errorf("an empty place: %v", err)
	}
	f, err := ltx.Follow(t.Context(), h.store, "db/", path)
	if err != nil {
		t.Fatal(err)
	}
	file := h.file(2, 2)
	h.write(h.name(0, 2, 2), file[:len(file)-20])
	p, err := f.Update(t.Context())
	if !errors.Is(err, ltx.ErrDamaged) || !strings.Contains(err.Error(), h.name(0, 2, 2)) {
		t.Errorf("a torn file: %v", err)
	}
	h.wantImage(path, p, 1)
	h.write(h.name(0, 2, 2), file)
	if p, err = f.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.wantImage(path, p, 2)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}

	h.remove(0, 2, 2)
	if f, err = ltx.Follow(t.Context(), h.store, "db/", path); err != nil {
		t.Fatal(err)
	}
	if p, err = f.Update(t.Context()); !errors.Is(err, ltx.ErrBehind) {
		t.Errorf("a place that ends before the database: %v", err)
	}
	h.wantImage(path, p, 2)
	f.Close()

	if err := os.WriteFile(path+"-wal", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ltx.Follow(t.Context(), h.store, "db/", path); err == nil || !strings.Contains(err.Error(), "write-ahead log") {
		t.Errorf("a database that a server has opened: %v", err)
	}
}

// counted is a store that counts lists.
type counted struct {
	objects.Store
	lists int
}

func (c *counted) List(ctx context.Context, prefix, after string, limit int) ([]objects.Object, error) {
	c.lists++
	return c.Store.List(ctx, prefix, after, limit)
}

// TestFollowerRequests checks that an update without anything new is one request, and that one with a gap that cannot be filled keeps the database.
func TestFollowerRequests(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.commit(10)
	h.put(0, 1, 1)
	store := &counted{Store: h.store}
	path := filepath.Join(t.TempDir(), "svc.db")
	f, err := ltx.Follow(t.Context(), store, "db/", path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	store.lists = 0
	for range 10 {
		if _, err := f.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if store.lists != 10 {
		t.Errorf("10 updates needed %d lists", store.lists)
	}
	h.commit(10)
	h.commit(10)
	h.put(0, 3, 3)
	h.remove(0, 1, 1)
	p, err := f.Update(t.Context())
	if !errors.Is(err, ltx.ErrGap) {
		t.Errorf("a gap: %v", err)
	}
	h.wantImage(path, p, 1)
	if !f.Whole() {
		t.Error("the database is not whole, although nothing was applied")
	}
	ctx, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	if _, err := f.Update(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without time: %v", err)
	}
}
