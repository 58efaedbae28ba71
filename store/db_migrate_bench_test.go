package store_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"svc/store"
)

// BenchmarkMigration makes a step that adds an indexed column to a million posts, as most steps on a grown server do.
func BenchmarkMigration(b *testing.B) {
	const posts = 1_000_000
	for b.Loop() {
		b.StopTimer()
		dir := makeOld(b, store.SchemaVersion())
		db, err := sql.Open("sqlite", filepath.Join(dir, store.File))
		if err != nil {
			b.Fatal(err)
		}
		for _, statement := range []string{
			`PRAGMA foreign_keys = OFF`,
			`PRAGMA synchronous = OFF`,
			`WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
			INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, created_at, uri, content)
			SELECT i * 1024, (SELECT min(id) FROM accounts), 0, 1, 'host' || (i % 1000) || '.example', i, 'https://many.example/' || i, hex(randomblob(150)) FROM n`,
		} {
			if _, err := db.Exec(statement); err != nil {
				b.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
		remove, err := store.AddMigration(b.Context(), "9999-test", `ALTER TABLE statuses ADD COLUMN weight INTEGER NOT NULL DEFAULT 0;
			CREATE INDEX statuses_weight ON statuses (weight, id);`, "")
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		again, err := openIn(dir)
		b.StopTimer()
		if err != nil {
			b.Fatal(err)
		}
		if err := again.Close(); err != nil {
			b.Fatal(err)
		}
		remove()
		b.StartTimer()
	}
	b.ReportMetric(float64(posts), "posts")
}
