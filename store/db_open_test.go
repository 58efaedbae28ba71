package store_test

import (
	"context"
	"os"
	"testing"
	"time"

	"svc/store"
)

// open returns a new database in a folder of its own.
func open(t testing.TB) *store.DB {
	t.Helper()
	return openDir(t, t.TempDir())
}

func openDir(t testing.TB, dir string) *store.DB {
	t.Helper()
	db, err := openIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func openIn(dir string) (*store.DB, error) { return openAt(dir, time.Time{}) }

// openAt opens a database whose clock is fixed at now; the zero time is the real clock.
func openAt(dir string, now time.Time) (*store.DB, error) {
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		return nil, err
	}
	o := store.Options{Dir: dir, Schema: string(schema)}
	if !now.IsZero() {
		o.Now = func() time.Time { return now }
	}
	return store.Open(context.Background(), o)
}

func mustUpdate(t testing.TB, db *store.DB, fn func(*store.Tx) error) {
	t.Helper()
	if err := db.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}
