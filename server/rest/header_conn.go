package rest

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

// The memory of the headers of a request. Many short lines need many times their length.
const (
	freeHeaderBytes   = 4096 // every connection may have so much
	freeHeaderLines   = 48
	headerLineBytes   = 160     // of memory for each line
	sealedHeaderBytes = 6 << 10 // of TLS records, handshake included, that are free
	sealedFactor      = 25      // bytes of memory for each byte behind TLS, whose lines are not known
)

// CountHeaders returns a listener whose connections count the memory of headers. It stands below TLS; Serve adds it otherwise.
func CountHeaders(ln net.Listener) net.Listener { return headerListener{ln, true} }

type headerListener struct {
	net.Listener
	sealed bool
}

func (l headerListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if _, isTLS := c.(*tls.Conn); err != nil || isTLS {
		return c, err
	}
	return &headerConn{Conn: c, sealed: l.sealed}, nil
}

// headerConn is a connection that takes the memory of long headers from the budget of bodies, because net/http keeps what has arrived of them until
// the request is answered.
type headerConn struct {
	net.Conn
	sealed   bool // TLS
	inHeader atomic.Bool
	hold     bodyHold // its budget is nil until the connection is known to a server
	bytes    int      // of the present header
	lines    int
	taken    int64
}

// headerConnOf returns the connection that counts headers, nil if there is none.
func headerConnOf(c net.Conn) *headerConn {
	if sealed, ok := c.(*tls.Conn); ok {
		c = sealed.NetConn()
	}
	h, _ := c.(*headerConn)
	return h
}

func (c *headerConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.inHeader.Load() {
		c.bytes += n
		if !c.sealed {
			c.lines += bytes.Count(p[:n], []byte{'\n'})
		}
		if more := c.memory() - c.taken; more > 0 {
			if refused := c.hold.take(more, 0); refused != nil {
				return 0, refused
			}
			c.taken += more
		}
	}
	return n, err
}

// memory returns what the present header takes beyond what is free.
func (c *headerConn) memory() int64 {
	if c.sealed {
		return int64(sealedFactor * max(0, c.bytes-sealedHeaderBytes))
	}
	return int64(2*max(0, c.bytes-freeHeaderBytes) + headerLineBytes*max(0, c.lines-freeHeaderLines))
}

// setState follows the connection from one request to the next.
func (c *headerConn) setState(s *Server, state http.ConnState) {
	switch state {
	case http.StateNew, http.StateIdle:
		c.hold.release()
		c.bytes, c.lines, c.taken = 0, 0, 0
		s.bodies.begin(&c.hold, anonymousBodies, s.senderOf(parseAddress(c.RemoteAddr().String())), func() { c.Conn.Close() })
		c.inHeader.Store(true)
	case http.StateActive:
		c.inHeader.Store(false)
		c.hold.finish()
	default:
		c.inHeader.Store(false)
		c.hold.release()
	}
}

// ReadFrom keeps sendfile for files.
func (c *headerConn) ReadFrom(r io.Reader) (int64, error) {
	if to, ok := c.Conn.(io.ReaderFrom); ok {
		return to.ReadFrom(r)
	}
	return io.Copy(struct{ io.Writer }{c.Conn}, r)
}

// CloseWrite lets net/http wait until a client has read the answer to a request that was not read to its end.
func (c *headerConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
