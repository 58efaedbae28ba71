package apptest

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/store"
)

// StreamClient is a client that listens to streams by a WebSocket (RFC 6455), as simple as one can be, so that tests can also behave badly.
type StreamClient struct {
	T      testing.TB
	Server *Server
	Conn   net.Conn
	Input  *bufio.Reader
	Header http.Header // of the answer to the handshake

	mu          sync.Mutex
	change      *sync.Cond
	events      []StreamEvent
	pings       int
	closeCode   int // with which the server closed; 0: not yet; -1: without a word
	IgnorePings bool
}

// StreamEvent is what a stream said.
type StreamEvent struct {
	Stream  []string
	Event   string
	Payload *string
}

// String is short, for comparing: "user: update ID".
func (s StreamEvent) String() string {
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

// StreamHandshake asks for a WebSocket. Headers come as pairs.
func (a *Server) StreamHandshake(query url.Values, headers ...string) (net.Conn, *bufio.Reader, *http.Response) {
	a.T.Helper()
	base, err := url.Parse(a.URL)
	if err != nil {
		a.T.Fatal(err)
	}
	conn, err := net.Dial("tcp", base.Host)
	if err != nil {
		a.T.Fatal(err)
	}
	a.T.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	text := "GET /api/v1/streaming?" + query.Encode() + " HTTP/1.1\r\nHost: " + base.Host + "\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: https://elsewhere.example\r\n"
	for i := 0; i+1 < len(headers); i += 2 {
		text += headers[i] + ": " + headers[i+1] + "\r\n"
	}
	if _, err := io.WriteString(conn, text+"\r\n"); err != nil {
		a.T.Fatal(err)
	}
	input := bufio.NewReader(conn)
	resp, err := http.ReadResponse(input, nil)
	if err != nil {
		a.T.Fatal(err)
	}
	return conn, input, resp
}

// OpenStream opens a WebSocket with parameters, and listens.
func (a *Server) OpenStream(c *Client, params ...string) *StreamClient {
	a.T.Helper()
	l := a.DialStream(c, params...)
	go l.Read()
	return l
}

// DialStream opens a WebSocket with parameters.
func (a *Server) DialStream(c *Client, params ...string) *StreamClient {
	a.T.Helper()
	query := Pairs(params)
	if c != nil && c.Token != "" {
		query.Set("access_token", c.Token)
	}
	conn, input, resp := a.StreamHandshake(query)
	if resp.StatusCode != http.StatusSwitchingProtocols {
		body, _ := io.ReadAll(resp.Body)
		a.T.Fatalf("streaming %v: got %d %s", params, resp.StatusCode, body)
	}
	return NewStreamClient(a, conn, input, resp.Header)
}

func NewStreamClient(a *Server, conn net.Conn, input *bufio.Reader, head http.Header) *StreamClient {
	l := &StreamClient{T: a.T, Server: a, Conn: conn, Input: input, Header: head}
	l.change = sync.NewCond(&l.mu)
	return l
}

// Kinds of frames.
const (
	OpText  = 1
	OpClose = 8
	OpPing  = 9
	OpPong  = 10
)

// Read hears what comes, until the connection ends.
func (l *StreamClient) Read() {
	code := -1
	for {
		kind, payload, err := l.ReadFrame()
		if err != nil {
			break
		}
		l.mu.Lock()
		switch kind {
		case OpText:
			var s StreamEvent
			if err := json.Unmarshal(payload, &s); err != nil || s.Stream == nil || s.Event == "" {
				l.T.Errorf("malformed frame: %v in %q", err, payload)
			}
			l.events = append(l.events, s)
		case OpPing:
			l.pings++
			if !l.IgnorePings {
				l.WriteFrame(OpPong, payload)
			}
		case OpClose:
			if code == -1 {
				code = int(binary.BigEndian.Uint16(payload))
				l.WriteFrame(OpClose, payload)
			}
		default:
			l.T.Errorf("a frame of kind %d: %q", kind, payload)
		}
		l.change.Broadcast()
		l.mu.Unlock()
	}
	l.mu.Lock()
	l.closeCode = code
	l.change.Broadcast()
	l.mu.Unlock()
}

// ReadFrame reads one frame. Those of servers are whole and not masked.
func (l *StreamClient) ReadFrame() (kind int, payload []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(l.Input, head[:]); err != nil {
		return 0, nil, err
	}
	if head[0]&0xf0 != 0x80 || head[1]&0x80 != 0 {
		return 0, nil, fmt.Errorf("frame begins with %x", head)
	}
	n := int(head[1])
	if n >= 126 {
		size := make([]byte, map[int]int{126: 2, 127: 8}[n])
		if _, err := io.ReadFull(l.Input, size); err != nil {
			return 0, nil, err
		}
		n = 0
		for _, b := range size {
			n = n<<8 | int(b)
		}
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(l.Input, payload)
	return int(head[0] & 0xf), payload, err
}

// WriteFrame writes one frame, masked with zeros.
func (l *StreamClient) WriteFrame(kind int, payload []byte) {
	frame := []byte{0x80 | byte(kind), 0x80 | 126}
	frame = binary.BigEndian.AppendUint16(frame, uint16(len(payload)))
	if len(payload) < 126 {
		frame = []byte{0x80 | byte(kind), 0x80 | byte(len(payload))}
	}
	frame = append(append(frame, 0, 0, 0, 0), payload...)
	l.Conn.Write(frame) // where that fails, reading does too
}

// Send sends a text, or anything else as JSON.
func (l *StreamClient) Send(what any) {
	l.T.Helper()
	text, ok := what.(string)
	if !ok {
		b, err := json.Marshal(what)
		if err != nil {
			l.T.Fatal(err)
		}
		text = string(b)
	}
	l.WriteFrame(OpText, []byte(text))
}

// Ask says something and returns the answer, "result" or "error REASON". Frames that come before it are kept.
func (l *StreamClient) Ask(params ...string) string {
	l.T.Helper()
	m := map[string]string{}
	for i := 0; i+1 < len(params); i += 2 {
		m[params[i]] = params[i+1]
	}
	l.Send(m)
	answer := l.WaitFor(func(s StreamEvent) bool { return strings.HasSuffix(s.Event, ":respond") })
	l.mu.Lock()
	defer l.mu.Unlock()
	var r struct{ Type, Result, Error string }
	if err := json.Unmarshal([]byte(*answer.Payload), &r); err != nil || r.Type != m["type"] || len(answer.Stream) > 0 {
		l.T.Errorf("answer to %v: %v %v", m, answer, *answer.Payload)
	}
	for i, s := range l.events {
		if s.Payload == answer.Payload {
			l.events = append(l.events[:i:i], l.events[i+1:]...)
			break
		}
	}
	return strings.TrimSpace(r.Result + " " + r.Error)
}

// Subscribe subscribes to a stream.
func (l *StreamClient) Subscribe(stream string, params ...string) *StreamClient {
	l.T.Helper()
	if got := l.Ask(append([]string{"type", "subscribe", "stream", stream}, params...)...); got != "success" {
		l.T.Fatalf("subscribe %s %v: %s", stream, params, got)
	}
	return l
}

// WaitFor waits for a frame.
func (l *StreamClient) WaitFor(which func(StreamEvent) bool) StreamEvent {
	l.T.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for _, s := range l.events {
			if which(s) {
				return s
			}
		}
		if l.closeCode != 0 {
			l.T.Fatalf("the stream ended with %d after %v", l.closeCode, l.events)
		}
		l.change.Wait()
	}
}

// WaitEnd waits until the server ends the stream, and returns its code.
func (l *StreamClient) WaitEnd() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.closeCode == 0 {
		l.change.Wait()
	}
	return l.closeCode
}

