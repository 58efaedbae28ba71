package store_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"svc/store"
)

// TestActivity checks the counts of statuses, registrations and active accounts per week.
func TestActivity(t *testing.T) {
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2025, 12, 28, 23, 59, 59, 999_000_000, time.UTC) // a Sunday, to the last moment
	db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Schema: string(schema), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	n := 0
	do := func(fn func(*store.Tx) error) {
		t.Helper()
		if err := db.Update(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	signUp := func(domain string) store.AccountID {
		n++
		a := &store.Account{Nickname: fmt.Sprint("a", n), URI: fmt.Sprint("a", n), ActorType: "Person", Domain: domain}
		do(func(tx *store.Tx) error {
			if err := tx.AddAccount(t.Context(), a); err != nil || domain != "" {
				return err
			}
			return tx.AddUser(t.Context(), &store.User{AccountID: a.ID})
		})
		return a.ID
	}
	post := func(by store.AccountID, domain string, v store.Visibility) {
		n++
		do(func(tx *store.Tx) error {
			return tx.AddStatus(t.Context(), &store.Status{ID: tx.NewStatusID(), AccountID: by, Visibility: v, Domain: domain, URI: fmt.Sprint("s", n)})
		})
	}
	active := func(id store.AccountID) {
		do(func(tx *store.Tx) error { return tx.MarkActive(t.Context(), id) })
	}
	want := func(rows ...string) {
		t.Helper()
		got, err := db.WeeklyActivity(t.Context(), 3)
		if err != nil || len(got) != 3 {
			t.Fatalf("got %v, %v", got, err)
		}
		for i, row := range rows {
			a := got[i]
			if s := fmt.Sprint(a.Week.Time().Format(time.DateTime), " ", a.Statuses, " ", a.ActiveUsers, " ", a.Registrations); s != row {
				t.Errorf("got %s, want %s", s, row)
			}
		}
	}
	alice, elsewhere := signUp(""), signUp("example.org")
	post(alice, "", store.Public)
	post(alice, "", store.Local)
	post(alice, "", store.Private)
	post(elsewhere, "example.org", store.Public)
	active(alice)
	active(alice)
	want("2025-12-22 00:00:00 2 1 1", "2025-12-15 00:00:00 0 0 0", "2025-12-08 00:00:00 0 0 0")

	now = now.Add(time.Millisecond)
	bob := signUp("")
	post(bob, "", store.Public)
	for range 2 {
		active(alice)
		active(bob)
		now = now.Add(3 * 24 * time.Hour)
	}
	want("2025-12-29 00:00:00 1 2 1", "2025-12-22 00:00:00 2 1 1", "2025-12-15 00:00:00 0 0 0")
	now = now.Add(7 * 24 * time.Hour)
	active(bob)
	want("2026-01-05 00:00:00 0 1 0", "2025-12-29 00:00:00 1 2 1", "2025-12-22 00:00:00 2 1 1")
}
