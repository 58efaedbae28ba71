package media

import (
	"encoding/binary"
	"io"
	"time"
)

// Children of a movie that are kept. All others are overwritten.
var (
	movieBoxes = set("mvhd", "trak", "mvex", "iods", "pssh")
	trackBoxes = set("tkhd", "tref", "trgr", "edts", "mdia", "tapt", "clip", "matt", "load")
	mediaBoxes = set("mdhd", "hdlr", "minf", "elng")
	infoBoxes  = set("vmhd", "smhd", "nmhd", "gmhd", "hdlr", "dinf", "stbl")
)

// trackHandlers are the kinds of tracks that are kept: picture, sound, transparency. Subtitles are dropped, because browsers do not
// show them and cameras write positions into them.
var trackHandlers = set("vide", "soun", "pict", "auxv")

// track has the data of a track that decide whether it is kept, and where its samples are.
type track struct {
	id      uint32
	handler string
	header  box            // tkhd
	length  time.Duration  // 0 if not known
	tables  map[string]box // sample tables: stsc, stsz, stco, co64
}

func (s *bmffScan) movieBox(b box) error {
	if !movieBoxes[b.kind] {
		return s.free(b)
	}
	switch b.kind {
	case "mvhd":
		duration, err := s.durationOf(b)
		if err != nil {
			return err
		}
		s.facts.duration = max(s.facts.duration, duration)
		return s.eraseTimes(b)
	case "trak":
		return s.track(b)
	}
	return nil
}

// fragmentBox drops metadata in a movie fragment and, one level below, in its tracks.
func (s *bmffScan) fragmentBox(b box) error {
	switch b.kind {
	case "meta", "udta", "uuid":
		return s.free(b)
	case "traf":
		return s.each(b, s.trackFragmentBox)
	}
	return nil
}

func (s *bmffScan) trackFragmentBox(b box) error {
	switch b.kind {
	case "meta", "udta", "uuid":
		return s.free(b)
	}
	return nil
}

// track plans to drop the metadata of a track, or a whole track with its samples.
func (s *bmffScan) track(b box) error {
	t := track{tables: make(map[string]box)}
	edits, trefs := len(s.plan.edits), len(s.trefs)
	if err := s.each(b, func(b box) error { return s.trackBox(b, &t) }); err != nil {
		return err
	}
	if trackHandlers[t.handler] {
		s.movie = true
		if t.handler == "vide" && !s.facts.video {
			s.facts.video = true
			return s.videoTrack(&t)
		}
		return nil
	}
	s.plan.edits, s.trefs = s.plan.edits[:edits], s.trefs[:trefs]
	s.dropped[t.id] = true
	if err := s.samples(&t); err != nil {
		return err
	}
	return s.free(b)
}

func (s *bmffScan) trackBox(b box, t *track) error {
	if !trackBoxes[b.kind] {
		return s.free(b)
	}
	switch b.kind {
	case "tkhd":
		id, err := s.bytes(b, 12, 4)
		if err != nil {
			return err
		}
		t.id = binary.BigEndian.Uint32(id)
		if version, err := s.bytes(b, 0, 1); err != nil {
			return err
		} else if version[0] == 1 {
			if id, err = s.bytes(b, 20, 4); err != nil {
				return err
			}
			t.id = binary.BigEndian.Uint32(id)
		}
		t.header = b
		return s.eraseTimes(b)
	case "tref":
		s.trefs = append(s.trefs, b)
	case "mdia":
		return s.each(b, func(b box) error { return s.mediaBox(b, t) })
	}
	return nil
}

func (s *bmffScan) mediaBox(b box, t *track) error {
	if !mediaBoxes[b.kind] {
		return s.free(b)
	}
	switch b.kind {
	case "mdhd":
		length, err := s.durationOf(b)
		if err != nil {
			return err
		}
		t.length = length
		return s.eraseTimes(b)
	case "hdlr":
		handler, err := s.bytes(b, 8, 4)
		if err != nil {
			return err
		}
		t.handler = string(handler)
	case "minf":
		return s.each(b, func(b box) error {
			if !infoBoxes[b.kind] {
				return s.free(b)
			}
			if b.kind != "stbl" {
				return nil
			}
			return s.each(b, func(b box) error {
				switch b.kind {
				case "stsc", "stsz", "stz2", "stco", "co64":
					t.tables[b.kind] = b
				case "udta", "meta", "uuid", "free", "skip":
					return s.free(b)
				}
				return nil
			})
		})
	}
	return nil
}

