package objects_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/internal/objects"
)

func TestPutAndGet(t *testing.T) {
	eachPlace(t, func(t *testing.T, p place) {
		s := p.open(t)
		for _, tt := range []struct {
			name  string
			size  int
			known bool
		}{
			{"empty", 0, true},
			{"empty of unknown size", 0, false},
			{"a", 1, true},
			{"folder/b", 100_000, false},
			{"folder/deep/c d é & + %41.jpg", 3<<20 + 1, true},
			{"folder/part", 12 << 20, true},
			{"folder/parts", 30 << 20, true},
			{"folder/parts of unknown size", 25<<20 + 7, false},
		} {
			content := make([]byte, tt.size)
			rand.New(rand.NewSource(int64(tt.size))).Read(content)
			size := int64(tt.size)
			if !tt.known {
				size = -1
			}
			o, err := s.Put(t.Context(), tt.name, readerOnly{bytes.NewReader(content)}, size, objects.PutOptions{ContentType: "image/jpeg"})
			if err != nil {
				t.Fatal(err)
			}
			stat, err := s.Stat(t.Context(), tt.name)
			if err != nil {
				t.Fatal(err)
			}
			for what, got := range map[string]objects.Object{"put": o, "stat": stat} {
				if got.Name != tt.name || got.Size != int64(tt.size) || got.ETag != stat.ETag || time.Since(got.Modified).Abs() > time.Minute {
					t.Errorf("%s of %q is %+v", what, tt.name, got)
				}
			}
			if got := get(t, s, tt.name); got != string(content) {
				t.Errorf("%q has %d bytes that are not what was put", tt.name, len(got))
			}
		}
		put(t, s, "a", "replaced")
		if got := get(t, s, "a"); got != "replaced" {
			t.Errorf("after a second Put the object is %q", got)
		}
		wantNothingElse(t, p, s, 8)
	})
}

// readerOnly hides that a reader can seek.
type readerOnly struct{ io.Reader }

// wantNothingElse checks that a place has so many objects and nothing that is not complete.
func wantNothingElse(t *testing.T, p place, s objects.Store, count int) {
	t.Helper()
	if list := names(t, s, ""); len(list) != count {
		t.Errorf("the place has %d objects, want %d: %.200q", len(list), count, list)
	}
	if n, err := s.Sweep(t.Context(), 0); n != 0 || err != nil {
		t.Errorf("something was left behind: %d, %v", n, err)
	}
}

func TestRanges(t *testing.T) {
	eachPlace(t, func(t *testing.T, p place) {
		s := p.open(t)
		put(t, s, "digits", "0123456789")
		put(t, s, "empty", "")
		for _, tt := range []struct {
			name           string
			offset, length int64
			want           string
		}{
			{"digits", 0, -1, "0123456789"},
			{"digits", 3, -1, "3456789"},
			{"digits", 3, 4, "3456"},
			{"digits", 0, 1, "0"},
			{"digits", 9, 5, "9"},
			{"digits", 4, 0, ""},
			{"digits", 10, -1, ""},
			{"digits", 99, 5, ""},
			{"empty", 0, -1, ""},
			{"empty", 0, 5, ""},
			{"empty", 5, -1, ""},
		} {
			body, o, err := s.Get(t.Context(), tt.name, tt.offset, tt.length)
			if err != nil {
				t.Errorf("%+v: %v", tt, err)
				continue
			}
			got, err := io.ReadAll(body)
			body.Close()
			if string(got) != tt.want || err != nil {
				t.Errorf("%+v: got %q, %v", tt, got, err)
			}
			if o.Size != int64(map[string]int{"digits": 10}[tt.name]) {
				t.Errorf("%+v: the size of the object is %d", tt, o.Size)
			}
		}
		if _, _, err := s.Get(t.Context(), "digits", -1, -1); err == nil {
			t.Error("a negative offset is no error")
		}
	})
}

func TestMissing(t *testing.T) {
	eachPlace(t, func(t *testing.T, p place) {
		s := p.open(t)
		put(t, s, "folder/object", "x")
		for _, name := range []string{"missing", "folder", "folder/missing", "folder/object/below"} {
			if _, _, err := s.Get(t.Context(), name, 0, -1); !errors.Is(err, fs.ErrNotExist) && p.isMissingBelow(name, err) {
				t.Errorf("get %s: %v", name, err)
			}
			if _, err := s.Stat(t.Context(), name); !errors.Is(err, fs.ErrNotExist) && p.isMissingBelow(name, err) {
				t.Errorf("stat %s: %v", name, err)
			}
			if name == "folder/object/below" {
				continue
			}
			if err := s.Delete(t.Context(), name); err != nil {
				t.Errorf("delete %s: %v", name, err)
			}
		}
		if got := get(t, s, "folder/object"); got != "x" {
			t.Errorf("the other object is %q", got)
		}
		for range 2 {
			if err := s.Delete(t.Context(), "folder/object"); err != nil {
				t.Error(err)
			}
		}
		wantNothingElse(t, p, s, 0)
		if list, err := s.List(t.Context(), "missing/", "", 10); len(list) != 0 || err != nil {
			t.Errorf("a listing of nothing is %v, %v", list, err)
		}
	})
}

