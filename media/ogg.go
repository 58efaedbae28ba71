package media

import (
	"bytes"
	"encoding/binary"
)

// maxOggStreams bounds the streams of an Ogg file that have begun and not ended.
const maxOggStreams = 16

const (
	oggHeaderSize = 27
	oggContinued  = 1 // flags of a page (RFC 3533 6)
	oggFirst      = 2
	oggLast       = 4
)

// oggCodec says where a stream has its comments.
type oggCodec struct {
	id      string // start of the first packet
	comment string // start of the second
	framing bool   // a bit follows the comments (Vorbis I 5.2.1)
	blocks  bool   // metadata blocks of FLAC up to the last one, each a packet
}

var oggCodecs = []*oggCodec{
	{id: "\x01vorbis", comment: "\x03vorbis", framing: true},
	{id: "OpusHead", comment: "OpusTags"},
	{id: "Speex   "},
	{id: "\x7fFLAC", blocks: true},
}

// oggStream is a stream whose pages are being read.
type oggStream struct {
	codec  *oggCodec
	packet int    // number of the current packet
	open   bool   // the packet continues on the next page
	off    int    // bytes of the packet on earlier pages
	blank  []byte // start of what the packet becomes, zeros follow; nil: it stays
	last   bool   // the packet is the last header
	done   bool   // sound follows
}

// oggScan reads the pages of an Ogg file. Comments become empty ones of the same length, filled with zeros, and the checksums of their pages
// are computed again. What is between pages is dropped: offsets into the file are only in streams that are not supported.
type oggScan struct {
	*peekReader
	plan    plan
	streams map[uint32]*oggStream
	page    []byte // copy of a page with headers
}

// scanOGG plans to erase the comments of all streams, and pictures and other metadata of FLAC.
func scanOGG(w *peekReader) (fileInfo, *plan, error) {
	end, err := trailingTags(w, 0)
	if err != nil {
		return fileInfo{}, nil, err
	}
	s := oggScan{peekReader: w, streams: make(map[uint32]*oggStream)}
	for w.pos = 0; w.pos < end; {
		if err := s.next(end); err != nil {
			return fileInfo{}, nil, err
		}
	}
	s.plan.cut(end, w.size-end)
	w.pos = 0
	return probeOGG(w), &s.plan, nil
}

// next reads a page, or drops bytes up to the next one, which players skip.
func (s *oggScan) next(end int64) error {
	start := s.pos
	if end-start < oggHeaderSize {
		s.drop(end)
		return nil
	}
	head, err := s.peek(oggHeaderSize)
	if err != nil {
		return err
	}
	if !hasPrefix(head, "OggS\x00") {
		return s.resume(end)
	}
	n := oggHeaderSize + int(head[26])
	if int64(n) > end-start {
		s.drop(end)
		return nil
	}
	if head, err = s.peek(n); err != nil {
		return err
	}
	size := n
	for _, lacing := range head[oggHeaderSize:] {
		size += int(lacing)
	}
	serial, flags := binary.LittleEndian.Uint32(head[14:]), head[5]
	if flags&oggFirst != 0 {
		delete(s.streams, serial)
		if len(s.streams) == maxOggStreams {
			return malformed("more than %d streams", maxOggStreams)
		}
		s.streams[serial] = new(oggStream)
	}
	stream := s.streams[serial]
	if stream == nil || stream.done {
		s.pos += min(int64(size), end-start)
	} else {
		if err := s.headers(stream, n, size); err != nil {
			return err
		}
	}
	if flags&oggLast != 0 {
		delete(s.streams, serial)
	}
	return nil
}

// drop plans to drop the bytes up to an offset, and advances to it.
func (s *oggScan) drop(to int64) {
	s.plan.cut(s.pos, to-s.pos)
	s.pos = to
}

// resume drops bytes up to the next mark of a page.
func (s *oggScan) resume(end int64) error {
	start := s.pos
	at := start + 1
	for at < end {
		s.pos = at
		b, err := s.peekAny()
		if err != nil {
			return err
		}
		if i := bytes.Index(b, []byte("OggS")); i >= 0 {
			at += int64(i)
			break
		}
		at += int64(max(1, len(b)-3)) // a mark may begin in the last bytes
	}
	s.pos = start
	s.drop(min(at, end))
	return nil
}

