package media

import (
	"encoding/binary"
	"slices"
)

// Elements of Matroska that matter for metadata (RFC 9559 5.1).
const (
	webmHeader       = 0x1a45dfa3
	webmVoid         = 0xec
	webmCRC          = 0xbf
	webmSeekHead     = 0x114d9b74
	webmSeek         = 0x4dbb
	webmSeekID       = 0x53ab
	webmMuxingApp    = 0x4d80
	webmWritingApp   = 0x5741
	webmCues         = 0x1c53bb6b
	webmTags         = 0x1254c367
	webmAttachments  = 0x1941a469
	webmChapters     = 0x1043a770
	webmTrackNumber  = 0xd7
	webmCodecPrivate = 0x63a2
	webmSimpleBlock  = 0xa3
	webmBlockGroup   = 0xa0
	webmBlock        = 0xa1
	webmCuePoint     = 0xbb
	webmCuePositions = 0xb7
)

var (
	// webmTop are the elements of a segment, which end a cluster of unknown size.
	webmTop = []int64{webmHeader, webmSegment, webmSeekHead, webmInfo, webmTracks, webmCluster, webmCues, webmTags, webmAttachments, webmChapters}

	// webmHeaderElements are the elements of the file's header that are kept: versions, limits, document type.
	webmHeaderElements = []int64{0x4286, 0x42f7, 0x42f2, 0x42f3, 0x4282, 0x4287, 0x4285, 0x4281}

	// webmTrackElements are the elements of a track that are kept. Names are not.
	webmTrackElements = []int64{
		webmTrackNumber, 0x73c5, webmTrackType, 0xb9, 0x88, 0x55aa, 0x55ab, 0x55ac, 0x55ad, 0x55ae, 0x55af, 0x9c, 0x6de7, 0x6df8, // numbers, flags, caches
		webmDefaultDuration, 0x234e7a, 0x23314f, 0x55ee, 0x41e4, 0x22b59c, 0x22b59d, // times, additions, language
		0x86, webmCodecPrivate, 0x56aa, 0x56bb, 0xaa, // codec
		webmVideo, 0xe1, 0xe2, 0x6d80, // picture, sound, operation, encodings
	}

	// webmClusterElements are the elements of a cluster that are kept: times, positions, blocks.
	webmClusterElements = []int64{0xe7, 0xa7, 0xab, webmSimpleBlock, webmBlockGroup}

	// webmGroupElements are the elements of a block group that are kept: additions such as transparency, durations, references, padding.
	webmGroupElements = []int64{webmBlock, 0x75a1, 0x9b, 0xfa, 0xfb, 0xfd, 0xa4, 0x75a2}
)

// maxWebMElements bounds the work that a file of small elements can cause. An hour of picture and sound has about 300 000.
const maxWebMElements = 4 << 20

// maxDroppedTracks bounds the tracks other than picture and sound, whose numbers are remembered.
const maxDroppedTracks = 1000

// webmScan reads the elements of a WebM file. Nothing moves, because seek heads and cues contain offsets: metadata is overwritten with Void
// elements of the same size.
type webmScan struct {
	*peekReader
	plan     plan
	elements int
	clusters bool           // a cluster was found
	dropped  map[int64]bool // tracks other than picture and sound
}

// webmElement is an element. If the file ends before the element does, its end is that of the file.
type webmElement struct {
	id             int64
	off, body, end int64
	unknown        bool // its size is not known
}

// scanWebM plans to erase tags, attachments, chapters, titles, dates, names of programs, tracks other than picture and sound, and unknown
// elements. A file may be cut off anywhere.
func scanWebM(w *peekReader) (fileInfo, *plan, error) {
	s := webmScan{peekReader: w, dropped: make(map[int64]bool)}
	if err := s.file(); err != nil {
		return fileInfo{}, nil, err
	}
	w.pos = 0
	return probeWebM(w), &s.plan, nil
}

// file reads the top level. What follows and is no element of it is dropped: no player reads it.
func (s *webmScan) file() error {
	for s.pos < s.size {
		e, ok, err := s.next(s.size)
		if err != nil {
			return err
		}
		if !ok || e.unknown && e.id != webmSegment || !slices.Contains(webmTop, e.id) && e.id != webmVoid {
			s.plan.cut(e.off, s.size-e.off)
			return nil
		}
		switch e.id {
		case webmHeader:
			err = s.header(e)
		case webmSegment:
			err = s.segment(e)
		case webmVoid:
			err = s.blank(e)
		default:
			s.void(e)
		}
		if err != nil {
			return err
		}
		if e.id != webmSegment || !e.unknown {
			s.pos = e.end
		}
	}
	return nil
}

