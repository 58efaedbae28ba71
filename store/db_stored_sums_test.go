package store_test

import (
	"strings"
	"testing"
)

// TestStoredSumsOfOldDatabases checks that files of databases from before names were keyed have the SHA-256 that is their name.
func TestStoredSumsOfOldDatabases(t *testing.T) {
	sum := strings.Repeat("ab12", 16)
	for version := 1; version < 3; version++ {
		dir := makeOld(t, version)
		db := rawDB(t, dir)
		defer db.Close()
		for name, want := range map[string]string{"ab/" + sum + ".png": sum, "ab/" + sum + ".flac": sum, "ab/" + sum[:40] + ".png": "", "strange": ""} {
			if _, err := db.Exec(`INSERT INTO stored_files (name, class, bytes) VALUES (?, 'uploads', 1)`, name); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if got := texts(t, db, `SELECT sha256 FROM stored_files WHERE name = ?`, name)[0]; got != want {
					t.Errorf("the SHA-256 of %s is %q, want %q", name, got, want)
				}
			}()
		}
		openAndClose(t, dir)
	}
}