// isMissingBelow returns whether a name must be missing: servers that keep objects as files may have another error below a file.
func (p place) isMissingBelow(name string, err error) bool {
	return err == nil || name != "folder/object/below" || p.server == ""
}

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 200)
	deep := strings.Join([]string{long, long, long[:110]}, "/")
	eachPlace(t, func(t *testing.T, p place) {
		s := p.open(t)
		for _, name := range []string{
			"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b", "a\\b", "a\x00b", "a\nb", "a\u202eb", "\xff", long + "x", deep + "x",
			".svc-tmp/x", ".svc-tmp", ".svc-probe/x",
		} {
			if _, err := s.Put(t.Context(), name, strings.NewReader(""), 0, objects.PutOptions{}); !errors.Is(err, objects.ErrName) {
				t.Errorf("put %q: %v", name, err)
			}
			if _, _, err := s.Get(t.Context(), name, 0, -1); !errors.Is(err, objects.ErrName) {
				t.Errorf("get %q: %v", name, err)
			}
			if _, err := s.Stat(t.Context(), name); !errors.Is(err, objects.ErrName) {
				t.Errorf("stat %q: %v", name, err)
			}
			if err := s.Delete(t.Context(), name); !errors.Is(err, objects.ErrName) {
				t.Errorf("delete %q: %v", name, err)
			}
		}
		for _, prefix := range []string{"/a", "..", "a/../b", ".svc-tmp"} {
			if _, err := s.List(t.Context(), prefix, "", 1); !errors.Is(err, objects.ErrName) {
				t.Errorf("list %q: %v", prefix, err)
			}
		}
		for _, limit := range []int{-1, 0, objects.MaxPage + 1} {
			if _, err := s.List(t.Context(), "", "", limit); err == nil {
				t.Errorf("a limit of %d is no error", limit)
			}
		}
		put(t, s, deep, "longest")
		put(t, s, "...", "dots")
		if got := get(t, s, deep) + get(t, s, "..."); got != "longestdots" {
			t.Errorf("got %q", got)
		}
	})
}

