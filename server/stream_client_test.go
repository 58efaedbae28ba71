package server_test

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/store"
)

// listener is a client that listens to streams by a WebSocket (RFC 6455), as simple as one can be, so that tests can also behave badly.
type listener struct {
	t     testing.TB
	srv   *api
	conn  net.Conn
	input *bufio.Reader
	head  http.Header // of the answer to the handshake

	mu     sync.Mutex
	change *sync.Cond
	got    []said
	pings  int
	code   int // with which the server closed; 0: not yet; -1: without a word
	mute   bool
}

// said is what a stream said.
type said struct {
	Stream  []string
	Event   string
	Payload *string
}

// String is short, for comparing: "user: update ID".
func (s said) String() string {
	what := ""
	if s.Payload != nil {
		var v struct {
			ID    string
			State string
			Type  string
		}
		if json.Unmarshal([]byte(*s.Payload), &v) != nil {
			v.ID = *s.Payload
		}
		what = strings.TrimSpace(v.ID + v.State)
		if v.Type != "" {
			what = v.Type
		}
	}
	return strings.TrimSpace(strings.Join(s.Stream, " ") + ": " + s.Event + " " + what)
}

// handshake asks for a WebSocket. Headers come as pairs.
func (a *api) handshake(query url.Values, headers ...string) (net.Conn, *bufio.Reader, *http.Response) {
	a.t.Helper()
	base, err := url.Parse(a.url)
	if err != nil {
		a.t.Fatal(err)
	}
	conn, err := net.Dial("tcp", base.Host)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	text := "GET /api/v1/streaming?" + query.Encode() + " HTTP/1.1\r\nHost: " + base.Host + "\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: https://elsewhere.example\r\n"
	for i := 0; i+1 < len(headers); i += 2 {
		text += headers[i] + ": " + headers[i+1] + "\r\n"
	}
	if _, err := io.WriteString(conn, text+"\r\n"); err != nil {
		a.t.Fatal(err)
	}
	input := bufio.NewReader(conn)
	resp, err := http.ReadResponse(input, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	return conn, input, resp
}

// listen opens a WebSocket with parameters, and listens.
func (a *api) listen(c *caller, params ...string) *listener {
	a.t.Helper()
	l := a.open(c, params...)
	go l.read()
	return l
}

// open opens a WebSocket with parameters.
func (a *api) open(c *caller, params ...string) *listener {
	a.t.Helper()
	query := pairs(params)
	if c != nil && c.token != "" {
		query.Set("access_token", c.token)
	}
	conn, input, resp := a.handshake(query)
	if resp.StatusCode != http.StatusSwitchingProtocols {
		body, _ := io.ReadAll(resp.Body)
		a.t.Fatalf("streaming %v: got %d %s", params, resp.StatusCode, body)
	}
	return newListener(a, conn, input, resp.Header)
}

func newListener(a *api, conn net.Conn, input *bufio.Reader, head http.Header) *listener {
	l := &listener{t: a.t, srv: a, conn: conn, input: input, head: head}
	l.change = sync.NewCond(&l.mu)
	return l
}

// Kinds of frames.
const (
	opText  = 1
	opClose = 8
	opPing  = 9
	opPong  = 10
)

// read hears what comes, until the connection ends.
func (l *listener) read() {
	code := -1
	for {
		kind, payload, err := l.frame()
		if err != nil {
			break
		}
		l.mu.Lock()
		switch kind {
		case opText:
			var s said
			if err := json.Unmarshal(payload, &s); err != nil || s.Stream == nil || s.Event == "" {
				l.t.Errorf("malformed frame: %v in %q", err, payload)
			}
			l.got = append(l.got, s)
		case opPing:
			l.pings++
			if !l.mute {
				l.write(opPong, payload)
			}
		case opClose:
			if code == -1 {
				code = int(binary.BigEndian.Uint16(payload))
				l.write(opClose, payload)
			}
		default:
			l.t.Errorf("a frame of kind %d: %q", kind, payload)
		}
		l.change.Broadcast()
		l.mu.Unlock()
	}
	l.mu.Lock()
	l.code = code
	l.change.Broadcast()
	l.mu.Unlock()
}

// frame reads one frame. Those of servers are whole and not masked.
func (l *listener) frame() (kind int, payload []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(l.input, head[:]); err != nil {
		return 0, nil, err
	}
	if head[0]&0xf0 != 0x80 || head[1]&0x80 != 0 {
		return 0, nil, fmt.Errorf("frame begins with %x", head)
	}
	n := int(head[1])
	if n >= 126 {
		size := make([]byte, map[int]int{126: 2, 127: 8}[n])
		if _, err := io.ReadFull(l.input, size); err != nil {
			return 0, nil, err
		}
		n = 0
		for _, b := range size {
			n = n<<8 | int(b)
		}
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(l.input, payload)
	return int(head[0] & 0xf), payload, err
}

// write writes one frame, masked with zeros.
func (l *listener) write(kind int, payload []byte) {
	frame := []byte{0x80 | byte(kind), 0x80 | 126}
	frame = binary.BigEndian.AppendUint16(frame, uint16(len(payload)))
	if len(payload) < 126 {
		frame = []byte{0x80 | byte(kind), 0x80 | byte(len(payload))}
	}
	frame = append(append(frame, 0, 0, 0, 0), payload...)
	l.conn.Write(frame) // where that fails, reading does too
}

// say sends a text, or anything else as JSON.
func (l *listener) say(what any) {
	l.t.Helper()
	text, ok := what.(string)
	if !ok {
		b, err := json.Marshal(what)
		if err != nil {
			l.t.Fatal(err)
		}
		text = string(b)
	}
	l.write(opText, []byte(text))
}

// ask says something and returns the answer, "result" or "error REASON". Frames that come before it are kept.
func (l *listener) ask(params ...string) string {
	l.t.Helper()
	m := map[string]string{}
	for i := 0; i+1 < len(params); i += 2 {
		m[params[i]] = params[i+1]
	}
	l.say(m)
	answer := l.wait(func(s said) bool { return strings.HasSuffix(s.Event, ":respond") })
	l.mu.Lock()
	defer l.mu.Unlock()
	var r struct{ Type, Result, Error string }
	if err := json.Unmarshal([]byte(*answer.Payload), &r); err != nil || r.Type != m["type"] || len(answer.Stream) > 0 {
		l.t.Errorf("answer to %v: %v %v", m, answer, *answer.Payload)
	}
	for i, s := range l.got {
		if s.Payload == answer.Payload {
			l.got = append(l.got[:i:i], l.got[i+1:]...)
			break
		}
	}
	return strings.TrimSpace(r.Result + " " + r.Error)
}

// subscribe subscribes to a stream.
func (l *listener) subscribe(stream string, params ...string) *listener {
	l.t.Helper()
	if got := l.ask(append([]string{"type", "subscribe", "stream", stream}, params...)...); got != "success" {
		l.t.Fatalf("subscribe %s %v: %s", stream, params, got)
	}
	return l
}

// wait waits for a frame.
func (l *listener) wait(which func(said) bool) said {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for _, s := range l.got {
			if which(s) {
				return s
			}
		}
		if l.code != 0 {
			l.t.Fatalf("the stream ended with %d after %v", l.code, l.got)
		}
		l.change.Wait()
	}
}

// waitEnd waits until the server ends the stream, and returns its code.
func (l *listener) waitEnd() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.code == 0 {
		l.change.Wait()
	}
	return l.code
}

// heard returns all that has been said by now, and forgets it: what is committed has been told when the hub has settled, and has
// arrived when the answer to a question that is asked after that has.
func (l *listener) heard() []said {
	l.t.Helper()
	l.srv.server.SettleStreams()
	l.ask("type", "unsubscribe", "stream", "public:remote", "instance", "nowhere.example")
	l.mu.Lock()
	defer l.mu.Unlock()
	got := l.got
	l.got = nil
	return got
}

// wantHeard fails the test if something else has been said.
func (l *listener) wantHeard(what string, want ...string) {
	l.t.Helper()
	got := []string{}
	for _, s := range l.heard() {
		got = append(got, s.String())
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) && len(got)+len(want) > 0 {
		l.t.Errorf("%s: heard %q, want %q", what, got, want)
	}
}

// emitFiltersChanged says that somebody's filters have changed.
func (a *api) emitFiltersChanged(m *member) {
	a.t.Helper()
	err := a.db.Update(a.t.Context(), func(tx *store.Tx) error {
		tx.Emit(store.FiltersChanged{AccountID: m.accountID()})
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
}
