package store_test

import (
	"slices"
	"testing"
	"time"

	"svc/store"
)

// hardSearches are searches in which most of what the index holds is of no use, over the posts of seed: words that every post has but
// none together, words of posts that one may not see, phrases that do not occur, exclusions of everything.
var hardSearches = map[string]store.StatusSearch{
	"everything":      {Text: "words", Viewer: 3},
	"rare":            {Text: "words word17", Viewer: 3},
	"never":           {Text: "never", Viewer: 3},
	"never_together":  {Text: "even odd", Viewer: 3},
	"no_phrase":       {Text: `"words many"`, Viewer: 3},
	"not_permitted":   {Text: "secret", Viewer: 3},
	"all_excluded":    {Text: "-words", Viewer: 3},
	"anonymous":       {Text: "words", LocalOnly: true},
	"one_author":      {Text: "words from:a7", Viewer: 3},
	"no_words":        {Text: "is:sensitive", Viewer: 3},
	"upwards":         {Text: "secret", Viewer: 3, Page: store.Page{MinID: 1}},
	"many_words":      {Text: "many words many words many words many words even even even even", Viewer: 3},
	"many_characters": {Text: "東京東京東京東京東京東京東京東京東京東京東京東京東京東京東京東京東京", Viewer: 3},
}

// TestHardSearches checks that a search has an end, whatever is looked for.
func TestHardSearches(t *testing.T) {
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

// BenchmarkSearch measures the same, in much more.
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

// TestSearchReachesEverything looks for one post among many, wherever it is, from either end.
func TestSearchReachesEverything(t *testing.T) {
	db := open(t)
	seed(t, db, 20_000)
	for _, id := range []store.StatusID{1, 2, 1999, 2000, 2001, 9000, 17_999, 18_000, 19_999, 20_000} {
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			return tx.IndexStatus(t.Context(), &store.Status{ID: id, AccountID: 4}, &store.Indexed{Texts: []string{"needle"}})
		})
		if err != nil {
			t.Fatal(err)
		}
		st, err := db.Status(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []store.Page{{Limit: 1}, {Limit: 1, MinID: 1, MaxID: 1 << 60}, {Limit: 5, MaxID: int64(id) + 1}, {Limit: 5, MinID: int64(id) - 1}} {
			if p.MinID == int64(id) {
				continue
			}
			found, err := db.SearchStatuses(t.Context(), store.StatusSearch{Text: "needle", Viewer: st.AccountID, Page: p})
			if err != nil || !slices.Contains(found, id) {
				t.Errorf("%d is not found by %+v: %v %v", id, p, found, err)
			}
		}
		err = db.Update(t.Context(), func(tx *store.Tx) error {
			return tx.IndexStatus(t.Context(), &store.Status{ID: id, AccountID: 4}, &store.Indexed{})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzSearchStatuses types anything at all: it is no error, and what is found has the words.
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