// TestWrongSize has bodies that are not what was announced, or fail: nothing of them becomes visible.
func TestWrongSize(t *testing.T) {
	broken := errors.New("broken body")
	eachPlace(t, func(t *testing.T, p place) {
		s := p.open(t)
		for _, tt := range []struct {
			name string
			body io.Reader
			size int64
			want error
		}{
			{"short", strings.NewReader("abc"), 4, objects.ErrSize},
			{"long", strings.NewReader("abc"), 2, objects.ErrSize},
			{"long and empty", strings.NewReader("abc"), 0, objects.ErrSize},
			{"short in parts", zeros(20 << 20), 21 << 20, objects.ErrSize},
			{"long in parts", zeros(30 << 20), 20 << 20, objects.ErrSize},
			{"fails", io.MultiReader(strings.NewReader("abc"), failing{broken}), -1, broken},
			{"fails in parts", io.MultiReader(zeros(20<<20), failing{broken}), -1, broken},
			{"fails at the end", io.MultiReader(strings.NewReader("abc"), failing{broken}), 3, broken},
		} {
			if _, err := s.Put(t.Context(), tt.name, tt.body, tt.size, objects.PutOptions{}); !errors.Is(err, tt.want) {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
		put(t, s, "old", "old")
		if _, err := s.Put(t.Context(), "old", strings.NewReader("new"), 4, objects.PutOptions{}); !errors.Is(err, objects.ErrSize) {
			t.Error(err)
		}
		if got := get(t, s, "old"); got != "old" {
			t.Errorf("after a Put that failed the object is %q", got)
		}
		if p.name == "s3" {
			if n := uploads(t, p); n != 0 {
				t.Errorf("%d uploads are not complete", n)
			}
		}
		wantNothingElse(t, p, s, 1)
	})
}

func zeros(n int64) io.Reader { return io.LimitReader(zero{}, n) }

type zero struct{}

func (zero) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestNoCreate opens places for reading whose folder is missing: that is an error, and makes none.
func TestNoCreate(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, dir string) place{
		"folder": func(_ *testing.T, dir string) place {
			return place{name: "folder", location: filepath.Join(dir, "store")}
		},
		"sftp": sftpPlaceIn,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p := make(t, dir)
			p.options.NoCreate = true
			if _, err := p.tryOpen(t); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the error is %v", err)
			}
			if _, err := os.Lstat(filepath.Join(dir, "store")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it made the folder: %v", err)
			}
			p.options.NoCreate = false
			put(t, p.open(t), "a", "x")
			p.options.NoCreate = true
			if got := get(t, p.open(t), "a"); got != "x" {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestCanceled ends operations by their context, in the middle of a body.
func TestCanceled(t *testing.T) {
	eachPlace(t, func(t *testing.T, p place) {
		s := p.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		body := io.MultiReader(zeros(20<<20), calling(cancel), zeros(20<<20))
		if _, err := s.Put(ctx, "canceled", body, -1, objects.PutOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("put: %v", err)
		}
		wantNothingElse(t, p, s, 0)

		if _, err := s.Put(t.Context(), "large", zeros(20<<20), 20<<20, objects.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		r, _, err := s.Get(ctx, "large", 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		io.CopyN(io.Discard, r, 100)
		cancel()
		if n, err := io.Copy(io.Discard, r); !errors.Is(err, context.Canceled) {
			t.Errorf("get: %d more bytes, %v", n, err)
		}
		r.Close()
		if _, err := s.Stat(ctx, "large"); !errors.Is(err, context.Canceled) {
			t.Errorf("stat: %v", err)
		}
		if _, err := s.List(ctx, "", "", 10); !errors.Is(err, context.Canceled) {
			t.Errorf("list: %v", err)
		}
		if err := s.Delete(ctx, "large"); !errors.Is(err, context.Canceled) {
			t.Errorf("delete: %v", err)
		}
		wantNothingElse(t, p, s, 1) // the store goes on
	})
}

// calling is a reader without bytes that calls a function.
type calling func()

func (c calling) Read([]byte) (int, error) {
	c()
	return 0, io.EOF
}

func TestList(t *testing.T) {
	var want []string
	for i := range 2500 {
		want = append(want, fmt.Sprintf("media/%02x/%04d", i%40, i))
	}
	// A folder sorts like the names in it: "a-b" < "a.b" < "a/b" < "a0b".
	want = append(want, "a-b", "a.b/c", "a/b", "a/b-c/d", "a/c/d", "a0b", "b/ü", "z")
	slices.Sort(want)
	eachPlace(t, func(t *testing.T, p place) {
		s := p.open(t)
		var writers sync.WaitGroup
		for part := range slices.Chunk(want, len(want)/8+1) {
			writers.Go(func() {
				for _, name := range part {
					if _, err := s.Put(t.Context(), name, strings.NewReader("xy"), 2, objects.PutOptions{}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		writers.Wait()
		if got := names(t, s, ""); !slices.Equal(got, want) {
			t.Fatalf("the names are not the %d in their order, but %d", len(want), len(got))
		}
		for _, limit := range []int{1000, 777} {
			var got []string
			for after := ""; ; after = got[len(got)-1] {
				page, err := s.List(t.Context(), "", after, limit)
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range page {
					if o.Size != 2 || time.Since(o.Modified).Abs() > time.Hour {
						t.Fatalf("listed is %+v", o)
					}
					got = append(got, o.Name)
				}
				if len(page) < limit {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages of %d have %d names that are not those in their order", limit, len(got))
			}
		}
		for _, tt := range []struct {
			prefix, after string
			limit         int
		}{
			{"a", "", 100}, {"a/", "", 100}, {"a/b", "", 100}, {"a/b", "a/b", 100}, {"a", "a.b/c", 2}, {"media/1", "", 1000}, {"media/1", "media/13/", 1000},
			{"media/13/05", "media/13/0500", 5}, {"", "media/27", 10}, {"", "zz", 10}, {"a/b/", "", 10}, {"z", "", 1}, {"", "b/ü", 5}, {"media", "a", 3}, {"a", "media", 3},
		} {
			expected := slices.DeleteFunc(slices.Clone(want), func(name string) bool { return !strings.HasPrefix(name, tt.prefix) || name <= tt.after })
			expected = expected[:min(tt.limit, len(expected))]
			page, err := s.List(t.Context(), tt.prefix, tt.after, tt.limit)
			if err != nil {
				t.Errorf("%+v: %v", tt, err)
			}
			got := []string{}
			for _, o := range page {
				got = append(got, o.Name)
			}
			if !slices.Equal(got, expected) {
				t.Errorf("%+v: got %.300q, want %.300q", tt, got, expected)
			}
		}
	})
}

// TestReplacedWhole reads an object while it is replaced: each reader has one version as a whole.
func TestReplacedWhole(t *testing.T) {
	eachPlace(t, func(t *testing.T, p place) {
		s := p.open(t)
		version := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 300_000+i) }
		put(t, s, "object", version(0))
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 30 {
				if _, err := s.Put(t.Context(), "object", strings.NewReader(version(i)), -1, objects.PutOptions{}); err != nil {
					t.Error(err)
					return
				}
			}
		}()
		for reads := 0; ; reads++ {
			got := get(t, s, "object")
			if i := len(got) - 300_000; i < 0 || got != version(i) {
				t.Fatalf("read %d has %d bytes that are no version", reads, len(got))
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
}
