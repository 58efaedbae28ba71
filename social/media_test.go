package social_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc/internal/config"
	"svc/media"
	"svc/social"
	"svc/store"
)

// bench is a service with a database and files of its own, and a clock that can be put forward.
type bench struct {
	*social.Service
	t      *testing.T
	db     *store.DB
	files  *media.Files
	worker *store.Worker
	dir    string
	ahead  atomic.Int64 // by how much the clock is
}

func newBench(t *testing.T) *bench {
	t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: t.TempDir()}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	b.db, err = store.Open(t.Context(), store.Options{
		Dir: b.dir, Schema: string(schema), Log: log,
		Now: func() time.Time { return time.Now().Add(time.Duration(b.ahead.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if b.files, err = media.Open(filepath.Join(b.dir, "media"), media.Limits{}); err != nil {
		t.Fatal(err)
	}
	b.Service = social.New(b.db, b.files, social.FromSettings(config.Default()), log)
	b.worker = store.NewWorker(b.db, 1, log)
	b.Register(b.worker)
	t.Cleanup(func() {
		b.db.Close()
		b.files.Close()
	})
	return b
}

// account makes a local account.
func (b *bench) account(nick string) *store.Account {
	b.t.Helper()
	a := &store.Account{Nickname: nick, ActorType: "Person", URI: "http://localhost:4000/users/" + nick}
	b.update(func(tx *store.Tx) error {
		if err := tx.AddAccount(b.t.Context(), a); err != nil {
			return err
		}
		return tx.AddUser(b.t.Context(), &store.User{AccountID: a.ID})
	})
	return a
}

func (b *bench) update(fn func(*store.Tx) error) {
	b.t.Helper()
	if err := b.db.Update(b.t.Context(), fn); err != nil {
		b.t.Fatal(err)
	}
}

// sound is a file that is accepted; each is another.
func sound(name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return append([]byte("\xff\xfb\x90\x64"), bytes.Repeat(sum[:], 4)...)
}

func (b *bench) upload(owner *store.Account, name string) *store.Media {
	b.t.Helper()
	m, err := b.Upload(b.t.Context(), owner, bytes.NewReader(sound(name)), name)
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// later puts the clock forward, so that files and rows get older.
func (b *bench) later(d time.Duration) {
	b.t.Helper()
	b.ahead.Add(int64(d))
}

// sweep has the job of clearing up done, as the worker would.
func (b *bench) sweep() {
	b.t.Helper()
	b.update(func(tx *store.Tx) error {
		return tx.EnqueueUnique(b.t.Context(), b.db.Now(), "every:sweep_media", store.SweepMedia{})
	})
	if err := b.worker.Settle(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// there lists which of the uploads have a row, and which their file.
func (b *bench) there(uploads ...*store.Media) (rows, files string) {
	b.t.Helper()
	for _, m := range uploads {
		found, err := b.db.MediaByIDs(b.t.Context(), []store.MediaID{m.ID})
		if err != nil {
			b.t.Fatal(err)
		}
		if len(found) > 0 {
			rows += m.Description
		}
		exists, err := b.files.Exists(m.File)
		if err != nil {
			b.t.Fatal(err)
		}
		if exists {
			files += m.Description
		}
	}
	return rows, files
}

func (b *bench) wantThere(uploads []*store.Media, wantRows, wantFiles string) {
	b.t.Helper()
	rows, files := b.there(uploads...)
	if rows != wantRows || files != wantFiles {
		b.t.Errorf("rows of %q and files of %q are there, want %q and %q", rows, files, wantRows, wantFiles)
	}
}

func TestSweepMedia(t *testing.T) {
	b := newBench(t)
	alice, bob := b.account("alice"), b.account("bob")
	loose := b.upload(alice, "L")
	attached := b.upload(alice, "A")
	both := b.upload(alice, "B") // attached by one, loose with another
	bobs := b.upload(bob, "B")
	worn := b.upload(alice, "W") // loose, but somebody's picture
	deleted := b.upload(alice, "D")
	all := []*store.Media{loose, attached, both, bobs, worn, deleted}
	st, err := b.Publish(t.Context(), alice, social.Draft{MediaIDs: []store.MediaID{attached.ID, both.ID}})
	if err != nil {
		t.Fatal(err)
	}
	b.update(func(tx *store.Tx) error {
		bob.Avatar = worn.File
		return tx.SaveAccount(t.Context(), bob)
	})
	gone, err := b.Publish(t.Context(), alice, social.Draft{MediaIDs: []store.MediaID{deleted.ID}})
	if err != nil {
		t.Fatal(err)
	}

	b.sweep()
	b.wantThere(all, "LABBWD", "LABBWD")
	b.later(23 * time.Hour)
	b.sweep()
	b.wantThere(all, "LABBWD", "LABBWD")

	// A status that goes leaves its uploads for a day, to write it anew with.
	if _, err := b.DeleteStatus(t.Context(), alice, gone.ID); err != nil {
		t.Fatal(err)
	}
	b.later(2 * time.Hour)
	b.sweep()
	b.wantThere(all, "ABD", "ABBWD")
	b.later(23 * time.Hour)
	b.sweep()
	b.wantThere(all, "ABD", "ABBWD")
	b.later(2 * time.Hour)
	b.sweep()
	b.wantThere(all, "AB", "ABBW")

	b.update(func(tx *store.Tx) error {
		bob.Avatar = ""
		return tx.SaveAccount(t.Context(), bob)
	})
	if _, err := b.DeleteStatus(t.Context(), alice, st.ID); err != nil {
		t.Fatal(err)
	}
	b.sweep()
	b.wantThere(all, "AB", "ABB")
	b.later(25 * time.Hour)
	b.sweep()
	b.wantThere(all, "", "")
}

// What is uploaded again while its like, long unused, is being removed, stays.
func TestSweepMeetsUpload(t *testing.T) {
	b := newBench(t)
	alice := b.account("alice")
	var m *store.Media
	for i := range 30 {
		m = b.upload(alice, "again")
		b.update(func(tx *store.Tx) error { // its row is gone, its file old
			if _, err := tx.MarkDetachedMedia(t.Context(), 100); err != nil {
				return err
			}
			_, err := tx.DropDetachedMedia(t.Context(), -time.Hour, 100)
			return err
		})
		old := time.Now().Add(-48 * time.Hour)
		if err := os.Chtimes(filepath.Join(b.dir, "media", m.File), old, old); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() { m = b.upload(alice, "again") })
		wg.Go(b.sweep)
		wg.Wait()
		if rows, files := b.there(m); rows != "again" || files != "again" {
			t.Fatalf("round %d: row %q, file %q", i, rows, files)
		}
	}
}

// An attachment that an edit took away stays for the versions that showed it, and out of sight.
func TestAttachKeepsEarlierAttachments(t *testing.T) {
	b := newBench(t)
	alice := b.account("alice")
	first, second := b.upload(alice, "1"), b.upload(alice, "2")
	st, err := b.Publish(t.Context(), alice, social.Draft{MediaIDs: []store.MediaID{first.ID}})
	if err != nil {
		t.Fatal(err)
	}
	b.update(func(tx *store.Tx) error { return tx.AttachMedia(t.Context(), st.ID, []*store.Media{second}) })
	b.later(100 * time.Hour)
	b.sweep()
	b.later(100 * time.Hour)
	b.sweep()
	b.wantThere([]*store.Media{first, second}, "12", "12")
	shown, err := b.db.MediaOf(t.Context(), []store.StatusID{st.ID})
	if err != nil || len(shown) != 1 || shown[0].ID != second.ID {
		t.Errorf("attached are %v, %v", shown, err)
	}
}

// Many files and rows are more than one batch.
func TestSweepMany(t *testing.T) {
	b := newBench(t)
	alice := b.account("alice")
	var all []*store.Media
	for i := range 300 {
		all = append(all, b.upload(alice, fmt.Sprint(i, ",")))
	}
	kept := all[150]
	if _, err := b.Publish(t.Context(), alice, social.Draft{MediaIDs: []store.MediaID{kept.ID}}); err != nil {
		t.Fatal(err)
	}
	b.later(25 * time.Hour)
	b.sweep()
	b.wantThere(all, kept.Description, kept.Description)
}

func TestUploadDescription(t *testing.T) {
	b := newBench(t)
	alice, bob := b.account("alice"), b.account("bob")
	b.MaxDescription = 3
	if _, err := b.Upload(t.Context(), alice, unread{t}, "four"); err == nil || !strings.Contains(err.Error(), "description_too_long") {
		t.Errorf("got %v", err)
	}
	m, err := b.Upload(t.Context(), alice, bytes.NewReader(sound("x")), " 👩‍👩‍👧‍👦ab ")
	if err != nil || m.Description != "👩‍👩‍👧‍👦ab" {
		t.Fatalf("%v, %v", m, err)
	}
	if _, err := b.DescribeUpload(t.Context(), bob, m.ID, "x"); err == nil {
		t.Error("somebody else may describe it")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Upload(ended, alice, bytes.NewReader(sound("y")), ""); err == nil {
		t.Error("an upload whose client has gone is stored")
	}
	var names []string
	b.files.Walk(t.Context(), func(e media.Entry) error { names = append(names, e.Name); return nil })
	if !slices.Equal(names, []string{m.File}) {
		t.Errorf("stored are %v", names)
	}
}

// unread is a file that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the file is read before it is known that it is of use")
	return 0, os.ErrClosed
}
