package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
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

// TestSeenOfManyDomainsIsBounded checks that the oldest ids are forgotten if many domains make up ids, each less than it may.
func TestSeenOfManyDomainsIsBounded(t *testing.T) {
	db := open(t)
	const max, domains, each = 5000, 300, 100
	db.SetMaxSeen(max)
	for i := range domains {
		var ids []store.SeenID
		for j := range each {
			ids = append(ids, store.SeenID{Key: store.NewSeenKey(fmt.Sprint(i, " made up ", j)), Source: store.AbsentFrom(fmt.Sprintf("bad%d.example", i))})
		}
		mustUpdate(t, db, func(tx *store.Tx) error { return tx.MarkSeen(t.Context(), ids...) })
	}
	n, err := store.CountRows(t.Context(), db, `SELECT count(*) FROM seen_activities`)
	if err != nil || n < max/2 || n > max*3/2 {
		t.Errorf("%d ids are kept, %v, want about %d", n, err, max)
	}
	for i, want := range map[int]bool{0: false, domains - 1: true} {
		if seen, err := db.SeenActivity(t.Context(), fmt.Sprint(i, " made up 0")); seen != want || err != nil {
			t.Errorf("an id of domain %d is seen: %v, %v", i, seen, err)
		}
	}
}

// TestLoadSeen checks that ids are found after they were read into memory, those that are marked meanwhile, too, and that only ids that may have
// been seen need a query.
func TestLoadSeen(t *testing.T) {
	db := open(t)
	uri := func(i int) string { return fmt.Sprint("https://peer.example/activities/", i) }
	mark := func(i int) {
		mustUpdate(t, db, func(tx *store.Tx) error {
			return tx.MarkSeen(t.Context(), store.SeenID{Key: store.NewSeenKey(uri(i)), Source: store.ProcessedFrom("peer.example")})
		})
	}
	const max = 2000
	var marked atomic.Int64
	var marking sync.WaitGroup
	marking.Go(func() {
		for i := range max {
			mark(i)
			marked.Store(int64(i + 1))
		}
	})
	for n := int64(0); n < max; {
		n = marked.Load()
		if err := db.LoadSeen(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if seen, err := db.SeenActivity(t.Context(), uri(int(i))); !seen || err != nil {
				t.Fatalf("id %d of %d is seen: %v, %v", i, n, seen, err)
			}
		}
	}
	marking.Wait()
	before := db.QueryCount()
	for i := range 1000 {
		if seen, err := db.SeenActivity(t.Context(), uri(max+i)); seen || err != nil {
			t.Fatalf("an id that did not come is seen: %v, %v", seen, err)
		}
	}
	if n := db.QueryCount() - before; n > 20 {
		t.Errorf("%d queries for 1000 new ids", n)
	}
}

// BenchmarkMadeUpDeletes marks 100 000 made-up ids as deleted, from one domain and from many, and measures how the database grows.
func BenchmarkMadeUpDeletes(b *testing.B) {
	for _, domains := range []int{1, 1000} {
		b.Run(fmt.Sprint(domains), func(b *testing.B) {
			for b.Loop() {
				db := open(b)
				for i := range 1000 {
					mustUpdate(b, db, func(tx *store.Tx) error {
						for j := range 100 {
							host := fmt.Sprintf("bad%d.example", (100*i+j)%domains)
							if err := tx.MarkDeletionSeen(b.Context(), fmt.Sprintf("https://%s/%d/%d", host, i, j), "https://"+host+"/users/x", host); err != nil {
								return err
							}
						}
						return nil
					})
				}
				size, err := db.FileSize(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				n, err := store.CountRows(b.Context(), db, `SELECT count(*) FROM seen_activities`)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(size.Bytes)/1e6, "MB")
				b.ReportMetric(float64(n), "ids")
			}
		})
	}
}
