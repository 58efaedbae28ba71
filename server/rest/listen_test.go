package rest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/internal/config"
	"svc/server/rest"
)

// site is a running server.
type site struct {
	http.Client
	t       *testing.T
	address string
	stop    func()     // as SIGTERM does
	done    chan error // what Serve returned
}

// serve runs s on a free port until the test ends.
func serve(t *testing.T, s *rest.Server) *site {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, s, ln)
}

func serveOn(t *testing.T, s *rest.Server, ln net.Listener) *site {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	st := &site{t: t, address: ln.Addr().String(), stop: stop, done: make(chan error, 1)}
	ended := make(chan struct{})
	go func() {
		st.done <- s.Serve(ctx, ln)
		close(ended)
	}()
	t.Cleanup(func() {
		stop()
		st.CloseIdleConnections()
		<-ended
	})
	return st
}

// servePipes is serve in a synctest bubble: connections are pipes, whose deadlines follow the clock of the bubble.
func servePipes(t *testing.T, s *rest.Server) *site {
	t.Helper()
	ln := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	st := serveOn(t, s, ln)
	st.Transport = &http.Transport{DialContext: ln.dial}
	return st
}

// pipeListener accepts what dial has opened.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipeListener) Addr() net.Addr { return fakeAddr("pipe") }

func (st *site) Get(path string) (*http.Response, error) {
	return st.Client.Get("http://" + st.address + path)
}

// dial opens a connection with a deadline of ten seconds.
func (st *site) dial() net.Conn {
	st.t.Helper()
	c, err := net.Dial("tcp", st.address)
	if err != nil {
		st.t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(10 * time.Second))
	st.t.Cleanup(func() { c.Close() })
	return c
}

func TestServeStops(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	s := newServer(t, rest.Routes{"GET /api/v1/slow": {rest.Anyone, func(*rest.Request) (any, error) {
		close(entered)
		<-leave
		return "done", nil
	}}})
	st := serve(t, s)
	answer := make(chan string, 1)
	go func() {
		resp, err := st.Get("/api/v1/slow")
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		answer <- string(body)
	}()
	<-entered
	st.stop()
	for { // until it accepts no more connections
		c, err := net.Dial("tcp", st.address)
		if err != nil {
			break
		}
		c.Close()
	}
	select {
	case err := <-st.done:
		t.Fatalf("it stopped with a request under way: %v", err)
	default:
	}
	close(leave)
	if got := <-answer; got != `"done"` {
		t.Errorf("the request under way got %q", got)
	}
	if err := <-st.done; err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

func TestServeFails(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	if err := newServer(t, nil).Serve(t.Context(), ln); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want %v", err, net.ErrClosed)
	}
}

func TestSlowHeaders(t *testing.T) {
	st := serve(t, newServer(t, nil, func(c *config.Config) { c.Server.ReadHeaderTimeout = 200 * time.Millisecond }))
	c := st.dial()
	fmt.Fprint(c, "GET /api/v1/it HTTP/1.1\r\nHost: loc")
	if b, err := io.ReadAll(c); err != nil || strings.Contains(string(b), "200 OK") {
		t.Errorf("got %q, %v", b, err)
	}
}

func TestLargeHeaders(t *testing.T) {
	st := serve(t, newServer(t, rest.Routes{"GET /api/v1/it": {rest.Anyone, whoAmI}}))
	for size, want := range map[int]string{30_000: "200", 40_000: "431"} {
		c := st.dial()
		fmt.Fprintf(c, "GET /api/v1/it HTTP/1.1\r\nHost: localhost\r\nX-Large: %s\r\n\r\n", strings.Repeat("a", size))
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 "+want) {
			t.Errorf("%d bytes: got %q, %v, want %s", size, line, err, want)
		}
	}
}

func TestIdleConnections(t *testing.T) {
	st := serve(t, newServer(t, rest.Routes{"GET /api/v1/it": {rest.Anyone, rest.Always(nil)}}, func(c *config.Config) { c.Server.IdleTimeout = 200 * time.Millisecond }))
	c := st.dial()
	fmt.Fprint(c, "GET /api/v1/it HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if b, err := io.ReadAll(c); err != nil || !strings.HasSuffix(string(b), "\r\n\r\n{}") { // to the end of the connection
		t.Errorf("got %q, %v", b, err)
	}
}

// TestSlowReader checks that a response to a client that does not read times out.
func TestSlowReader(t *testing.T) {
	returned := make(chan error, 1)
	large := strings.Repeat("x", 1<<20)
	st := serve(t, newServer(t, rest.Routes{"GET /api/v1/it": {rest.Anyone, rest.Always(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := io.WriteString(w, large); err != nil {
				returned <- err
				return
			}
		}
	}))}}, func(c *config.Config) { c.Server.WriteTimeout = 300 * time.Millisecond }))
	fmt.Fprint(st.dial(), "GET /api/v1/it HTTP/1.1\r\nHost: localhost\r\n\r\n")
	select {
	case <-returned:
	case <-time.After(10 * time.Second):
		t.Error("the handler is still writing")
	}
}

// fakeConn is a connection from a given address.
type fakeConn struct {
	net.Conn
	from string
}

func (c *fakeConn) Close() error         { return nil }
func (c *fakeConn) RemoteAddr() net.Addr { return fakeAddr(c.from) }

type fakeAddr string

func (fakeAddr) Network() string  { return "tcp" }
func (a fakeAddr) String() string { return string(a) }

func TestConnectionLimits(t *testing.T) {
	s := newServer(t, nil, func(c *config.Config) { c.Server.TrustedProxies = []string{"10.0.0.0/8"} })
	for _, tt := range []struct {
		name string
		from func(i int) string
		want int // open connections after maxConnections + 1
	}{
		{"one address", func(i int) string { return fmt.Sprintf("192.0.2.1:%d", i) }, rest.MaxConnectionsPerIP},
		{"one IPv6 network", func(i int) string { return fmt.Sprintf("[2001:db8::%x]:80", i) }, rest.MaxConnectionsPerIP},
		{"many IPv6 networks", func(i int) string { return fmt.Sprintf("[2001:db8:0:%x::1]:80", i) }, rest.MaxConnections},
		{"this machine", func(i int) string { return fmt.Sprintf("127.0.0.1:%d", i) }, rest.MaxConnections},
		{"a trusted proxy", func(i int) string { return fmt.Sprintf("10.1.2.3:%d", i) }, rest.MaxConnections},
		{"a Unix socket", func(i int) string { return "@" }, rest.MaxConnections},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gate := rest.NewConnLimiter(s)
			var in []net.Conn
			for i := range rest.MaxConnections + 1 {
				c := &fakeConn{from: tt.from(i)}
				if in = append(in, c); !gate.Add(c) { // the oldest that waits is closed instead
					t.Fatalf("connection %d was refused", i)
				}
			}
			if gate.Open() != tt.want {
				t.Errorf("%d connections are open, want %d", gate.Open(), tt.want)
			}
			for _, c := range in {
				gate.Remove(c)
			}
			if n := gate.Addresses(); n != 0 {
				t.Errorf("%d addresses are still counted", n)
			}
		})
	}
}
