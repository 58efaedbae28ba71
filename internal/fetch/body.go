package fetch

import (
	"fmt"
	"io"
)

// body is the body of a response. Reading more than limit bytes is an error, so that a body that is cut off does not look complete.
type body struct {
	source    io.ReadCloser
	remaining int64
	limit     int64
	release   func()
}

func (b *body) Read(p []byte) (int, error) {
	if int64(len(p)) > b.remaining+1 {
		p = p[:b.remaining+1]
	}
	n, err := b.source.Read(p)
	if int64(n) > b.remaining {
		n, b.remaining = int(b.remaining), 0
		return n, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, b.limit)
	}
	b.remaining -= int64(n)
	return n, err
}

// Close ends the request and releases its slot. It does not wait for the rest of the body.
func (b *body) Close() error {
	err := b.source.Close()
	b.release()
	return err
}

// onClose adds a function that Close calls.
func (b *body) onClose(fn func()) {
	release := b.release
	b.release = func() { release(); fn() }
}
