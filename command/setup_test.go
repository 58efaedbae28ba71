package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
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
		"",      // ./data
		"staff", // no mode: the question is repeated
		"Invites",
		"not a URL",
		"https://code.example/svc",
		"V1", // no name: the question is repeated
		"pleroma",
		"Pleroma", // without a version
		"Pleroma 2.7.1",
		"oauth", // a reserved nickname
		"alice",
		"alice", // no address
		"alice@example.org",
		"short", // a password must be longer
		"",      // a password is generated
		"",      // yes
	}
	r := p.runWithInput(strings.Join(answers, "\n")+"\n", "setup")
	out := r.ok()
	if strings.Contains(r.errOut, "[example.org]") || strings.Contains(r.errOut, "[V1]") {
		t.Errorf("a refused answer is offered as the default: %q", r.errOut)
	}
	for _, want := range []string{"must be one of open, approval, invites, closed", "oauth is reserved", "alice is not an e-mail address", "should be at least 8"} {
		if !strings.Contains(r.errOut, want) {
			t.Errorf("no %q in %q", want, r.errOut)
		}
	}
	if !strings.Contains(r.errOut, "must be a URL") || !strings.Contains(out, "Password: ") {
		t.Errorf("got %q and %q", out, r.errOut)
	}
	settings := p.run("config", "show").ok()
	for _, want := range []string{fmt.Sprintf("url = %q", p.url), fmt.Sprintf("dir = %q", p.path("data")), "registrations_open = false", "invites_enabled = true", `source_url = "https://code.example/svc"`, `name = "pleroma"`, `compatible = "Pleroma 2.7.1"`} {
		if !strings.Contains(settings, want) {
			t.Errorf("the settings do not contain %s", want)
		}
	}
	p.serve()
}

func TestSetupCanBeDeclined(t *testing.T) {
	p := newWorkspaceWithoutSettings(t)
	if r := p.runWithInput("\n\n\n\n\n\n\n\nn\n", "setup"); r.code != 1 || !strings.Contains(r.errOut, "nothing was changed") {
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
		{"--registrations anyone", 2, "--registrations: must be one of open, approval, invites, closed"},
		{"--tls", 2, "--tls: certificates need an address that begins with https://"},
		{"--tls=perhaps", 2, "must be yes or no"},
		{"--source-url code", 2, "--source-url: "},
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

// TestSetupBehindProxy checks that the reverse proxy of an https address is trusted.
func TestSetupBehindProxy(t *testing.T) {
	for _, tt := range []struct {
		url, listen string
		want        string
	}{
		{"https://social.example.org", "127.0.0.1:4000", `trusted_proxies = ["127.0.0.1", "::1"]`},
		{"https://social.example.org", "[::1]:4000", `trusted_proxies = ["127.0.0.1", "::1"]`},
		{"https://social.example.org", ":4000", "trusted_proxies = []"},
		{"http://social.example.org", "127.0.0.1:4000", "trusted_proxies = []"},
	} {
		p := newWorkspaceWithoutSettings(t)
		out := p.run("setup", "--yes", "--url", tt.url, "--listen", tt.listen, "--registrations", "closed").ok()
		settings := p.run("config", "show").ok()
		if !strings.Contains(settings, tt.want) || !strings.Contains(settings, "registrations_open = false") || strings.Contains(out, "trusted_proxies is empty") {
			t.Errorf("%+v: %s%s", tt, out, settings)
		}
	}
}

// TestSetupIsCutOff kills a setup at every question, and as soon as each of its files is there. The next one must run to the end, with the
// answers of then.
func TestSetupIsCutOff(t *testing.T) {
	type cut struct {
		name    string
		answers int    // this many questions are answered
		file    string // then it is killed when this file exists; "": at once
	}
	cuts := []cut{}
	for n := range 11 {
		cuts = append(cuts, cut{name: fmt.Sprintf("at question %d", n), answers: n})
	}
	for _, file := range []string{
		"data", "data/lock", "data/setup.unfinished", "data/svc.db", "data/svc.db-wal", "data/svc.db-shm", "data/keys", "data/keys/secret",
		"data/keys/vapid.json", "data/media/tmp", "data/frontends", "config.toml.new", "config.toml",
	} {
		cuts = append(cuts, cut{"with " + file, 11, file})
	}
	for _, c := range cuts {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newWorkspaceWithoutSettings(t)
			answers := func(nick string) []string {
				return []string{p.url, strings.TrimPrefix(p.url, "http://"), "", "", "", "", "", nick, nick + "@example.org", "correct horse", "y"}
			}
			p.killSetup(answers("first")[:c.answers], c.file)
			if _, err := os.Stat(p.config); err == nil {
				p.run("user", "show", "first").ok() // it was complete
				return
			}
			out := p.runWithInput(strings.Join(answers("second"), "\n")+"\n", "setup").ok()
			if !strings.Contains(out, "Created the account second") {
				t.Errorf("got %q", out)
			}
			if list := p.run("user", "list").ok(); !strings.Contains(list, "second") || strings.Contains(list, "first") {
				t.Errorf("got %s", list)
			}
			for _, name := range []string{"data/setup.unfinished", "config.toml.new"} {
				if _, err := os.Stat(p.path(name)); err == nil {
					t.Errorf("%s is left", name)
				}
			}
			if v := p.verify(0); len(v.Findings) > 0 {
				t.Errorf("got %+v", v)
			}
			p.runWithInput(strings.Join(answers("third"), "\n")+"\n", "setup").failsAfterLog("already exists")
		})
	}
}

