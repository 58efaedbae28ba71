package command_test

import (
	"archive/tar"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// verification is the output of svc verify --json.
type verification struct {
	Findings []finding
	Left     int
}

type finding struct {
	Part, Kind, What, Detail string
	Repaired, Harmless       bool
}

// kinds returns the parts and kinds of the findings, each once and sorted.
func (v verification) kinds() string {
	var list []string
	for _, f := range v.Findings {
		list = append(list, f.Part+"/"+f.Kind)
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

// verify runs svc verify --json, which must end with an exit code.
func (p *workspace) verify(code int, args ...string) (v verification) {
	p.t.Helper()
	r := p.run(append([]string{"verify", "--json"}, args...)...)
	if r.code != code || (code == 3) != strings.Contains(r.errOut, "damaged or missing") {
		p.t.Fatalf("%s: got exit code %d, %q, %q, want %d", r.what, r.code, r.out, r.errOut, code)
	}
	if err := json.Unmarshal([]byte(r.out), &v); err != nil {
		p.t.Fatal(err)
	}
	return v
}

// exec runs SQL on the database. No server may run.
func (p *workspace) exec(query string) {
	p.t.Helper()
	db, err := sql.Open("sqlite", p.path("data", "svc.db"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query); err != nil {
		p.t.Fatal(err)
	}
}

// TestVerify damages what svc verify can repair, and what only a backup can.
func TestVerify(t *testing.T) {
	for _, name := range []string{"without a server", "with a server"} {
		t.Run(name, func(t *testing.T) {
			p := newWorkspace(t, "[rate_limit]\nenabled = false\n")
			p.run("verify").fails(1, "there is no database")
			p.run("user", "create", "alice", "--email", "alice@example.org").ok()
			p.addToken("alice", "t")
			s := p.serve()
			for range 3 {
				p.post("t", "findable #word")
			}
			s.stop()
			if got := p.run("verify").ok(); got != "Nothing is damaged or missing.\n" {
				t.Errorf("got %q", got)
			}
			p.exec(`
				UPDATE accounts SET followers_count = 7, statuses_count = 9 WHERE nickname = 'alice';
				UPDATE account_tags SET statuses_count = 1;
				UPDATE statuses SET replies_count = 3 WHERE id = (SELECT max(id) FROM statuses);
				UPDATE status_counts SET count = count + 5;
				INSERT INTO storage_usage (class, count, bytes) VALUES ('remote_posts', 4, 0), ('uploads', 1, 4096);
				INSERT INTO reaction_counts (status_id, emoji, url, count, first_id) SELECT max(id), 'x', '', 2, 1 FROM statuses;
				DELETE FROM statuses_fts WHERE rowid = (SELECT min(id) FROM statuses)`)
			orphan := p.storeFile("orphan")
			if name == "with a server" {
				p.serve()
			}
			const counters = "counters/wrong_counter media/unused_file search/not_indexed"
			found := p.verify(3)
			if found.kinds() != counters || found.Left != 11 {
				t.Errorf("got %s, %d left: %+v", found.kinds(), found.Left, found)
			}
			if again := p.verify(3); again.Left != found.Left {
				t.Errorf("the check changed something: %+v", again)
			}
			fixed := p.verify(0, "--fix")
			if fixed.kinds() != counters || len(fixed.Findings) != len(found.Findings) || fixed.Left != 0 {
				t.Errorf("fixed: %+v", fixed)
			}
			for i, f := range fixed.Findings {
				if found.Findings[i].What != f.What {
					t.Errorf("%s was found, %s was fixed", found.Findings[i].What, f.What)
				}
			}
			if v := p.verify(0); len(v.Findings) > 0 {
				t.Errorf("after the repair: %+v", v)
			}
			if _, err := os.Stat(p.path("data", "media", orphan)); err == nil {
				t.Error("the unused file is still there")
			}
			if name == "with a server" {
				id := strings.Fields(found.Findings[0].What)[1]
				if _, body := p.get("/api/v1/accounts/lookup?acct=alice", "t"); !strings.Contains(body, id) {
					t.Errorf("%s is not the id of the account: %s", id, body)
				}
				_, body := p.get("/api/v2/search?q=findable&type=statuses", "t")
				if n := strings.Count(body, `"reblogs_count"`); n != 3 {
					t.Errorf("search finds %d of 3 posts", n)
				}
			}
			p.run("verify", "a.tar", "b.tar").fails(2, "b.tar")
			p.run("verify", "a.tar", "--fix").fails(2, "--fix")
			p.run("verify", "nowhere.tar").fails(1, "nowhere.tar")
		})
	}
}

// TestVerifyFindsDamage checks what cannot be repaired. --fix must then change nothing.
func TestVerifyFindsDamage(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*workspace)
		want   string
	}{
		{"a damaged page", func(p *workspace) { p.damagePage("accounts") }, "database/damaged"},
		{"a row without its parent", func(p *workspace) {
			p.exec(`PRAGMA foreign_keys = 0; INSERT INTO pins (status_id, account_id, pinned_at) VALUES (5, 6, 7)`)
		}, "database/damaged"},
		{"no database any more", func(p *workspace) { p.write("data/svc.db", strings.Repeat("nonsense", 1000)) }, "database/damaged"},
		{"a missing key", func(p *workspace) { os.Remove(p.path("data", "keys", "secret")) }, "keys/missing"},
		{"a damaged key", func(p *workspace) { p.write("data/keys/vapid.json", "{}") }, "keys/damaged"},
		{"the key of another server", func(p *workspace) { p.write("data/keys/secret", strings.Repeat("k", 32)) }, "keys/damaged"},
		{"a missing upload", func(p *workspace) { p.addUpload(1, "aa/"+strings.Repeat("a", 64)+".png", "", 5, true) }, "media/missing_file"},
		{"a damaged upload", func(p *workspace) {
			name := p.storeFile("picture")
			p.addUpload(1, name, "", 7, true)
			p.write("data/media/"+name, "PICTURE")
		}, "media/damaged_file"},
		{"uploads that cannot be read", func(p *workspace) {
			for i, spoil := range []func(path string) error{
				func(path string) error { return os.Symlink("/etc/passwd", path) },
				func(path string) error { return os.Mkdir(path, 0o700) },
			} {
				name := p.storeFile(strconv.Itoa(i))
				p.addUpload(i+1, name, "", 1, i == 0)
				if err := errors.Join(os.Remove(p.path("data", "media", name)), spoil(p.path("data", "media", name))); err != nil {
					p.t.Fatal(err)
				}
			}
			p.write("data/media/ee", "no folder")
			p.addUpload(9, "aa/"+strings.Repeat("a", 64)+".png", "", 5, false)
		}, "media/missing_file media/unreadable_file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newWorkspace(t)
			p.run("user", "create", "alice", "--email", "alice@example.org").ok()
			tt.change(p)
			for _, flags := range [][]string{nil, {"--fix"}} {
				v := p.verify(3, flags...)
				if !strings.Contains(v.kinds(), tt.want) {
					t.Errorf("%s: got %s, want %s: %+v", flags, v.kinds(), tt.want, v)
				}
			}
		})
	}
}

// TestDamageIsReported changes a byte of an index, which only a comparison with its table finds. The running server learns of it from either
// command: it stores nothing more, and its health check says so.
func TestDamageIsReported(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
	}{
		{[]string{"db", "check"}, 1},
		{[]string{"verify"}, 3},
	} {
		t.Run(tt.args[0], func(t *testing.T) {
			p := newWorkspace(t)
			p.run("user", "create", "alice", "--email", "alice@example.org").ok()
			p.addToken("alice", "t")
			p.changeIndex("sqlite_autoindex_users_1", "alice@example.org", "alicf@example.org")
			s := p.serve()
			if status, _ := s.postAs(http.DefaultClient, "before"); status != 200 || s.statusOf("/health") != 200 {
				t.Fatalf("before the check: %d, health %d", status, s.statusOf("/health"))
			}
			if r := p.run(tt.args...); r.code != tt.code || !strings.Contains(r.out, "sqlite_autoindex_users_1") {
				t.Fatalf("got exit code %d, %q, %q", r.code, r.out, r.errOut)
			}
			if status, _ := s.postAs(http.DefaultClient, "after"); status != 503 || s.statusOf("/health") != 503 {
				t.Errorf("after the check: %d, health %d", status, s.statusOf("/health"))
			}
			s.waitForLog("svc restore FILE")
			s.stop()
			if r := p.run(tt.args...); r.code != tt.code {
				t.Errorf("without a server: exit code %d, %q", r.code, r.errOut)
			}
		})
	}
}

