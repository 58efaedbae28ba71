package command_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/superfly/ltx"

	"svc/app/apptest"
	"svc/internal/objects/objectstest"
)

// copiedWorkspace returns a workspace with an account and its token "t", whose continuous copy goes to a folder.
func copiedWorkspace(t *testing.T) (p *workspace, place string) {
	t.Helper()
	to := folderPlace(t)
	return to.workspace(t), to.folder
}

// uploadSound uploads a file, and returns its id, "" if the server did not answer.
func (p *workspace) uploadSound(content []byte) string {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part, _ := form.CreateFormFile("file", "a.mp3")
	part.Write(content)
	form.Close()
	id, _ := (&crashClient{p: p}).post("/api/v1/media", form.FormDataContentType(), &b)
	return id
}

// countFiles returns how many files match a pattern.
func countFiles(t testing.TB, pattern ...string) int {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(pattern...))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// placeDatabase does what Litestream does first: it writes the whole database to the place.
func (p *workspace) placeDatabase(place string) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "copy.db")
	p.openDatabase(func(db *sql.DB) error {
		_, err := db.Exec(`VACUUM INTO ?`, file)
		return err
	})
	content, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	const pageSize = 4096
	var b bytes.Buffer
	enc, err := ltx.NewEncoder(&b)
	if err == nil {
		err = enc.EncodeHeader(ltx.Header{
			Version: ltx.Version, Flags: ltx.HeaderFlagNoChecksum, PageSize: pageSize, Commit: uint32(len(content) / pageSize),
			MinTXID: 1, MaxTXID: 1, Timestamp: time.Now().UnixMilli(),
		})
	}
	for n := 1; err == nil && n <= len(content)/pageSize; n++ {
		err = enc.EncodePage(ltx.PageHeader{Pgno: uint32(n)}, content[(n-1)*pageSize:n*pageSize])
	}
	if err == nil {
		err = enc.Close()
	}
	dir := filepath.Join(place, "db", "ltx", "9")
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ltx.FormatFilename(1, 1)), b.Bytes(), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// doctorSays returns the result of a check.
func (p *workspace) doctorSays(check string) (status, seen string) {
	p.t.Helper()
	var report struct {
		Results []struct{ Name, Status, Seen string }
	}
	out := p.run("doctor", "--json").out
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		p.t.Fatalf("%v in %s", err, out)
	}
	for _, r := range report.Results {
		if r.Name == check {
			return r.Status, r.Seen
		}
	}
	p.t.Fatalf("doctor has no check %s", check)
	return "", ""
}

