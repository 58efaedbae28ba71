package store_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/store"
)

// hardSearches are searches over the posts of seed in which most entries of the index do not match: words that every post has but
// none together, words of invisible posts, phrases that do not occur, exclusions of everything.
var hardSearches = map[string]store.StatusSearch{
	"everything":          {Text: "words", Viewer: 3},
	"rare":                {Text: "words word17", Viewer: 3},
	"never":               {Text: "never", Viewer: 3},
	"never_together":      {Text: "even odd", Viewer: 3},
	"no_phrase":           {Text: `"words many"`, Viewer: 3},
	"not_permitted":       {Text: "secret", Viewer: 3},
	"all_excluded":        {Text: "-words", Viewer: 3},
	"an anonymous client": {Text: "words", LocalOnly: true},
	"one_author":          {Text: "words from:a7", Viewer: 3},
	"no_words":            {Text: "is:sensitive", Viewer: 3},
	"upwards":             {Text: "secret", Viewer: 3, Page: store.Page{MinID: 1}},
	"many_words":          {Text: "many words many words many words many words even even even even", Viewer: 3},
	"many_characters":     {Text: "東京東京東京東京東京東京東京東京東京東京東京東京東京東京東京東京東京", Viewer: 3},
}

// TestHardSearches checks that every search ends in time.
func TestHardSearches(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long with -short")
	}
	db := open(t)
	seed(t, db, 60_000)
	for name, q := range hardSearches {
		q.Limit = 20
		began := time.Now()
		found, err := db.SearchStatuses(t.Context(), q)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		took := time.Since(began)
		t.Logf("%s: %d in %v", name, len(found), took)
		if took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		down := slices.Clone(found)
		slices.Sort(down)
		slices.Reverse(down)
		if !slices.Equal(found, down) || len(slices.Compact(down)) != len(found) {
			t.Errorf("%s is not in order: %v", name, found)
		}
	}
}

// TestSearchIsBrokenOff checks that a search that takes too long ends in the middle of a part, and does not affect the next one.
func TestSearchIsBrokenOff(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long with -short")
	}
	db := open(t)
	seed(t, db, 100)
	err := db.Update(t.Context(), func(tx *store.Tx) error { // only the oldest post has these words
		tx.IndexStatus(&store.Status{ID: 6, AccountID: 3}, &store.SearchDocument{Texts: []string{"words many"}})
		return tx.Exec(t.Context(), `
			WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
			INSERT INTO statuses_fts (rowid, body, facets)
			SELECT i, 'many words', 'at0 by5 here'
			FROM n`)
	})
	if err != nil {
		t.Fatal(err)
	}
	usual := store.BreakOffSearches(time.Minute)
	defer store.BreakOffSearches(usual)
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{{time.Minute, 1}, {time.Millisecond, 0}, {time.Millisecond, 0}, {time.Minute, 1}} {
		store.BreakOffSearches(tt.after)
		for range 5 {
			found, err := db.SearchStatuses(t.Context(), store.StatusSearch{Text: `"words many"`, Viewer: 3, Page: store.Page{Limit: 20}})
			if err != nil {
				t.Fatalf("broken off after %v: %v", tt.after, err)
			}
			if len(found) != tt.want {
				t.Errorf("broken off after %v, a search finds %d posts, want %d", tt.after, len(found), tt.want)
			}
		}
	}
}

