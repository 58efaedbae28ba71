package stream

import (
	"encoding/binary"
	"net"
	"time"
)

// closeTimeout is how long a client may take to answer a Close frame.
const closeTimeout = 10 * time.Second

// opClose is the opcode of Close frames (RFC 6455 5.5.1).
const opClose = 8

// closingConn is the connection of a socket. It discards everything after the first Close frame, because the library answers each Close
// frame of the client, also one that is an answer itself. Browsers report code 1006 if they receive a second one.
type closingConn struct {
	net.Conn
	rest   uint64 // bytes of the current frame that are not written yet
	closed bool   // a Close frame was written
}

// Write writes frames. Each begins a write of its own, with the whole header, because the library flushes after every frame.
func (c *closingConn) Write(b []byte) (int, error) {
	if c.closed {
		return len(b), nil
	}
	if c.rest == 0 && len(b) >= 2 {
		c.rest = frameSize(b)
		if b[0]&0xf == opClose {
			c.closed = true
			if err := c.SetReadDeadline(time.Now().Add(closeTimeout)); err != nil {
				return 0, err
			}
		}
	}
	n, err := c.Conn.Write(b)
	c.rest -= min(uint64(n), c.rest)
	return n, err
}

// frameSize returns the bytes of an unmasked frame from its header (RFC 6455 5.2).
func frameSize(header []byte) uint64 {
	switch n := header[1] & 0x7f; {
	case n == 126 && len(header) >= 4:
		return 4 + uint64(binary.BigEndian.Uint16(header[2:]))
	case n == 127 && len(header) >= 10:
		return 10 + binary.BigEndian.Uint64(header[2:])
	default:
		return 2 + uint64(n)
	}
}
