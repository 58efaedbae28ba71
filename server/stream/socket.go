package stream

//lint:file-ignore SA1019 The library goes on under another name with the same interface: changing to it is a matter of the import below.

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"nhooyr.io/websocket"
)

// Bounds of a socket.
const (
	maxCommandBytes    = 4 << 10          // bytes that a client may say at once
	readBuffer         = 512              // clients say little
	socketWriteTimeout = 10 * time.Second // for one frame
	pingInterval       = 30 * time.Second
	pongTimeout        = 30 * time.Second // until the answer to a ping
)

// socket is a listener by WebSocket. An idle one costs no goroutine of ours but the one that reads: frames are written by one that is
// there only while there are some, and a timer sends the pings.
type socket struct {
	client
	conn    *websocket.Conn // nil until the handshake is done; guarded by listener.mu
	writing bool            // there is a goroutine that writes; likewise
	reason  closeReason     // it has ended; likewise

	timerMu sync.Mutex
	timer   *time.Timer // of the next ping; nil before the first and after the last
	closed  bool
}

// ServeHTTP makes a connection a socket. The request ends with that: what it held is free again.
func (s *socket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(smallBuffers{w}, r, &websocket.AcceptOptions{
		Subprotocols:       offeredProtocols(r), // browsers want one of theirs back
		InsecureSkipVerify: true,                // pages of other sites are welcome: no cookie counts here
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

func (s *socket) encode(n *message, label string, anew bool) *frame {
	return n.socketFrame(label, anew)
}

// wake has what is queued written. listener.mu is held.
func (s *socket) wake() {
	if s.conn != nil && !s.writing {
		s.writing = true
		go s.write()
	}
}

// write writes what is queued, until there is nothing more.
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

// next takes what is queued. If that is nothing, the goroutine that writes has to end.
func (s *socket) next() []*frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	frames := s.takeLocked()
	s.writing = len(frames) > 0
	return frames
}

// close says good-bye in the background: the client has some seconds to answer.
func (s *socket) close(why closeReason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reason = why
	if s.conn != nil {
		go s.conn.Close(websocket.StatusCode(why.code), why.reason)
	}
}

// read hears what the client says, until the connection ends.
func (s *socket) read() {
	defer func() {
		s.timerMu.Lock()
		s.closed = true
		if s.timer != nil {
			s.timer.Stop()
		}
		s.timerMu.Unlock()
		s.conn.CloseNow()
		s.hub.release(&s.client)
	}()
	for {
		kind, message, err := s.conn.Read(context.Background())
		if err != nil {
			return
		}
		if kind == websocket.MessageText {
			s.hub.handleCommand(context.Background(), &s.client, message)
			s.schedulePing(context.Background())
		}
	}
}

// schedulePing sets the time of the next ping, or of the end of the token if that comes before.
func (s *socket) schedulePing(ctx context.Context) {
	who, ok, err := s.hub.identity(ctx, &s.client)
	if !ok && err == nil {
		return
	}
	d := s.hub.pingInterval
	if who.Token != nil && who.Token.ExpiresAt != nil {
		d = min(d, time.Until(who.Token.ExpiresAt.Time())+time.Millisecond)
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

// checkAlive looks whether the client is still there, and whether its token is still good.
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

// smallBuffers gives a hijacked connection less memory to read with, of which it needs little for a long time.
type smallBuffers struct{ http.ResponseWriter }

func (w smallBuffers) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil && buffers.Reader.Buffered() == 0 {
		buffers.Reader = bufio.NewReaderSize(conn, readBuffer)
	}
	return conn, buffers, err
}