// TestSearchIsBrokenOffAnywhere breaks off visitors' searches for a word that no post has, while others make them wait for a connection in each
// of their steps: none of them fails.
func TestSearchIsBrokenOffAnywhere(t *testing.T) {
	db := open(t)
	seed(t, db, 100)
	if err := db.Update(t.Context(), func(tx *store.Tx) error {
		return tx.Exec(t.Context(), `INSERT INTO statuses_fts (rowid, body, facets) VALUES (1, 'many words', 'at0 by5 here')`)
	}); err != nil {
		t.Fatal(err)
	}
	usual := store.BreakOffSearches(time.Millisecond)
	defer store.BreakOffSearches(usual)
	anonymous := store.WithAnonymous(t.Context())
	var searches sync.WaitGroup
	for viewer := range store.AccountID(32) {
		searches.Go(func() {
			for range 200 {
				if _, err := db.SearchStatuses(anonymous, store.StatusSearch{Text: "nobodywrotethis", Viewer: viewer + 1, Page: store.Page{Limit: 20}}); err != nil {
					t.Error(err)
					return
				}
				if _, err := db.Statuses(anonymous, []store.StatusID{1, 2, 3}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	searches.Wait()
}

// BenchmarkSearch measures the same searches over more posts.
func BenchmarkSearch(b *testing.B) {
	db := open(b)
	seed(b, db, 200_000)
	for name, q := range hardSearches {
		q.Limit = 20
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := db.SearchStatuses(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRareWords searches 500 000 posts of two years for words that none or few of them have. Each search is for other words, so that
// nothing of it is cached.
func BenchmarkRareWords(b *testing.B) {
	db := open(b)
	seed(b, db, 100)
	const posts, batch, vocabulary, rare = 500_000, 1000, 50_000, 400
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.2, 10, vocabulary)
	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC).AddDate(-2, 0, 0)
	apart := (2 * 365 * 24 * time.Hour / posts).Milliseconds()
	for i := range posts / batch {
		mustUpdate(b, db, func(tx *store.Tx) error {
			for j := range batch {
				n := i*batch + j
				st := &store.Status{
					ID: store.StatusID((start.UnixMilli() + int64(n)*apart) << 10), AccountID: store.AccountID(1 + random.IntN(90)),
					ConversationID: store.ConversationID(n), URI: fmt.Sprint("https://example.org/far/", n), Content: "<p>words</p>",
				}
				var text strings.Builder
				for range 5 + random.IntN(30) {
					fmt.Fprintf(&text, "w%d ", zipf.Uint64())
				}
				fmt.Fprintf(&text, "rare%d", n%(posts/5)) // five posts have it
				if n < rare {
					fmt.Fprintf(&text, " single%d", n)
				}
				if err := tx.AddStatus(b.Context(), st); err != nil {
					return err
				}
				tx.IndexStatus(st, &store.SearchDocument{Texts: []string{text.String()}})
			}
			return nil
		})
	}
	for _, bb := range []struct {
		name string
		text func(n int) string
		want int
	}{
		{"absent", func(n int) string { return fmt.Sprint("absent", n) }, 0},
		{"absent_and_common", func(n int) string { return fmt.Sprint("w0 absent", n) }, 0},
		{"two_absent", func(n int) string { return fmt.Sprintf("absent%d missing%d", n, n) }, 0},
		{"one_of_all", func(n int) string { return fmt.Sprint("single", n%rare) }, 1},
		{"five_of_all", func(n int) string { return fmt.Sprint("rare", n*7919%(posts/5)) }, -1},
		{"rare_and_common", func(n int) string { return fmt.Sprint("w0 rare", n*7919%(posts/5)) }, -1},
		{"rare_together", func(n int) string { return fmt.Sprintf("w%d w%d", 200+n%100, 300+n%100) }, -1},
		{"phrase", func(n int) string { return fmt.Sprintf(`"w%d w%d"`, n%20, 300+n%100) }, -1},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var took []time.Duration
			for n := 0; b.Loop(); n++ {
				began := time.Now()
				found, err := db.SearchStatuses(b.Context(), store.StatusSearch{Text: bb.text(n), Viewer: 3, Page: store.Page{Limit: 20}})
				took = append(took, time.Since(began))
				if err != nil || bb.want >= 0 && len(found) != bb.want {
					b.Fatalf("%q: %d posts, %v, want %d", bb.text(n), len(found), err, bb.want)
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		})
	}
}

// TestSearchReachesEverything searches for single posts among many from several years, from either end and in between.
func TestSearchReachesEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long with -short")
	}
	db := open(t)
	seed(t, db, 100)
	const n, apart = 4000, 1 << 35 // nine hours
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		for i := range int64(n) {
			st := &store.Status{ID: store.StatusID((i + 1) * apart), AccountID: 4, URI: fmt.Sprint("https://example.org/far/", i)}
			if err := tx.AddStatus(t.Context(), st); err != nil {
				return err
			}
			tx.IndexStatus(st, &store.SearchDocument{Texts: []string{fmt.Sprintf("hay needle%d half%d", i, i%2)}})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	find := func(q string, p store.Page) []store.StatusID {
		found, err := db.SearchStatuses(t.Context(), store.StatusSearch{Text: q, Viewer: 3, Page: p})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, i := range []int64{0, 1, 7, 8, 9, 1999, 2000, 3990, n - 2, n - 1} {
		id := (i + 1) * apart
		for _, p := range []store.Page{
			{Limit: 1}, {Limit: 1, MinID: 1}, {Limit: 5, MaxID: id + 1}, {Limit: 5, MinID: id - 1}, {Limit: 5, MaxID: id + 1, MinID: id - 1},
		} {
			for _, q := range []string{fmt.Sprint("needle", i), fmt.Sprint("hay needle", i), fmt.Sprintf(`"hay needle%d"`, i)} {
				if found := find(q, p); !slices.Equal(found, []store.StatusID{store.StatusID(id)}) {
					t.Errorf("%q in %+v finds %v", q, p, found)
				}
			}
		}
		for _, p := range []store.Page{{Limit: 1, MaxID: id}, {Limit: 1, MinID: id}} {
			if found := find(fmt.Sprint("needle", i), p); len(found) > 0 {
				t.Errorf("%d in %+v finds %v", i, p, found)
			}
		}
	}
	var all []store.StatusID
	for p := (store.Page{Limit: 1000}); ; p.MaxID = int64(all[len(all)-1]) {
		page := find("hay half1", p)
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
	}
	if len(all) != n/2 || !slices.IsSortedFunc(all, func(a, b store.StatusID) int { return cmp.Compare(b, a) }) {
		t.Errorf("%d posts in pages, want %d", len(all), n/2)
	}
}

// FuzzSearchStatuses searches for arbitrary text: it is no error, and results have the words.
func FuzzSearchStatuses(f *testing.F) {
	for _, q := range []string{
		`"`, `""`, `-`, `--`, `-"`, `- a`, `a AND`, `NOT`, `NEAR(a b)`, `body:x`, `{body}:x`, `a*`, `^a`, `(`, `)`, `a OR`, "\x00", "a\x00b", "\xff\xfe",
		`from:`, `from:me`, `from:@`, `-from:a3`, `has:media -has:poll`, `before:2024-99-99`, `during:2024`, `after:9999`, `before:0000-01-01`,
		`language:zh-Hant`, `language:"`, `in:library`, `-in:library`, `is:sensitive -is:sensitive`, `東京 "서울" ไทย`, `'; DROP TABLE statuses; --`,
		"\u0301", "🎉\ufe0f", `"a" "b`, "¶", "ﷺ",
	} {
		f.Add(q)
	}
	db := open(f)
	seed(f, db, 2000)
	f.Fuzz(func(t *testing.T, q string) {
		for _, viewer := range []store.AccountID{0, 3} {
			if _, err := db.SearchStatuses(t.Context(), store.StatusSearch{Text: q, Viewer: viewer, Host: "example.com", Page: store.Page{Limit: 5}}); err != nil {
				t.Fatalf("%q: %v", q, err)
			}
		}
	})
}