// headers plans to erase private data in a page of size bytes with headers of a stream. body is the length of the page's own header.
func (s *oggScan) headers(stream *oggStream, body, size int) error {
	start := s.pos
	b, err := s.read(size)
	if err != nil {
		return err
	}
	s.page = append(s.page[:0], b...)
	page, changed, from := s.page, false, body
	if stream.open != (page[5]&oggContinued != 0) {
		return malformed("page at %d does not continue its packet", start)
	}
	for i := oggHeaderSize; i < body && !stream.done; {
		to, complete := from, false
		for ; i < body && !complete; i++ {
			to += int(page[i])
			complete = page[i] < 255
		}
		part := page[from:to]
		if !stream.open {
			if err := stream.begin(part); err != nil {
				return err
			}
		}
		if stream.blank != nil {
			if complete && stream.off+len(part) < len(stream.blank) {
				return malformed("comments of %d bytes", stream.off+len(part))
			}
			with := stream.blank[min(stream.off, len(stream.blank)):]
			with = with[:min(len(with), len(part))]
			if !bytes.HasPrefix(part, with) || len(bytes.Trim(part[len(with):], "\x00")) > 0 {
				s.plan.blank(start+int64(from), int64(len(part)), with)
				clear(part[copy(part, with):])
				changed = true
			}
		}
		stream.end(len(part), complete)
		from = to
	}
	if changed {
		clear(page[22:26])
		s.plan.replace(start+22, 4, binary.LittleEndian.AppendUint32(nil, oggChecksum(page)))
	}
	return nil
}

// begin decides by the start of a packet what becomes of it.
func (t *oggStream) begin(b []byte) error {
	t.off, t.blank, t.last = 0, nil, false
	if t.packet == 0 {
		for _, c := range oggCodecs {
			if hasPrefix(b, c.id) {
				t.codec = c
				return nil
			}
		}
		return unsupportedVariant("Ogg stream %q", b[:min(len(b), 8)])
	}
	if !t.codec.blocks {
		if !hasPrefix(b, t.codec.comment) {
			return malformed("no comments but %q", b[:min(len(b), 8)])
		}
		t.blank = append([]byte(t.codec.comment), 0, 0, 0, 0, 0, 0, 0, 0) // no vendor, no comments
		if t.codec.framing {
			t.blank = append(t.blank, 1)
		}
		t.last = true
		return nil
	}
	if len(b) < 4 || b[0]&^flacLast == flacInvalid {
		return malformed("no metadata block in packet %d", t.packet)
	}
	t.last = b[0]&flacLast != 0
	switch b[0] &^ flacLast {
	case flacStreamInfo, flacSeekTable:
	case flacComment:
		t.blank = append(bytes.Clone(b[:4]), 0, 0, 0, 0, 0, 0, 0, 0)
	default:
		t.blank = []byte{b[0]&flacLast | flacPadding, b[1], b[2], b[3]}
	}
	return nil
}

// end advances behind n bytes of a packet.
func (t *oggStream) end(n int, complete bool) {
	t.open = !complete
	if !complete {
		t.off += n
		return
	}
	t.packet++
	t.done = t.last
}

// oggChecksum is the CRC of a page whose checksum is zero (RFC 3533 6): polynomial 0x04c11db7, not reflected.
func oggChecksum(page []byte) uint32 {
	var crc uint32
	for _, b := range page {
		crc = crc<<8 ^ oggTable[byte(crc>>24)^b]
	}
	return crc
}

var oggTable = func() (table [256]uint32) {
	for i := range table {
		crc := uint32(i) << 24
		for range 8 {
			if crc&(1<<31) != 0 {
				crc = crc<<1 ^ 0x04c11db7
			} else {
				crc <<= 1
			}
		}
		table[i] = crc
	}
	return table
}()
