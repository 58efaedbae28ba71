package store_test

import (
	"strings"
	"testing"

	"svc/store"
)

// TestOldAddresses checks what is found by old addresses, which texts are none, and that a server without old addresses does not look for them.
func TestOldAddresses(t *testing.T) {
	dir := t.TempDir()
	db, err := openIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if db.HasOldAddresses() {
		t.Error("a new database has old addresses")
	}
	alice := addAccount(t, db, "alice")
	st, err := addStatus(ctx, db, alice)
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, db, func(tx *store.Tx) error {
		for _, wrong := range []string{"", "x", "//other.example/x", "/a\\b", "/a\nb", "/a\xff", "/" + strings.Repeat("x", 2048)} {
			if tx.AddOldAddress(ctx, wrong, st.ID) == nil || tx.AddOldMedia(ctx, wrong, "/media/x.png") == nil || tx.AddOldMedia(ctx, "/x.png", wrong) == nil || tx.AddDeadAddress(ctx, wrong) == nil {
				t.Errorf("%.20q is accepted", wrong)
			}
		}
		if err := tx.AddOldAddress(ctx, "/@alice/1", st.ID); err != nil {
			return err
		}
		if err := tx.AddOldMedia(ctx, "/system/x.png", "/media/x.png"); err != nil {
			return err
		}
		if err := tx.AddOldMedia(ctx, "/media/0/a picture?.png", "/media/x.png"); err != nil {
			return err
		}
		if err := tx.AddOldMedia(ctx, "/system/x.png", "/media/y.png"); err != nil { // the first one stays
			return err
		}
		return tx.AddDeadNickname(ctx, "Bob")
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = openDir(t, dir)
	if !db.HasOldAddresses() {
		t.Fatal("old addresses are not found at the start")
	}
	const base = "https://example.org"
	for path, want := range map[string]store.StatusID{"/@alice/1": st.ID, "/@alice/1/activity": st.ID, strings.TrimPrefix(st.URI, base): st.ID, "/@alice/2": 0, "/@alice": 0, "": 0} {
		if got, err := db.OldStatusID(ctx, base, path); got != want || err != nil {
			t.Errorf("%q is the status %d, %v, want %d", path, got, err, want)
		}
	}
	if got, err := db.OldMedia(ctx, "/system/x.png"); got != "/media/x.png" || err != nil {
		t.Errorf("the file is at %q, %v", got, err)
	}
	for path, want := range map[string]bool{"/users/Bob": true, "/@Bob": true, "/users/alice": false} {
		if got, err := db.IsDeadAddress(ctx, path); got != want || err != nil {
			t.Errorf("%s is dead: %v, %v", path, got, err)
		}
	}
	for nick, want := range map[string]bool{"bob": true, "BOB": true, "alice": false} {
		if got, err := db.IsDeadNickname(ctx, nick); got != want || err != nil {
			t.Errorf("the nickname %s is dead: %v, %v", nick, got, err)
		}
	}
	mustUpdate(t, db, func(tx *store.Tx) error { _, err := tx.DeleteStatus(ctx, st); return err })
	if got, err := db.StatusIDByOldPath(ctx, "/@alice/1"); got != 0 || err != nil {
		t.Errorf("the address of a deleted status leads to %d, %v", got, err)
	}
}

// TestOldActors checks that accounts with ids of other software are noticed at the start, even if no address is stored.
func TestOldActors(t *testing.T) {
	for uri, want := range map[string]bool{"": false, "https://example.org/users/alice": true, "https://example.org/ap/users/1": true, "https://example.org/internal/fetch": false} {
		dir := t.TempDir()
		db, err := openIn(dir)
		if err != nil {
			t.Fatal(err)
		}
		a := addAccount(t, db, "alice")
		if uri == "" {
			uri = "https://example.org/users/" + a.ID.String()
		}
		mustUpdate(t, db, func(tx *store.Tx) error { return tx.SetAccountURI(t.Context(), a.ID, uri) })
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if got := openDir(t, dir).HasOldAddresses(); got != want {
			t.Errorf("with %s, old addresses: %v, want %v", uri, got, want)
		}
	}
}
