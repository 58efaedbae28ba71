package media

import (
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"slices"
)

// Bounds of the memory that the tables of a movie take while they are read. Each track has three buffers.
const (
	maxKeptTracks = 16
	maxPieces     = 1 << 16 // of fragments, items, and chunks that are not in order
)

// piece is a range of media data that belongs to something that is kept: a chunk of samples, a run of a fragment, an item.
type piece struct{ off, end int64 }

// pieceSource returns pieces in ascending order of their start. ok is false after the last one.
type pieceSource func() (next piece, ok bool, err error)

// cover adds a piece of a fragment or an item. What is outside of the file does not exist.
func (s *bmffScan) cover(off, n int64) error {
	if n <= 0 || off >= s.size || off < 0 {
		return nil
	}
	end := s.size
	if n < s.size-off {
		end = off + n
	}
	if last := len(s.covered) - 1; last >= 0 && s.covered[last].end == off {
		s.covered[last].end = end
		return nil
	}
	if len(s.covered) == maxPieces {
		return unsupportedVariant("more than %d pieces of media data", maxPieces)
	}
	s.covered = append(s.covered, piece{off, end})
	return nil
}

// blankGaps plans to erase what no kept sample, run or item covers in media data: dash cameras write positions between the samples, and the
// samples of dropped tracks are there, too.
func (s *bmffScan) blankGaps() error {
	if s.coverAll {
		return nil
	}
	for _, e := range s.extents { // are erased already
		if err := s.cover(e.off, e.n); err != nil {
			return err
		}
	}
	if len(s.kept) > maxKeptTracks {
		return unsupportedVariant("more than %d tracks", maxKeptTracks)
	}
	sources := []pieceSource{ordered(s.covered)}
	for _, t := range s.kept {
		source, err := s.trackPieces(t)
		if err != nil {
			return err
		}
		sources = append(sources, source)
	}
	next, err := mergePieces(sources)
	if err != nil {
		return err
	}
	slices.SortFunc(s.data, func(a, b box) int { return cmp.Compare(a.off, b.off) })
	var covered int64 // up to there
	current, ok, err := next()
	for _, d := range s.data {
		covered = max(covered, d.body)
		for ; err == nil && ok && current.off < d.end; current, ok, err = next() {
			if err := s.blankGap(covered, min(current.off, d.end)); err != nil {
				return err
			}
			covered = max(covered, current.end)
		}
		if err == nil {
			err = s.blankGap(covered, d.end)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// blankGap plans to erase the bytes from off to end, unless they are zero.
func (s *bmffScan) blankGap(off, end int64) error {
	if off >= end {
		return nil
	}
	zero, err := s.isZero(off, end-off)
	if err == nil && !zero {
		s.plan.blank(off, end-off, nil)
	}
	return err
}

// ordered returns the pieces of a list, which it sorts.
func ordered(list []piece) pieceSource {
	slices.SortFunc(list, func(a, b piece) int { return cmp.Compare(a.off, b.off) })
	return func() (piece, bool, error) {
		if len(list) == 0 {
			return piece{}, false, nil
		}
		first := list[0]
		list = list[1:]
		return first, true, nil
	}
}

// mergePieces returns the pieces of several sources in ascending order.
func mergePieces(sources []pieceSource) (pieceSource, error) {
	heads := make([]piece, len(sources))
	advance := func(i int) error {
		head, ok, err := sources[i]()
		if !ok {
			head.off = math.MaxInt64
		}
		heads[i] = head
		return err
	}
	for i := range sources {
		if err := advance(i); err != nil {
			return nil, err
		}
	}
	return func() (piece, bool, error) {
		first := 0
		for i := range heads {
			if heads[i].off < heads[first].off {
				first = i
			}
		}
		if heads[first].off == math.MaxInt64 {
			return piece{}, false, nil
		}
		head := heads[first]
		return head, true, advance(first)
	}, nil
}

// trackPieces returns the chunks of a track. Writers put them in ascending order; of others there can be maxPieces.
func (s *bmffScan) trackPieces(t *track) (pieceSource, error) {
	source, err := s.chunks(t)
	if err != nil {
		return nil, err
	}
	var last int64
	for inOrder := true; inOrder; {
		c, ok, err := source()
		if err != nil {
			return nil, err
		}
		if !ok {
			return s.chunks(t) // from the beginning
		}
		inOrder, last = c.off >= last, c.off
	}
	if source, err = s.chunks(t); err != nil {
		return nil, err
	}
	var list []piece
	for {
		c, ok, err := source()
		if err != nil {
			return nil, err
		}
		if !ok {
			return ordered(list), nil
		}
		if len(list) == maxPieces {
			return nil, unsupportedVariant("more than %d chunks that are not in order", maxPieces)
		}
		list = append(list, c)
	}
}

// chunks reads the sample tables of a track: chunks with a number of samples each (14496-12 8.7). Each of the three tables is read
// sequentially, so each has a reader of its own.
func (s *bmffScan) chunks(t *track) (pieceSource, error) {
	none := func() (piece, bool, error) { return piece{}, false, nil }
	offsets, width := t.tables["stco"], int64(4)
	if offsets.kind == "" {
		offsets, width = t.tables["co64"], 8
	}
	if offsets.kind == "" {
		return none, nil // all samples are in fragments
	}
	count, err := s.uint(offsets, 4, 4)
	if err != nil || count == 0 {
		return none, err
	}
	if count > (offsets.end-offsets.body-8)/width {
		return nil, malformed("table of %d chunks", count)
	}
	runs := t.tables["stsc"]
	if runs.kind == "" {
		return nil, unsupportedVariant("track without stsc")
	}
	runCount, err := s.uint(runs, 4, 4)
	if err != nil {
		return nil, err
	}
	frame, err := s.frameOf(t)
	if err != nil {
		return nil, err
	}
	z, err := newSampleSizes(s.src, s.size, t, frame)
	if err != nil {
		return nil, err
	}
	c := &bmffScan{peekReader: newPeekReader(s.src, s.size)}
	r := &bmffScan{peekReader: newPeekReader(s.src, s.size)}
	var i, run, perChunk int64
	return func() (chunk piece, ok bool, err error) {
		if i == count {
			return chunk, false, nil
		}
		if run < runCount {
			first, err := r.uint(runs, 8+12*run, 4)
			if err != nil {
				return chunk, false, err
			}
			if first <= i+1 {
				if perChunk, err = r.uint(runs, 8+12*run+4, 4); err != nil {
					return chunk, false, err
				}
				run++
			}
		}
		if chunk.off, err = c.uint(offsets, 8+width*i, int(width)); err != nil {
			return chunk, false, err
		}
		n, err := z.next(perChunk)
		if err != nil {
			return chunk, false, err
		}
		i++
		chunk.end = chunk.off + n
		return chunk, true, nil
	}, nil
}

// soundFrame is what a sound sample takes where the table of sizes does not say it: in QuickTime a sample may be one of each channel, or a part
// of a packet.
type soundFrame struct{ samples, bytes int64 }

// Kinds of sound whose samples have the size that version 0 declares, and those of which it is known by channel (QuickTime File Format, sound
// formats).
var (
	linearSound = set("raw ", "twos", "sowt", "NONE", "in24", "in32", "fl32", "fl64", "lpcm", "ipcm", "fpcm")
	packedSound = map[string]soundFrame{"ulaw": {1, 1}, "alaw": {1, 1}, "ima4": {64, 34}, "MAC3": {6, 2}, "MAC6": {6, 1}, "agsm": {160, 33}}
)

// frameOf reads the description of a sound track (QuickTime File Format, sound sample description versions 0 to 2).
func (s *bmffScan) frameOf(t *track) (f soundFrame, err error) {
	stsd := t.tables["stsd"]
	const entry = 8
	if t.handler != "soun" || stsd.end-stsd.body < entry+36 {
		return f, nil
	}
	b, err := s.bytes(stsd, entry, int(min(stsd.end-stsd.body-entry, 72)))
	if err != nil {
		return f, err
	}
	number := func(at int) int64 { return int64(binary.BigEndian.Uint32(b[at:])) }
	version, channels, bits := binary.BigEndian.Uint16(b[16:]), int64(binary.BigEndian.Uint16(b[24:])), int64(binary.BigEndian.Uint16(b[26:]))
	kind := b[4:8]
	switch {
	case version == 1 && len(b) >= 52 && number(36) > 0 && number(44) > 0:
		f = soundFrame{number(36), number(44)}
	case version == 2 && len(b) >= 72 && number(68) > 0 && number(64) > 0:
		f = soundFrame{number(68), number(64)}
	case linearSound[string(kind)]:
		f = soundFrame{1, channels * (bits + 7) / 8}
	default:
		f = packedSound[string(kind)]
		f.bytes *= channels
	}
	return f, nil
}

// sampleSizes reads a table of sizes: stsz, or stz2 with sizes of 4, 8 or 16 bits.
type sampleSizes struct {
	bmffScan
	table box
	bits  int64 // of a size
	same  int64 // size of each sample if all are equal, else 0
	frame soundFrame
	count int64
	read  int64
}

func newSampleSizes(src io.ReaderAt, size int64, t *track, frame soundFrame) (*sampleSizes, error) {
	z := &sampleSizes{bmffScan: bmffScan{peekReader: newPeekReader(src, size)}, table: t.tables["stsz"], bits: 32, frame: frame}
	compact := z.table.kind == ""
	if compact {
		z.table = t.tables["stz2"]
	}
	if z.table.kind == "" {
		return nil, unsupportedVariant("track without stsz")
	}
	var err error
	if z.same, err = z.uint(z.table, 4, 4); err != nil {
		return nil, err
	}
	if compact {
		if z.bits, z.same = z.same&0xff, 0; z.bits != 4 && z.bits != 8 && z.bits != 16 {
			return nil, malformed("sizes of %d bits", z.bits)
		}
	}
	if z.count, err = z.uint(z.table, 8, 4); err != nil {
		return nil, err
	}
	if z.same == 0 && z.count > (z.table.end-z.table.body-12)*8/z.bits {
		return nil, malformed("table of %d samples", z.count)
	}
	return z, nil
}

// next returns the size of the next n samples together, which may be more than there is in the file.
func (z *sampleSizes) next(n int64) (int64, error) {
	n = min(n, z.count-z.read)
	z.read += n
	if z.same != 0 {
		sum := n * z.same // both have 32 bits
		if z.frame.bytes > 0 {
			frames := (n + z.frame.samples - 1) / z.frame.samples * z.frame.bytes
			if sum = max(sum, frames); z.same == 1 && z.frame.samples > 1 {
				sum = frames
			}
		}
		return min(sum, z.size), nil
	}
	var sum int64
	for i := z.read - n; i < z.read; i++ {
		size, err := z.sizeOf(i)
		if err != nil {
			return 0, err
		}
		sum = min(sum+size, z.size)
	}
	return sum, nil
}

func (z *sampleSizes) sizeOf(i int64) (int64, error) {
	if z.bits != 4 {
		b, err := z.bytes(z.table, 12+i*z.bits/8, int(z.bits/8))
		if err != nil {
			return 0, err
		}
		var v int64
		for _, c := range b {
			v = v<<8 | int64(c)
		}
		return v, nil
	}
	b, err := z.bytes(z.table, 12+i/2, 1)
	if err != nil {
		return 0, err
	}
	if i%2 == 0 {
		return int64(b[0] >> 4), nil
	}
	return int64(b[0] & 15), nil
}
