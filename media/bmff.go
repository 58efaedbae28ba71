package media

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// maxBoxes bounds the work that a file of empty boxes can cause. An hour in fragments of one second has about 30 000.
const maxBoxes = 100_000

// box is a part of an ISO base media file (ISO/IEC 14496-12 4.2).
type box struct {
	kind           string
	off, body, end int64 // start, start of the content, end
}

// bmffScan reads MP4, QuickTime and HEIF files, which consist of boxes. Nothing in them may move, because they contain absolute
// offsets: metadata is overwritten with zeros, and its box becomes a "free" box.
type bmffScan struct {
	*peekReader
	plan  plan
	facts fileInfo

	boxes    int
	heif     bool // the top-level "meta" box contains the picture
	movie    bool // a movie with tracks was found
	items    bool // a picture of items was found
	fragment bool // a movie fragment was found
	data     []box
	extents  []extent        // to erase, within data
	erase    int64           // sum of their lengths
	dropped  map[uint32]bool // tracks other than picture and sound
	trefs    []box           // references between tracks

	kept         []*track         // picture and sound
	covered      []piece          // of data, by fragments and items
	coverAll     bool             // an item has no length
	defaultSizes map[uint32]int64 // default sizes by track
}

// scanMovie plans to erase user data, metadata, positions, times, names, tracks other than picture and sound, such as GPS tracks of
// cameras, and media data that belongs to no sample.
func scanMovie(w *peekReader) (fileInfo, *plan, error) { return scanBMFF(w, false) }

// scanHEIF plans to erase EXIF, XMP and other metadata items of a HEIF or AVIF file, and what scanMovie erases in the movie that it may
// contain.
func scanHEIF(w *peekReader) (fileInfo, *plan, error) { return scanBMFF(w, true) }

func scanBMFF(w *peekReader, heif bool) (fileInfo, *plan, error) {
	s := bmffScan{peekReader: w, heif: heif, dropped: make(map[uint32]bool)}
	end, err := s.file()
	if err != nil {
		return fileInfo{}, nil, err
	}
	if s.heif && !s.items || !s.heif && (!s.movie || len(s.data) == 0) {
		return fileInfo{}, nil, malformed("no picture and no sound")
	}
	if len(s.dropped) > 0 && s.fragment {
		return fileInfo{}, nil, unsupportedVariant("metadata track in a fragmented movie")
	}
	if err := s.cutReferences(); err != nil {
		return fileInfo{}, nil, err
	}
	if err := s.eraseExtents(); err != nil {
		return fileInfo{}, nil, err
	}
	if err := s.blankGaps(); err != nil {
		return fileInfo{}, nil, err
	}
	s.plan.cut(end, w.size-end)
	if s.heif {
		s.facts.video = false // the movie is a burst or a live picture
	}
	return s.facts, &s.plan, nil
}

// file reads the top-level boxes. It returns the end of the last one; what follows is not a box.
func (s *bmffScan) file() (end int64, err error) {
	for off := int64(0); off < s.size; {
		if off > 0 && !s.boxAt(off) {
			return off, nil
		}
		b, err := s.box(off, s.size)
		if err != nil {
			return 0, err
		}
		switch b.kind {
		case "ftyp", "styp", "sidx", "ssix", "pdin":
		case "mfra":
			err = s.each(b, func(b box) error {
				if !fragmentIndexBoxes[b.kind] {
					return s.free(b)
				}
				return nil
			})
		case "mdat":
			s.data = append(s.data, b)
		case "moov":
			err = s.each(b, s.movieBox)
		case "moof":
			s.fragment = true
			err = s.movieFragment(b)
		case "meta":
			if s.heif {
				err = s.itemsBox(b)
				break
			}
			err = s.free(b)
		default:
			err = s.free(b)
		}
		if err != nil {
			return 0, err
		}
		off = b.end
	}
	return s.size, nil
}

// boxAt returns whether the bytes at off look like the header of a box.
func (s *bmffScan) boxAt(off int64) bool {
	s.pos = off
	head, err := s.peek(8)
	if err != nil {
		return false
	}
	for _, c := range head[4:] {
		if (c < ' ' || c > '~') && c != 0xa9 {
			return false
		}
	}
	return true
}