// TestMissingReferenceIsNoFileDamage checks that a row that refers to a missing one is listed, also of a table without row ids, and that the
// server goes on.
func TestMissingReferenceIsNoFileDamage(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addToken("alice", "t")
	p.exec(`
		PRAGMA foreign_keys = 0;
		INSERT INTO pins (status_id, account_id, pinned_at) VALUES (5, 6, 7);
		INSERT INTO account_tags (account_id, tag_id, statuses_count, last_status_id) VALUES (6, 7, 0, 0)`)
	s := p.serve()
	found := p.verify(3)
	for _, want := range []string{" of pins refers to a missing row of statuses", "a row of account_tags refers to a missing row of users"} {
		if !slices.ContainsFunc(found.Findings, func(f finding) bool { return strings.HasSuffix(f.Detail, want) }) {
			t.Errorf("not found: %q in %+v", want, found)
		}
	}
	if r := p.run("db", "check"); r.code != 1 || strings.Count(r.out, "\n") != 4 {
		t.Errorf("svc db check: %d, %q", r.code, r.out)
	}
	if status, _ := s.postAs(http.DefaultClient, "after"); status != 200 || s.statusOf("/health") != 200 {
		t.Errorf("after the check: %d, health %d", status, s.statusOf("/health"))
	}
	s.stop()
}

