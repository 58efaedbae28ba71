// Package command_test tests the built binary: it builds it once and runs it in temporary directories.
package command_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
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
	binary = filepath.Join(dir, "svc")
	build := exec.Command("go", "build", "-o", binary, "svc")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
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
}

// newWorkspace returns a workspace. more is appended to the settings file.
func newWorkspace(t testing.TB, more ...string) *workspace {
	t.Helper()
	p := &workspace{t: t, dir: t.TempDir(), url: "http://" + freeAddress(t)}
	p.config = filepath.Join(p.dir, "config.toml")
	p.write("config.toml", fmt.Sprintf("[server]\nlisten = %q\nurl = %q\n%s\n", strings.TrimPrefix(p.url, "http://"), p.url, strings.Join(more, "\n")))
	return p
}

// freeAddress returns an unused address. Its port is outside the system's ephemeral range, so that concurrent tests cannot take it.
func freeAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprint("127.0.0.1:", 20_000+rand.IntN(10_000))
		if ln, err := net.Listen("tcp", address); err == nil {
			ln.Close()
			return address
		}
	}
	t.Fatal("no address is free")
	return ""
}

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

// run runs a command with an empty standard input.
func (p *workspace) run(args ...string) *result {
	p.t.Helper()
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
	cmd  *exec.Cmd
	log  *lockedBuffer
	done chan struct{} // closed when the process exits
	err  error         // of exec.Cmd.Wait
}

// lockedBuffer is a buffer for concurrent use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serve starts a server and waits until it runs. The test's cleanup stops it.
func (p *workspace) serve(flags ...string) *server {
	p.t.Helper()
	s := p.start(flags...)
	s.waitForLog("svc is running")
	return s
}

func (p *workspace) start(flags ...string) *server {
	p.t.Helper()
	s := &server{workspace: p, cmd: p.command(append([]string{"serve"}, flags...)...), log: new(lockedBuffer), done: make(chan struct{})}
	s.cmd.Stderr = s.log
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		defer close(s.done)
		s.err = s.cmd.Wait()
	}()
	p.t.Cleanup(func() {
		s.cmd.Process.Kill()
		<-s.done
		if p.t.Failed() {
			p.t.Logf("log of the server:\n%s", s.log)
		}
	})
	return s
}

// waitForLog waits until the log contains a text.
func (s *server) waitForLog(text string) {
	s.t.Helper()
	s.waitUntil(fmt.Sprintf("%q in the log", text), func() bool { return strings.Contains(s.log.String(), text) })
}

// waitUntil waits for a condition, and fails the test after a timeout or if the server exits.
func (s *server) waitUntil(what string, is func() bool) {
	s.t.Helper()
	ended := false
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if ended || time.Now().After(deadline) {
			s.t.Fatalf("timed out waiting for %s; the log:\n%s", what, s.log)
		}
		select {
		case <-s.done:
			ended = true // check once more
		default:
		}
	}
}

// stop sends SIGTERM. The server must exit in time with code 0.
func (s *server) stop() {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
	s.waitExit(0)
}

func (s *server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// waitExit waits for the process and checks its exit code.
func (s *server) waitExit(code int) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(12 * time.Second):
		s.t.Fatalf("the server does not exit; the log:\n%s", s.log)
	}
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("the server exited with %d (%v), want %d; the log:\n%s", got, s.err, code, s.log)
	}
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
