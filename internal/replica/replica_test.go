package replica_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/internal/disk"
	"svc/internal/objects"
	"svc/internal/replica"
)

// TestFollows changes files in each way, and compares the place.
func TestFollows(t *testing.T) {
	s := newServer(t, newMemory())
	s.write("media/aa/old.jpg", "old")
	s.begin()
	s.want(map[string]string{"media/aa/old.jpg": "old"})
	files := map[string]string{"media/aa/old.jpg": "old"}
	for _, tt := range []struct {
		name   string
		change func() error
		want   map[string]string
	}{
		{"an upload", func() error {
			s.write("media/tmp/x", "unfinished")
			s.write("media/bb/.new-1", "unfinished")
			return disk.Rename(s.path("media/tmp/x"), s.path("media/bb/new.jpg"))
		}, map[string]string{"media/bb/new.jpg": "unfinished"}},
		{"a pack that is installed", func() error {
			s.write("packs/cats/pack.json", "{}")
			s.write("packs/cats/cat.png", "cat")
			return disk.Rename(s.path("packs/cats"), s.path("emoji/cats"))
		}, map[string]string{"emoji/cats/pack.json": "{}", "emoji/cats/cat.png": "cat"}},
		{"a pack that is changed", func() error { return disk.ReplaceText(s.path("emoji/cats/pack.json"), "[]") },
			map[string]string{"emoji/cats/pack.json": "[]"}},
		{"a file written in place", func() error {
			f, err := disk.Create(s.path("static/robots.txt"))
			if err != nil {
				return err
			}
			fmt.Fprint(f, "text")
			return f.Close()
		}, map[string]string{"static/robots.txt": "text"}},
		{"a pack that is renamed, kept under its old name", func() error { return disk.Rename(s.path("emoji/cats"), s.path("emoji/dogs")) },
			map[string]string{"emoji/dogs/pack.json": "[]", "emoji/dogs/cat.png": "cat"}},
		{"others", func() error { s.write("cache/x", "x"); s.write("svc.db", "x"); return nil }, nil},
	} {
		if err := tt.change(); err != nil {
			t.Fatal(tt.name, err)
		}
		for name, text := range tt.want {
			files[name] = text
		}
		t.Run(tt.name, func(*testing.T) { s.want(files) })
	}
	if st := s.Status(); st.Deleted < 2 || st.Error != "" || st.Skipped != 0 || st.Lag(s.now()) != 0 || st.Copied < 8 {
		t.Errorf("%+v", st)
	}
}

// TestKeep deletes files: they stay at the place until they need not be kept, also over a restart, and longer if they are written again or a row names
// them.
func TestKeep(t *testing.T) {
	s := newServer(t, newMemory())
	all := make(map[string]string)
	for _, name := range []string{"media/aa/a", "media/aa/b", "media/aa/c", "media/" + rowed} {
		s.write(name, name)
		all[name] = name
	}
	s.begin()
	s.want(all)
	s.must(disk.Remove(s.path("media/aa/a")))
	s.must(disk.Remove(s.path("media/aa/b")))
	s.must(disk.Remove(s.path("media/" + rowed)))
	s.want(all)
	s.pass(23 * time.Hour)
	s.end()
	s.begin()
	s.settle()
	s.LookAround(t.Context())
	s.want(all)
	s.write("media/aa/b", "media/aa/b") // again
	s.want(all)
	s.pass(2 * time.Hour)
	s.LookAround(t.Context())
	delete(all, "media/aa/a")
	s.want(all)
	if st := s.Status(); st.Deleted != 0 || st.Skipped != 1 || !strings.Contains(st.Examples[0], rowed) {
		t.Errorf("%d files are remembered as deleted, %d are skipped: %v", st.Deleted, st.Skipped, st.Examples)
	}
}

// TestCompare changes files while nothing is copied.
func TestCompare(t *testing.T) {
	s := newServer(t, newMemory())
	s.write("media/aa/a", "same")
	s.write("emoji/cats/pack.json", "{1}")
	s.write("static/gone.txt", "gone")
	s.write("emoji/a-b/x", "sorts before a/")
	s.write("emoji/a/x", "x")
	s.begin()
	s.want(map[string]string{"media/aa/a": "same", "emoji/cats/pack.json": "{1}", "static/gone.txt": "gone", "emoji/a-b/x": "sorts before a/", "emoji/a/x": "x"})
	s.end()
	copied := s.place.files()
	s.write("emoji/cats/pack.json", "{2}") // of the same size
	s.write("media/bb/b", "new")
	s.must(disk.Remove(s.path("static/gone.txt")))
	s.begin()
	copied["emoji/cats/pack.json"], copied["media/bb/b"] = "{2}", "new"
	s.want(copied)
	if st := s.Status(); st.Copied != 2 || st.Deleted != 1 {
		t.Errorf("copied are %d and deleted %d, want 2 and 1", st.Copied, st.Deleted)
	}
}

