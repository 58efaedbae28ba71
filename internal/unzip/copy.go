package unzip

import (
	"errors"
	"fmt"
	"io"
)

// Copy writes the content of an entry, which is refused if it has more than maxBytes, and returns its size.
func Copy(dst io.Writer, e *Entry, maxBytes int64) (size int64, err error) {
	if e.Size > maxBytes {
		return 0, Refuse(e.Name, "the file has %d bytes, more than %d", e.Size, maxBytes)
	}
	content, err := e.Open()
	if err != nil {
		return 0, ReadError(e.Name, err)
	}
	defer content.Close()
	source := &Source{Reader: content}
	size, err = io.Copy(dst, io.LimitReader(source, maxBytes+1))
	switch {
	case source.Err != nil:
		return 0, ReadError(e.Name, source.Err)
	case err != nil:
		return 0, fmt.Errorf("unpack %q: %w", e.Name, err)
	case size > maxBytes:
		return 0, Refuse(e.Name, "the file has more than %d bytes", maxBytes)
	}
	return size, nil
}

// Source is a reader that keeps its error, which io.Copy does not tell from that of writing.
type Source struct {
	Reader io.Reader
	Err    error // nil at the end of the content
}

// Read reads from the reader.
func (s *Source) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		s.Err = err
	}
	return n, err
}
