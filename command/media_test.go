package command_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// storeFile stores a file in the media folder, two days ago, and returns its name.
func (p *workspace) storeFile(content string) string {
	p.t.Helper()
	sum := sha256.Sum256([]byte(content))
	hash := hex.EncodeToString(sum[:])
	name := hash[:2] + "/" + hash + ".png"
	path := p.path("data", "media", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		p.t.Fatal(err)
	}
	return name
}

// addUpload adds the row of an upload. No server may run.
func (p *workspace) addUpload(id int, file, thumbnail string, size int, mascot bool) {
	p.t.Helper()
	db, err := sql.Open("sqlite", p.path("data", "svc.db"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`
		INSERT INTO media (id, account_id, is_mascot, type, mime, file, thumbnail, size, created_at, detached_at)
		SELECT ?, id, ?, 'image', 'image/png', ?, ?, ?, 1000, CASE WHEN ? THEN NULL ELSE 1000 END FROM accounts WHERE nickname = 'alice'`,
		id, mascot, file, thumbnail, size, mascot); err != nil {
		p.t.Fatal(err)
	}
}

// problems runs svc media verify, which must leave some problems, and returns its output.
func (p *workspace) problems(left int, flags ...string) string {
	p.t.Helper()
	r := p.run(append([]string{"media", "verify"}, flags...)...)
	if want := fmt.Sprintf("svc: problems that are left: %d\n", left); r.code != 1 || r.errOut != want {
		p.t.Errorf("%s: got exit code %d, %q, want 1, %q: %s", r.what, r.code, r.errOut, want, r.out)
	}
	return r.out
}

func TestMediaCommands(t *testing.T) {
	for _, name := range []string{"without a server", "with a server"} {
		t.Run(name, func(t *testing.T) {
			p := newWorkspace(t)
			p.run("user", "create", "alice", "--email", "alice@example.org").ok()
			if got := p.run("media", "verify").ok(); got != "All files are intact.\n" {
				t.Errorf("verify: got %q", got)
			}
			mascot, orphan, damaged, lonely := p.storeFile("mascot"), p.storeFile("orphan"), p.storeFile("damaged"), p.storeFile("lonely")
			missing := strings.Repeat("a", 64) + ".png"
			p.addUpload(1, mascot, "aa/"+missing, 99, true) // wrong size, no thumbnail
			p.addUpload(2, "aa/"+missing, "", 5, false)     // no file
			p.addUpload(3, damaged, "", 7, false)
			p.addUpload(4, lonely, "", 6, false)
			if err := os.WriteFile(p.path("data", "media", damaged), []byte("DAMAGED"), 0o600); err != nil {
				t.Fatal(err)
			}
			if name == "with a server" {
				p.serve()
			}
			found := p.problems(5)
			for _, want := range []string{"wrong_size", "missing_thumbnail", "missing_file", "damaged_file", "unused_file", orphan, damaged, mascot} {
				if !strings.Contains(found, want) {
					t.Errorf("no %q in\n%s", want, found)
				}
			}
			if strings.Contains(found, strings.Repeat("0", 18)) {
				t.Errorf("an id is zero in\n%s", found)
			}
			p.problems(1, "--repair", "--json")
			if left := p.problems(1, "--json"); strings.Count(left, `"kind"`) != 1 || !strings.Contains(left, `"kind": "damaged_file"`) {
				t.Errorf("left after the repair: %s", left)
			}
			for file, want := range map[string]bool{mascot: true, orphan: false, damaged: true, lonely: true} {
				if _, err := os.Stat(p.path("data", "media", file)); (err == nil) != want {
					t.Errorf("%s after the repair: %v", file, err)
				}
			}
			if got := p.run("media", "prune", "--dry-run").ok(); got != "To be removed: 2 uploads, 1 file of 0.0 MiB.\n" {
				t.Errorf("dry run: got %q", got) // the damaged file was written today
			}
			if got := p.run("media", "prune", "--json").ok(); !strings.Contains(got, `"uploads": 2`) || !strings.Contains(got, `"files": 1`) || !strings.Contains(got, `"bytes": 6`) {
				t.Errorf("prune: got %s", got)
			}
			if got := p.run("media", "prune").ok(); got != "Removed: 0 uploads, 0 files of 0.0 MiB.\n" {
				t.Errorf("prune again: got %q", got)
			}
			if _, err := os.Stat(p.path("data", "media", mascot)); err != nil {
				t.Error(err)
			}
			p.run("media", "verify", "x").fails(2, "")
		})
	}
}
