package store_test

import (
	"fmt"
	"testing"

	"svc/store"
)

// TestSeenIsBounded checks that a domain which makes up ids, on whatever subdomain, only displaces its own ones of the same kind.
func TestSeenIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long with -short")
	}
	db := open(t)
	mark := func(source store.SeenSource, uris ...string) {
		t.Helper()
		ids := make([]store.SeenID, 0, len(uris))
		for _, uri := range uris {
			ids = append(ids, store.SeenID{Key: store.NewSeenKey(uri), Source: source})
		}
		if err := db.Update(t.Context(), func(tx *store.Tx) error { return tx.MarkSeen(t.Context(), ids...) }); err != nil {
			t.Fatal(err)
		}
	}
	mark(store.AbsentFrom("good.example"), "good absent")
	mark(store.ProcessedFrom("bad.example"), "bad processed")
	mark(store.ProcessedFrom("good.example"), "good processed")
	const rounds, batch = 120, 500
	for i := range rounds {
		uris := make([]string, batch)
		for j := range uris {
			uris[j] = fmt.Sprint(i, " made up ", j)
		}
		source := store.AbsentFrom(fmt.Sprintf("x%d.bad.example", i))
		mark(source, uris...)
		mark(source, uris...) // once more adds nothing
	}
	kept := 0
	for i := range rounds {
		if seen, err := db.SeenActivity(t.Context(), fmt.Sprint(i, " made up 0")); err != nil {
			t.Fatal(err)
		} else if seen {
			kept++
		}
	}
	if n := kept * batch; n < store.MaxAbsent-batch || n > store.MaxAbsent*5/2 {
		t.Errorf("about %d of %d made up ids are kept, want about %d", n, rounds*batch, store.MaxAbsent)
	}
	for _, uri := range []string{"good absent", "bad processed", "good processed", fmt.Sprint(rounds-1, " made up 0")} {
		if seen, err := db.SeenActivity(t.Context(), uri); !seen || err != nil {
			t.Errorf("%s is seen: %v, %v", uri, seen, err)
		}
	}
}