// eraseTimes plans to erase the creation and modification times at the start of these headers.
func (s *bmffScan) eraseTimes(b box) error {
	version, err := s.bytes(b, 0, 1)
	if err != nil {
		return err
	}
	n := 8
	if version[0] == 1 {
		n = 16
	}
	if _, err := s.bytes(b, 4, n); err != nil {
		return err
	}
	if zero, err := s.isZero(b.body+4, int64(n)); err != nil || zero {
		return err
	}
	s.plan.blank(b.body+4, int64(n), nil)
	return nil
}

// cutReferences plans to drop references to dropped tracks.
func (s *bmffScan) cutReferences() error {
	if len(s.dropped) == 0 {
		return nil
	}
	for _, tref := range s.trefs {
		err := s.each(tref, func(b box) error {
			for i := int64(0); i+4 <= b.end-b.body; i += 4 {
				id, err := s.bytes(b, i, 4)
				if err != nil {
					return err
				}
				if s.dropped[binary.BigEndian.Uint32(id)] {
					return s.free(b)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// samples adds the samples of a track to the extents: chunks with a number of samples each (14496-12 8.7).
func (s *bmffScan) samples(t *track) error {
	chunks, width := t.tables["stco"], int64(4)
	if chunks.kind == "" {
		chunks, width = t.tables["co64"], 8
	}
	runs, sizes := t.tables["stsc"], t.tables["stsz"]
	if chunks.kind == "" {
		return nil // a fragmented movie, which scanBMFF refuses
	}
	if runs.kind == "" || sizes.kind == "" {
		return unsupportedVariant("metadata track without stsc and stsz")
	}
	count, err := s.uint(chunks, 4, 4)
	if err != nil {
		return err
	}
	if count > (chunks.end-chunks.body)/width {
		return malformed("table of %d chunks", count)
	}
	runCount, err := s.uint(runs, 4, 4)
	if err != nil {
		return err
	}
	// Each of the three tables is read sequentially, so each has a reader of its own.
	c := &bmffScan{peekReader: newPeekReader(s.src, s.size)}
	r := &bmffScan{peekReader: newPeekReader(s.src, s.size)}
	z, err := newSampleSizes(s.src, s.size, sizes)
	if err != nil {
		return err
	}
	var run, perChunk int64
	for i := range count {
		if run < runCount {
			first, err := r.uint(runs, 8+12*run, 4)
			if err != nil {
				return err
			}
			if first <= i+1 {
				if perChunk, err = r.uint(runs, 8+12*run+4, 4); err != nil {
					return err
				}
				run++
			}
		}
		off, err := c.uint(chunks, 8+width*i, int(width))
		if err != nil {
			return err
		}
		n, err := z.next(perChunk)
		if err != nil {
			return err
		}
		if err := s.addExtent(extent{off: off, n: n}); err != nil {
			return err
		}
	}
	return nil
}

// sampleSizes reads an stsz table.
type sampleSizes struct {
	bmffScan
	table box
	same  int64 // size of each sample if all are equal, else 0
	count int64
	read  int64
}

func newSampleSizes(src io.ReaderAt, size int64, table box) (*sampleSizes, error) {
	z := &sampleSizes{bmffScan: bmffScan{peekReader: newPeekReader(src, size)}, table: table}
	var err error
	if z.same, err = z.uint(table, 4, 4); err != nil {
		return nil, err
	}
	z.count, err = z.uint(table, 8, 4)
	return z, err
}

// next returns the size of the next n samples together.
func (z *sampleSizes) next(n int64) (int64, error) {
	n = min(n, z.count-z.read)
	z.read += n
	if z.same != 0 {
		if n > z.size/z.same {
			return 0, malformed("%d samples of %d bytes", n, z.same)
		}
		return n * z.same, nil
	}
	var sum int64
	for i := z.read - n; i < z.read; i++ {
		size, err := z.uint(z.table, 12+4*i, 4)
		if err != nil {
			return 0, err
		}
		sum += size
	}
	return sum, nil
}

// uint reads a number of 4 or 8 bytes from a box. A number too large for an offset is an error.
func (s *bmffScan) uint(b box, i int64, n int) (int64, error) {
	v, err := s.bytes(b, i, n)
	if err != nil {
		return 0, err
	}
	if n == 8 {
		u := binary.BigEndian.Uint64(v)
		if u > 1<<62 {
			return 0, malformed("offset %d in box %q", u, b.kind)
		}
		return int64(u), nil
	}
	return int64(binary.BigEndian.Uint32(v)), nil
}

func set(kinds ...string) map[string]bool {
	m := make(map[string]bool, len(kinds))
	for _, k := range kinds {
		m[k] = true
	}
	return m
}
