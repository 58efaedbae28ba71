package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newWorkspaceWithoutSettings returns a workspace without a settings file.
func newWorkspaceWithoutSettings(t testing.TB) *workspace {
	t.Helper()
	p := newWorkspace(t)
	if err := os.Remove(p.config); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSetupWithFlags(t *testing.T) {
	p := newWorkspaceWithoutSettings(t)
	data := p.path("other", "data")
	setup := []string{"setup", "--yes", "--url", p.url, "--listen", strings.TrimPrefix(p.url, "http://"), "--data-dir", data,
		"--admin", "alice", "--email", "alice@example.org", "--password", "correct horse", "--api-name", "other", "--api-compatible", "Other 1.2.3"}
	out := p.run(setup...).ok()
	for _, want := range []string{"Wrote config.toml", data, "Created the account alice", "svc serve"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q does not contain %q", out, want)
		}
	}
	if got := p.run("config", "show").ok(); !strings.Contains(got, `name = "other"`) || !strings.Contains(got, `compatible = "Other 1.2.3"`) {
		t.Errorf("the settings lack the flags of the API: %s", got)
	}
	if strings.Contains(out, "correct horse") {
		t.Errorf("the password is printed: %q", out)
	}
	for _, file := range []string{p.config, filepath.Join(data, "svc.db"), filepath.Join(data, "keys", "secret")} {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", file, info.Mode().Perm())
		}
	}
	p.run(setup...).fails(1, "config.toml already exists")
	p.run(append(setup, "--config", "other.toml")...).fails(1, "already contains a database")

	s := p.serve()
	if strings.Contains(s.log.String(), "there is no administrator yet") {
		t.Error("the log asks for an administrator although there is one")
	}
	if got := p.run("user", "show", "alice").ok(); !strings.Contains(got, "role:         admin") {
		t.Errorf("got %q", got)
	}
	p.run(append(setup, "--force", "--admin", "bob", "--email", "bob@example.org")...).fails(1, "in use")
	s.stop()

	// --force keeps the database and the old settings.
	p.run(append(setup, "--force", "--admin", "bob", "--email", "bob@example.org")...).ok()
	if got := p.run("user", "list").ok(); !strings.Contains(got, "alice") || !strings.Contains(got, "bob") {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(p.config + ".old"); err != nil {
		t.Error(err)
	}
}

func TestSetupAsks(t *testing.T) {
	p := newWorkspaceWithoutSettings(t)
	answers := []string{
		"example.org", // not a URL: the question is repeated
		p.url,
		strings.TrimPrefix(p.url, "http://"),
		"",   // ./data
		"V1", // no name: the question is repeated
		"pleroma",
		"Pleroma", // without a version
		"Pleroma 2.7.1",
		"alice",
		"alice@example.org",
		"", // a password is generated
		"y",
	}
	r := p.runWithInput(strings.Join(answers, "\n")+"\n", "setup")
	out := r.ok()
	if !strings.Contains(r.errOut, "must be a URL") || !strings.Contains(out, "Password: ") {
		t.Errorf("got %q and %q", out, r.errOut)
	}
	settings := p.run("config", "show").ok()
	for _, want := range []string{fmt.Sprintf("url = %q", p.url), fmt.Sprintf("dir = %q", p.path("data")), `name = "pleroma"`, `compatible = "Pleroma 2.7.1"`} {
		if !strings.Contains(settings, want) {
			t.Errorf("the settings do not contain %s", want)
		}
	}
	p.serve()
}

func TestSetupCanBeDeclined(t *testing.T) {
	p := newWorkspaceWithoutSettings(t)
	if r := p.runWithInput("\n\n\n\n\n\nn\n", "setup"); r.code != 1 || !strings.Contains(r.errOut, "nothing was changed") {
		t.Errorf("got exit code %d, %q", r.code, r.errOut)
	}
	if r := p.runWithInput("", "setup"); r.code != 1 || !strings.Contains(r.errOut, "no answer") {
		t.Errorf("without input: got exit code %d, %q", r.code, r.errOut)
	}
	entries, err := os.ReadDir(p.dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("got %v, %v", entries, err)
	}
}

func TestSetupRefuses(t *testing.T) {
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"--url example.org", 2, "--url: must be a URL"},
		{"--listen nonsense", 2, "--listen: must be an address and port"},
		{"--api-name v1", 2, `--api-name: "v1" is already used in the paths of the API`},
		{"--api-compatible Pleroma", 2, `--api-compatible: "Pleroma" is not a product and its version`},
		{"--admin alice", 2, "--email"},
		{"--email alice@example.org", 2, "--admin"},
		{"--admin a.b --email alice@example.org", 1, "nickname has invalid format"},
		{"extra", 2, "extra"},
	} {
		p := newWorkspaceWithoutSettings(t)
		p.run(append([]string{"setup", "--yes"}, strings.Fields(tt.args)...)...).fails(tt.code, tt.want)
		if _, err := os.Stat(p.config); err == nil {
			t.Errorf("%s: a settings file exists", tt.args)
		}
	}
}

func TestSetupWithoutAdmin(t *testing.T) {
	p := newWorkspaceWithoutSettings(t)
	p.run("setup", "--yes", "--url", p.url, "--listen", strings.TrimPrefix(p.url, "http://")).ok()
	p.serve().waitForLog("there is no administrator yet")
}
