package control_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc/internal/control"
)

type operands struct{ A, B int }

// waiting is closed by the command "wait".
var waiting = make(chan struct{})

// start serves commands on a directory until the test, or stop, ends it.
func start(t *testing.T, dir string) (stop func()) {
	t.Helper()
	ln, err := control.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		control.Serve(ctx, dir, ln, control.Commands{
			"add": control.Command(func(_ context.Context, q operands) (int, error) { return q.A + q.B, nil }),
			"fail": control.Command(func(context.Context, string) (any, error) {
				return nil, fmt.Errorf("it went wrong: %w", errors.New("badly"))
			}),
			"wait": control.Command(func(_ context.Context, n int) (int, error) {
				close(waiting)
				time.Sleep(50 * time.Millisecond)
				return n, nil
			}),
			"read": control.Command(func(ctx context.Context, prefix string) (string, error) {
				file, err := control.File(ctx)
				if err != nil || file == nil {
					return "no file", err
				}
				content, err := io.ReadAll(file)
				return prefix + string(content), err
			}),
			"head": control.Command(func(ctx context.Context, prefix string) (string, error) {
				file, err := control.File(ctx)
				if err != nil {
					return "", err
				}
				content := make([]byte, 20)
				_, err = file.ReadAt(content, 0)
				return prefix + string(content), err
			}),
			"panic": control.Command(func(context.Context, string) (any, error) { panic("oh") }),
		}, slog.New(slog.DiscardHandler))
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func TestCall(t *testing.T) {
	short := t.TempDir()
	long := filepath.Join(t.TempDir(), strings.Repeat("long-", 40))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{short, long} {
		t.Run(fmt.Sprint(len(dir)), func(t *testing.T) {
			if err := control.Call(t.Context(), dir, "add", operands{1, 2}, nil); !errors.Is(err, control.ErrNotRunning) {
				t.Errorf("without a server: got %v", err)
			}
			stop := start(t, dir)
			info, err := os.Stat(filepath.Join(dir, control.SocketName))
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode().Perm(); got != 0o600 {
				t.Errorf("the socket has mode %o", got)
			}
			var sum int
			if err := control.Call(t.Context(), dir, "add", operands{1, 2}, &sum); err != nil || sum != 3 {
				t.Errorf("add: got %d, %v", sum, err)
			}
			for _, tt := range []struct {
				command string
				args    any
				want    string
			}{
				{"fail", "", "it went wrong: badly"},
				{"panic", "", "panic: oh"},
				{"add", "no operands", "arguments"},
				{"multiply", operands{1, 2}, `does not know the command "multiply"`},
			} {
				if err := control.Call(t.Context(), dir, tt.command, tt.args, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s: got %v, want %q", tt.command, err, tt.want)
				}
			}
			stop()
			if err := control.Call(t.Context(), dir, "add", operands{1, 2}, nil); !errors.Is(err, control.ErrNotRunning) {
				t.Errorf("after the server: got %v", err)
			}
		})
	}
}

// TestFile checks that the content of a file reaches the server, which does not see the file itself, and that nothing of it stays.
func TestFile(t *testing.T) {
	dir, own := t.TempDir(), t.TempDir()
	start(t, dir)
	large := strings.Repeat("0123456789", 1_000_000) // more than a message may have
	for content, want := range map[string]string{"": "got: ", "content": "got: content", large: "got: " + large[:20]} {
		file, err := os.CreateTemp(own, "")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(content); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(file.Name()); err != nil { // as if the server could not see it
			t.Fatal(err)
		}
		command := "read"
		if content == large {
			command = "head"
		}
		var got string
		if err := control.Call(control.WithFile(t.Context(), file), dir, command, "got: ", &got); err != nil || got != want {
			t.Errorf("got %.100q, %v, want %q", got, err, want)
		}
	}
	sparse, err := os.CreateTemp(own, "")
	if err != nil {
		t.Fatal(err)
	}
	defer sparse.Close()
	if err := sparse.Truncate(129 << 20); err != nil {
		t.Fatal(err)
	}
	if err := control.Call(control.WithFile(t.Context(), sparse), dir, "read", "", nil); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a file that is too large: %v", err)
	}
	var got string
	if err := control.Call(t.Context(), dir, "read", "", &got); err != nil || got != "no file" {
		t.Errorf("without a file: got %q, %v", got, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".control-*")); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// A stopping server answers the calls that are running.
func TestStopDuringCall(t *testing.T) {
	dir := t.TempDir()
	stop := start(t, dir)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-waiting
		stop()
	}()
	var n int
	if err := control.Call(t.Context(), dir, "wait", 1, &n); err != nil || n != 1 {
		t.Errorf("got %d, %v", n, err)
	}
	<-stopped
}

func TestListenReplacesALeftSocket(t *testing.T) {
	dir := t.TempDir()
	ln, err := control.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	ln.Close() // as a killed server does: the file stays
	if err := control.Call(t.Context(), dir, "add", operands{}, nil); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("on a dead socket: got %v", err)
	}
	start(t, dir)
	var sum int
	if err := control.Call(t.Context(), dir, "add", operands{2, 3}, &sum); err != nil || sum != 5 {
		t.Errorf("got %d, %v", sum, err)
	}
}
