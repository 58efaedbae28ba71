package command_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"aead.dev/minisign"

	"svc/app"
	"svc/app/apptest"
	"svc/internal/release"
	"svc/store"
)

const newVersion = "9.1.0"

// updating is a workspace whose binary is its own, and a folder with a release.
type updating struct {
	*workspace
	binary   string
	releases string
	public   string
	private  minisign.PrivateKey
	env      []string
}

func newUpdating(t *testing.T) *updating {
	t.Helper()
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	u := &updating{workspace: newWorkspace(t), public: public.String(), private: private}
	u.releases, u.binary = u.path("releases"), u.path("bin", "svc")
	for _, dir := range []string{u.releases, u.path("bin")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	copyFile(t, binary, u.binary)
	settings, err := os.ReadFile(u.config)
	if err != nil {
		t.Fatal(err)
	}
	u.write("config.toml", fmt.Sprintf("%s\n[updates]\nurl = %q\npublic_key = %q\n", settings, u.releases, public.String()))
	return u
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o755); err != nil {
		t.Fatal(err)
	}
}

// publish writes a release with a binary. change changes its description before it is signed; nil: not at all.
func (u *updating) publish(content []byte, version string, schema int, change func(*release.Manifest)) {
	u.t.Helper()
	sum := sha256.Sum256(content)
	m := &release.Manifest{
		Name: release.Name, Version: version, Commit: strings.Repeat("ab", 20), Date: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), Schema: schema,
		Files: []release.File{{Name: "svc_new", Target: runtime.GOOS + "/" + runtime.GOARCH, Kind: release.Binary, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}},
	}
	if change != nil {
		change(m)
	}
	text, err := json.Marshal(m)
	if err != nil {
		u.t.Fatal(err)
	}
	signature, err := release.Sign(u.private, m.Version, release.ManifestName, text)
	if err != nil {
		u.t.Fatal(err)
	}
	for name, content := range map[string][]byte{"svc_new": content, release.ManifestName: text, release.ManifestName + release.SignatureSuffix: signature} {
		if err := os.WriteFile(filepath.Join(u.releases, name), content, 0o644); err != nil {
			u.t.Fatal(err)
		}
	}
}

// update runs svc update. This machine may be a container.
func (u *updating) update(flags ...string) *result {
	u.t.Helper()
	return u.runBinary(append([]string{"update", "--in-container"}, flags...)...)
}

