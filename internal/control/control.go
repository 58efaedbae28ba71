// Package control is how commands talk with the server that runs on the same data directory: through a Unix socket in that
// directory. A request is the name of a command and its arguments, the answer a result or an error, each one JSON value on a
// connection of its own.
//
// Whoever can open the socket may do everything; so nobody but the owner of the directory can. Which commands there are is not
// known here.
package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
)

// SocketName is the name of the socket in the data directory.
const SocketName = "control.sock"

const (
	maxMessage      = 4 << 20         // bytes of a request or an answer
	maxCalls        = 8               // at the same time
	requestTimeout  = 5 * time.Second // to send a request once connected
	responseTimeout = 5 * time.Second // to take an answer
)

// ErrNotRunning is returned by Call when no server has the directory.
var ErrNotRunning = errors.New("no server is running")

// Commands are what can be called, by name.
type Commands map[string]Handler

// Handler does one command.
type Handler func(ctx context.Context, args json.RawMessage) (result any, err error)

// Command makes a Handler of a function with one argument, which travels as JSON, as does its result.
func Command[A, R any](fn func(context.Context, A) (R, error)) Handler {
	return func(ctx context.Context, args json.RawMessage) (any, error) {
		var a A
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
		return fn(ctx, a)
	}
}

type request struct {
	Command string          `json:"command"`
	Args    json.RawMessage `json:"args"`
}

type response struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// Listen makes the socket in dir. The caller must have the directory to itself: a socket that is there already is taken for what
// a server left that was killed, and replaced.
func Listen(dir string) (net.Listener, error) {
	path, done, err := socketPath(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	ln.SetUnlinkOnClose(false) // path may not name it any more by then
	if err := os.Chmod(path, 0o600); err != nil {
		ln.Close()
		return nil, fmt.Errorf("control socket: %w", err)
	}
	return ln, nil
}

// Serve answers calls on a listener made by Listen until ctx ends, then waits for those under way and removes the socket.
func Serve(ctx context.Context, dir string, ln net.Listener, commands Commands, log *slog.Logger) {
	var calls sync.WaitGroup
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	defer func() {
		stop()
		ln.Close()
		calls.Wait()
		os.Remove(filepath.Join(dir, SocketName)) // one that stays is replaced at the next start
	}()
	slots := make(chan struct{}, maxCalls)
	for {
		slots <- struct{}{}
		conn, err := ln.Accept()
		if err != nil {
			if ctx.Err() == nil {
				log.Error("the control socket failed, commands cannot reach this server", "err", err)
			}
			return
		}
		calls.Go(func() {
			defer func() { <-slots }()
			defer conn.Close()
			serve(context.WithoutCancel(ctx), conn, commands, log)
		})
	}
}

func serve(ctx context.Context, conn net.Conn, commands Commands, log *slog.Logger) {
	var a response
	conn.SetReadDeadline(time.Now().Add(requestTimeout))
	var r request
	if err := json.NewDecoder(io.LimitReader(conn, maxMessage)).Decode(&r); err != nil {
		log.Debug("a request on the control socket could not be read", "err", err)
		return
	}
	result, err := call(ctx, commands, r, log)
	if err == nil {
		a.Result, err = json.Marshal(result)
	}
	if err != nil {
		a.Error = err.Error()
	}
	conn.SetWriteDeadline(time.Now().Add(responseTimeout))
	if err := json.NewEncoder(conn).Encode(a); err != nil {
		log.Debug("an answer on the control socket was not taken", "command", r.Command, "err", err)
	}
}

func call(ctx context.Context, commands Commands, r request, log *slog.Logger) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			log.Error("panic in a command", "command", r.Command, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	fn := commands[r.Command]
	if fn == nil {
		return nil, fmt.Errorf("the running server does not know the command %q: is it of another version?", r.Command)
	}
	return fn(ctx, r.Args)
}

// Call has the server that runs on dir do a command and decodes the result. If no server runs, it fails with ErrNotRunning.
func Call(ctx context.Context, dir, command string, args, result any) error {
	path, done, err := socketPath(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotRunning
	}
	if err != nil {
		return err
	}
	defer done()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return ErrNotRunning
	}
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	payload, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("arguments of %s: %w", command, err)
	}
	if err := json.NewEncoder(conn).Encode(request{command, payload}); err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	var a response
	if err := json.NewDecoder(io.LimitReader(conn, maxMessage)).Decode(&a); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("the running server gave no answer: %w", err)
	}
	if a.Error != "" {
		return errors.New(a.Error)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(a.Result, result)
}

// socketPath returns what to call the socket of dir, and a function to call when it is listening or connected. The name of a socket
// is limited to about a hundred bytes; where the directory's is longer, Linux lets it be named by an open file.
func socketPath(dir string) (path string, done func(), err error) {
	const longest = 100
	path = filepath.Join(dir, SocketName)
	if len(path) <= longest {
		return path, func() {}, nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return "", nil, fmt.Errorf("control socket: %w", err)
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), SocketName), func() { d.Close() }, nil
}