// header reads the versions and the document type. Players do not mind what follows these, which is erased.
func (s *webmScan) header(header webmElement) error {
	for s.pos = header.body; s.pos < header.end; {
		e, ok, err := s.next(header.end)
		if err != nil {
			return err
		}
		if !ok || e.unknown {
			return s.blankRange(e.off, header.end-e.off, nil)
		}
		if err := s.keepOnly(e, webmHeaderElements...); err != nil {
			return err
		}
		s.pos = e.end
	}
	return nil
}

// segment reads the elements of a segment. One of unknown size lasts to the next one.
func (s *webmScan) segment(segment webmElement) error {
	for s.pos = segment.body; s.pos < segment.end; {
		e, err := s.child(segment)
		if err != nil {
			return err
		}
		if e.unknown && e.id != webmCluster && e.id != webmSegment {
			return malformed("element %x at %d has no size", e.id, e.off)
		}
		switch e.id {
		case webmHeader, webmSegment:
			if !segment.unknown {
				return malformed("segment within a segment at %d", e.off)
			}
			s.pos = e.off
			return nil
		case webmCluster:
			s.clusters = true
			if err := s.cluster(e); err != nil {
				return err
			}
			continue
		case webmSeekHead:
			err = s.each(e, s.seek)
		case webmInfo:
			err = s.each(e, s.info)
		case webmTracks:
			err = s.each(e, s.track)
		case webmCues:
			err = s.each(e, s.cue)
		case webmVoid:
			err = s.blank(e)
		default:
			s.void(e)
		}
		if err != nil {
			return err
		}
		s.pos = e.end
	}
	return nil
}

// cluster reads the blocks. If the cluster says where it ends, damage within does not matter.
func (s *webmScan) cluster(cluster webmElement) error {
	for s.pos = cluster.body; s.pos < cluster.end; {
		e, ok, err := s.next(cluster.end)
		if err != nil {
			return err
		}
		if !ok {
			if cluster.unknown && !s.nearEnd(e.off) {
				return malformed("no element at %d", e.off)
			}
			if err := s.voidRest(e.off, cluster.end); err != nil { // no player finds a block there
				return err
			}
			break
		}
		if cluster.unknown && slices.Contains(webmTop, e.id) {
			s.pos = e.off
			return nil
		}
		if e.unknown {
			return malformed("element %x at %d has no size", e.id, e.off)
		}
		private, edits := false, len(s.plan.edits)
		switch e.id {
		case webmSimpleBlock:
			private, err = s.isDropped(e.body)
		case webmBlockGroup:
			err = s.each(e, func(c webmElement) error {
				if c.id != webmBlock {
					return s.keepOnly(c, webmGroupElements...)
				}
				dropped, err := s.isDropped(c.body)
				private = private || dropped
				return err
			})
		default:
			err = s.keepOnly(e, webmClusterElements...)
		}
		if err != nil {
			return err
		}
		if private {
			s.plan.edits = s.plan.edits[:edits]
			s.void(e)
		}
		s.pos = e.end
	}
	s.pos = cluster.end
	return nil
}

// seek drops entries for elements that are dropped.
func (s *webmScan) seek(seek webmElement) error {
	if seek.id != webmSeek {
		return s.keepOnly(seek)
	}
	private := false
	err := s.each(seek, func(e webmElement) error {
		if e.id == webmSeekID {
			id, ok := s.number(4, false)
			private = !ok || !slices.Contains([]int64{webmSeekHead, webmInfo, webmTracks, webmCues, webmCluster}, id)
		}
		return nil
	})
	if err == nil && private {
		s.void(seek)
	}
	return err
}

// cue keeps times and positions of the index.
func (s *webmScan) cue(e webmElement) error {
	if e.id != webmCuePoint {
		return s.keepOnly(e)
	}
	return s.each(e, func(e webmElement) error {
		if e.id != webmCuePositions {
			return s.keepOnly(e, 0xb3)
		}
		return s.each(e, func(e webmElement) error { return s.keepOnly(e, 0xf7, 0xf1, 0xf0, 0xb2, 0x5378, 0xea, 0xdb) })
	})
}

