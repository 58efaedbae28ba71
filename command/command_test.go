// Package command_test tests the built binary: it builds it once and runs it in temporary directories.
package command_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"svc/app/apptest"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) { os.Exit(buildAndTest(m)) }

func buildAndTest(m *testing.M) int {
	dir, err := os.MkdirTemp("", "svc-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binary, err = apptest.BuildProgram(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// workspace is a directory in which commands run, with settings for a server on its own port.
type workspace struct {
	t      testing.TB
	dir    string
	config string
	url    string

	openFiles int // limit of open files of commands; 0: that of the test
}

// newWorkspace returns a workspace. more is appended to the settings file.
func newWorkspace(t testing.TB, more ...string) *workspace {
	t.Helper()
	p := &workspace{t: t, dir: t.TempDir(), url: "http://" + freeAddress(t)}
	p.config = filepath.Join(p.dir, "config.toml")
	p.write("config.toml", fmt.Sprintf("[server]\nlisten = %q\nurl = %q\n%s\n", strings.TrimPrefix(p.url, "http://"), p.url, strings.Join(more, "\n")))
	return p
}

// freeAddress returns an unused address.
func freeAddress(t testing.TB) string { t.Helper(); return apptest.FreeAddress(t) }

func (p *workspace) path(elements ...string) string {
	return filepath.Join(append([]string{p.dir}, elements...)...)
}

func (p *workspace) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(p.path(name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// command returns a command that runs in the workspace, without SVC_CONFIG from the environment.
func (p *workspace) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.t.Context(), binary, args...)
	if p.openFiles > 0 {
		limited := fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, p.openFiles)
		cmd = exec.CommandContext(p.t.Context(), "sh", append([]string{"-c", limited, binary}, args...)...)
	}
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "SVC_CONFIG=")
	return cmd
}

// result is the exit code and output of a command.
type result struct {
	t      testing.TB
	what   string
	code   int
	out    string
	errOut string
}

// run runs a command with an empty standard input. Many tests begin with accounts: before the first one, it makes the data of a server.
func (p *workspace) run(args ...string) *result {
	p.t.Helper()
	if len(args) > 3 && args[0] == "user" && args[1] == "create" {
		apptest.CreateData(p.t, p.dir)
	}
	return p.runWithInput("", args...)
}

// runWithInput runs a command with a standard input.
func (p *workspace) runWithInput(input string, args ...string) *result {
	p.t.Helper()
	cmd := p.command(args...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errOut
	r := &result{t: p.t, what: "svc " + strings.Join(args, " ")}
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			p.t.Fatalf("%s: %v", r.what, err)
		}
		r.code = exit.ExitCode()
	}
	r.out, r.errOut = out.String(), errOut.String()
	return r
}

// ok fails the test unless the command succeeded, and returns its output.
func (r *result) ok() string {
	r.t.Helper()
	if r.code != 0 {
		r.t.Fatalf("%s: exit code %d: %s", r.what, r.code, r.errOut)
	}
	return r.out
}

// fails fails the test unless the command ended with the exit code and one line of stderr that contains text.
func (r *result) fails(code int, text string) {
	r.t.Helper()
	if r.code != code || !strings.Contains(r.errOut, text) || strings.Count(r.errOut, "\n") != 1 || r.out != "" {
		r.t.Errorf("%s: got exit code %d, %q and %q, want %d and one line with %q", r.what, r.code, r.out, r.errOut, code, text)
	}
}

// server is a running server.
type server struct {
	*workspace
	*apptest.Process
	cmd  *exec.Cmd
	log  *apptest.Output
	done chan struct{}
}

// serve starts a server and waits until it runs. The test's cleanup stops it.
func (p *workspace) serve(flags ...string) *server {
	p.t.Helper()
	s := p.start(flags...)
	s.WaitForLog("svc is running")
	return s
}

func (p *workspace) start(flags ...string) *server {
	p.t.Helper()
	process := apptest.StartProcess(p.t, p.command(append([]string{"serve"}, flags...)...))
	return &server{p, process, process.Cmd, process.Log, process.Done}
}

func (s *server) waitForLog(text string) { s.t.Helper(); s.WaitForLog(text) }

func (s *server) waitUntil(what string, is func() bool) { s.t.Helper(); s.WaitUntil(what, is) }

func (s *server) waitExit(code int) { s.t.Helper(); s.WaitExit(code) }

func (s *server) signal(sig syscall.Signal) { s.t.Helper(); s.Signal(sig) }

// stop sends SIGTERM. The server must exit in time with code 0.
func (s *server) stop() {
	s.t.Helper()
	s.Signal(syscall.SIGTERM)
	s.WaitExit(0)
}

// get requests a path and returns status and body.
func (p *workspace) get(path, token string) (status int, body string) {
	p.t.Helper()
	status, body, err := p.request(p.t.Context(), "GET", path, token, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return status, body
}

func (p *workspace) request(ctx context.Context, method, path, token string, body io.Reader) (status int, answer string, err error) {
	r, err := http.NewRequestWithContext(ctx, method, p.url+path, body)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}
