package media

import (
	"bytes"
	"fmt"
	"io"
)

// peekReader reads a file of known size at any position, with a buffer. It never reads beyond the end of the file.
type peekReader struct {
	src    io.ReaderAt
	size   int64
	pos    int64
	buf    []byte // content of the file at bufPos
	bufPos int64
}

const peekBufferSize = 16 << 10

func newPeekReader(src io.ReaderAt, size int64) *peekReader { return &peekReader{src: src, size: size} }

// peek returns the next n bytes without advancing. They are valid until the next call of a method.
func (w *peekReader) peek(n int) ([]byte, error) {
	if w.pos < 0 || int64(n) > w.size-w.pos {
		return nil, malformed("cut off at %d", w.size)
	}
	if off := w.pos - w.bufPos; off >= 0 && off+int64(n) <= int64(len(w.buf)) {
		return w.buf[off:][:n], nil
	}
	want := min(max(int64(n), peekBufferSize), w.size-w.pos)
	if int64(cap(w.buf)) < want {
		w.buf = make([]byte, want)
	}
	w.buf, w.bufPos = w.buf[:want], w.pos
	if m, err := w.src.ReadAt(w.buf, w.pos); m < len(w.buf) {
		w.buf = w.buf[:0]
		return nil, fmt.Errorf("read file with metadata: %w", err)
	}
	return w.buf[:n], nil
}

// read returns the next n bytes and advances.
func (w *peekReader) read(n int) ([]byte, error) {
	b, err := w.peek(n)
	w.pos += int64(len(b))
	return b, err
}

// peekAny returns at least one of the next bytes without advancing.
func (w *peekReader) peekAny() ([]byte, error) {
	if _, err := w.peek(1); err != nil {
		return nil, err
	}
	return w.buf[w.pos-w.bufPos:], nil
}

// skip advances by n bytes, which must exist.
func (w *peekReader) skip(n int64) error {
	if n < 0 || n > w.size-w.pos {
		return malformed("cut off at %d", w.size)
	}
	w.pos += n
	return nil
}

// isZero returns whether n bytes at off are all zero.
func (w *peekReader) isZero(off, n int64) (bool, error) {
	w.pos = off
	for n > 0 {
		b, err := w.peekAny()
		if err != nil {
			return false, err
		}
		b = b[:min(int64(len(b)), n, int64(len(zeros)))]
		if !bytes.Equal(b, zeros[:len(b)]) {
			return false, nil
		}
		w.pos += int64(len(b))
		n -= int64(len(b))
	}
	return true, nil
}
