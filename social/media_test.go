package social_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/media"
	"svc/social"
	"svc/store"
)

// audioFile returns a file that is a valid upload. Each name gives another one.
func audioFile(name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return append([]byte("\xff\xfb\x90\x64"), bytes.Repeat(sum[:], 4)...)
}

func (b *harness) upload(owner *store.Account, name string) *store.Media {
	b.t.Helper()
	m, err := b.Upload(b.t.Context(), owner, social.NewUpload{Content: bytes.NewReader(audioFile(name)), Description: name})
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// sweep runs the job that removes unused media.
func (b *harness) sweep() {
	b.t.Helper()
	b.update(func(tx *store.Tx) error {
		return tx.EnqueueUnique(b.t.Context(), b.db.Now(), "every:sweep_media", store.SweepMedia{})
	})
	if err := b.worker.Settle(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// stored returns the descriptions of the uploads that have a row, and of those that have a file.
func (b *harness) stored(uploads ...*store.Media) (rows, files string) {
	b.t.Helper()
	for _, m := range uploads {
		found, err := b.db.MediaByIDs(b.t.Context(), []store.MediaID{m.ID})
		if err != nil {
			b.t.Fatal(err)
		}
		if len(found) > 0 {
			rows += m.Description
		}
		file, err := b.files.Stat(b.t.Context(), m.File)
		if err != nil {
			b.t.Fatal(err)
		}
		if file != nil {
			files += m.Description
		}
	}
	return rows, files
}

func (b *harness) wantStored(uploads []*store.Media, wantRows, wantFiles string) {
	b.t.Helper()
	rows, files := b.stored(uploads...)
	if rows != wantRows || files != wantFiles {
		b.t.Errorf("got rows of %q and files of %q, want %q and %q", rows, files, wantRows, wantFiles)
	}
}

func TestSweepMedia(t *testing.T) {
	b := newHarness(t)
	alice, bob := b.account("alice"), b.account("bob")
	detached := b.upload(alice, "L")
	attached := b.upload(alice, "A")
	both := b.upload(alice, "B") // the same file, attached and detached
	again := b.upload(alice, "B")
	avatar := b.upload(alice, "W") // detached, but bob's avatar
	deleted := b.upload(alice, "D")
	all := []*store.Media{detached, attached, both, again, avatar, deleted}
	st, err := b.Publish(t.Context(), alice, social.Draft{MediaIDs: []store.MediaID{attached.ID, both.ID}})
	if err != nil {
		t.Fatal(err)
	}
	b.update(func(tx *store.Tx) error {
		bob.Avatar = avatar.File
		return tx.SaveAccount(t.Context(), bob)
	})
	gone, err := b.Publish(t.Context(), alice, social.Draft{MediaIDs: []store.MediaID{deleted.ID}})
	if err != nil {
		t.Fatal(err)
	}

	b.sweep()
	b.wantStored(all, "LABBWD", "LABBWD")
	b.advance(23 * time.Hour)
	b.sweep()
	b.wantStored(all, "LABBWD", "LABBWD")

	// The uploads of a deleted status stay for a day, so that it can be posted again.
	if _, err := b.DeleteStatus(t.Context(), alice, gone.ID, false); err != nil {
		t.Fatal(err)
	}
	b.advance(2 * time.Hour)
	b.sweep()
	b.wantStored(all, "ABD", "ABBWD")
	b.advance(23 * time.Hour)
	b.sweep()
	b.wantStored(all, "ABD", "ABBWD")
	b.advance(2 * time.Hour)
	b.sweep()
	b.wantStored(all, "AB", "ABBW")

	b.update(func(tx *store.Tx) error {
		bob.Avatar = ""
		return tx.SaveAccount(t.Context(), bob)
	})
	if _, err := b.DeleteStatus(t.Context(), alice, st.ID, false); err != nil {
		t.Fatal(err)
	}
	b.sweep()
	b.wantStored(all, "AB", "ABB")
	b.advance(25 * time.Hour)
	b.sweep()
	b.wantStored(all, "", "")
}

// A file that is uploaded again while the job removes the unused old one stays.
func TestSweepDuringUpload(t *testing.T) {
	b := newHarness(t)
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
		if rows, files := b.stored(m); rows != "again" || files != "again" {
			t.Fatalf("round %d: row %q, file %q", i, rows, files)
		}
	}
}

// An attachment that an edit removed stays for the old version, and is not shown.
func TestAttachKeepsEarlierAttachments(t *testing.T) {
	b := newHarness(t)
	alice := b.account("alice")
	first, second := b.upload(alice, "1"), b.upload(alice, "2")
	st, err := b.Publish(t.Context(), alice, social.Draft{MediaIDs: []store.MediaID{first.ID}})
	if err != nil {
		t.Fatal(err)
	}
	b.update(func(tx *store.Tx) error { return tx.AttachMedia(t.Context(), st.ID, []*store.Media{second}) })
	b.advance(100 * time.Hour)
	b.sweep()
	b.advance(100 * time.Hour)
	b.sweep()
	b.wantStored([]*store.Media{first, second}, "12", "12")
	attached, err := b.db.MediaOf(t.Context(), []store.StatusID{st.ID})
	if err != nil || len(attached) != 1 || attached[0].ID != second.ID {
		t.Errorf("got attachments %v, %v", attached, err)
	}
}

// More files and rows than one batch.
func TestSweepMany(t *testing.T) {
	b := newHarness(t)
	alice := b.account("alice")
	var all []*store.Media
	for i := range 300 {
		all = append(all, b.upload(alice, fmt.Sprint(i, ",")))
	}
	kept := all[150]
	if _, err := b.Publish(t.Context(), alice, social.Draft{MediaIDs: []store.MediaID{kept.ID}}); err != nil {
		t.Fatal(err)
	}
	b.advance(25 * time.Hour)
	b.sweep()
	b.wantStored(all, kept.Description, kept.Description)
}

func TestUploadDescription(t *testing.T) {
	b := newHarness(t)
	alice, bob := b.account("alice"), b.account("bob")
	changed := *b.Settings.Load()
	changed.Media.DescriptionLength = 3
	b.Settings.Store(&changed)
	if _, err := b.Upload(t.Context(), alice, social.NewUpload{Content: unread{t}, Description: "four"}); err == nil || !strings.Contains(err.Error(), "description_too_long") {
		t.Errorf("got %v", err)
	}
	m, err := b.Upload(t.Context(), alice, social.NewUpload{Content: bytes.NewReader(audioFile("x")), Description: " 👩‍👩‍👧‍👦ab "})
	if err != nil || m.Description != "👩‍👩‍👧‍👦ab" {
		t.Fatalf("%v, %v", m, err)
	}
	if _, err := b.ChangeUpload(t.Context(), bob, m.ID, social.UploadChange{Description: new(string)}); err == nil {
		t.Error("another account may describe it")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Upload(ended, alice, social.NewUpload{Content: bytes.NewReader(audioFile("y"))}); err == nil {
		t.Error("an upload of a cancelled request is stored")
	}
	var names []string
	b.files.Walk(t.Context(), func(e media.Entry) error { names = append(names, e.Name); return nil })
	if !slices.Equal(names, []string{m.File}) {
		t.Errorf("got files %v", names)
	}
}

// unread is a file that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the file is read before the description is checked")
	return 0, os.ErrClosed
}
