package store_test

import (
	"math"
	"testing"
	"time"

	"svc/store"
)

// maxStaffTime bounds a list of the staff that looks at as many rows as it may: the best of three, because other tests run at the same time.
const maxStaffTime = time.Second

// TestStaffListsAreBounded lists accounts and posts of which the newest 210 000 do not match.
func TestStaffListsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long with -short")
	}
	db := open(t)
	seed(t, db, 1000)
	const accounts, posts = 210_000, 110_000
	const author, oldest = store.AccountID(3), store.AccountID(5)
	mustUpdate(t, db, func(tx *store.Tx) error {
		for _, query := range []string{`
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
			INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, created_at)
			SELECT 1000 + i, 'h' || i, 'h' || i, 'many.example', 'https://many.example/users/' || i, '', 1 FROM n`, `
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - 100000)
			INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, created_at, uri, content)
			SELECT 10000000 + i, 3, CASE WHEN i % 2 THEN 2 ELSE 3 END, i, 'private.example', 1, 'https://many.example/' || i, '' FROM n`,
		} {
			if err := tx.Exec(t.Context(), query, accounts); err != nil {
				return err
			}
		}
		return tx.Exec(t.Context(), `UPDATE statuses SET domain = 'private.example', visibility = 0, reblog_of_id = NULL WHERE id = 2`)
	})
	if posts != accounts-100_000 {
		t.Fatal("the number of posts is not that of the query")
	}
	var part store.Part[store.AccountID]
	for _, tt := range []struct {
		name string
		want int
		read func() (int, error)
	}{
		{"accounts by handle", 0, func() (n int, err error) {
			part, err = db.StaffAccounts(t.Context(), store.StaffFilter{Handle: "a5@"}, 20, 0)
			return len(part.Rows), err
		}},
		{"accounts of the domain by handle", 0, func() (int, error) {
			found, err := db.StaffAccounts(t.Context(), store.StaffFilter{Domain: new("many.example"), Handle: "a5"}, 20, 0)
			return len(found.Rows), err
		}},
		{"the last accounts", 20, func() (int, error) {
			found, err := db.StaffAccounts(t.Context(), store.StaffFilter{}, 20, 199_980)
			return len(found.Rows), err
		}},
		{"accounts beyond", 0, func() (int, error) {
			found, err := db.StaffAccounts(t.Context(), store.StaffFilter{}, 20, 200_000)
			return len(found.Rows), err
		}},
		{"number of accounts", 200_000, func() (int, error) { return db.CountStaffAccounts(t.Context(), store.StaffFilter{}) }},
		{"number of local accounts", 400, func() (int, error) { return db.CountStaffAccounts(t.Context(), store.StaffFilter{Local: true}) }},
		{"number of accounts by handle", 0, func() (int, error) { return db.CountStaffAccounts(t.Context(), store.StaffFilter{Handle: "a5@"}) }},
		{"posts of an account", 0, func() (int, error) {
			list, err := db.StaffStatuses(t.Context(), store.StaffStatusFilter{Account: author}, 20, 0)
			return len(list), err
		}},
		{"posts of a domain", 1, func() (int, error) { // in the other index there are fewer
			list, err := db.StaffStatuses(t.Context(), store.StaffStatusFilter{Host: "private.example", OfHost: true}, 20, 0)
			return len(list), err
		}},
		{"all posts", 0, func() (int, error) {
			list, err := db.StaffStatuses(t.Context(), store.StaffStatusFilter{}, 20, 0)
			return len(list), err
		}},
		{"number of posts of a domain", 1, func() (int, error) {
			return db.CountStaffStatuses(t.Context(), store.StaffStatusFilter{Host: "private.example", OfHost: true})
		}},
		{"follows of a domain", 0, func() (int, error) {
			followers, following, err := db.DomainFollows(t.Context(), "many.example")
			return followers + following, err
		}},
	} {
		best := time.Duration(math.MaxInt64)
		for range 3 {
			began := time.Now()
			if n, err := tt.read(); n != tt.want || err != nil {
				t.Errorf("%s: got %d, %v, want %d", tt.name, n, err, tt.want)
			}
			best = min(best, time.Since(began))
		}
		if t.Logf("%s: %v", tt.name, best); best > maxStaffTime {
			t.Errorf("%s take %v", tt.name, best)
		}
	}
	// The list of accounts goes on where it has ended, in both directions.
	for _, p := range []store.Page{{MaxID: part.Next}, {MinID: 4}} {
		found, err := db.StaffAccounts(t.Context(), store.StaffFilter{Handle: "a5@", Page: p}, 20, 0)
		if err != nil || len(found.Rows) != 1 || found.Rows[0] != oldest {
			t.Errorf("with %+v, the list has %v, %v", p, found, err)
		}
	}
}