// killSetup answers questions of svc setup, and kills it when a file exists.
func (p *workspace) killSetup(answers []string, file string) {
	p.t.Helper()
	cmd := p.command("setup")
	in, err := cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	var asked apptest.Output
	cmd.Stderr = &asked
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait()
	}()
	wait := func(until func() bool) {
		for !until() {
			select {
			case <-ended:
				return
			default:
				time.Sleep(100 * time.Microsecond)
			}
		}
	}
	questions := []string{"Public base URL", "Address to listen", "Data directory", "Who may register", "Address of the source", "Name in the API", "Product and version", "Nickname", "E-mail", "Password", "Set up "}
	for i := range len(answers) + 1 {
		if i < len(questions) {
			wait(func() bool { return strings.Contains(asked.String(), questions[i]) })
		}
		if i == len(answers) {
			break
		}
		answer := answers[i]
		if _, err := fmt.Fprintln(in, answer); err != nil {
			p.t.Fatal(err)
		}
	}
	if file != "" {
		wait(func() bool { _, err := os.Lstat(p.path(file)); return err == nil })
	}
	cmd.Process.Kill()
	<-ended
}

// TestUsedDataAreNoUnfinishedSetup checks that the data of a server are never taken for those of a setup that was cut off.
func TestUsedDataAreNoUnfinishedSetup(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.writeFile("data/setup.unfinished", "") // killed after the settings were written
	p.run("user", "list").ok()
	if err := os.Remove(p.config); err != nil {
		t.Fatal(err)
	}
	p.run("setup", "--yes").fails(1, "already contains a database")
	p.run("setup", "--yes", "--force", "--url", p.url).ok()
	p.run("user", "show", "alice").ok()
}

// TestSetupServesTLS checks that svc setup offers certificates where the server itself can serve https, and says what is needed.
func TestSetupServesTLS(t *testing.T) {
	for _, tt := range []struct {
		name, listen, flags string
		answers             string // after those for url and listen; "": --yes
		want                string // in the settings
		says                string
	}{
		{"flag", ":443", "--tls --tls-email you@example.org", "", "enabled = true\nemail = \"you@example.org\"", "CAP_NET_BIND_SERVICE"},
		{"port of https without the flag", ":443", "", "", "enabled = false", "--tls"},
		{"proposed", ":443", "", "\n\n\n\n\n\n\n\n\n", "enabled = true", "CAP_NET_BIND_SERVICE"},
		{"declined", ":443", "", "no\n\n\n\n\n\n\n\n", "enabled = false", "server.tls.enabled"},
		{"another port", ":8443", "--tls", "", "enabled = true", ""},
		{"behind a proxy", "127.0.0.1:4000", "", "\n\n\n\n\n\n\n", "enabled = false", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newWorkspaceWithoutSettings(t)
			args := append([]string{"setup", "--url", "https://social.example.org", "--listen", tt.listen}, strings.Fields(tt.flags)...)
			var r *result
			if tt.answers == "" {
				r = p.run(append(args, "--yes")...)
			} else {
				r = p.runWithInput(tt.answers, args...)
			}
			if out := r.ok(); !strings.Contains(out, tt.says) {
				t.Errorf("%q does not say %q", out, tt.says)
			}
			_, tls, _ := strings.Cut(p.run("config", "show").ok(), "[server.tls]\n")
			if !strings.Contains(tls[:100], tt.want) {
				t.Errorf("got %s, want %s", tls[:100], tt.want)
			}
		})
	}
}

// TestSetupRegistrations checks what the modes set, and that a new server approves registrations unless something else is asked for.
func TestSetupRegistrations(t *testing.T) {
	for _, tt := range []struct {
		flags string
		want  []string
	}{
		{"", []string{"registrations_open = true", "account_approval_required = true", "invites_enabled = false"}},
		{"--registrations open", []string{"registrations_open = true", "account_approval_required = false", "invites_enabled = false"}},
		{"--registrations approval", []string{"registrations_open = true", "account_approval_required = true", "invites_enabled = false"}},
		{"--registrations invites", []string{"registrations_open = false", "account_approval_required = false", "invites_enabled = true"}},
		{"--registrations closed", []string{"registrations_open = false", "account_approval_required = false", "invites_enabled = false"}},
	} {
		p := newWorkspaceWithoutSettings(t)
		p.run(append([]string{"setup", "--yes", "--url", p.url}, strings.Fields(tt.flags)...)...).ok()
		settings := p.run("config", "show").ok()
		for _, want := range tt.want {
			if !strings.Contains(settings, want) {
				t.Errorf("%s: no %s", tt.flags, want)
			}
		}
	}
	p := newWorkspace(t) // a settings file without the keys means what it meant before
	if settings := p.run("config", "show").ok(); !strings.Contains(settings, "registrations_open = true") || !strings.Contains(settings, "account_approval_required = false") {
		t.Errorf("got %s", settings)
	}
}