// changeIndex replaces a text in the first page of an index. No server may run.
func (p *workspace) changeIndex(index, from, to string) {
	p.t.Helper()
	p.exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
	var root, size int
	p.query(&root, `SELECT rootpage FROM sqlite_schema WHERE name = ?`, index)
	p.query(&size, `PRAGMA page_size`)
	f, err := os.OpenFile(p.path("data", "svc.db"), os.O_RDWR, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, size)
	if _, err := f.ReadAt(page, int64((root-1)*size)); err != nil {
		p.t.Fatal(err)
	}
	if changed := bytes.Replace(page, []byte(from), []byte(to), 1); bytes.Equal(changed, page) {
		p.t.Fatalf("%s does not contain %q", index, from)
	} else if _, err := f.WriteAt(changed, int64((root-1)*size)); err != nil {
		p.t.Fatal(err)
	}
}

// damagePage overwrites the root page of a table.
func (p *workspace) damagePage(table string) {
	p.t.Helper()
	db, err := sql.Open("sqlite", p.path("data", "svc.db"))
	if err != nil {
		p.t.Fatal(err)
	}
	root, size, head := int64(1), int64(0), int64(100) // the first page has the schema, after the header of the file
	err = db.QueryRow(`PRAGMA page_size`).Scan(&size)
	if err == nil && table != "sqlite_schema" {
		head = 0
		err = db.QueryRow(`SELECT rootpage FROM sqlite_schema WHERE name = ?`, table).Scan(&root)
	}
	if err == nil {
		_, err = db.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	db.Close()
	f, err := os.OpenFile(p.path("data", "svc.db"), os.O_WRONLY, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, int(size-head)), (root-1)*size+head); err != nil {
		p.t.Fatal(err)
	}
}

// TestVerifyRebuildsSearch damages the search index itself.
func TestVerifyRebuildsSearch(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addToken("alice", "t")
	s := p.serve()
	p.post("t", "findable")
	s.stop()
	p.exec(`UPDATE statuses_fts_data SET block = x'00' WHERE id > 10`)
	if v := p.verify(3); v.kinds() != "search/damaged" {
		t.Errorf("got %+v", v)
	}
	if v := p.verify(0, "--fix"); v.kinds() != "search/damaged" || !v.Findings[0].Repaired {
		t.Errorf("repair: %+v", v)
	}
	p.verify(0)
	p.serve()
	if _, body := p.get("/api/v2/search?q=findable&type=statuses", "t"); !strings.Contains(body, "findable") {
		t.Errorf("search: %s", body)
	}
	if _, body := p.get("/api/v1/accounts/search?q=ali", "t"); !strings.Contains(body, "alice") {
		t.Errorf("search of accounts: %s", body)
	}
}

