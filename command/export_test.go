package command_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// exportedRows returns the rows of a table of an export.
func exportedRows(t *testing.T, dir, table string) (rows []map[string]any) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, table+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var row map[string]any
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v in %s", table, err, lines.Text())
		}
		rows = append(rows, row)
	}
	return rows
}

// TestExport exports a server that runs, with and without secrets and files.
func TestExport(t *testing.T) {
	p := newWorkspace(t)
	p.run("export").fails(2, "--server")
	p.run("export", "--server", "out").fails(1, "there is no server")
	p.run("user", "create", "alice", "--email", "alice@example.org", "--password", "correct horse").ok()
	p.addToken("alice", "t")
	s := p.serve()
	if p.post("t", "my <first> post") == "" || p.upload("t", picture(1)) != 200 {
		t.Fatal("no post, or no upload")
	}
	actor, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/@alice", nil)
	if err != nil {
		t.Fatal(err)
	}
	actor.Header.Set("Accept", "application/activity+json")
	if answer, err := http.DefaultClient.Do(actor); err != nil || answer.StatusCode != 200 { // makes the keys
		t.Fatalf("the actor: %v, %v", answer, err)
	}
	if out := p.run("export", "--server", "out").ok(); !strings.Contains(out, "1 user") || !strings.Contains(out, "1 file") {
		t.Errorf("it prints %q", out)
	}
	s.stop()

	out := p.path("out")
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
	users, posts, keys := exportedRows(t, out, "users"), exportedRows(t, out, "statuses"), exportedRows(t, out, "actor_keys")
	if len(users) != 1 || users[0]["email"] != "alice@example.org" || !strings.HasPrefix(users[0]["password_hash"].(string), "$argon2id$") {
		t.Errorf("users are %v", users)
	}
	if len(posts) != 1 || posts[0]["text"] != "my <first> post" || posts[0]["visibility"] != "public" || !strings.HasPrefix(posts[0]["uri"].(string), p.url+"/objects/") {
		t.Errorf("posts are %v", posts)
	}
	if len(keys) == 0 || !strings.Contains(keys[0]["private"].(string), "BEGIN PRIVATE KEY") {
		t.Errorf("keys are %v", keys)
	}
	if n := countFiles(t, out, "media", "*", "*"); n != 1 {
		t.Errorf("%d uploads", n)
	}
	var server struct {
		URL    string
		Tables map[string]int
		Files  int
	}
	if text, err := os.ReadFile(filepath.Join(out, "server.json")); err != nil || json.Unmarshal(text, &server) != nil || server.URL != p.url || server.Tables["statuses"] != 1 || server.Files != 1 {
		t.Errorf("server.json is %s, %v", text, err)
	}
	sums := exec.Command("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
	sums.Dir = out
	if said, err := sums.CombinedOutput(); err != nil {
		t.Errorf("sums: %s", said)
	}

	p.run("export", "--server", "out").fails(1, "not empty")
	if err := os.Mkdir(p.path("bare"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.run("export", "--server", "bare", "--no-secrets", "--no-media").ok() // while the server does not run
	if user, key := exportedRows(t, p.path("bare"), "users"), exportedRows(t, p.path("bare"), "actor_keys"); len(user) != 1 || user[0]["password_hash"] != nil || len(key) == 0 || key[0]["private"] != nil {
		t.Errorf("without secrets: %v, %v", user, key)
	}
	if n := countFiles(t, p.path("bare"), "media", "*", "*"); n != 0 {
		t.Errorf("%d uploads", n)
	}
	if err := os.Remove(p.path("data", "keys", "secret")); err != nil {
		t.Fatal(err)
	}
	p.run("export", "--server", "third").fails(1, "--no-secrets")
	if left, _ := filepath.Glob(p.path(".svc-export-*")); len(left) > 0 || countFiles(t, p.path("third")) > 0 {
		t.Errorf("left are %v", left)
	}
}