func (u *updating) runBinary(args ...string) *result {
	u.t.Helper()
	cmd := exec.CommandContext(u.t.Context(), u.binary, args...)
	cmd.Dir, cmd.Env = u.dir, append(append(os.Environ(), "SVC_CONFIG="), u.env...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if cmd.ProcessState == nil {
		u.t.Fatal(err)
	}
	return &result{u.t, "svc " + strings.Join(args, " "), cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// wantVersion fails the test unless the binary in place has a version.
func (u *updating) wantVersion(version string) {
	u.t.Helper()
	var is struct{ Version string }
	if err := json.Unmarshal([]byte(u.runBinary("version", "--json").ok()), &is); err != nil || is.Version != version {
		u.t.Errorf("the binary is %q, want version %s: %v", is.Version, version, err)
	}
}

// script is a program that says what the release says and otherwise runs a text of sh.
func script(version string, schema int, text string) []byte {
	return fmt.Appendf(nil, "#!/bin/sh\nif [ \"$1\" = version ]; then\n  echo '{\"name\":\"svc\",\"version\":\"%s\",\"schema\":%d}'\n  exit\nfi\n%s\n", version, schema, text)
}

// TestRefusedUpdates offers releases that are not installed, and binaries that may not be replaced.
func TestRefusedUpdates(t *testing.T) {
	u := newUpdating(t)
	schema := store.SchemaVersion()
	works := script(newVersion, schema, "exit 1")
	publish := func(change func(*release.Manifest)) func() {
		return func() { u.publish(works, newVersion, schema, change) }
	}
	overwrite := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(u.releases, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name    string
		publish func()
		want    string
		flags   []string
	}{
		{"no release", func() {}, "no such file", nil},
		{"another key", func() {
			right := u.private
			_, u.private, _ = minisign.GenerateKey(nil)
			publish(nil)()
			u.private = right
		}, "the signature is not valid", nil},
		{"another program", publish(func(m *release.Manifest) { m.Name = "other" }), `it is a release of "other"`, nil},
		{"another target", publish(func(m *release.Manifest) { m.Files[0].Target = "plan9/mips" }), "has no binary for " + runtime.GOOS, nil},
		{"another kind", publish(func(m *release.Manifest) { m.Files[0].Kind = release.Archive }), "has no binary for", nil},
		{"a huge binary", publish(func(m *release.Manifest) { m.Files[0].Size = 201 << 20 }), "the limit is", nil},
		{"a huge description", func() { publish(nil)(); overwrite(release.ManifestName, strings.Repeat(" ", 2<<20)) }, "at most 1048576 bytes", nil},
		{"another sum", func() { publish(nil)(); overwrite("svc_new", strings.Repeat("x", len(works))) }, "SHA-256 is not that", nil},
		{"a cut file", func() { publish(nil)(); overwrite("svc_new", string(works[:20])) }, "svc_new has 20 bytes", nil},
		{"a long file", func() { publish(nil)(); overwrite("svc_new", string(works)+"x") }, "is no file of at most", nil},
		{"a binary that does not run", func() { u.publish([]byte("\x7fELF nonsense"), newVersion, schema, nil) }, "the new binary does not run", nil},
		{"a binary of another version", func() { u.publish(script("9.2.0", schema, ""), newVersion, schema, nil) }, "the new binary is svc 9.2.0", nil},
		{"an older version", func() { u.publish(script("0.0.9", schema, ""), "0.0.9", schema, nil) }, "older than " + app.Version, nil},
		{"an older schema", func() { u.publish(script("0.0.9", schema-1, ""), "0.0.9", schema-1, nil) }, "it knows schema", []string{"--allow-downgrade"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u.t = t
			tt.publish()
			r := u.update(tt.flags...)
			if r.code != 1 || !strings.Contains(r.errOut, tt.want) {
				t.Errorf("got %d, %q, want %q", r.code, r.errOut, tt.want)
			}
			u.wantVersion(app.Version)
			if left, _ := filepath.Glob(u.path("bin", "*")); len(left) != 1 {
				t.Errorf("files are left: %v", left)
			}
		})
	}
	u.t = t
	publish(nil)()

	u.env = []string{"container=podman"}
	u.runBinary("update").fails(1, "pull the new image")

	manager := u.path("managers")
	if err := os.Mkdir(manager, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"dpkg": {"echo svc: /usr/bin/svc", "belongs to the package svc, which updates it: apt update"},
		"rpm":  {"[ \"$1\" = -q ] && echo svc", "belongs to the package svc, which updates it: dnf upgrade svc"},
	} {
		path := filepath.Join(manager, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+tt.text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		u.env = []string{"PATH=" + manager + ":/nowhere"}
		u.update().fails(1, tt.want)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	u.env = nil

	u.update("--json").fails(2, "--json is for --check")
	u.update("--stop", "true").fails(2, "--stop needs --restart")
	u.update("--public-key", "nonsense").fails(2, "--public-key")
	if err := os.Chmod(u.config, 0o666); err != nil {
		t.Fatal(err)
	}
	u.update().fails(1, "name the key with --public-key")
	u.publish(works, app.Version, schema, nil)
	u.write("svc.pub", "untrusted comment: the key\n"+u.public+"\n")
	for _, key := range []string{"svc.pub", u.public} {
		if got := u.update("--public-key", key).ok(); !strings.Contains(got, "is up to date") {
			t.Errorf("%s: got %q", key, got)
		}
	}
	u.write("config.toml", "")
	u.update().fails(1, "updates are off")
	u.wantVersion(app.Version)
}

// TestUpdateOfOther has a user update a binary in a folder of root, and root a server whose data belong to another user.
func TestUpdateOfOther(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run a command as another user")
	}
	u := newUpdating(t)
	for _, path := range []string{u.dir, filepath.Dir(u.dir), filepath.Dir(binary)} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(u.config, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), u.binary, "update", "--in-container")
	cmd.Dir, cmd.SysProcAttr = u.dir, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if want := "may not write " + u.path("bin") + ": run the command as root"; err == nil || !strings.Contains(string(out), want) {
		t.Errorf("got %v, %q, want %q", err, out, want)
	}

	apptest.CreateData(t, u.dir)
	u.runBinary("user", "create", "alice", "--email", "alice@example.org").ok()
	if out, err := exec.Command("chown", "-R", "65534:65534", u.path("data")).CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	schema := store.SchemaVersion()
	u.publish(script(newVersion, schema, ""), newVersion, schema, nil)
	u.update().ok()
	u.wantVersion(newVersion)
	err = filepath.WalkDir(u.path("data"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Sys().(*syscall.Stat_t).Uid != 65534 {
			t.Errorf("%s belongs to root", path)
		}
		return err
	})
	if backups, _ := filepath.Glob(u.path("data", "backups", "*.tar")); err != nil || len(backups) != 1 {
		t.Errorf("the backups are %v, %v", backups, err)
	}
}

// TestKilledUpdate kills updates while they try the new binary, stop the server and restart it. The next one works.
func TestKilledUpdate(t *testing.T) {
	u := newUpdating(t)
	schema := store.SchemaVersion()
	apptest.CreateData(t, u.dir)
	u.runBinary("user", "create", "alice", "--email", "alice@example.org").ok()
	kill := "kill -9 $PPID; "
	for _, tt := range []struct {
		name, program, want string
		flags               []string
	}{
		{"while it tries the binary", "#!/bin/sh\n" + kill, app.Version, nil},
		{"while it stops the server", string(script(newVersion, schema+1, "")), app.Version, []string{"--restart", "true", "--stop", kill}},
		{"while it restarts the server", string(script(newVersion, schema, "")), newVersion, []string{"--restart", kill, "--stop", "true"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u.t = t
			of := schema
			if strings.Contains(tt.program, fmt.Sprintf(`"schema":%d`, schema+1)) {
				of++
			}
			u.publish([]byte(tt.program), newVersion, of, nil)
			if r := u.update(tt.flags...); r.code != -1 {
				t.Errorf("got %d, %q, %q", r.code, r.out, r.errOut)
			}
			u.wantVersion(tt.want)
			if tt.want == newVersion { // no program that could update itself again
				if err := os.Rename(u.binary+".old", u.binary); err != nil {
					t.Fatal(err)
				}
			}
			u.wantVersion(app.Version)
		})
	}
	u.t = t
	u.publish(script(newVersion, schema, ""), newVersion, schema, nil)
	u.update("--no-backup").ok() // the name of a backup has the second, in which the last one may have been made
	u.wantVersion(newVersion)
}

// TestUpdateCheck compares versions with a release on a web server, to which the request says nothing of the server.
func TestUpdateCheck(t *testing.T) {
	u := newUpdating(t)
	schema := store.SchemaVersion()
	u.publish(script(newVersion, schema, ""), newVersion, schema, nil)
	headers := make(chan http.Header, 10)
	files := http.FileServer(http.Dir(u.releases))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers <- r.Header
		files.ServeHTTP(w, r)
	}))
	defer web.Close()
	settings, err := os.ReadFile(u.config)
	if err != nil {
		t.Fatal(err)
	}
	u.write("config.toml", strings.ReplaceAll(string(settings), strconv.Quote(u.releases), strconv.Quote(web.URL+"/")))

	if got, want := u.update("--check").ok(), "This is svc "+app.Version+", the newest release is "+newVersion+".\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if h := <-headers; len(h) != 1 || h.Get("Accept-Encoding") != "gzip" {
		t.Errorf("the headers are %v", h)
	}
	u.publish(script(app.Version, schema, ""), app.Version, schema, nil)
	var got struct {
		Version, Newest string
		Available       bool
	}
	if err := json.Unmarshal([]byte(u.update("--check", "--json").ok()), &got); err != nil || got.Newest != app.Version || got.Available {
		t.Errorf("got %+v, %v", got, err)
	}
	if got := u.update().ok(); !strings.Contains(got, app.Version+" is up to date") {
		t.Errorf("got %q", got)
	}
	u.wantVersion(app.Version)
}