// Events returns all that has been said by now, and forgets it: what is committed has been told when the hub has settled, and has
// arrived when the answer to a question that is asked after that has.
func (l *StreamClient) Events() []StreamEvent {
	l.T.Helper()
	l.Server.HTTP.Streams.Settle()
	l.Ask("type", "unsubscribe", "stream", "public:remote", "instance", "nowhere.example")
	l.mu.Lock()
	defer l.mu.Unlock()
	got := l.events
	l.events = nil
	return got
}

// WantEvents fails the test if something else has been said.
func (l *StreamClient) WantEvents(what string, want ...string) {
	l.T.Helper()
	got := []string{}
	for _, s := range l.Events() {
		got = append(got, s.String())
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) && len(got)+len(want) > 0 {
		l.T.Errorf("%s: heard %q, want %q", what, got, want)
	}
}

// EmitFiltersChanged says that somebody's filters have changed.
func (a *Server) EmitFiltersChanged(m *User) {
	a.T.Helper()
	err := a.DB.Update(a.T.Context(), func(tx *store.Tx) error {
		tx.Emit(store.FiltersChanged{AccountID: m.AccountID()})
		return nil
	})
	if err != nil {
		a.T.Fatal(err)
	}
}

// Unread returns the events that have arrived and were not returned by Events.
func (l *StreamClient) Unread() []StreamEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// Pings returns how many pings have arrived.
func (l *StreamClient) Pings() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pings
}

// WaitPings waits until n pings have arrived.
func (l *StreamClient) WaitPings(n int) {
	l.T.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.pings < n {
		if l.change.Wait(); l.closeCode != 0 {
			l.T.Fatalf("the stream ended with %d", l.closeCode)
		}
	}
}
