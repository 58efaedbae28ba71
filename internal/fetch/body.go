package fetch

import (
	"fmt"
	"io"
)

// body is the body of an answer. It fails where it is longer than allowed, instead of looking as if it ended there, and gives back
// what the request held when it is closed.
type body struct {
	from    io.ReadCloser
	left    int64 // bytes that may still come
	most    int64
	release func()
}

func (b *body) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.from.Read(p)
	if int64(n) > b.left {
		n, b.left = int(b.left), 0
		return n, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, b.most)
	}
	b.left -= int64(n)
	return n, err
}

// Close ends the request. What has not been read by then is not waited for.
func (b *body) Close() error {
	err := b.from.Close()
	b.release()
	return err
}
