package store_test

import (
	"errors"
	"fmt"
	"strings"
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

// TestFilterTime checks that costly filters end with an error when the time of their owner is used up, that their verdicts are remembered,
// and that others have their own time.
func TestFilterTime(t *testing.T) {
	db := open(t)
	seed(t, db, 100)
	const owner, other = store.AccountID(201), store.AccountID(202)
	for _, of := range []store.AccountID{owner, other} {
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			f := &store.UserFilter{AccountID: of, Title: "f", Action: store.FilterHide}
			if err := tx.AddFilter(t.Context(), f); err != nil {
				return err
			}
			for i := range 500 {
				k := &store.FilterKeyword{FilterID: f.ID, Keyword: strings.Repeat("ab", 100) + fmt.Sprint("b", i)}
				if err := tx.AddFilterKeyword(t.Context(), of, k); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	long := text.Fold(strings.Repeat("ab", 15_000) + "b 0123456789 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 " + strings.Repeat("ab", 100) + "b7")
	match := func(of store.AccountID, version uint64) ([]store.FilterMatch, error) {
		t.Helper()
		set, err := db.FilterSet(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		return set.Match(store.FilteredStatus{ID: 5, Author: 9, Version: version, Words: func() *text.Folded { return long }})
	}
	var err error
	matched := uint64(0)
	for ; matched < 100_000 && err == nil; matched++ {
		var found []store.FilterMatch
		if found, err = match(owner, matched+1); err == nil && len(found) != 1 {
			t.Fatalf("%d filters match, want 1", len(found))
		}
	}
	if !errors.Is(err, store.ErrFilterTime) {
		t.Fatalf("after %d posts: %v, want %v", matched, err, store.ErrFilterTime)
	}
	if found, err := match(owner, 1); err != nil || len(found) != 1 {
		t.Errorf("a post that was matched before: %d filters, %v", len(found), err)
	}
	if found, err := match(other, 1); err != nil || len(found) != 1 {
		t.Errorf("for another account: %d filters, %v", len(found), err)
	}
}
