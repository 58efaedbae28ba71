package store_test

import (
	"context"
	"fmt"
	"testing"

	"svc/store"
)

// growthReads are the most frequent reads.
var growthReads = []struct {
	name string
	read func(context.Context, *store.DB) (int, error)
}{
	{"home", func(ctx context.Context, db *store.DB) (int, error) {
		return countPart(db.HomeTimeline(ctx, 6, store.Filter{}, store.Page{Limit: 10}))
	}},
	{"local", func(ctx context.Context, db *store.DB) (int, error) {
		return countPart(db.PublicTimeline(ctx, 6, "", store.Filter{Local: true}, store.Page{Limit: 10}))
	}},
	{"public", func(ctx context.Context, db *store.DB) (int, error) {
		return countPart(db.PublicTimeline(ctx, 0, "", store.Filter{}, store.Page{Limit: 10}))
	}},
	{"tag", func(ctx context.Context, db *store.DB) (int, error) {
		return countPart(db.TagTimeline(ctx, 6, store.TagQuery{Tag: "tag1"}, store.Filter{}, store.Page{Limit: 10}))
	}},
	{"account_statuses", func(ctx context.Context, db *store.DB) (int, error) {
		return countPart(db.AccountTimeline(ctx, 6, 7, "", store.Filter{}, store.Page{Limit: 4}))
	}},
	{"notifications", func(ctx context.Context, db *store.DB) (int, error) {
		return countPart(db.Notifications(ctx, 6, store.NotificationFilter{}, store.Page{Limit: 2}))
	}},
	{"context", func(ctx context.Context, db *store.DB) (int, error) {
		of := &store.Status{ID: 1025, AccountID: 26, ConversationID: 102}
		thread, err := db.Thread(ctx, 6, of, store.ThreadLimits{Ancestors: 100, Descendants: 100, Depth: 20})
		if err != nil {
			return 0, err
		}
		return len(thread.Below), nil
	}},
}

func countPart[T any](part store.Part[T], err error) (int, error) { return len(part.Rows), err }

// BenchmarkGrowth compares reads of a small and of a large database: the time must not grow with the number of rows. So that both
// return the same, the small database can fill the pages.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{2_000, 200_000} {
		db := open(b)
		seed(b, db, n)
		for _, g := range growthReads {
			b.Run(fmt.Sprintf("%s/statuses=%d", g.name, n), func(b *testing.B) {
				b.ReportAllocs()
				rows := 0
				for b.Loop() {
					got, err := g.read(b.Context(), db)
					if err != nil || got == 0 {
						b.Fatalf("%d rows: %v", got, err)
					}
					rows = got
				}
				b.ReportMetric(float64(rows), "rows")
			})
		}
	}
}
