package media

import (
	"encoding/binary"
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
	tables  map[string]box // sample tables: stsd, stsc, stsz, stz2, stco, co64
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
	case "mvex":
		return s.defaults(b)
	}
	return nil
}

// track plans to drop the metadata of a track, or a whole track. blankGaps erases its samples.
func (s *bmffScan) track(b box) error {
	t := track{tables: make(map[string]box)}
	edits, trefs := len(s.plan.edits), len(s.trefs)
	if err := s.each(b, func(b box) error { return s.trackBox(b, &t) }); err != nil {
		return err
	}
	if trackHandlers[t.handler] {
		s.movie = true
		s.kept = append(s.kept, &t)
		if err := s.eraseEncoder(&t); err != nil {
			return err
		}
		if t.handler == "vide" && !s.facts.video {
			s.facts.video = true
			return s.videoTrack(&t)
		}
		return nil
	}
	s.plan.edits, s.trefs = s.plan.edits[:edits], s.trefs[:trefs]
	s.dropped[t.id] = true
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
		return s.eraseName(b)
	case "minf":
		return s.each(b, func(b box) error {
			if !infoBoxes[b.kind] {
				return s.free(b)
			}
			if b.kind == "hdlr" {
				return s.eraseName(b)
			}
			if b.kind != "stbl" {
				return nil
			}
			return s.each(b, func(b box) error {
				switch b.kind {
				case "stsd", "stsc", "stsz", "stz2", "stco", "co64":
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

// eraseName plans to erase the name and the manufacturer of a handler, which cameras set to their own (14496-12 8.4.3).
func (s *bmffScan) eraseName(b box) error {
	const name = 12
	return s.blankGap(min(b.body+name, b.end), b.end)
}

// codecsByName are names of encoders by which players tell what the picture is encoded with.
var codecsByName = set("Planar Y'CbCr 8-bit 4:2:0", "Sorenson H263")

// eraseEncoder plans to erase the name of the encoder in the first description of a picture track (14496-12 12.1.3).
func (s *bmffScan) eraseEncoder(t *track) error {
	stsd := t.tables["stsd"]
	const name, size = 8 + 50, 32
	if t.handler == "soun" || stsd.end-stsd.body < name+size {
		return nil
	}
	b, err := s.bytes(stsd, name, size)
	if err != nil {
		return err
	}
	if n := int(b[0]); n < size && codecsByName[string(b[1:1+n])] {
		return nil
	}
	return s.blankGap(stsd.body+name, stsd.body+name+size)
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