// voidRest replaces the bytes from off to end, in which there is no element, with a Void element, or with zeros if there is no room for one.
func (s *webmScan) voidRest(off, end int64) error {
	if n := end - off; n >= 2 {
		return s.blankRange(off, n, voidHead(n))
	}
	return s.blankRange(off, end-off, nil)
}

// info keeps the scale of times and the duration. Programs are mandatory, so that their names become empty.
func (s *webmScan) info(e webmElement) error {
	if e.id == webmMuxingApp || e.id == webmWritingApp {
		return s.blank(e)
	}
	return s.keepOnly(e, webmTimestampScale, webmDuration)
}

// keepOnly voids an element unless its id is in the list.
func (s *webmScan) keepOnly(e webmElement, ids ...int64) error {
	if e.id == webmVoid {
		return s.blank(e)
	}
	if !slices.Contains(ids, e.id) {
		s.void(e)
	}
	return nil
}

// void replaces an element with a Void element (RFC 8794 11.3.2).
func (s *webmScan) void(e webmElement) {
	n := e.end - e.off
	s.plan.blank(e.off, n, voidHead(n))
}

// voidHead returns the header of a Void element of n bytes.
func voidHead(n int64) []byte {
	if n > 128 { // a size of one byte does not suffice
		return binary.BigEndian.AppendUint64([]byte{webmVoid}, 1<<56|uint64(n-9))
	}
	return []byte{webmVoid, 0x80 | byte(n-2)}
}

// blank overwrites the content of an element with zeros.
func (s *webmScan) blank(e webmElement) error { return s.blankRange(e.body, e.end-e.body, nil) }

// blankRange overwrites n bytes at off with other bytes and zeros, unless they are the same already.
func (s *webmScan) blankRange(off, n int64, with []byte) error {
	s.pos = off
	b, err := s.peek(len(with))
	if err != nil {
		return err
	}
	same := string(b) == string(with)
	if same {
		if same, err = s.isZero(off+int64(len(with)), n-int64(len(with))); err != nil {
			return err
		}
	}
	if !same {
		s.plan.blank(off, n, with)
	}
	return nil
}

// each calls fn for each child of an element, at the child's content.
func (s *webmScan) each(parent webmElement, fn func(webmElement) error) error {
	if parent.unknown {
		return malformed("element %x at %d has no size", parent.id, parent.off)
	}
	for s.pos = parent.body; s.pos < parent.end; {
		e, err := s.child(parent)
		if err != nil {
			return err
		}
		if e.unknown {
			return malformed("element %x at %d has no size", e.id, e.off)
		}
		if err := fn(e); err != nil {
			return err
		}
		s.pos = e.end
	}
	return nil
}

// child reads the header of an element that its parent must have there. At the end of a file that is cut off, it returns an empty Void.
func (s *webmScan) child(parent webmElement) (webmElement, error) {
	e, ok, err := s.next(parent.end)
	if err == nil && !ok {
		if s.nearEnd(e.off) {
			return webmElement{id: webmVoid, off: s.size, body: s.size, end: s.size}, nil
		}
		err = malformed("no element at %d", e.off)
	}
	return e, err
}

// nearEnd returns whether the header of an element may be cut off by the end of the file: it has 12 bytes at most.
func (s *webmScan) nearEnd(off int64) bool { return s.size-off < 12 }

// next reads the header of an element that ends at end at the latest. ok is false if there is none.
func (s *webmScan) next(end int64) (e webmElement, ok bool, err error) {
	if s.elements++; s.elements > maxWebMElements {
		return e, false, malformed("more than %d elements", maxWebMElements)
	}
	e.off = s.pos
	var size int64
	if e.id, ok = s.number(4, false); ok {
		size, ok = s.number(8, true)
	}
	e.body, e.end, e.unknown = s.pos, end, size < 0
	if !ok || s.pos > end {
		return e, false, nil
	}
	if size >= 0 && size <= end-s.pos {
		e.end = s.pos + size
	} else if size >= 0 && end < s.size { // it would end behind its parent
		return e, false, nil
	}
	return e, true, nil
}
