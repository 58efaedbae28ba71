package objects_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/sys/unix"

	"svc/internal/objects"
	"svc/internal/objects/objectstest"
)

// TestOneWins has several stores create the same objects at once.
func TestOneWins(t *testing.T) {
	eachPlace(t, func(t *testing.T, p place) {
		stores := []objects.Store{p.open(t), p.open(t)}
		for round := range 20 {
			name := fmt.Sprintf("lease/%d", round)
			contest(t, stores, name, func(int) objects.PutOptions { return objects.PutOptions{IfNone: true} })
		}
		wantNothingElse(t, p, stores[0], 20)
	})
}

// TestOneReplaces has several stores replace the same version at once, many times.
func TestOneReplaces(t *testing.T) {
	eachPlace(t, func(t *testing.T, p place) {
		if p.name == "sftp" {
			t.Skip("SFTP has no condition on ETags")
		}
		stores := []objects.Store{p.open(t), p.open(t)}
		put(t, stores[0], "lease", "first")
		for range 20 {
			o, err := stores[0].Stat(t.Context(), "lease")
			if err != nil {
				t.Fatal(err)
			}
			contest(t, stores, "lease", func(int) objects.PutOptions { return objects.PutOptions{IfMatch: o.ETag} })
		}
		wantNothingElse(t, p, stores[0], 1)
	})
}

var contests atomic.Int64

// contest lets 8 writers put the object at once. Exactly one must succeed, and the object is what that one wrote.
func contest(t *testing.T, stores []objects.Store, name string, options func(int) objects.PutOptions) {
	t.Helper()
	start := make(chan struct{})
	var writers sync.WaitGroup
	var mu sync.Mutex
	var winners []string
	number := contests.Add(1)
	for i := range 8 {
		writers.Go(func() {
			<-start
			text := fmt.Sprintf("writer %d of contest %d", i, number)
			o, err := stores[i%len(stores)].Put(t.Context(), name, strings.NewReader(text), int64(len(text)), options(i))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && o.Size == int64(len(text)):
				winners = append(winners, text)
			case !errors.Is(err, objects.ErrCondition):
				t.Errorf("a loser has the error %v", err)
			}
		})
	}
	close(start)
	writers.Wait()
	if got := get(t, stores[0], name); len(winners) != 1 || got != winners[0] {
		t.Fatalf("winners are %q, and the object is %q", winners, got)
	}
}

func TestConditions(t *testing.T) {
	eachPlace(t, func(t *testing.T, p place) {
		s := p.open(t)
		try := func(name, text string, o objects.PutOptions, want error) objects.Object {
			t.Helper()
			got, err := s.Put(t.Context(), name, strings.NewReader(text), -1, o)
			if !errors.Is(err, want) {
				t.Errorf("put %s with %+v: %v", name, o, err)
			}
			return got
		}
		first := try("new/a", "1", objects.PutOptions{IfNone: true}, nil)
		try("new/a", "2", objects.PutOptions{IfNone: true}, objects.ErrCondition)
		try("large", strings.Repeat("x", objects.MaxConditional), objects.PutOptions{IfNone: true}, nil)
		try("too large", strings.Repeat("x", objects.MaxConditional+1), objects.PutOptions{IfNone: true}, objects.ErrSize)
		if p.name == "sftp" {
			try("new/a", "2", objects.PutOptions{IfMatch: "x"}, errors.ErrUnsupported)
			wantNothingElse(t, p, s, 2)
			return
		}
		second := try("new/a", "2", objects.PutOptions{IfMatch: first.ETag}, nil)
		try("new/a", "3", objects.PutOptions{IfMatch: first.ETag}, objects.ErrCondition)
		if got := get(t, s, "new/a"); got != "2" {
			t.Errorf("the object is %q", got)
		}
		if err := s.Delete(t.Context(), "new/a"); err != nil {
			t.Fatal(err)
		}
		try("new/a", "4", objects.PutOptions{IfMatch: second.ETag}, objects.ErrCondition)
		wantNothingElse(t, p, s, 1)
	})
}

// TestIgnoredConditions has servers that cannot guarantee a condition: that must be an error, because two would hold a lease.
func TestIgnoredConditions(t *testing.T) {
	t.Run("s3", func(t *testing.T) {
		server := objectstest.New(t)
		server.IgnoreConditions = true
		s := s3Place(server.Address).open(t)
		for _, o := range []objects.PutOptions{{IfNone: true}, {IfMatch: "x"}} {
			if _, err := s.Put(t.Context(), "lease", strings.NewReader(""), 0, o); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%+v: %v", o, err)
			}
		}
		if list := names(t, s, ""); len(list) != 0 || len(server.Objects) != 0 {
			t.Errorf("left are %q and %d objects", list, len(server.Objects))
		}
	})
	t.Run("sftp", func(t *testing.T) {
		if err := sftp.SetSFTPExtensions("posix-rename@openssh.com"); err != nil {
			t.Fatal(err)
		}
		defer sftp.SetSFTPExtensions("hardlink@openssh.com", "posix-rename@openssh.com", "statvfs@openssh.com")
		p := sftpPlace(t)
		s := p.open(t)
		if _, err := s.Put(t.Context(), "lease", strings.NewReader(""), 0, objects.PutOptions{IfNone: true}); !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
		wantNothingElse(t, p, s, 0)
	})
}

// TestFolderLock holds the lock of a folder, as another process would between its comparison and its rename: a Put with a condition waits.
func TestFolderLock(t *testing.T) {
	p := folderPlace(t)
	s := p.open(t)
	o := put(t, s, "lease", "first")
	lock, err := os.OpenFile(filepath.Join(p.location, ".svc-tmp", "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	for name, options := range map[string]objects.PutOptions{"with a condition": {IfMatch: o.ETag}, "without": {}} {
		if _, err := s.Put(ctx, "lease", strings.NewReader("second"), 6, options); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a Put %s does not wait for the lock: %v", name, err)
		}
	}
	lock.Close()
	if _, err := s.Put(t.Context(), "lease", strings.NewReader("second"), 6, objects.PutOptions{IfMatch: o.ETag}); err != nil {
		t.Error(err)
	}
	wantNothingElse(t, p, s, 1)
}