// TestUpdate installs a version that changes the database, after versions that do not work and from which it comes back by itself.
func TestUpdate(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program again")
	}
	u := newUpdating(t)
	next := buildNext(t)
	schema := store.SchemaVersion()
	u.write("restart", `echo restart >>steps
[ ! -f pid ] || kill $(cat pid) 2>/dev/null && while kill -0 $(cat pid) 2>/dev/null; do sleep 0.05; done
setsid bin/svc serve >>log 2>&1 </dev/null &
echo $! >pid`)
	u.write("stop", `echo stop >>steps
[ ! -f pid ] || kill $(cat pid) 2>/dev/null && while kill -0 $(cat pid) 2>/dev/null; do sleep 0.05; done`)
	t.Cleanup(func() { exec.Command("sh", "-c", "cd "+u.dir+" && sh stop").Run() })
	service := []string{"--restart", "sh restart", "--stop", "sh stop"}
	broken := append([]string{"--wait", "1s"}, service...)
	wantSteps := func(want string) {
		t.Helper()
		steps, err := os.ReadFile(u.path("steps"))
		if got := strings.Join(strings.Fields(string(steps)), " "); err != nil || got != want {
			t.Errorf("the steps are %q, want %q: %v", got, want, err)
		}
		os.Remove(u.path("steps"))
	}
	apptest.CreateData(t, u.dir)
	u.runBinary("user", "create", "alice", "--email", "alice@example.org").ok()
	if err := exec.Command("sh", "-c", "cd "+u.dir+" && sh restart && rm steps").Run(); err != nil {
		t.Fatal(err)
	}

	t.Run("a version that ends at once", func(t *testing.T) {
		u.publish(script(newVersion, schema, "exit 1"), newVersion, schema, nil)
		r := u.update(broken...)
		if r.code != 1 || !strings.Contains(r.errOut, newVersion+" does not work, svc "+app.Version+" runs again") {
			t.Errorf("got %d, %q, %q", r.code, r.out, r.errOut)
		}
		wantSteps("restart restart")
		u.wantVersion(app.Version)
	})
	t.Run("a version that changes the database and ends", func(t *testing.T) {
		u.publish(script(newVersion, schema+1, next+" user create bob --email bob@example.org >/dev/null; exit 1"), newVersion, schema+1, nil)
		r := u.update(broken...)
		if r.code != 1 || !strings.Contains(r.errOut, "svc "+app.Version+" runs again") || !strings.Contains(r.out, "Restoring the backup") {
			t.Errorf("got %d, %q, %q", r.code, r.out, r.errOut)
		}
		wantSteps("stop restart stop restart")
		u.wantVersion(app.Version)
		if got := u.runBinary("user", "list").ok(); !strings.Contains(got, "alice") || strings.Contains(got, "bob") {
			t.Errorf("the accounts are %q", got)
		}
	})
	t.Run("a backup that fails", func(t *testing.T) {
		if err := os.Rename(u.path("data", "backups"), u.path("backups")); err != nil {
			t.Fatal(err)
		}
		u.write("data/backups", "a file")
		r := u.update(broken...)
		if r.code != 1 || !strings.Contains(r.errOut, "backup") || !strings.Contains(r.out, "Starting the server again") {
			t.Errorf("got %d, %q, %q", r.code, r.out, r.errOut)
		}
		wantSteps("stop restart")
		u.wantVersion(app.Version)
		if err := errors.Join(os.Remove(u.path("data", "backups")), os.Rename(u.path("backups"), u.path("data", "backups"))); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a version that works", func(t *testing.T) {
		content, err := os.ReadFile(next)
		if err != nil {
			t.Fatal(err)
		}
		u.publish(content, newVersion, schema+1, nil)
		for _, suffix := range []string{".new", ".back"} { // of an update that was killed
			u.write("bin/svc"+suffix, "half")
		}
		if got := u.update(service...).ok(); !strings.Contains(got, "svc "+newVersion+" works") {
			t.Errorf("got %q", got)
		}
		wantSteps("stop restart")
		u.wantVersion(newVersion)
		if got := u.runBinary("user", "list").ok(); !strings.Contains(got, "alice") {
			t.Errorf("the accounts are %q", got)
		}
		if old, err := exec.Command(u.path("bin", "svc.old"), "version").Output(); err != nil || !strings.HasPrefix(string(old), "svc "+app.Version) {
			t.Errorf("svc.old says %q, %v", old, err)
		}
		if got := u.update(service...).ok(); !strings.Contains(got, "is up to date") {
			t.Errorf("again: got %q", got)
		}
	})
	t.Run("a server that something else has started", func(t *testing.T) {
		u.publish(script("9.2.0", schema+1, "exit 1"), "9.2.0", schema+1, nil)
		if got := u.update("--no-backup").ok(); !strings.Contains(got, "The running server is still svc "+newVersion) {
			t.Errorf("got %q", got)
		}
		if !strings.Contains(u.run("health").ok(), "OK") {
			t.Error("the server was stopped")
		}
	})
}

// buildNext builds a version of the program whose schema has one more step, which changes nothing.
func buildNext(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	next := store.SchemaVersion() + 1
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	replaced := make(map[string]string)
	replace := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replaced[filepath.Join(root, name)] = path
	}
	replace("app/app.go", strings.Replace(read("app/app.go"), "const Version = \""+app.Version, "const Version = \""+newVersion, 1))
	hashes := strings.Fields(read("store/migrations/hashes"))
	replace("store/migrations/hashes", fmt.Sprintf("%s%d %s\n", read("store/migrations/hashes"), next, hashes[len(hashes)-1]))
	replace(fmt.Sprintf("store/migrations/%04d-nothing.sql", next), "UPDATE meta SET id = id;\n")
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	file, path := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "next")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", file, "-o", path, "svc")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}
