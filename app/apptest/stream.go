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

// StreamClient is a minimal WebSocket client (RFC 6455) for streams. Tests can also violate the protocol with it.
type StreamClient struct {
	T      testing.TB
	Server *Server
	Conn   net.Conn
	Input  *bufio.Reader
	Header http.Header // of the handshake response

	mu          sync.Mutex
	change      *sync.Cond
	events      []StreamEvent
	pings       int
	closeCode   int // status of the server's close frame; 0: still open; -1: closed without a frame
	IgnorePings bool
}

// StreamEvent is one event of a stream.
type StreamEvent struct {
	Stream  []string
	Event   string
	Payload *string

	Error  string // of a refused subscription
	Status int
}

// String returns a short form for comparisons: "user: update ID".
func (s StreamEvent) String() string {
	detail := ""
	if s.Payload != nil {
		var v struct {
			ID    string
			State string
			Type  string
		}
		if json.Unmarshal([]byte(*s.Payload), &v) != nil {
			v.ID = *s.Payload
		}
		detail = strings.TrimSpace(v.ID + v.State)
		if v.Type != "" {
			detail = v.Type
		}
	}
	return strings.TrimSpace(strings.Join(s.Stream, " ") + ": " + s.Event + " " + detail)
}

// StreamHandshake sends a WebSocket handshake. headers are pairs.
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
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: https://frontend.example\r\n"
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

// OpenStream opens a WebSocket with parameters, and reads it in the background.
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

// Opcodes of frames.
const (
	OpText  = 1
	OpClose = 8
	OpPing  = 9
	OpPong  = 10
)

// Read reads frames until the connection ends.
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
			if translates(l.Server.Settings) {
				payload = []byte(fromTestName(string(payload)))
			}
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
			if code != -1 {
				l.T.Errorf("a second Close frame: %q", payload)
			}
			code = int(binary.BigEndian.Uint16(payload))
			l.WriteFrame(OpClose, payload)
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

// ReadFrame reads one frame, which must be unfragmented and not masked.
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
	l.Conn.Write(frame) // if this fails, reading fails too
}

// Send sends a string as it is, or another value as JSON.
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
	if translates(l.Server.Settings) {
		text = toTestName(text)
	}
	l.WriteFrame(OpText, []byte(text))
}

// Ask sends a request and returns its response, "result" or "error REASON". Other events are kept.
func (l *StreamClient) Ask(params ...string) string {
	l.T.Helper()
	m := map[string]string{}
	for i := 0; i+1 < len(params); i += 2 {
		m[params[i]] = params[i+1]
	}
	l.Send(m)
	response := l.WaitFor(func(s StreamEvent) bool { return strings.HasSuffix(s.Event, ":respond") })
	l.mu.Lock()
	defer l.mu.Unlock()
	var r struct{ Type, Result, Error string }
	if err := json.Unmarshal([]byte(*response.Payload), &r); err != nil || r.Type != m["type"] || len(response.Stream) > 0 {
		l.T.Errorf("response to %v: %v %v", m, response, *response.Payload)
	}
	for i, s := range l.events {
		if s.Payload == response.Payload {
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

// Events returns and clears all events so far. Settle sends the events of committed changes, and a request after it flushes them: its
// response arrives after them.
func (l *StreamClient) Events() []StreamEvent {
	l.T.Helper()
	l.Server.HTTP.Streams.Settle()
	l.Ask("type", "unsubscribe", "stream", "public:remote", "instance", "unknown.example")
	l.mu.Lock()
	defer l.mu.Unlock()
	got := l.events
	l.events = nil
	return got
}

// WantEvents fails the test if the events since the last call differ.
func (l *StreamClient) WantEvents(what string, want ...string) {
	l.T.Helper()
	got := []string{}
	for _, s := range l.Events() {
		got = append(got, s.String())
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) && len(got)+len(want) > 0 {
		l.T.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// WantEvent fails the test if an event is not among the events since the last call of Events.
func (l *StreamClient) WantEvent(want string) {
	l.T.Helper()
	events := l.Events()
	if !slices.ContainsFunc(events, func(s StreamEvent) bool { return s.String() == want }) {
		l.T.Errorf("got %q, want %q among them", events, want)
	}
}

// EmitFiltersChanged emits the event that a user's filters changed.
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

// Unread returns the received events that Events has not returned.
func (l *StreamClient) Unread() []StreamEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// Pings returns the number of received pings.
func (l *StreamClient) Pings() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pings
}

// WaitPings waits until n pings were received.
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