// box reads the header of the box at off. The box must not extend beyond end.
func (s *bmffScan) box(off, end int64) (box, error) {
	if s.boxes++; s.boxes > maxBoxes {
		return box{}, unsupportedVariant("more than %d boxes", maxBoxes)
	}
	s.pos = off
	head, err := s.read(8)
	if err != nil {
		return box{}, err
	}
	b := box{kind: string(head[4:]), off: off}
	size := int64(binary.BigEndian.Uint32(head))
	switch size {
	case 0: // up to the end of the file
		if end != s.size {
			return box{}, malformed("box %q at %d has no size", b.kind, off)
		}
		size = end - off
	case 1:
		large, err := s.read(8)
		if err != nil {
			return box{}, err
		}
		size = int64(binary.BigEndian.Uint64(large))
	}
	b.body = s.pos
	if size < b.body-off || size > end-off {
		return box{}, malformed("box %q at %d has a size of %d", b.kind, off, size)
	}
	b.end = off + size
	return b, nil
}

// each calls fn for each child of a box.
func (s *bmffScan) each(b box, fn func(box) error) error { return s.eachFrom(b.body, b.end, fn) }

func (s *bmffScan) eachFrom(off, end int64, fn func(box) error) error {
	for end-off >= 8 { // QuickTime may end a list of boxes with four zero bytes
		b, err := s.box(off, end)
		if err != nil {
			return err
		}
		if err := fn(b); err != nil {
			return err
		}
		off = b.end
	}
	return nil
}

// bytes returns n bytes at offset i of a box's content. They are valid until the next read.
func (s *bmffScan) bytes(b box, i int64, n int) ([]byte, error) {
	if i+int64(n) > b.end-b.body {
		return nil, malformed("box %q at %d is too short", b.kind, b.off)
	}
	s.pos = b.body + i
	return s.read(n)
}

// free plans to turn a box into an empty "free" box of the same size.
func (s *bmffScan) free(b box) error {
	if b.kind == "free" || b.kind == "skip" || b.kind == "wide" {
		if empty, err := s.isZero(b.body, b.end-b.body); err != nil || empty {
			return err
		}
	}
	s.pos = b.off + 4
	head, err := s.read(int(b.body - b.off - 4))
	if err != nil {
		return err
	}
	s.plan.blank(b.off+4, b.end-b.off-4, append([]byte("free"), head[4:]...))
	return nil
}

// extent is a range of item or sample data that is to be erased. head replaces its first bytes.
type extent struct {
	off, n int64
	head   []byte
}

// addExtent adds a range to erase. The ranges together cannot be longer than the file.
func (s *bmffScan) addExtent(e extent) error {
	if e.n == 0 {
		return nil
	}
	if last := len(s.extents) - 1; last >= 0 && e.head == nil && s.extents[last].off+s.extents[last].n == e.off {
		s.extents[last].n += e.n
	} else if len(s.extents) < maxEdits {
		s.extents = append(s.extents, e)
	} else {
		return unsupportedVariant("more than %d pieces of metadata", maxEdits)
	}
	if s.erase += e.n; e.off < 0 || e.n < 0 || s.erase > s.size {
		return malformed("metadata at %d has a size of %d", e.off, e.n)
	}
	return nil
}

// eraseExtents plans to erase the extents, and checks that they are in media data and not in the structure.
func (s *bmffScan) eraseExtents() error {
	for _, e := range s.extents {
		if !s.inData(e) {
			return malformed("metadata at %d is outside of the media data", e.off)
		}
		s.pos = e.off
		head, err := s.peek(len(e.head))
		if err != nil {
			return err
		}
		if bytes.Equal(head, e.head) {
			clean, err := s.isZero(e.off+int64(len(e.head)), e.n-int64(len(e.head)))
			if err != nil {
				return err
			}
			if clean {
				continue
			}
		}
		s.plan.blank(e.off, e.n, e.head)
	}
	return nil
}

func (s *bmffScan) inData(e extent) bool {
	i := sort.Search(len(s.data), func(i int) bool { return s.data[i].end > e.off })
	return i < len(s.data) && e.off >= s.data[i].body && e.off+e.n <= s.data[i].end
}
