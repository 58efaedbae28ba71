package store_test

import (
	"fmt"
	"testing"

	"svc/internal/text"
	"svc/store"
)

// TestFilterSets checks that filters are cached until they change.
func TestFilterSets(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long with -short")
	}
	db := open(t)
	seed(t, db, 1000)
	const owner, other = store.AccountID(201), store.AccountID(202) // without filters
	add := func(tx *store.Tx, keywords int) error {
		f := &store.UserFilter{AccountID: owner, Title: "f", Action: store.FilterWarn}
		f.Context.V = []store.FilterContext{store.FilterHome}
		if err := tx.AddFilter(t.Context(), f); err != nil {
			return err
		}
		for i := range keywords {
			if err := tx.AddFilterKeyword(t.Context(), owner, &store.FilterKeyword{FilterID: f.ID, Keyword: fmt.Sprint("k", i, "k")}); err != nil {
				return err
			}
		}
		return nil
	}
	matches := func(of store.AccountID) int {
		t.Helper()
		set, err := db.FilterSet(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		found, err := set.Match(store.FilteredStatus{ID: 5, Author: other + 1, Words: func() *text.Folded { return text.Fold("a k1k in it") }})
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if n := matches(owner) + matches(other); n != 0 {
		t.Errorf("%d filters match, want none", n)
	}
	cached := func(want bool) {
		t.Helper()
		if db.FiltersCached(owner) != want {
			t.Errorf("the filters are cached: %v, want %v", !want, want)
		}
	}
	cached(true)
	undone := fmt.Errorf("undone")
	for i, fail := range []error{nil, undone, nil} {
		before := matches(owner)
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			if err := add(tx, 10); err != nil {
				return err
			}
			if _, err := tx.FilterSet(t.Context(), owner); err != nil {
				return err
			}
			return fail
		})
		if err != fail {
			t.Fatal(err)
		}
		if fail == nil {
			before++
		}
		if got := matches(owner); got != before {
			t.Errorf("after change %d, %d filters match, want %d", i, got, before)
		}
	}
	cached(true)
	if err := db.Update(t.Context(), func(tx *store.Tx) error { return add(tx, 5_000) }); err != nil {
		t.Fatal(err)
	}
	cached(false)
	matches(owner)
	cached(true)
	if err := db.Update(t.Context(), func(tx *store.Tx) error { tx.TouchAll(); return nil }); err != nil {
		t.Fatal(err)
	}
	cached(false)
}
