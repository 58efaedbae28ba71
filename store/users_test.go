package store_test

import (
	"slices"
	"testing"

	"svc/store"
)

// TestLastAdmin checks that an admin who cannot sign in does not count as an admin of the server.
func TestLastAdmin(t *testing.T) {
	now := store.Time(1)
	usable := store.User{IsAdmin: true, ConfirmedAt: &now, ApprovedAt: &now}
	for _, tt := range []struct {
		name   string
		change func(*store.User)
		last   bool // alice is the last admin beside this one
	}{
		{"another admin", func(*store.User) {}, false},
		{"an unconfirmed one", func(u *store.User) { u.ConfirmedAt = nil }, true},
		{"one who awaits approval", func(u *store.User) { u.ApprovedAt = nil }, true},
		{"a deactivated one", func(u *store.User) { u.DeactivatedAt = &now }, true},
		{"a moderator", func(u *store.User) { u.IsAdmin, u.IsModerator = false, true }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t)
			alice, bob := addAccount(t, db, "alice"), addAccount(t, db, "bob")
			other := usable
			tt.change(&other)
			other.AccountID = bob.ID
			mustUpdate(t, db, func(tx *store.Tx) error { return tx.SaveUser(t.Context(), &other) })
			if has, err := db.HasAdmin(t.Context()); has == tt.last || err != nil {
				t.Errorf("has an admin: %v, %v", has, err)
			}
			first := usable
			first.AccountID = alice.ID
			mustUpdate(t, db, func(tx *store.Tx) error { return tx.SaveUser(t.Context(), &first) })
			if last, err := db.IsLastAdmin(t.Context(), alice.ID); last != tt.last || err != nil {
				t.Errorf("alice is the last admin: %v, %v", last, err)
			}
			if last, err := db.IsLastAdmin(t.Context(), bob.ID); last || err != nil {
				t.Errorf("the other is the last admin: %v, %v", last, err)
			}
			staff, err := db.Staff(t.Context())
			if err != nil || slices.Contains(staff, bob.ID) != other.CanSignIn() {
				t.Errorf("got staff %v, %v", staff, err)
			}
		})
	}
}

// TestStaleUserKeepsSecondFactor checks that a user that was read before the second factor was set does not remove it when it is saved, and that
// a new user has the interaction policies that it was added with.
func TestStaleUserKeepsSecondFactor(t *testing.T) {
	db := open(t)
	alice := addAccount(t, db, "alice")
	added := &store.User{AccountID: alice.ID}
	added.DefaultInteractionPolicies.V = store.InteractionPolicies{store.Public: 1}
	mustUpdate(t, db, func(tx *store.Tx) error {
		if err := tx.RemoveUser(t.Context(), alice.ID); err != nil {
			return err
		}
		return tx.AddUser(t.Context(), added)
	})
	stale, err := db.User(t.Context(), alice.ID)
	if err != nil || stale.DefaultInteractionPolicies.V[store.Public] != 1 {
		t.Errorf("got interaction policies %v, %v", stale.DefaultInteractionPolicies.V, err)
	}
	mustUpdate(t, db, func(tx *store.Tx) error {
		return tx.SetTOTP(t.Context(), &store.User{AccountID: alice.ID, TOTPSecret: "SECRET", TOTPStep: 7})
	})
	stale.Locale = "de"
	mustUpdate(t, db, func(tx *store.Tx) error { return tx.SaveUser(t.Context(), stale) })
	got, err := db.User(t.Context(), alice.ID)
	if err != nil || got.Locale != "de" || got.TOTPSecret != "SECRET" || got.TOTPStep != 7 {
		t.Errorf("got %+v, %v", got, err)
	}
}
