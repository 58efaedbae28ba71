package fetch

import (
	"fmt"
	"io"
)

// body is the body of an answer. It fails where it is longer than allowed, instead of looking as if it ended there, and gives back
// what the request held when it is closed.
type body struct {
	source    io.ReadCloser
	remaining int64 // bytes that may still come
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

// Close ends the request. What has not been read by then is not waited for.
func (b *body) Close() error {
	err := b.source.Close()
	b.release()
	return err
}
