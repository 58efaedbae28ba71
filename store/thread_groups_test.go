package store_test

import (
	"testing"

	"svc/store"
)

// addRemoteGroup adds a group of another server.
func addRemoteGroup(t testing.TB, db *store.DB) *store.Account {
	t.Helper()
	a := &store.Account{Nickname: "cats", Domain: "groups.example", ActorType: "Group", URI: "https://groups.example/c/cats"}
	mustUpdate(t, db, func(tx *store.Tx) error { return tx.AddAccount(t.Context(), a) })
	return a
}

// addThread adds posts of which each is a reply to the one before, each with a recipient and a boost.
func addThread(t testing.TB, db *store.DB, author, other *store.Account, n int) []*store.Status {
	t.Helper()
	var list []*store.Status
	add := func(tx *store.Tx, s *store.Status) error {
		s.ID, s.AccountID = tx.NewStatusID(), author.ID
		s.URI = "https://example.org/objects/" + s.ID.String()
		if s.ConversationID = store.ConversationID(s.ID); s.InReplyToID != nil {
			s.ConversationID = list[0].ConversationID
		}
		return tx.AddStatus(t.Context(), s)
	}
	for i := range n {
		mustUpdate(t, db, func(tx *store.Tx) error {
			s := &store.Status{}
			if i > 0 {
				s.InReplyToID, s.InReplyToAccountID = &list[i-1].ID, &author.ID
			}
			if err := add(tx, s); err != nil {
				return err
			}
			list = append(list, s)
			if err := add(tx, &store.Status{ReblogOfID: &s.ID}); err != nil {
				return err
			}
			return tx.AddRecipients(t.Context(), []store.Recipient{{StatusID: s.ID, AccountID: other.ID, Mentioned: true}})
		})
	}
	return list
}

// TestGroupOf checks how the group of a thread is found, and that it costs no query while no group is known.
func TestGroupOf(t *testing.T) {
	dir := t.TempDir()
	db, err := openIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	alice, bob := addAccount(t, db, "alice"), addAccount(t, db, "bob")
	one, two := addThread(t, db, alice, bob, 3), addThread(t, db, alice, bob, 3)
	want := func(st *store.Status, group store.AccountID, queries int64) {
		t.Helper()
		before := db.QueryCount()
		got, err := db.GroupOf(t.Context(), st.ID)
		if err != nil || got != group {
			t.Errorf("the group is %d, want %d (%v)", got, group, err)
		}
		if n := db.QueryCount() - before; n != queries {
			t.Errorf("it takes %d queries, want %d", n, queries)
		}
	}
	want(one[2], 0, 0)
	cats := addRemoteGroup(t, db)
	want(one[2], 0, 1)
	mustUpdate(t, db, func(tx *store.Tx) error {
		boost := &store.Status{ID: tx.NewStatusID(), AccountID: cats.ID, Domain: cats.Domain, ReblogOfID: &one[0].ID, URI: "https://groups.example/boost"}
		boost.ConversationID = store.ConversationID(boost.ID)
		if err := tx.AddStatus(t.Context(), boost); err != nil {
			return err
		}
		return tx.AddRecipients(t.Context(), []store.Recipient{{StatusID: two[1].ID, AccountID: cats.ID}})
	})
	want(one[0], cats.ID, 1)
	want(one[2], cats.ID, 1)
	want(two[0], 0, 1) // the group is addressed further down
	want(two[2], cats.ID, 1)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = openDir(t, dir)
	want(one[2], cats.ID, 1)
}

func BenchmarkGroupOf(b *testing.B) {
	db := open(b)
	alice, bob := addAccount(b, db, "alice"), addAccount(b, db, "bob")
	list := addThread(b, db, alice, bob, 10)
	run := func(st *store.Status) func(*testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				if group, err := db.GroupOf(b.Context(), st.ID); group != 0 || err != nil {
					b.Fatal(group, err)
				}
			}
		}
	}
	b.Run("no group known", run(list[0]))
	addRemoteGroup(b, db)
	b.Run("a first post", run(list[0]))
	b.Run("ten levels down", run(list[9]))
}
