package media

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/objects"
	"svc/internal/objects/objectstest"
	"svc/store"
)

// moved is a data directory whose media are moved. open starts a process on it, in which nothing is left of the one before.
type moved struct {
	t       *testing.T
	dir     string
	address string
	db      *store.DB
	content map[string][]byte // of all uploads, by name
}

const testArchive = "archive-alice.zip"

func newMoved(t *testing.T, address string) *moved {
	t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	m := &moved{t: t, dir: t.TempDir(), address: address, content: make(map[string][]byte)}
	if m.db, err = store.Open(t.Context(), store.Options{Dir: m.dir, Schema: string(schema)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.db.Close() })
	return m
}

// open returns a mover to a place.
func (m *moved) open(to string) *Mover {
	m.t.Helper()
	c := config.Default()
	c.Data.Dir, c.Media.Storage, c.Storage.MinFree = m.dir, to, 0
	files, err := Open(filepath.Join(m.dir, "media"), Limits{}, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	archives, err := OpenArchives(filepath.Join(m.dir, "backups", "accounts"))
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { files.Close(); archives.Close() })
	files.ObserveBans(m.db)
	if m.address != "" {
		b := openTestBucket(m.t, m.address, false, nil)
		files.UseBucket(b, to == config.MediaInBucket)
		archives.UseBucket(b, to == config.MediaInBucket)
	}
	return NewMover(files, archives, m.db, config.NewLive(c), slog.New(slog.DiscardHandler))
}

// fill stores uploads with rows, and an archive.
func (m *moved) fill(mover *Mover, n int) {
	m.t.Helper()
	for i := range n {
		file, err := mover.files.Ingest(m.t.Context(), 1, bytes.NewReader(encodePNG(quarters(10+i, 10))), Attachment, 1<<20)
		if err != nil {
			m.t.Fatal(err)
		}
		content, err := mover.files.OpenFile(m.t.Context(), file.Name)
		if err != nil {
			m.t.Fatal(err)
		}
		if m.content[file.Name], err = io.ReadAll(content); err != nil {
			m.t.Fatal(err)
		}
		content.Close()
		err = m.db.Update(m.t.Context(), func(tx *store.Tx) error { return tx.AddStoredFiles(m.t.Context(), file.Stored(store.UploadedFile)) })
		if err != nil {
			m.t.Fatal(err)
		}
		file.Release()
	}
	_, err := mover.archives.Write(m.t.Context(), testArchive, func(w io.Writer) error { _, err := io.WriteString(w, "archive"); return err })
	if err != nil {
		m.t.Fatal(err)
	}
}

// wantServed fails if a file is not served with its content.
func (m *moved) wantServed(mover *Mover) {
	m.t.Helper()
	for name, want := range m.content {
		answer := request(mover.files, "GET", "/media/"+name, nil)
		if got, err := io.ReadAll(answer.Body); answer.StatusCode != 200 || err != nil || !bytes.Equal(got, want) {
			m.t.Errorf("%s: %d with %d bytes, %v", name, answer.StatusCode, len(got), err)
		}
	}
	content, err := mover.archives.Open(m.t.Context(), testArchive, netip.Addr{}, true)
	if err != nil {
		m.t.Fatal(err)
	}
	defer content.Close()
	if got, err := io.ReadAll(content); string(got) != "archive" || err != nil {
		m.t.Errorf("the archive is %q, %v", got, err)
	}
}

// places returns which files are on disk and in the bucket.
func (m *moved) places(mover *Mover) (onDisk, inBucket []string) {
	m.t.Helper()
	err := mover.files.walkDisk(m.t.Context(), func(e Entry) error { onDisk = append(onDisk, e.Name); return nil })
	if err == nil {
		err = mover.files.bucket.each(m.t.Context(), mediaObjects, "", func(name string, o objects.Object) error { inBucket = append(inBucket, name); return nil })
	}
	if err != nil {
		m.t.Fatal(err)
	}
	slices.Sort(onDisk)
	return onDisk, inBucket
}

// TestMove moves media to the bucket and back, with the server in memory and a real one.
func TestMove(t *testing.T) {
	eachS3(t, func(t *testing.T, address string) {
		m := newMoved(t, address)
		mover := m.open(config.MediaOnDisk)
		m.fill(mover, 20)
		names := slices.Sorted(maps.Keys(m.content))
		for _, to := range []string{config.MediaInBucket, config.MediaOnDisk, config.MediaInBucket} {
			mover := m.open(to)
			m.wantServed(mover)
			if err := mover.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			m.wantServed(mover)
			onDisk, inBucket := m.places(mover)
			want, left := inBucket, onDisk
			if to == config.MediaOnDisk {
				want, left = onDisk, inBucket
			}
			if !slices.Equal(want, names) || len(left) != 0 {
				t.Errorf("to %s: on disk are %d, in the bucket %d of %d", to, len(onDisk), len(inBucket), len(names))
			}
			if s, err := mover.Status(t.Context()); err != nil || s.Done != int64(len(names))+1 || s.Total != s.Done || s.Failed != 0 || s.Running || s.Finished == nil {
				t.Errorf("to %s: %+v, %v", to, s, err)
			}
			if err := mover.run(t.Context()); err != nil { // again
				t.Error(err)
			}
		}
	})
}

