package stream

//lint:file-ignore SA1019 The library goes on under another name with the same interface: changing to it is a matter of the import below.

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"nhooyr.io/websocket"
)

// Limits of a socket.
const (
	maxCommandBytes    = 4 << 10          // bytes
	readBuffer         = 512              // bytes; commands are small
	socketWriteTimeout = 10 * time.Second // for one frame
	pingInterval       = 30 * time.Second
	pongTimeout        = 30 * time.Second // until the answer to a ping
)

// socket is a client by WebSocket. An idle one costs one goroutine of ours, which reads. Another one writes while frames are queued,
// and a timer sends the pings.
type socket struct {
	client
	conn    *websocket.Conn // nil until the handshake is done; guarded by client.mu
	writing bool            // a goroutine writes; guarded by client.mu
	reason  closeReason     // of the end; guarded by client.mu

	timerMu sync.Mutex
	timer   *time.Timer // of the next ping; nil before the first
	closed  bool
}

// ServeHTTP upgrades a connection to a socket. The request ends then, which frees its memory.
func (s *socket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(smallBuffers{w}, r, &websocket.AcceptOptions{
		Subprotocols:       offeredProtocols(r), // browsers require one of theirs
		InsecureSkipVerify: true,                // other sites may connect, because cookies are ignored
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		s.hub.release(&s.client)
		return
	}
	conn.SetReadLimit(maxCommandBytes)
	s.mu.Lock()
	s.conn = conn
	ended, why := s.ended, s.reason
	if len(s.queue) > 0 {
		s.wake()
	}
	s.mu.Unlock()
	if ended {
		go conn.Close(websocket.StatusCode(why.code), why.reason)
	}
	go s.read()
	s.schedulePing(context.Background())
}

func (s *socket) encode(n *message, label string, mayEncode bool) *frame {
	return n.socketFrame(label, mayEncode)
}

// wake starts the writing goroutine. client.mu is held.
func (s *socket) wake() {
	if s.conn != nil && !s.writing {
		s.writing = true
		go s.write()
	}
}

// write writes queued frames until there are no more.
func (s *socket) write() {
	for {
		frames := s.next()
		if len(frames) == 0 {
			return
		}
		for i, f := range frames {
			if s.isEnded() {
				s.written(frames[i:]...)
				return
			}
			ctx, cancel := context.WithTimeout(context.Background(), socketWriteTimeout)
			err := s.conn.Write(ctx, websocket.MessageText, f.bytes)
			cancel()
			if err != nil {
				s.written(frames[i:]...)
				s.hub.closeClient(&s.client, closeSlow)
				s.conn.CloseNow()
				return
			}
			s.written(f)
		}
	}
}

// next takes the queued frames. If there are none, the writing goroutine must end.
func (s *socket) next() []*frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	frames := s.takeLocked()
	s.writing = len(frames) > 0
	return frames
}

// close sends the close frame in the background: the client has some seconds to answer.
func (s *socket) close(why closeReason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reason = why
	if s.conn != nil {
		go s.conn.Close(websocket.StatusCode(why.code), why.reason)
	}
}

// read executes commands of the client until the connection ends.
func (s *socket) read() {
	defer func() {
		s.timerMu.Lock()
		s.closed = true
		if s.timer != nil {
			s.timer.Stop()
		}
		s.timerMu.Unlock()
		// After a violation of the protocol the client must have time to read the Close frame, else it sees code 1006.
		s.conn.Close(websocket.StatusProtocolError, "")
		s.hub.release(&s.client)
	}()
	for {
		kind, message, err := s.conn.Read(context.Background())
		switch {
		case err != nil:
			return
		case kind != websocket.MessageText:
		case !utf8.Valid(message):
			s.hub.closeClient(&s.client, closeInvalid) // the next Read fails after the client's answer
		default:
			s.hub.handleCommand(context.Background(), &s.client, message)
			s.schedulePing(context.Background())
		}
	}
}

// schedulePing sets the time of the next ping, or of the expiry of the token if that is earlier.
func (s *socket) schedulePing(ctx context.Context) {
	identity, ok, err := s.hub.identity(ctx, &s.client)
	if !ok && err == nil {
		return
	}
	d := s.hub.pingInterval
	if identity.Token != nil && identity.Token.ExpiresAt != nil {
		d = min(d, time.Until(identity.Token.ExpiresAt.Time())+time.Millisecond)
	}
	s.timerMu.Lock()
	defer s.timerMu.Unlock()
	switch {
	case s.closed:
	case s.timer == nil:
		s.timer = time.AfterFunc(d, s.checkAlive)
	default:
		s.timer.Reset(d)
	}
}

// checkAlive pings the client, and ends the stream if its token is no longer valid.
func (s *socket) checkAlive() {
	if _, ok, err := s.hub.identity(context.Background(), &s.client); !ok && err == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.hub.pongTimeout)
	defer cancel()
	if err := s.conn.Ping(ctx); err != nil {
		s.conn.CloseNow()
		return
	}
	s.schedulePing(ctx)
}

// smallBuffers gives a hijacked connection a small read buffer, because it lasts long and reads little. It writes one Close frame only.
type smallBuffers struct{ http.ResponseWriter }

func (w smallBuffers) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	early, err := buffers.Reader.Peek(buffers.Reader.Buffered())
	if err != nil {
		return nil, nil, err
	}
	conn = &closingConn{Conn: conn, early: bytes.Clone(early)}
	buffers.Reader = bufio.NewReaderSize(conn, readBuffer)
	buffers.Writer.Reset(conn)
	return conn, buffers, nil
}
