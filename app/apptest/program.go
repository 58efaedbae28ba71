package apptest

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"svc/app"
	"svc/internal/config"
	"svc/store"
)

// BuildProgram builds the program, without cgo, in a folder and returns its path.
func BuildProgram(dir string) (string, error) {
	path := filepath.Join(dir, "svc")
	build := exec.Command("go", "build", "-o", path, "svc")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %v\n%s", err, out)
	}
	return path, nil
}

// CreateData makes the data directory of a server whose config.toml is in dir, as the first start of the server does, unless there is one.
// Relative paths of the settings are relative to dir.
func CreateData(t testing.TB, dir string) {
	t.Helper()
	c, err := config.Load(filepath.Join(dir, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(c.Data.Dir) {
		c.Data.Dir = filepath.Join(dir, c.Data.Dir)
	}
	if _, err := os.Stat(filepath.Join(c.Data.Dir, store.File)); err == nil {
		return
	}
	schema, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	s, err := app.New(t.Context(), c, app.Options{Schema: schema, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// FreeAddress returns an unused address. Its port is outside the system's ephemeral range, so that concurrent tests cannot take it.
func FreeAddress(t testing.TB) string {
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

// Output is what a process has printed, for concurrent use.
type Output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// Process is a running program.
type Process struct {
	T    testing.TB
	Cmd  *exec.Cmd
	Log  *Output       // its standard error
	Done chan struct{} // closed when the process exits
	Err  error         // of exec.Cmd.Wait
}

// StartProcess starts a command. The test's cleanup kills it, and logs what it printed if the test has failed.
func StartProcess(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{T: t, Cmd: cmd, Log: new(Output), Done: make(chan struct{})}
	cmd.Stderr = p.Log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.Done)
		p.Err = cmd.Wait()
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-p.Done
		if t.Failed() {
			t.Logf("log of the server:\n%s", p.Log)
		}
	})
	return p
}

// WaitForLog waits until the log contains a text.
func (p *Process) WaitForLog(text string) {
	p.T.Helper()
	p.WaitUntil(fmt.Sprintf("%q in the log", text), func() bool { return strings.Contains(p.Log.String(), text) })
}

// WaitUntil waits for a condition, and fails the test after a timeout or if the process exits.
func (p *Process) WaitUntil(what string, is func() bool) {
	p.T.Helper()
	ended := false
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if ended || time.Now().After(deadline) {
			p.T.Fatalf("timed out waiting for %s; the log:\n%s", what, p.Log)
		}
		select {
		case <-p.Done:
			ended = true // check once more
		default:
		}
	}
}

// Signal sends a signal.
func (p *Process) Signal(sig syscall.Signal) {
	p.T.Helper()
	if err := p.Cmd.Process.Signal(sig); err != nil {
		p.T.Fatal(err)
	}
}

// Kill ends the process as a power failure does, and waits until it has ended.
func (p *Process) Kill() {
	p.T.Helper()
	p.Signal(syscall.SIGKILL)
	<-p.Done
}

// WaitExit waits for the process and checks its exit code.
func (p *Process) WaitExit(code int) {
	p.T.Helper()
	select {
	case <-p.Done:
	case <-time.After(12 * time.Second):
		p.T.Fatalf("the server does not exit; the log:\n%s", p.Log)
	}
	if got := p.Cmd.ProcessState.ExitCode(); got != code {
		p.T.Errorf("the server exited with %d (%v), want %d; the log:\n%s", got, p.Err, code, p.Log)
	}
}
