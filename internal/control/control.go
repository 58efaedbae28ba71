// Package control lets commands call the server that runs on the same data directory: HTTP over a Unix socket in that directory. A call is
// a POST of the arguments to /COMMAND; the response is the result, both as JSON, or the text of an error. A call with a file has the
// arguments in a header and the file as its body: the server may not see the files that a command does.
//
// A process that can open the socket may call every command, so only the owner of the directory can. The caller of Serve defines the
// commands.
//
// Limits: 8 calls at a time, 4 MiB per request and per response, 5 s to send either; 128 MiB per file, two minutes to send it.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/net/netutil"

	"svc/internal/disk"
	"svc/internal/unixsocket"
)

// SocketName is the name of the socket in the data directory.
const SocketName = "control.sock"

const (
	maxMessage      = 4 << 20 // bytes
	maxCalls        = 8
	requestTimeout  = 5 * time.Second
	responseTimeout = 5 * time.Second
)

// ErrNotRunning is returned by Call if no server runs on the directory.
var ErrNotRunning = errors.New("no server is running")

// Commands are the commands that can be called, by name.
type Commands map[string]Handler

// Handler runs one command.
type Handler func(ctx context.Context, args json.RawMessage) (result any, err error)

// Command returns a Handler for a function with one argument. The argument and the result travel as JSON.
func Command[A, R any](fn func(context.Context, A) (R, error)) Handler {
	return func(ctx context.Context, args json.RawMessage) (any, error) {
		var a A
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
		return fn(ctx, a)
	}
}

// Listen creates the socket in dir. No other server may run on dir: Listen replaces a socket that is there, because a killed server left it.
func Listen(dir string) (net.Listener, error) {
	path, closeDir, err := socketPath(dir)
	if err != nil {
		return nil, err
	}
	defer closeDir()
	if err := disk.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	ln, err := unixsocket.Listen(path, 0o600)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	ln.SetUnlinkOnClose(false) // path is not valid any more by then
	return ln, nil
}

// Serve answers calls on a listener of Listen until ctx ends. Then it waits for running calls and removes the socket.
func Serve(ctx context.Context, dir string, ln net.Listener, commands Commands, log *slog.Logger) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{command}", func(w http.ResponseWriter, r *http.Request) { serve(w, r, dir, commands, log) })
	srv := &http.Server{Handler: mux, ReadTimeout: requestTimeout, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		srv.Shutdown(context.WithoutCancel(ctx))
	})
	err := srv.Serve(netutil.LimitListener(ln, maxCalls))
	if stop() {
		log.Error("control socket failed: commands cannot reach this server", "err", err)
		srv.Shutdown(context.WithoutCancel(ctx))
	} else {
		<-stopped
	}
	disk.Remove(filepath.Join(dir, SocketName)) // if that fails, the next start replaces it
}

// serve runs one command. A caller that goes away does not interrupt it.
func serve(w http.ResponseWriter, r *http.Request, dir string, commands Commands, log *slog.Logger) {
	name := r.PathValue("command")
	ctx := context.WithoutCancel(r.Context())
	args, file, err := readArguments(w, r, dir)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if file != nil {
		defer file.Close()
		ctx = WithFile(ctx, file)
	}
	body, err := call(ctx, commands, name, args, log)
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(responseTimeout))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Write(body)
}

func call(ctx context.Context, commands Commands, name string, args []byte, log *slog.Logger) (body []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			log.Error("panic in a command", "command", name, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	fn := commands[name]
	if fn == nil {
		return nil, fmt.Errorf("the running server does not know the command %q: is it of another version?", name)
	}
	result, err := fn(ctx, args)
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

// Call runs a command in the server that runs on dir and decodes the result, unless that is nil. The error is ErrNotRunning if no server runs.
func Call(ctx context.Context, dir, command string, args, result any) error {
	path, closeDir, err := socketPath(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotRunning
	}
	if err != nil {
		return err
	}
	defer closeDir()
	payload, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("arguments of %s: %w", command, err)
	}
	req, err := newRequest(ctx, command, payload)
	if err != nil {
		return err
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}
	resp, err := transport.RoundTrip(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return ErrNotRunning
	case err != nil:
		return fmt.Errorf("control socket: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage))
	switch {
	case err != nil:
		return fmt.Errorf("the running server sent no complete response: %w", err)
	case resp.StatusCode != http.StatusOK:
		return errors.New(string(bytes.TrimSuffix(body, []byte("\n"))))
	case result == nil:
		return nil
	}
	return json.Unmarshal(body, result)
}

// socketPath returns the path of the socket of dir. The path is valid until closeDir is called. The path of a socket is limited to about a
// hundred bytes; for a longer one, Linux accepts a path by an open directory.
func socketPath(dir string) (path string, closeDir func(), err error) {
	const maxLength = 100
	path = filepath.Join(dir, SocketName)
	if len(path) <= maxLength {
		return path, func() {}, nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return "", nil, fmt.Errorf("control socket: %w", err)
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), SocketName), func() { d.Close() }, nil
}