// TestReplica restores a server from its copy, which has a database as Litestream writes it.
func TestReplica(t *testing.T) {
	p, place := copiedWorkspace(t)
	s := p.serve()
	if post := p.post("t", "kept"); post == "" {
		t.Fatal("no post")
	}
	if status, seen := p.doctorSays("replica"); status != "failure" || !strings.Contains(seen, "Litestream has written nothing") {
		t.Errorf("without Litestream: %s %s", status, seen)
	}
	if p.uploadSound(sound(2000)) == "" {
		t.Fatal("no upload")
	}
	s.waitUntil("the upload is at the place", func() bool { return countFiles(t, place, "files", "media", "*", "*") == 1 })
	s.waitUntil("the keys are at the place", func() bool { return countFiles(t, place, "sealed", "*") == 1 })
	p.placeDatabase(place)
	if status, seen := p.doctorSays("replica"); status != "ok" {
		t.Errorf("with a copy: %s %s", status, seen)
	}
	if status, seen := p.doctorSays("rehearsal"); status != "ok" {
		t.Errorf("before the first rehearsal: %s %s", status, seen)
	}
	s.stop()
	p.rehearse(place)

	other := newWorkspaceWithoutSettings(t)
	other.write("passphrase", "correct horse battery\n")
	other.write("wrong", "another passphrase\n")
	restore := []string{"restore", "--from", place, "--data-dir", other.path("data"), "--passphrase-file"}
	other.run(append(restore, "wrong")...).fails(1, "the passphrase is wrong")
	other.run(append(restore, "passphrase", "--damaged")...).fails(2, "--damaged")
	other.run(append(restore, "passphrase", "--at", "2020-01-01")...).fails(1, "no database")
	if _, err := os.Stat(other.path("data", "svc.db")); err == nil {
		t.Error("a restoration that failed has written a database")
	}
	if out := other.run(append(restore, "passphrase")...).ok(); !strings.Contains(out, "with 1 file.\n") || strings.Contains(out, "Missing") {
		t.Errorf("it prints %q", out)
	}
	other.run("verify").ok()
	if got := other.run("user", "list").ok(); !strings.Contains(got, "alice") {
		t.Errorf("users are %q", got)
	}
	other.run(append(restore, "passphrase")...).fails(1, "already contains data")
	uploads, _ := filepath.Glob(filepath.Join(place, "files", "media", "*", "*"))
	if err := os.Remove(uploads[0]); err != nil {
		t.Fatal(err)
	}
	out := other.run(append(restore, "passphrase", "--force")...).ok()
	if name := filepath.Base(uploads[0]); !strings.Contains(out, "Missing or damaged: 1") || !strings.Contains(out, name) {
		t.Errorf("without %s it prints %q", name, out)
	}
}

// rehearse checks that a server whose rehearsal is due makes it, and what svc doctor says: of an intact copy, and of one without a database.
func (p *workspace) rehearse(place string) {
	p.t.Helper()
	for _, tt := range []struct {
		db, log, status, seen string
	}{
		{"db", "was restored in a rehearsal, and is intact", "ok", "restored an intact copy"},
		{"empty", "rehearsal of a restoration has failed", "failure", "there is no continuous copy"},
	} {
		move := func(from, to string) {
			if from == to {
				return
			}
			if err := os.Rename(filepath.Join(place, from), filepath.Join(place, to)); err != nil {
				p.t.Fatal(err)
			}
		}
		move("db", tt.db)
		p.write("data/rehearsal.json", `{"since": "2020-01-01T00:00:00Z"}`)
		s := p.serve()
		s.waitForLog(tt.log)
		move(tt.db, "db")
		if status, seen := p.doctorSays("rehearsal"); status != tt.status || !strings.Contains(seen, tt.seen) {
			p.t.Errorf("%s %s", status, seen)
		}
		if left, _ := filepath.Glob(p.path("data", "backups", ".svc-verify-*")); len(left) > 0 {
			p.t.Errorf("left are %q", left)
		}
		s.stop()
	}
}

// litestream returns the program of $SVC_TEST_LITESTREAM, or skips the test.
func litestream(t *testing.T) string {
	program := os.Getenv("SVC_TEST_LITESTREAM")
	if program == "" {
		t.Skip("SVC_TEST_LITESTREAM names no Litestream; .ci/litestream builds one")
	}
	return program
}

// replicate starts Litestream as its unit in the documentation does, with the example of its settings.
func (p *workspace) replicate(program string, place *copyPlace) *apptest.Process {
	p.t.Helper()
	p.write("litestream.yml", p.readExample("litestream.yml", map[string]string{
		"path: /var/lib/svc/data/svc.db":                            "path: " + p.path("data", "svc.db"),
		"url: s3://bucket/svc/db?endpoint=https://s3.example.org\n": place.litestream + "\n",
	}))
	p.write("litestream.env", "LITESTREAM_ACCESS_KEY_ID="+objectstest.User+"\nLITESTREAM_SECRET_ACCESS_KEY="+objectstest.Secret+"\n")
	unit := p.readExample("litestream.service", map[string]string{
		"/usr/local/bin/svc":        binary,
		"/usr/local/bin/litestream": program,
		"/var/lib/svc/config.toml":  p.config,
		"/etc/litestream.yml":       p.path("litestream.yml"),
		"/etc/svc/litestream.env":   p.path("litestream.env"),
	})
	if out, err := p.unitCommand(unit, "ExecCondition").CombinedOutput(); err != nil {
		p.t.Fatalf("the unit of Litestream does not start it: %v\n%s", err, out)
	}
	process := apptest.StartProcess(p.t, p.unitCommand(unit, "ExecStart"))
	process.WaitUntil("Litestream has written a copy", func() bool {
		return countFiles(p.t, place.folder, "db", "ltx", "*", "*.ltx") > 0 || countFiles(p.t, place.folder, "db", "*", "*.ltx") > 0 // in a bucket
	})
	return process
}