// TestVerifyBackup checks that damage of a backup is found, and that nothing is left behind.
func TestVerifyBackup(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	picture := p.storeFile("a picture")
	p.addUpload(1, picture, "", 9, true)
	p.addFiles()
	p.run("backup", "svc.tar").ok()
	p.run("backup", "--no-media", "small.tar").ok()
	whole := readTar(t, p.path("svc.tar"))
	with := func(name string, content []byte) []entry {
		list := slices.Clone(whole)
		i := slices.IndexFunc(list, func(e entry) bool { return e.name == name })
		list[i].content = content
		return list
	}
	without := func(name string) []entry {
		return slices.DeleteFunc(slices.Clone(whole), func(e entry) bool { return e.name == name })
	}
	for _, tt := range []struct {
		name string
		list []entry
		want string // "": intact
	}{
		{"an intact backup", whole, ""},
		{"a changed file", with("static/robots.txt", []byte("User-agent: x")), "backup/damaged"},
		{"a changed upload", with("media/"+picture, []byte("A picture")), "backup/damaged media/damaged_file"},
		{"an upload that was damaged before", withManifest(t, with("media/"+picture, []byte("A picture"))), "media/damaged_file"},
		{"a missing upload", without("media/" + picture), "backup/missing media/missing_file"},
		{"an upload that was missing before", withManifest(t, without("media/"+picture)), "media/missing_file"},
		{"an additional file", append([]entry{{"static/more", tar.TypeReg, nil}}, whole...), "backup/damaged"},
		{"an unexpected file", append([]entry{{"../evil", tar.TypeReg, nil}}, whole...), "backup/damaged"},
		{"no manifest", without("manifest.json"), "backup/missing"},
		{"no database", withManifest(t, without("svc.db")), "backup/missing"},
		{"no keys", withManifest(t, without("keys/secret")), "keys/missing"},
		{"other keys", withManifest(t, with("keys/secret", bytes.Repeat([]byte("k"), 32))), "keys/damaged"},
		{"no database file", withManifest(t, with("svc.db", bytes.Repeat([]byte("nonsense"), 1000))), "database/damaged"},
		{"a wrong counter", withManifest(t, changeDatabase(t, whole, `UPDATE accounts SET statuses_count = 1 WHERE domain = ''`)), "counters/wrong_counter"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := newWorkspaceWithoutSettings(t)
			writeTar(t, q.path("svc.tar"), tt.list)
			code := 3
			if tt.want == "" {
				code = 0
			}
			v := q.verify(code, "svc.tar")
			v.Findings = slices.DeleteFunc(v.Findings, func(f finding) bool { return f.Harmless }) // files of addFiles, which nothing uses
			if v.kinds() != tt.want {
				t.Errorf("got %s, want %s: %+v", v.kinds(), tt.want, v)
			}
			if names, err := filepath.Glob(q.path(".svc*")); err != nil || len(names) > 0 {
				t.Errorf("left behind: %v, %v", names, err)
			}
		})
	}
	p.verify(0, "small.tar")
	p.write("no.tar", "no backup")
	if v := p.verify(3, "no.tar"); v.kinds() != "backup/damaged backup/missing" {
		t.Errorf("no backup: %+v", v)
	}
	content, err := os.ReadFile(p.path("svc.tar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []int{5000, len(content) / 2, len(content) - 5000} {
		p.write("short.tar", string(content[:length]))
		if v := p.verify(3, "short.tar"); !strings.Contains(v.kinds(), "backup/damaged") {
			t.Errorf("%d bytes: %+v", length, v)
		}
	}
}

