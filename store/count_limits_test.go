package store_test

import (
	"testing"
	"time"

	"svc/store"
)

// maxCountTime bounds a count that looks at many hidden rows: the best of five, because other tests run at the same time.
const maxCountTime = 250 * time.Millisecond

// TestCountsAreBounded counts for an account with 200 000 unread notifications of an account that it mutes.
func TestCountsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long with -short")
	}
	db := open(t)
	seed(t, db, 1000)
	const recipient, muted = store.AccountID(10), store.AccountID(8)
	start := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	mustUpdate(t, db, func(tx *store.Tx) error {
		if err := tx.Exec(t.Context(), `DELETE FROM notifications`); err != nil {
			return err
		}
		err := tx.Exec(t.Context(), `
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
			INSERT INTO notifications (id, account_id, type, from_id, status_id, detail)
			SELECT (?1 << 10) + i, ?2, 'favourite', ?3, 5, i FROM n`, start.UnixMilli(), recipient, muted)
		if err != nil {
			return err
		}
		return tx.Exec(t.Context(), `INSERT OR REPLACE INTO mutes (account_id, target_id, hide_notifications) VALUES (?, ?, 1)`, recipient, muted)
	})
	group := store.NotificationGroup{Type: store.NotifyFavourite, StatusID: 5, Span: start.UnixMilli() / (12 * time.Hour).Milliseconds()}
	for _, tt := range []struct {
		name string
		read func() (int, error)
	}{
		{"markers", func() (int, error) {
			_, n, err := db.Markers(t.Context(), recipient)
			return n, err
		}},
		{"own counts", func() (int, error) {
			n, err := db.UnreadCounts(t.Context(), recipient)
			return n.UnreadNotifications, err
		}},
		{"accounts of a group", func() (int, error) {
			list, err := db.GroupNotifications(t.Context(), recipient, group, 0, 40)
			return len(list), err
		}},
	} {
		best := time.Hour
		for range 5 {
			began := time.Now()
			if n, err := tt.read(); n != 0 || err != nil {
				t.Errorf("%s: got %d, %v, want none", tt.name, n, err)
			}
			best = min(best, time.Since(began))
		}
		if t.Logf("%s: %v", tt.name, best); best > maxCountTime {
			t.Errorf("%s take %v", tt.name, best)
		}
	}
}