// readExample returns a file of docs/examples with other values. It must have each of the old ones once.
func (p *workspace) readExample(name string, paths map[string]string) string {
	p.t.Helper()
	example, err := os.ReadFile(filepath.Join("../docs/examples", name))
	if err != nil {
		p.t.Fatal(err)
	}
	text := string(example)
	for from, to := range paths {
		if strings.Count(text, from) != 1 {
			p.t.Fatalf("the example %s has not one %q", name, from)
		}
		text = strings.Replace(text, from, to, 1)
	}
	return text
}

// unitCommand returns the command of a setting of a unit, in the environment that systemd would give it: nothing of that of the test.
func (p *workspace) unitCommand(unit, setting string) *exec.Cmd {
	p.t.Helper()
	value := func(name string) string {
		_, rest, found := strings.Cut(unit, "\n"+name+"=")
		line, _, _ := strings.Cut(rest, "\n")
		if !found {
			p.t.Fatalf("the unit has no %s", name)
		}
		return strings.TrimPrefix(line, "-")
	}
	words := strings.Fields(value(setting))
	cmd := exec.CommandContext(p.t.Context(), words[0], words[1:]...)
	cmd.Dir = p.dir // settings of tests have paths relative to it
	env, err := os.ReadFile(value("EnvironmentFile"))
	if err != nil {
		p.t.Fatal(err)
	}
	cmd.Env = append(strings.Fields(string(env)), "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG=C.UTF-8")
	return cmd
}

// acknowledged are posts that were answered, and when.
type acknowledged struct {
	mu    sync.Mutex
	posts map[string]time.Time
	until time.Time // when server and Litestream were killed
}

// load posts and uploads until the server does not answer.
func (p *workspace) load(a *acknowledged, workers int) *sync.WaitGroup {
	var running sync.WaitGroup
	for w := range workers {
		running.Go(func() {
			for n := 0; ; n++ {
				values := url.Values{"status": {fmt.Sprintf("post %d of %d", n, w)}}
				if n%20 == 0 {
					id := p.uploadSound(sound(1000 + 1000*w + n))
					if id == "" {
						return
					}
					values.Set("media_ids[]", id)
				}
				status, body, err := p.request(context.Background(), "POST", "/api/v1/statuses", "t", strings.NewReader(values.Encode()))
				var post struct{ ID string }
				if err != nil || status != 200 || json.Unmarshal([]byte(body), &post) != nil {
					return
				}
				a.mu.Lock()
				a.posts[post.ID] = time.Now()
				a.mu.Unlock()
			}
		})
	}
	return &running
}

// killUnderLoad posts and uploads for ten seconds, and kills the server and its Litestream.
func (p *workspace) killUnderLoad(s *server, copying *apptest.Process) *acknowledged {
	a := &acknowledged{posts: make(map[string]time.Time)}
	running := p.load(a, 4)
	time.Sleep(10 * time.Second) // of load
	a.until = time.Now()
	s.signal(syscall.SIGKILL)
	copying.Signal(syscall.SIGKILL)
	<-s.done
	<-copying.Done
	running.Wait()
	return a
}