// TestNotMounted takes all files away at once: a disk that is not mounted must not empty the copy.
func TestNotMounted(t *testing.T) {
	s := newServer(t, newMemory())
	for i := range 150 {
		f, err := disk.Create(s.path(fmt.Sprintf("media/%03d", i)))
		s.must(err)
		s.must(f.Close())
	}
	s.begin()
	s.settle()
	s.end()
	if err := os.Rename(s.path("media"), s.path("unmounted")); err != nil {
		t.Fatal(err)
	}
	s.begin()
	s.settle()
	if st := s.Status(); st.Deleted != 0 || !strings.Contains(st.Missing, "media has 0 files, and 150") {
		t.Errorf("%+v", st)
	}
	if err := os.Rename(s.path("unmounted"), s.path("media")); err != nil {
		t.Fatal(err)
	}
	s.must(s.Compare(t.Context()))
	if st := s.Status(); st.Missing != "" {
		t.Errorf("%+v", st)
	}
}

// TestOverflow has more changes than the queue takes while the place hangs: a comparison finds the others.
func TestOverflow(t *testing.T) {
	s := newServer(t, newMemory())
	const limit = 100
	s.begin()
	s.settle()
	s.LimitQueue(limit)
	hangs := make(chan struct{})
	s.place.set(nil, hangs)
	const more = limit + 50
	s.must(disk.MakeFolder(s.path("media/aa")))
	for i := range more {
		f, err := disk.Create(s.path(fmt.Sprintf("media/aa/%d", i)))
		if err != nil {
			t.Fatal(err)
		}
		s.must(f.Close())
	}
	if st := s.Status(); st.Pending != limit || st.Oldest.IsZero() {
		t.Errorf("%d are queued, the oldest since %v", st.Pending, st.Oldest)
	}
	s.place.set(nil, nil)
	close(hangs)
	s.until("all are copied", func() bool { return len(s.place.files()) == more })
	if s.place.maxPuts > replica.Transfers+1 { // and the sealed file
		t.Errorf("%d transfers at once", s.place.maxPuts)
	}
}

// TestLargeFiles has several large files at once, of which one is transferred at a time.
func TestLargeFiles(t *testing.T) {
	s := newServer(t, newMemory())
	for i := range 6 {
		s.write(fmt.Sprintf("media/aa/%d", i), strings.Repeat("x", replica.LargeFile+1))
	}
	s.begin()
	s.settle()
	if n := len(s.place.files()); n != 6 || s.place.maxLarge != 1 {
		t.Errorf("%d files, %d at once", n, s.place.maxLarge)
	}
}

// TestFailures has a place that fails for a while, and files that cannot be copied.
func TestFailures(t *testing.T) {
	s := newServer(t, newMemory())
	s.place.set(objects.ErrFull, nil)
	s.begin()
	s.write("media/aa/a", "a")
	s.until("the failure is known", func() bool {
		st := s.Status()
		return strings.Contains(st.Error, objects.ErrFull.Error()) && st.Unsealed != ""
	})
	s.place.set(nil, nil)
	s.LookAround(t.Context())
	s.want(map[string]string{"media/aa/a": "a"})
	s.until("all is well", func() bool { st := s.Status(); return st.Error == "" && st.Unsealed == "" })
	if os.Geteuid() != 0 {
		s.must(os.Chmod(s.path("media/aa/a"), 0))
		s.write("media/aa/b", "b")
		s.want(map[string]string{"media/aa/a": "a", "media/aa/b": "b"})
	}
}

// TestSkipped has a file that the place refuses for its name: it is known until it is copied or gone, also over a comparison.
func TestSkipped(t *testing.T) {
	s := newServer(t, newMemory())
	s.place.set(objects.ErrName, nil)
	s.begin()
	bad := []string{"static/bad\\name", "static/good"}
	for _, name := range bad {
		s.write(name, "x")
	}
	s.until("they are skipped", func() bool { return s.Status().Skipped == len(bad) })
	if err := s.Compare(t.Context()); !errors.Is(err, objects.ErrName) {
		t.Errorf("the comparison: %v", err)
	}
	if st := s.Status(); st.Skipped != len(bad) || !strings.Contains(st.Examples[0], "bad") {
		t.Errorf("%+v", st)
	}
	s.place.set(nil, nil)
	s.must(disk.Remove(s.path(bad[0])))
	s.write(bad[1], "y")
	s.until("no file is skipped", func() bool { return s.Status().Skipped == 0 })
	s.want(map[string]string{bad[1]: "y"})
}

