package command_test

import (
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"svc/internal/toolchain"
)

func TestConfigCommands(t *testing.T) {
	p := newWorkspace(t)
	if got := p.run("config", "check").ok(); !strings.Contains(got, "config.toml is valid") {
		t.Errorf("check: got %q", got)
	}
	p.write("wrong.toml", "[server]\nlisten = \":4000\"\n\n[instance]\nregistration_open = true\nname = 7\n")
	p.run("config", "check", "--config", "wrong.toml").fails(1, "line 5: unknown setting instance.registration_open, did you mean instance.registrations_open?")
	p.run("config", "check", "--config", "wrong.toml").fails(1, "line 6: instance.name")
	p.run("config", "show", "--config", "nowhere.toml").fails(1, "nowhere.toml")
	p.run("config", "chekc").fails(2, `did you mean "check"?`)

	p.write("mail.toml", "[mail]\npassword = \"hush hush\"\n")
	if got := p.run("config", "show", "--config", "mail.toml").ok(); strings.Contains(got, "hush") || !strings.Contains(got, `password = "***"`) {
		t.Errorf("show: got %q", got)
	}

	example, err := os.ReadFile("../config.example.toml")
	if err != nil {
		t.Fatal(err)
	}
	if got := p.run("config", "example").ok(); got != string(example) {
		t.Error("config example: output differs from config.example.toml")
	}
}

func TestSettingsFileIsFound(t *testing.T) {
	p := newWorkspace(t)
	p.write("config.toml", "[instance]\nname = \"here\"\n")
	p.write("env.toml", "[instance]\nname = \"environment\"\n")
	p.write("flag.toml", "[instance]\nname = \"flag\"\n")
	for _, tt := range []struct {
		name, env, flag, want string
	}{
		{"the current folder's", "", "", "here"},
		{"the environment's", "env.toml", "", "environment"},
		{"the flag's", "env.toml", "flag.toml", "flag"},
	} {
		args := []string{"config", "show"}
		if tt.flag != "" {
			args = append(args, "--config", tt.flag)
		}
		cmd := p.command(args...)
		cmd.Env = append(cmd.Env, "SVC_CONFIG="+tt.env)
		out, err := cmd.Output()
		if err != nil || !strings.Contains(string(out), `name = "`+tt.want+`"`) {
			t.Errorf("%s: got %v, %s", tt.name, err, out)
		}
	}
	if err := os.Remove(p.path("config.toml")); err != nil {
		t.Fatal(err)
	}
	if got := p.run("config", "check").ok(); !strings.Contains(got, "defaults") {
		t.Errorf("without a file: got %q", got)
	}
}

func TestWarnings(t *testing.T) {
	for _, tt := range []struct {
		name, settings string
		want           []string
	}{
		{"the defaults", "", nil},
		{"a public host by http", "[server]\nurl = \"http://social.example.org\"\n[rate_limit]\nenabled = true", []string{"server.url begins with http://"}},
		{"loopback", "[federation]\nallow_loopback = true", []string{"federation.allow_loopback"}},
		{"no trusted proxy", "[server]\nurl = \"https://social.example.org\"", []string{"server.trusted_proxies"}},
		{"a trusted proxy", "[server]\nurl = \"https://social.example.org\"\ntrusted_proxies = [\"127.0.0.1\"]", nil},
		{"two risky settings", "[server]\nurl = \"https://social.example.org\"\nlisten = \":4000\"\n[data]\nsynchronous = \"normal\"\n[rate_limit]\nenabled = false",
			[]string{"data.synchronous", "rate_limit.enabled"}},
		{"policies without effect", "[mrf_simple]\nreject = [\"a.example\"]\n[mrf]\npolicies = [\"DNSRBLPolicy\", \"KeywordPolicy\"]\n[mrf_keyword]\nreject = [\"x\"]",
			[]string{"mrf.policies does not list SimplePolicy", "DNSRBLPolicy does nothing"}},
		{"policies with effect", "[mrf_simple]\nreject = [\"a.example\"]\n[mrf]\npolicies = \"SimplePolicy\"", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newWorkspace(t)
			p.write("config.toml", tt.settings)
			var got []string
			for line := range strings.Lines(p.run("config", "check").ok()) {
				if warning, ok := strings.CutPrefix(line, "Warning: "); ok {
					got = append(got, warning)
				}
			}
			if len(got) != len(tt.want) {
				t.Fatalf("got %q, want %q", got, tt.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tt.want[i]) {
					t.Errorf("got %q, want %q", got[i], tt.want[i])
				}
			}
		})
	}
	p := newWorkspace(t, "[federation]\nallow_loopback = true")
	if s := p.serve(); !strings.Contains(s.log.String(), "level=WARN msg=\"federation.allow_loopback is on") {
		t.Errorf("the log contains no warning:\n%s", s.log)
	}
}

func TestRoutesCommand(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(newWorkspace(t).run("routes").ok()), "\n")
	if !slices.IsSorted(lines) {
		t.Error("the routes are not sorted")
	}
	form := regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE) /\S* (anyone|app|user|staff(:\w+)?|admin|session)( \S+)?$`)
	for _, line := range lines {
		if !form.MatchString(line) {
			t.Errorf("got %q", line)
		}
	}
	if !slices.Contains(lines, "POST /api/v1/statuses user write:statuses") {
		t.Errorf("the list does not contain the endpoint for posts:\n%s", strings.Join(lines, "\n"))
	}
}

func TestVersionAndHelp(t *testing.T) {
	p := newWorkspace(t)
	version, warning, _ := strings.Cut(p.run("version").ok(), "\n")
	if !regexp.MustCompile(`^svc \d+\.\d+\.\d+ \(.+\)$`).MatchString(version) {
		t.Errorf("version: got %q", version)
	}
	if old := toolchain.Warning(runtime.Version()); (old == "") != (warning == "") || !strings.Contains(warning, old) {
		t.Errorf("version of a program built with %s: got the warning %q, want %q", runtime.Version(), warning, old)
	}
	for _, args := range [][]string{{}, {"--help"}, {"help", "serve"}, {"user"}, {"user", "create", "--help"}, {"completion", "bash"}, {"completion", "fish"}} {
		if got := p.run(args...).ok(); len(got) < 100 {
			t.Errorf("svc %s: got %q", strings.Join(args, " "), got)
		}
	}
	p.run("version", "extra").fails(2, "extra")
	p.run("--nonsense").fails(2, "--nonsense")
	p.run("serv").fails(2, `unknown command "serv" for "svc", did you mean "serve"?`)
}
