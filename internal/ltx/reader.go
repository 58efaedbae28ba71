package ltx

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc64"
	"io"
	"math"

	"github.com/pierrec/lz4/v4"
	format "github.com/superfly/ltx"
)

// reader reads the pages of an LTX file in the order of their numbers, and verifies its checksum when the last one was read. The Decoder of the
// format's own module is not used, because it allocates what a damaged file names, up to 4 GiB for a page.
type reader struct {
	header     format.Header
	from       *bufio.Reader
	source     *source
	hash       hash.Hash64
	last       uint32 // page
	compressed []byte
	frames     *lz4.Reader // for pages of older versions
}

// crcTable is that of the checksum of files.
var crcTable = crc64.MakeTable(crc64.ISO)

// readBuffer is how many bytes are read at once.
const readBuffer = 128 << 10

// readHeader reads the header of a file, which must be that of its name.
func readHeader(from io.Reader, f file) (format.Header, error) {
	var h format.Header
	b := make([]byte, format.HeaderSize)
	if _, err := io.ReadFull(from, b); err != nil {
		return h, torn(err)
	}
	err := h.UnmarshalBinary(b)
	if err == nil {
		err = h.Validate()
	}
	if err != nil {
		return h, fmt.Errorf("%w: header: %w", ErrDamaged, err)
	}
	switch {
	case uint64(h.MinTXID) != f.min || uint64(h.MaxTXID) != f.max:
		return h, fmt.Errorf("%w: it has transactions %d to %d", ErrDamaged, h.MinTXID, h.MaxTXID)
	case h.Commit == 0:
		return h, fmt.Errorf("%w: its database has no pages", ErrDamaged)
	}
	return h, nil
}

// newReader reads the header of a file.
func newReader(from io.Reader, f file) (*reader, error) {
	r := &reader{source: &source{from: from}, hash: crc64.New(crcTable)}
	r.from = bufio.NewReaderSize(r.source, readBuffer)
	var err error
	r.header, err = readHeader(io.TeeReader(r.from, r.hash), f)
	return r, err
}

// next reads the next page into data, which has the size of a page. At the end it verifies the checksum and returns io.EOF.
func (r *reader) next(data []byte) (page uint32, err error) {
	var b [format.PageHeaderSize]byte
	if err := r.read(b[:]); err != nil {
		return 0, err
	}
	var h format.PageHeader
	if err := h.UnmarshalBinary(b[:]); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if h.IsZero() {
		return 0, r.finish()
	}
	if err := h.Validate(); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if h.Pgno <= r.last || h.Pgno > r.header.Commit || h.Pgno == r.header.LockPgno() {
		return 0, fmt.Errorf("%w: page %d after %d of %d", ErrDamaged, h.Pgno, r.last, r.header.Commit)
	}
	r.last = h.Pgno
	if h.Flags&format.PageHeaderFlagSize != 0 {
		err = r.block(data)
	} else {
		err = r.frame(data)
	}
	if err != nil {
		return 0, fmt.Errorf("page %d: %w", h.Pgno, err)
	}
	r.hash.Write(data) // the checksum is that of pages as they are in the database
	return h.Pgno, nil
}

// read reads bytes that belong to the checksum.
func (r *reader) read(b []byte) error {
	if _, err := io.ReadFull(r.from, b); err != nil {
		return torn(err)
	}
	r.hash.Write(b)
	return nil
}

// block reads a page that is compressed as a block, with its size before it.
func (r *reader) block(data []byte) error {
	var b [4]byte
	if err := r.read(b[:]); err != nil {
		return err
	}
	size := int64(binary.BigEndian.Uint32(b[:]))
	if size > int64(lz4.CompressBlockBound(len(data))) {
		return fmt.Errorf("%w: %d compressed bytes for a page of %d", ErrDamaged, size, len(data))
	}
	if int64(cap(r.compressed)) < size {
		r.compressed = make([]byte, lz4.CompressBlockBound(len(data)))
	}
	compressed := r.compressed[:size]
	if _, err := io.ReadFull(r.from, compressed); err != nil {
		return torn(err)
	}
	n, err := lz4.UncompressBlock(compressed, data)
	if err == nil && n != len(data) {
		err = fmt.Errorf("it has %d bytes", n)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// frameEnd is how many bytes are at the end of a frame: a mark and a checksum.
const frameEnd = 8

// frame reads a page that is compressed as a frame, as older versions wrote it.
func (r *reader) frame(data []byte) error {
	limited := &io.LimitedReader{R: r.from, N: math.MaxInt64}
	if r.frames == nil {
		r.frames = lz4.NewReader(limited)
	} else {
		r.frames.Reset(limited)
	}
	_, err := io.ReadFull(r.frames, data)
	if err == nil {
		limited.N = frameEnd // it would look for another frame behind
		var n int
		if n, err = r.frames.Read(make([]byte, 1)); n > 0 {
			err = errors.New("it is longer than a page")
		}
	}
	switch {
	case r.source.err != nil:
		return r.source.err
	case err != io.EOF:
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// finish reads the rest behind the pages, an index that is not needed and the checksum, and returns io.EOF if the file is whole.
func (r *reader) finish() error {
	var tail [format.TrailerSize]byte
	if _, err := io.ReadFull(r.from, tail[:]); err != nil {
		return torn(err)
	}
	for { // the trailer is at the end
		b, err := r.from.ReadByte()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		r.hash.Write(tail[:1])
		copy(tail[:], tail[1:])
		tail[len(tail)-1] = b
	}
	r.hash.Write(tail[:format.TrailerChecksumOffset])
	var trailer format.Trailer
	err := trailer.UnmarshalBinary(tail[:])
	if err == nil && trailer.FileChecksum != format.ChecksumFlag|format.Checksum(r.hash.Sum64()) {
		err = format.ErrChecksumMismatch
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return io.EOF
}

// source remembers the error of the place, which a library may return as one of its own.
type source struct {
	from io.Reader
	err  error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.from.Read(b)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// torn returns ErrDamaged for a file that ends early.
func torn(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends early", ErrDamaged)
	}
	return err
}
