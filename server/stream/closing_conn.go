package stream

import (
	"encoding/binary"
	"errors"
	"net"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// closeTimeout is how long a client may take to answer a Close frame.
const closeTimeout = 10 * time.Second

// opClose is the opcode of Close frames, the first one of control frames (RFC 6455 5.5.1).
const opClose = 8

// Codes of Close frames (RFC 6455 7.4.1).
const (
	codeInvalidText = 1007
	codeTooBig      = 1009
)

// errFrameTooBig ends the reading of a connection whose client announced a frame of more than maxCommandBytes.
var errFrameTooBig = errors.New("frame is too big")

// closingConn is the connection of a socket. It discards everything after the first Close frame, because the library answers each Close
// frame of the client, also one that is an answer itself. Browsers report code 1006 if they receive a second one.
//
// It ends the connection at the header of a frame that is too big: the library waits for the content, which may never come, and answers a
// length beyond 63 bits with another code. It also answers a Close frame whose reason is not UTF-8, which the library would send back.
type closingConn struct {
	net.Conn
	early  []byte      // what arrived before the connection was handed over: a client may write as soon as it has the answer
	rest   uint64      // bytes of the current frame that are not written yet
	closed atomic.Bool // a Close frame was written

	incoming frameHeader
	left     uint64      // bytes of the current frame that are not read yet
	tooBig   atomic.Bool // a frame was
}

// Read reads up to a frame that is too big, and discards everything from there.
func (c *closingConn) Read(b []byte) (int, error) {
	if c.tooBig.Load() {
		return 0, c.discard(b)
	}
	n, err := c.receive(b)
	for i := 0; i < n; {
		if c.left > 0 {
			skipped := min(c.left, uint64(n-i))
			c.left -= skipped
			i += int(skipped)
			continue
		}
		complete := c.incoming.add(b[i])
		i++
		if !complete {
			continue
		}
		if c.left = c.incoming.length(); c.incoming.isData() && c.left > maxCommandBytes {
			c.tooBig.Store(true)
			return max(i-c.incoming.n, 0), nil // the bytes before its header, if that began here
		}
		c.incoming.n = 0
	}
	return n, err
}

// receive reads what the client sent.
func (c *closingConn) receive(b []byte) (int, error) {
	if len(c.early) == 0 {
		return c.Conn.Read(b)
	}
	n := copy(b, c.early)
	c.early = c.early[n:]
	return n, nil
}

// discard returns an error, after the Close frame when the client has ended the connection, so that it can read that frame.
func (c *closingConn) discard(b []byte) error {
	if !c.closed.Load() {
		return errFrameTooBig
	}
	for {
		if _, err := c.Conn.Read(b); err != nil {
			return err
		}
	}
}

// Write writes frames. Each begins a write of its own, with the whole header, because the library flushes after every frame.
func (c *closingConn) Write(b []byte) (int, error) {
	if c.closed.Load() {
		return len(b), nil
	}
	if c.rest == 0 && len(b) >= 2 {
		c.rest = frameSize(b)
		if b[0]&0xf == opClose {
			c.closed.Store(true)
			if err := c.SetReadDeadline(time.Now().Add(closeTimeout)); err != nil {
				return 0, err
			}
			if code := c.codeOf(b); code != 0 {
				_, err := c.Conn.Write(binary.BigEndian.AppendUint16([]byte{b[0], 2}, code))
				return len(b), err
			}
		}
	}
	n, err := c.Conn.Write(b)
	c.rest -= min(uint64(n), c.rest)
	return n, err
}

// codeOf returns the code that a Close frame must have in place of its own, 0 if it may be written as it is.
func (c *closingConn) codeOf(frame []byte) uint16 {
	const reason = 4 // bytes before it: the header and the code
	switch {
	case c.tooBig.Load():
		return codeTooBig
	case len(frame) > reason && !utf8.Valid(frame[reason:]):
		return codeInvalidText
	}
	return 0
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

// frameHeader collects the header of a frame of a client (RFC 6455 5.2).
type frameHeader struct {
	bytes [14]byte
	n     int
}

// add adds a byte. It returns true if the header is complete.
func (h *frameHeader) add(b byte) bool {
	h.bytes[h.n] = b
	h.n++
	if h.n < 2 {
		return false
	}
	size := 2
	switch h.bytes[1] & 0x7f {
	case 126:
		size += 2
	case 127:
		size += 8
	}
	if h.bytes[1]&0x80 != 0 {
		size += 4 // the mask
	}
	return h.n == size
}

// isData returns false for control frames, whose length the library checks.
func (h *frameHeader) isData() bool { return h.bytes[0]&0xf < opClose }

// length returns the length of the content.
func (h *frameHeader) length() uint64 {
	switch n := h.bytes[1] & 0x7f; n {
	case 126:
		return uint64(binary.BigEndian.Uint16(h.bytes[2:]))
	case 127:
		return binary.BigEndian.Uint64(h.bytes[2:])
	default:
		return uint64(n)
	}
}
