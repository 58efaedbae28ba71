package command_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// mediaPath returns the path of a file with some content in the data directory.
func mediaPath(content string) string {
	sum := hex.EncodeToString(sha256Of([]byte(content)))
	return "media/" + sum[:2] + "/" + sum + ".png"
}

func sha256Of(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

// addFiles writes files into the data directory that the server does not create itself.
func (p *workspace) addFiles() map[string]string {
	p.t.Helper()
	files := map[string]string{
		"emoji/pack/pack.json":   `{"files": {}}`,
		"static/robots.txt":      "User-agent: *",
		mediaPath("a picture"):   "a picture",
		mediaPath("another one"): "another one",
	}
	for name, content := range files {
		p.writeFile("data/"+name, content)
	}
	p.writeFile("data/media/tmp/half-an-upload", "half")
	p.writeFile("data/cache/something", "cached")
	return files
}

func (p *workspace) writeFile(name, content string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.write(name, content)
}

func TestBackupWhileWritingAndRestore(t *testing.T) {
	p := newWorkspace(t, "[rate_limit]\nenabled = false # no limits\n")
	p.run("user", "create", "alice", "--email", "alice@example.org", "--admin").ok()
	p.addToken("alice", "t")
	s := p.serve()
	files := p.addFiles()
	before := make(map[string]string)
	for i := range 20 {
		text := fmt.Sprintf("before the backup %d", i)
		before[p.post("t", text)] = text
	}
	stop := p.startWriters("t", 4)
	s.waitUntil("some posts", func() bool {
		_, body := p.get("/api/v1/timelines/home", "t")
		return strings.Contains(body, "of writer")
	})
	if got := p.run("backup", "svc.tar").ok(); !strings.Contains(got, "Wrote svc.tar") {
		t.Errorf("got %q", got)
	}
	s.waitUntil("the writers to continue", func() bool {
		_, body := p.get("/api/v1/timelines/home?limit=1", "t")
		return strings.Contains(body, "of writer")
	})
	stop()
	s.stop()
	if info, err := os.Stat(p.path("svc.tar")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
	leftovers, err := filepath.Glob(p.path(".svc-backup-*"))
	if err != nil || len(leftovers) > 0 {
		t.Errorf("the backup left the files %q, %v", leftovers, err)
	}

	// Restore into an empty workspace with another data directory.
	q := newWorkspaceWithoutSettings(t)
	q.url = p.url
	out := q.run("restore", p.path("svc.tar"), "--data-dir", "data").ok()
	if !strings.Contains(out, "Wrote the settings to config.toml") {
		t.Errorf("got %q", out)
	}
	for name := range files {
		if got, err := os.ReadFile(q.path("data", name)); err != nil || string(got) != files[name] {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"keys/secret", "keys/vapid.json"} {
		a, errA := os.ReadFile(p.path("data", name))
		b, errB := os.ReadFile(q.path("data", name))
		if err := errors.Join(errA, errB); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is not the same: %v", name, err)
		}
	}
	for _, name := range []string{"media/tmp", "cache/something", "restore.tmp", "restore.unfinished", "manifest.json", "config.toml"} {
		if _, err := os.Stat(q.path("data", name)); err == nil {
			t.Errorf("unexpected file %s", name)
		}
	}
	q.serve()
	for id, text := range before {
		if status, body := q.get("/api/v1/statuses/"+id, "t"); status != 200 || !strings.Contains(body, text) {
			t.Errorf("%q is not in the backup: %d", text, status)
		}
	}
	if got := q.run("user", "list").ok(); !strings.Contains(got, "alice@example.org") {
		t.Errorf("got %q", got)
	}
}

func TestBackupWithoutServer(t *testing.T) {
	p := newWorkspace(t)
	p.run("backup").fails(1, "there is no database")
	if _, err := os.Stat(p.path("data")); err == nil {
		t.Error("the command created a data directory")
	}
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addFiles()
	p.run("backup").ok()
	p.run("backup", "--no-media", "small.tar").ok()
	p.run("backup", "small.tar").fails(1, "small.tar already exists")
	p.run("backup", "nowhere/svc.tar").fails(1, "nowhere")
	if err := os.Mkdir(p.path("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.run("backup", "folder").ok()
	for _, pattern := range []string{"data/backups/svc-*Z.tar", "folder/svc-*Z.tar"} {
		if found, err := filepath.Glob(p.path(pattern)); err != nil || len(found) != 1 {
			t.Errorf("%s: got %q, %v", pattern, found, err)
		}
	}
	media := 0
	for _, e := range readTar(t, p.path("small.tar")) {
		if strings.HasPrefix(e.name, "media/") {
			media++
		}
	}
	if media > 0 {
		t.Errorf("there are %d uploads in the backup without media", media)
	}
	if got := newWorkspaceWithoutSettings(t).run("restore", p.path("small.tar")).ok(); !strings.Contains(got, "contains no uploads") {
		t.Errorf("got %q", got)
	}
}

func TestRestoreRefusesAndForces(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.run("backup", "svc.tar").ok()
	p.run("user", "create", "bob", "--email", "bob@example.org").ok()
	backup := p.path("svc.tar")

	p.run("restore").fails(2, "FILE is missing")
	p.run("restore", "nowhere.tar").fails(1, "nowhere.tar")
	p.run("restore", backup).fails(1, "already contains data")
	s := p.serve()
	p.run("restore", backup).fails(1, "in use by another svc process")
	p.run("restore", backup, "--force").fails(1, "in use by another svc process")
	s.stop()
	if got := p.run("user", "list").ok(); !strings.Contains(got, "bob") {
		t.Fatalf("got %q", got)
	}

	p.writeFile("data/cache/ab/copy", "a copy of a remote file")
	out := p.run("restore", backup, "--force").ok()
	if _, err := os.Stat(p.path("data/cache/ab/copy")); err != nil {
		t.Errorf("cached copies of remote files were not kept: %v", err)
	}
	if got := p.run("user", "list").ok(); !strings.Contains(got, "alice") || strings.Contains(got, "bob") {
		t.Errorf("after the restore: got %q", got)
	}
	aside, err := filepath.Glob(p.path("data/before-restore-*/svc.db"))
	if err != nil || len(aside) != 1 || !strings.Contains(out, "before-restore-") {
		t.Errorf("got %q, %v, %q", aside, err, out)
	}

	// A restore that was interrupted while it moved files into place.
	if err := os.Mkdir(p.path("data", "restore.unfinished"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.run("user", "list").fails(1, "a restore was interrupted")
	if r := p.run("serve"); r.code != 1 || !strings.Contains(r.errOut, "a restore was interrupted") {
		t.Errorf("serve: got %d, %q", r.code, r.errOut)
	}
	p.run("restore", backup).fails(1, "already contains data")
	for i := range 60 { // the folder for old data is named by the second, in which another restore may have made one
		now := time.Now().UTC().Add(time.Duration(i) * time.Second)
		if err := os.MkdirAll(p.path("data", now.Format("before-restore-20060102T150405Z")), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if out := p.run("restore", backup, "--force").ok(); !strings.Contains(out, "Z-2") {
		t.Errorf("got %q", out)
	}
	p.serve()

	p.writeFile("other/cache/ab/copy", "a copy of a remote file") // the cache does not count as data
	p.run("restore", backup, "--data-dir", p.path("other")).ok()
}

func TestRestoreAndSettings(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.run("backup", "svc.tar").ok()

	t.Run("other settings are kept", func(t *testing.T) {
		q := newWorkspace(t, "[instance]\nname = \"other\"")
		out := q.run("restore", p.path("svc.tar")).ok()
		if !strings.Contains(out, "config.toml.from-backup") || !strings.Contains(q.run("config", "show").ok(), `name = "other"`) {
			t.Errorf("got %q", out)
		}
		if got := q.run("config", "show", "--config", "config.toml.from-backup").ok(); !strings.Contains(got, p.url) {
			t.Errorf("got %q", got)
		}
	})
	t.Run("the data directory of the backup's settings", func(t *testing.T) {
		q := newWorkspaceWithoutSettings(t)
		q.run("restore", p.path("svc.tar")).ok() // ./data
		q.run("user", "show", "alice").ok()
	})
	t.Run("the restored settings have the new data directory", func(t *testing.T) {
		q := newWorkspaceWithoutSettings(t)
		q.run("restore", p.path("svc.tar"), "--data-dir", "other-data", "--config", "new.toml").ok()
		q.run("user", "show", "alice", "--config", "new.toml").ok()
	})
}

// entry is a file of a backup.
type entry struct {
	name    string
	kind    byte
	content []byte
}

func readTar(t testing.TB, path string) (list []entry) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for r := tar.NewReader(f); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, entry{head.Name, head.Typeflag, content})
	}
}

func writeTar(t testing.TB, path string, list []entry) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range list {
		head := &tar.Header{Name: e.name, Typeflag: e.kind, Size: int64(len(e.content)), Mode: 0o600}
		if e.kind == tar.TypeSymlink {
			head.Linkname, head.Size, e.content = string(e.content), 0, nil
		}
		if err := w.WriteHeader(head); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// withManifest replaces the manifest by one that matches the entries.
func withManifest(t testing.TB, list []entry) []entry {
	t.Helper()
	type file struct {
		Name   string `json:"name"`
		Size   int    `json:"size"`
		SHA256 string `json:"sha256"`
	}
	var m map[string]any
	files := []file{}
	var rest []entry
	for _, e := range list {
		if e.name == "manifest.json" {
			if err := json.Unmarshal(e.content, &m); err != nil {
				t.Fatal(err)
			}
			continue
		}
		rest = append(rest, e)
		files = append(files, file{e.name, len(e.content), hex.EncodeToString(sha256Of(e.content))})
	}
	m["files"] = files
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return append(rest, entry{"manifest.json", tar.TypeReg, text})
}

// changeDatabase runs SQL on the database in a backup.
func changeDatabase(t testing.TB, list []entry, query string) []entry {
	t.Helper()
	path := filepath.Join(t.TempDir(), "svc.db")
	i := slices.IndexFunc(list, func(e entry) bool { return e.name == "svc.db" })
	if err := os.WriteFile(path, list[i].content, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list = slices.Clone(list)
	list[i].content = content
	return list
}

func TestRestoreRefusesDamagedBackups(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addFiles()
	p.run("backup", "svc.tar").ok()
	whole := readTar(t, p.path("svc.tar"))
	without := func(name string) []entry {
		return slices.DeleteFunc(slices.Clone(whole), func(e entry) bool { return e.name == name })
	}
	with := func(e entry) []entry { return append([]entry{e}, whole...) }
	for _, tt := range []struct {
		name string
		list []entry
		want string
	}{
		{"a changed file", func() []entry {
			list := slices.Clone(whole)
			i := slices.IndexFunc(list, func(e entry) bool { return e.name == mediaPath("a picture") })
			list[i].content = []byte("a Picture")
			return list
		}(), mediaPath("a picture") + " is damaged"},
		{"a changed database", changeDatabase(t, whole, `UPDATE accounts SET display_name = 'x'`), "svc.db is damaged"},
		{"a missing file", without(mediaPath("a picture")), "no such file"},
		{"an additional file", with(entry{"static/more", tar.TypeReg, nil}), "differ from its manifest"},
		{"no manifest", without("manifest.json"), "lacks manifest.json"},
		{"no database", withManifest(t, without("svc.db")), "database is missing"},
		{"a path outside the folder", withManifest(t, with(entry{"media/../../evil", tar.TypeReg, nil})), "unexpected file"},
		{"an absolute path", with(entry{"/tmp/evil", tar.TypeReg, nil}), "unexpected file"},
		{"an unexpected folder", withManifest(t, with(entry{"backups/evil", tar.TypeReg, nil})), "unexpected file"},
		{"a link", with(entry{"media/link", tar.TypeSymlink, []byte("/etc/passwd")}), "unexpected file"},
		{"the same file twice", withManifest(t, with(entry{mediaPath("a picture"), tar.TypeReg, []byte("a picture")})), "exists"},
		{"a newer database", withManifest(t, changeDatabase(t, whole, `PRAGMA user_version = 9999`)), "newer version of svc"},
		{"a row that refers to a missing row", withManifest(t, changeDatabase(t, whole, `PRAGMA foreign_keys = 0; UPDATE users SET account_id = 1`)), "refer to rows that are not there"},
		{"a database file that is not a database", withManifest(t, append(without("svc.db"), entry{"svc.db", tar.TypeReg, []byte("nonsense")})), "database is damaged"},
		{"another format", func() []entry {
			list := slices.Clone(whole)
			last := &list[len(list)-1]
			last.content = bytes.Replace(last.content, []byte(`"format":1`), []byte(`"format":2`), 1)
			return list
		}(), "format 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := newWorkspaceWithoutSettings(t)
			writeTar(t, q.path("svc.tar"), tt.list)
			q.run("restore", "svc.tar", "--data-dir", "data").fails(1, tt.want)
			q.wantNoData()
		})
	}
	bytes, err := os.ReadFile(p.path("svc.tar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []int{0, 100, 5000, len(bytes) / 2, len(bytes) - 5000} {
		t.Run(fmt.Sprintf("only %d of %d bytes", length, len(bytes)), func(t *testing.T) {
			q := newWorkspaceWithoutSettings(t)
			if err := os.WriteFile(q.path("svc.tar"), bytes[:length], 0o600); err != nil {
				t.Fatal(err)
			}
			want := "lacks svc.db, keys/secret, keys/vapid.json, manifest.json and what else"
			if length == len(bytes)-5000 { // the rest begins behind the keys
				want = "lacks manifest.json and what else"
			}
			q.run("restore", "svc.tar", "--data-dir", "data").fails(1, "not a complete backup")
			q.run("restore", "svc.tar", "--data-dir", "data").fails(1, want)
			q.wantNoData()
			found := q.run("verify", "svc.tar")
			for _, name := range []string{"svc.db", "keys/secret", "keys/vapid.json", "manifest.json"} {
				if listed := strings.Contains(found.out, "missing  "+name); listed != strings.Contains(want, name) {
					t.Errorf("svc verify lists %s as missing: %v\n%s", name, listed, found.out)
				}
			}
		})
	}
}

// wantNoData fails the test if there are data or settings.
func (p *workspace) wantNoData() {
	p.t.Helper()
	if _, err := os.Stat(p.config); err == nil {
		p.t.Error("there is a settings file")
	}
	entries, err := os.ReadDir(p.path("data"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "lock" {
			p.t.Errorf("unexpected file %s", e.Name())
		}
	}
}