// TestSeal reads keys and settings back, at each time with the passphrase of that time.
func TestSeal(t *testing.T) {
	s := newServer(t, newMemory())
	s.begin()
	s.settle()
	first := s.now()
	s.pass(time.Hour)
	s.LookAround(t.Context())
	if n := len(s.sealed()); n != 1 {
		t.Errorf("%d objects, although nothing changed", n)
	}
	s.write("keys/secret", "another secret")
	s.until("the new key is sealed", func() bool { return len(s.sealed()) == 2 })
	for _, tt := range []struct {
		name, passphrase string
		at               time.Time
		secret           string
		err              error
	}{
		{"the newest", passphrase, time.Time{}, "another secret", nil},
		{"the first", passphrase, first, "the secret", nil},
		{"before the first", passphrase, first.Add(-time.Hour), "the secret", nil},
		{"a wrong passphrase", passphrase + "x", time.Time{}, "", replica.ErrPassphrase},
	} {
		got, err := replica.OpenSecrets(t.Context(), s.place, tt.passphrase, tt.at)
		if !errors.Is(err, tt.err) || string(got["keys/secret"]) != tt.secret || err == nil && string(got[replica.SettingsName]) != "[server]\n" {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
	for name, b := range s.place.objects {
		if strings.Contains(string(b), "secret") || strings.Contains(string(b), passphrase) {
			t.Errorf("%s has a secret", name)
		}
	}
	s.write("passphrase", "short")
	s.LookAround(t.Context())
	if st := s.Status(); !strings.Contains(st.Unsealed, "at least") {
		t.Errorf("a short passphrase: %q", st.Unsealed)
	}
	s.write("passphrase", "a new and long passphrase")
	s.pass(25 * time.Hour)
	s.LookAround(t.Context()) // seals again
	s.LookAround(t.Context()) // removes the first, which was replaced more than a day ago
	if n := len(s.sealed()); n != 2 {
		t.Errorf("%d objects are left", n)
	}
	if _, err := replica.OpenSecrets(t.Context(), s.place, "a new and long passphrase", time.Time{}); err != nil {
		t.Error(err)
	}
}

func (s *server) sealed() (names []string) {
	page, err := s.place.List(s.t.Context(), "sealed/", "", 100)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, o := range page {
		names = append(names, o.Name)
	}
	return names
}

// TestFetch restores files: those that were deleted are left out, unless they were there at the time, or are uploads.
func TestFetch(t *testing.T) {
	s := newServer(t, newMemory())
	for _, name := range []string{"media/aa/a", "emoji/cats/pack.json", "emoji/cats/cat.png", "static/x"} {
		s.write(name, name)
	}
	s.begin()
	s.settle()
	before := s.now()
	s.pass(time.Hour)
	s.must(disk.RemoveAll(s.path("emoji/cats")))
	s.must(disk.Remove(s.path("media/aa/a")))
	s.settle()
	s.LookAround(t.Context())
	s.end()
	s.place.objects["files/other/x"] = []byte("x")
	s.place.objects["files/top"] = []byte("x")
	for _, tt := range []struct {
		name string
		at   time.Time
		want []string
	}{
		{"now", time.Time{}, []string{"media/aa/a", "static/x"}},
		{"before", before, []string{"emoji/cats/cat.png", "emoji/cats/pack.json", "media/aa/a", "static/x"}},
	} {
		dir := t.TempDir()
		root, err := disk.OpenRoot(dir)
		s.must(err)
		got, err := replica.FetchFiles(t.Context(), s.place, root, []string{"emoji", "static", "media"}, tt.at, nil)
		s.must(err)
		root.Close()
		var names []string
		for name := range s.place.files() {
			if b, err := os.ReadFile(dir + "/" + name); err == nil {
				names = append(names, name)
				if string(b) != name {
					t.Errorf("%s is %q", name, b)
				}
			}
		}
		slices.Sort(names)
		if !slices.Equal(names, tt.want) || got.Files != len(tt.want) {
			t.Errorf("%s: got %q, %+v", tt.name, names, got)
		}
	}
	// A restored server knows the deleted files, and when each was deleted.
	other := newServer(t, s.place)
	other.pass(time.Hour)
	other.write("static/x", "static/x")
	other.begin()
	other.settle()
	if n := other.Status().Deleted; n < 3 {
		t.Errorf("%d are known as deleted", n)
	}
}
