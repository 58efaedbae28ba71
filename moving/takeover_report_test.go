package moving_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc/moving"
)

// storedRows are the queries of the rows in the store that the report counts, by kind.
var storedRows = map[string]string{
	"accounts":        `SELECT count(*) FROM users`,
	"remote accounts": `SELECT count(*) FROM accounts WHERE domain <> ''`,
	"posts":           `SELECT count(*) FROM statuses WHERE domain = '' AND reblog_of_id IS NULL`,
	"boosts":          `SELECT count(*) FROM statuses WHERE domain = '' AND reblog_of_id IS NOT NULL`,
	"remote posts":    `SELECT count(*) FROM statuses WHERE domain <> '' AND reblog_of_id IS NULL`,
	"remote boosts":   `SELECT count(*) FROM statuses WHERE domain <> '' AND reblog_of_id IS NOT NULL`,
	"attachments":     `SELECT count(*) FROM media`,
	"polls":           `SELECT count(*) FROM polls`,
	"follows":         `SELECT count(*) FROM follows`,
	"favourites":      `SELECT count(*) FROM favourites`,
	"bookmarks":       `SELECT count(*) FROM bookmarks`,
	"pins":            `SELECT count(*) FROM pins`,
	"lists":           `SELECT count(*) FROM lists`,
	"filters":         `SELECT count(*) FROM filters`,
	"apps":            `SELECT count(*) FROM oauth_apps`,
	"tokens":          `SELECT count(*) FROM oauth_tokens`,
	"reports":         `SELECT count(*) FROM reports`,
	"blocked servers": `SELECT count(*) FROM host_blocks`,
}

// TestReportCountsRows takes over a dump with rows that the store refuses, and compares the numbers of the report with those of the store.
func TestReportCountsRows(t *testing.T) {
	d := filledDump(t)
	for _, id := range []string{"3", "4"} { // a second follow of the same account, and one of itself
		d.row("follows", map[string]string{"id": id, "created_at": someTime, "account_id": "1", "target_account_id": map[string]string{"3": "2", "4": "1"}[id], "show_reblogs": "t"})
	}
	d.row("favourites", map[string]string{"id": "3", "created_at": someTime, "account_id": "3", "status_id": "111"})
	d.row("oauth_access_tokens", map[string]string{"id": "4", "token": "other-token", "created_at": someTime, "scopes": "unknown", "application_id": "4", "resource_owner_id": "1"})
	d.row("domain_blocks", map[string]string{"id": "2", "domain": "no domain", "severity": "1", "reject_media": "f", "reject_reports": "f"})
	c := settings(t, "https://old.example.org")
	c.Instance.ConfigurableFromDatabase = true
	_, report := takeOver(t, c, moving.Source{Database: writeFile(t, "dump.sql", string(d.bytes())), Media: t.TempDir()})

	db, err := sql.Open("sqlite", "file:"+filepath.Join(c.Data.Dir, "svc.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	compared := 0
	for _, count := range report.Counts {
		query, ok := storedRows[count.Kind]
		if !ok {
			continue
		}
		compared++
		var n int64
		if err := db.QueryRow(query).Scan(&n); err != nil {
			t.Fatalf("%s: %v", count.Kind, err)
		}
		if count.Taken != n {
			t.Errorf("%s: the report says %d of %d, the store has %d", count.Kind, count.Taken, count.Of, n)
		}
	}
	if compared < 12 {
		t.Errorf("only %d kinds were compared", compared)
	}
	for _, kind := range []string{"follows", "favourites", "tokens", "blocked servers", "attachments"} {
		if !slices.ContainsFunc(report.LeftOut, func(l *moving.LeftOut) bool { return l.Kind == kind }) {
			t.Errorf("the report does not say why %s are left out", kind)
		}
	}
}

// TestAdmins names administrators that the source does not have, in another case, and others after the takeover was begun.
func TestAdmins(t *testing.T) {
	path := writeFile(t, "dump.sql", string(mastodonDump(t).bytes()))
	for _, names := range [][]string{{"nobody"}, {"alice", "nobody"}, {""}} {
		if _, err := prepare(t, moving.Source{Database: path, Admins: names}); err == nil || !strings.Contains(err.Error(), "the source has no account") {
			t.Errorf("%q: got %v", names, err)
		}
	}
	r, err := prepare(t, moving.Source{Database: path, Admins: []string{"ALICE"}})
	if err != nil || slices.ContainsFunc(r.Notes, func(note string) bool { return strings.Contains(note, "unless --admins names them") }) {
		t.Errorf("another case: %v, %+v", err, r)
	}
	to := target(t)
	begun, err := moving.Prepare(t.Context(), moving.Source{Database: path, Admins: []string{"alice"}}, to, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := begun.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := moving.Prepare(t.Context(), moving.Source{Database: path, Admins: []string{"bob"}}, to, false); err == nil || !strings.Contains(err.Error(), "administrators") {
		t.Errorf("other administrators: got %v", err)
	}
}