// TestMoveIsInterrupted ends the process of a move at each of its requests: all files are served meanwhile and afterwards, and the next process completes
// the move.
func TestMoveIsInterrupted(t *testing.T) {
	server := objectstest.New(t)
	m := newMoved(t, server.Address)
	m.fill(m.open(config.MediaOnDisk), 3)
	to := config.MediaInBucket
	completed := 0
	for n := int64(1); completed < 2 && n < 60; n++ {
		mover := m.open(to)
		var count atomic.Int64
		server.Fail(func(w http.ResponseWriter, r *http.Request) bool {
			if count.Add(1) >= n {
				panic(http.ErrAbortHandler)
			}
			return false
		})
		err := mover.run(t.Context())
		server.Fail(nil)
		if err == nil {
			completed++
			n, to = 0, config.MediaOnDisk
			m.wantServed(m.open(to))
			continue
		}
		if !errors.Is(err, ErrBucket) {
			t.Fatalf("interrupted at request %d: %v", n, err)
		}
		m.wantServed(m.open(to))
		if n%3 == 0 { // begin anew with all files at the old place, so that each step is interrupted
			other := config.MediaOnDisk
			if to == config.MediaOnDisk {
				other = config.MediaInBucket
			}
			back := m.open(other)
			if err := back.run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if completed != 2 {
		t.Errorf("%d moves were completed", completed)
	}
	if onDisk, inBucket := m.places(m.open(config.MediaOnDisk)); len(onDisk) != len(m.content) || len(inBucket) != 0 {
		t.Errorf("on disk are %d, in the bucket %d of %d", len(onDisk), len(inBucket), len(m.content))
	}
}

// TestMoveKeepsWhatIsWrong has files that are damaged, a bucket that changes what it stores, and one that is full: the old file stays.
func TestMoveKeepsWhatIsWrong(t *testing.T) {
	server := objectstest.New(t)
	m := newMoved(t, server.Address)
	m.fill(m.open(config.MediaOnDisk), 3)
	names := slices.Sorted(maps.Keys(m.content))
	damaged := filepath.Join(m.dir, "media", names[0])
	b, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(damaged, b, 0o600); err != nil {
		t.Fatal(err)
	}
	mover := m.open(config.MediaInBucket)

	server.Fail(objectstest.Full)
	var full *errs.Error
	if err := mover.run(t.Context()); !errors.As(err, &full) || full.Status != 507 {
		t.Errorf("a full bucket: %v", err)
	}
	server.Fail(func(w http.ResponseWriter, r *http.Request) bool { // another content than was stored
		if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/media/") {
			return false
		}
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		fmt.Fprint(w, "something else")
		return true
	})
	if err := mover.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.Fail(nil)
	if s, _ := mover.Status(t.Context()); s.Failed != int64(len(names)) {
		t.Errorf("%+v", s)
	}
	if onDisk, _ := m.places(mover); !slices.Equal(onDisk, names) {
		t.Errorf("on disk are %d of %d", len(onDisk), len(names))
	}
	if err := mover.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if onDisk, inBucket := m.places(mover); !slices.Equal(onDisk, names[:1]) || !slices.Equal(inBucket, names[1:]) {
		t.Errorf("on disk are %q, in the bucket %q", onDisk, inBucket)
	}
	sum := sha256.Sum256(b)
	if got, err := mover.files.Intact(t.Context(), names[0], hex.EncodeToString(sum[:])); !got || err != nil {
		t.Errorf("the damaged file was changed: %v", err)
	}
}

// TestStartMove has moves that are refused, and one that a command runs because no server does.
func TestStartMove(t *testing.T) {
	m := newMoved(t, objectstest.New(t).Address)
	without := *m
	without.address = ""
	for _, tt := range []struct {
		mover *Mover
		to    string
		want  int
	}{
		{m.open(config.MediaOnDisk), "cellar", 422},
		{m.open(config.MediaOnDisk), config.MediaInBucket, 409},
		{m.open(config.MediaInBucket), config.MediaOnDisk, 409},
		{without.open(config.MediaOnDisk), config.MediaOnDisk, 409},
	} {
		_, err := tt.mover.Start(t.Context(), tt.to)
		wantStatus(t, err, tt.want)
	}
	m.fill(m.open(config.MediaOnDisk), 2)
	mover := m.open(config.MediaInBucket)
	s, err := mover.Start(t.Context(), config.MediaInBucket)
	if err != nil || !s.Running || s.To != config.MediaInBucket {
		t.Fatalf("%+v, %v", s, err)
	}
	if s, err = mover.Wait(t.Context(), time.Minute, false); err != nil || s.Running || s.Done != int64(len(m.content))+1 {
		t.Errorf("%+v, %v", s, err)
	}
}