// checkLoss counts the posts that another server lacks: it may lack those of the last two seconds.
func (a *acknowledged) checkLoss(there *workspace) {
	there.t.Helper()
	lost, first := 0, a.until
	for id, at := range a.posts {
		if status, _ := there.get("/api/v1/statuses/"+id, "t"); status != http.StatusOK {
			lost++
			if at.Before(first) {
				first = at
			}
		}
	}
	lag := a.until.Sub(first).Round(time.Millisecond)
	there.t.Logf("%d posts were answered, %d are lost, the first of them %s before the end", len(a.posts), lost, lag)
	if lag > 2*time.Second || len(a.posts) < 100 {
		there.t.Errorf("the copy was behind by %s", lag)
	}
}

// TestReplicaLitestream kills server and Litestream under load, restores the copy, and counts acknowledged posts that are lost: less than two seconds of posts.
func TestReplicaLitestream(t *testing.T) {
	program := litestream(t)
	eachCopyPlace(t, func(t *testing.T, place *copyPlace) {
		p := place.workspace(t)
		s := p.serve()
		copying := p.replicate(program, place)
		a := p.killUnderLoad(s, copying)

		other := newWorkspace(t)
		other.write("config.toml", place.settings)
		place.writeSecrets(other)
		out := other.run("restore", "--from", place.location, "--data-dir", other.path("data"), "--passphrase-file", "passphrase").ok()
		t.Log(out)
		if !strings.Contains(out, "--take-over") {
			t.Error("how to start the server is not said")
		}
		if err := os.Rename(other.config+".from-backup", other.config); err != nil {
			t.Fatal(err)
		}
		a.checkLoss(other.withServer(p))
		missing := strings.Count(out, "missing_file")
		t.Logf("%d files are missing", missing)
		if missing == 0 {
			other.run("verify").ok()
		}
	})
}

// withServer serves data restored from another workspace, at its address.
func (p *workspace) withServer(of *workspace) *workspace {
	p.t.Helper()
	p.serve("--take-over") // the lease is that of the other machine
	p.url = of.url
	return p
}

// TestReplicaWithoutLitestream ends Litestream for a while, in which the server empties the log: Litestream then makes a new snapshot by itself.
func TestReplicaWithoutLitestream(t *testing.T) {
	program := litestream(t)
	to := folderPlace(t)
	p, place := to.workspace(t), to.location
	s := p.serve()
	copying := p.replicate(program, to)
	p.post("t", "first")
	copying.Signal(syscall.SIGTERM)
	<-copying.Done
	const big = 280 << 20 // more than the log may have
	p.openDatabase(func(db *sql.DB) error {
		db.SetMaxOpenConns(1)
		for _, query := range []string{"PRAGMA busy_timeout = 20000", "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE _big (b BLOB)"} {
			if _, err := db.Exec(query); err != nil {
				return err
			}
		}
		for range big >> 22 {
			if _, err := db.Exec("INSERT INTO _big VALUES (zeroblob(?))", 4<<20); err != nil {
				return err
			}
		}
		_, err := db.Exec("DROP TABLE _big")
		return err
	})
	s.waitForLog("no program has taken the database's log")
	if status, seen := p.doctorSays("replica"); status != "failure" || !strings.Contains(seen, "no program took the log") {
		t.Errorf("doctor: %s %s", status, seen)
	}
	p.post("t", "second")
	p.replicate(program, to)
	p.post("t", "third")
	other := newWorkspaceWithoutSettings(t)
	other.write("passphrase", "correct horse battery\n")
	s.waitUntil("a restoration has the third post", func() bool {
		r := other.run("restore", "--from", place, "--data-dir", other.path("data"), "--passphrase-file", "passphrase", "--force")
		return r.code == 0 && other.queryInt(`SELECT count(*) FROM statuses WHERE content LIKE '%third%'`) == 1
	})
	other.run("verify").ok()
}