// TestVerifyKeyedNames checks uploads whose name is not their SHA-256: in the data directory and in a backup.
func TestVerifyKeyedNames(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	var names []string
	for i, content := range []string{"picture", "another"} {
		plain := p.storeFile(content)
		sum := strings.TrimSuffix(filepath.Base(plain), ".png")
		keyed := "aa/" + strings.Repeat("aa", 19) + fmt.Sprintf("%02x", i) + ".png"
		if err := errors.Join(os.MkdirAll(p.path("data", "media", "aa"), 0o700), os.Rename(p.path("data", "media", plain), p.path("data", "media", keyed))); err != nil {
			t.Fatal(err)
		}
		p.addUpload(i+1, keyed, "", len(content), true)
		p.exec(`UPDATE media SET is_mascot = 0, detached_at = 1000`)
		p.exec(`INSERT INTO stored_files (name, class, bytes, sha256) VALUES ('` + keyed + `', 'uploads', 4096, '` + sum + `')`)
		names = append(names, keyed)
	}
	p.exec(`INSERT INTO storage_usage (class, count, bytes) VALUES ('uploads', 2, 8192)`)
	if v := p.verify(0); len(v.Findings) > 0 {
		t.Errorf("intact files: %+v", v)
	}
	p.run("backup", "svc.tar").ok()
	if v := p.verify(0, "svc.tar"); len(v.Findings) > 0 {
		t.Errorf("an intact backup: %+v", v)
	}
	q := newWorkspaceWithoutSettings(t)
	q.run("restore", p.path("svc.tar")).ok()
	list := readTar(t, p.path("svc.tar"))
	i := slices.IndexFunc(list, func(e entry) bool { return e.name == "media/"+names[0] })
	list[i].content = []byte("PICTURE")
	writeTar(t, p.path("damaged.tar"), withManifest(t, list))
	if v := p.verify(3, "damaged.tar"); v.kinds() != "media/damaged_file" || v.Findings[0].What != names[0] {
		t.Errorf("a damaged backup: %+v", v)
	}
	p.write("data/media/"+names[1], "ANOTHER")
	if v := p.verify(3); v.kinds() != "media/damaged_file" || v.Findings[0].What != names[1] {
		t.Errorf("a damaged file: %+v", v)
	}
}

// TestBackupListsDamage checks that a backup of data with a damaged and a missing upload is made, and says so.
func TestBackupListsDamage(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	damaged, kept := p.storeFile("damaged"), p.storeFile("kept")
	missing := "aa/" + strings.Repeat("a", 64) + ".png"
	p.addUpload(1, damaged, "", 7, true)
	p.addUpload(2, missing, "", 5, false)
	p.addUpload(3, kept, "", 4, false)
	p.write("data/media/"+damaged, "DAMAGED")
	r := p.run("backup", "svc.tar")
	if r.code != 3 || !strings.Contains(r.out, "Wrote svc.tar") || !strings.Contains(r.out, damaged) || !strings.Contains(r.out, missing) || strings.Contains(r.out, kept) {
		t.Errorf("got %d, %q, %q", r.code, r.out, r.errOut)
	}
	if v := p.verify(3, "svc.tar"); v.kinds() != "media/damaged_file media/missing_file" {
		t.Errorf("got %+v", v)
	}
	newWorkspaceWithoutSettings(t).run("restore", p.path("svc.tar")).ok() // it is what the server has

	// With --damaged, the damaged files are left out.
	list := readTar(t, p.path("svc.tar"))
	i := slices.IndexFunc(list, func(e entry) bool { return e.name == "media/"+kept })
	list[i].content = []byte("KEPT")
	q := newWorkspaceWithoutSettings(t)
	writeTar(t, q.path("svc.tar"), list)
	q.run("restore", "svc.tar").fails(1, kept+" is damaged")
	if got := q.run("restore", "svc.tar", "--damaged").ok(); !strings.Contains(got, "Left out, because it is damaged or missing: media/"+kept) {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(q.path("data", "media", kept)); err == nil {
		t.Error("the damaged file was restored")
	}
	q.run("user", "show", "alice").ok()

	content, err := os.ReadFile(p.path("svc.tar"))
	if err != nil {
		t.Fatal(err)
	}
	q = newWorkspaceWithoutSettings(t)
	q.write("svc.tar", string(content[:len(content)-8000]))
	q.run("restore", "svc.tar").fails(1, "not a complete backup")
	q.run("restore", "svc.tar", "--damaged").ok()
	q.run("user", "show", "alice").ok()
}

// TestKilledBackup checks that the next backup removes what a killed one has left, and not what a running one uses.
func TestKilledBackup(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.writeFile(".svc-backup-1/lock", "")
	p.writeFile(".svc-backup-1/svc.db", "half")
	p.writeFile(".svc-verify-2/lock", "")
	if err := os.Mkdir(p.path(".svc-backup-3"), 0o700); err != nil { // of one that is about to begin
		t.Fatal(err)
	}
	p.run("backup", "svc.tar").ok()
	left, err := filepath.Glob(p.path(".svc-*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != ".svc-backup-3" {
		t.Errorf("left are %v, %v", left, err)
	}
}
