package media

import "encoding/binary"

// Children of a movie fragment and of its tracks that are kept (14496-12 8.8, 8.7.8, 23001-7).
var (
	fragmentBoxes      = set("mfhd", "traf", "pssh")
	trackFragmentBoxes = set("tfhd", "tfdt", "trun", "sdtp", "sbgp", "sgpd", "subs", "saiz", "saio", "senc")
	fragmentIndexBoxes = set("tfra", "mfro")
)

// maxTrackDefaults bounds the defaults of tracks that are remembered for fragments.
const maxTrackDefaults = 1000

// Flags of tfhd and trun (14496-12 8.8.7, 8.8.8).
const (
	tfhdBaseOffset  = 0x1
	tfhdDescription = 0x2
	tfhdDuration    = 0x8
	tfhdSize        = 0x10
	tfhdBaseIsMoof  = 0x20000

	trunOffset      = 0x1
	trunFirstFlags  = 0x4
	trunDuration    = 0x100
	trunSize        = 0x200
	trunFlags       = 0x400
	trunComposition = 0x800
)

// fragment is a movie fragment whose runs are being read.
type fragment struct {
	off  int64 // of the box
	next int64 // end of the data of the track before

	base, at    int64 // of the current track
	defaultSize int64
}

// defaults reads the size of samples of tracks that fragments do not repeat.
func (s *bmffScan) defaults(mvex box) error {
	return s.each(mvex, func(b box) error {
		if b.kind != "trex" {
			return nil
		}
		v, err := s.bytes(b, 4, 20)
		if err != nil {
			return err
		}
		if s.defaultSizes == nil {
			s.defaultSizes = make(map[uint32]int64)
		}
		if len(s.defaultSizes) == maxTrackDefaults {
			return unsupportedVariant("more than %d tracks", maxTrackDefaults)
		}
		s.defaultSizes[binary.BigEndian.Uint32(v)] = int64(binary.BigEndian.Uint32(v[12:]))
		return nil
	})
}

// movieFragment drops metadata in a movie fragment and, one level below, in its tracks, and covers the data of the runs.
func (s *bmffScan) movieFragment(moof box) error {
	f := &fragment{off: moof.off, next: moof.off}
	return s.each(moof, func(b box) error {
		if !fragmentBoxes[b.kind] {
			return s.free(b)
		}
		if b.kind != "traf" {
			return nil
		}
		f.base, f.at, f.defaultSize = f.next, f.next, 0
		err := s.each(b, func(b box) error { return s.trackFragmentBox(b, f) })
		f.next = f.at
		return err
	})
}

func (s *bmffScan) trackFragmentBox(b box, f *fragment) error {
	switch {
	case !trackFragmentBoxes[b.kind]:
		return s.free(b)
	case b.kind == "tfhd":
		return s.trackFragmentHeader(b, f)
	case b.kind == "trun":
		return s.run(b, f)
	}
	return nil
}

func (s *bmffScan) trackFragmentHeader(b box, f *fragment) error {
	t := itemTable{bmffScan: s, box: b}
	flags := t.uint(4) & 0xffffff
	f.defaultSize = s.defaultSizes[uint32(t.uint(4))]
	switch {
	case flags&tfhdBaseOffset != 0:
		f.base = int64(min(t.uint(8), uint64(s.size)))
	case flags&tfhdBaseIsMoof != 0:
		f.base = f.off
	}
	for _, flag := range []uint64{tfhdDescription, tfhdDuration} {
		if flags&flag != 0 {
			t.at += 4
		}
	}
	if flags&tfhdSize != 0 {
		f.defaultSize = int64(t.uint(4))
	}
	f.at = f.base
	return t.err
}

// run covers the samples of a run. It begins where the run before ends if it has no offset.
func (s *bmffScan) run(b box, f *fragment) error {
	t := itemTable{bmffScan: s, box: b}
	flags := t.uint(4) & 0xffffff
	count := int64(t.uint(4))
	if flags&trunOffset != 0 {
		f.at = f.base + int64(int32(t.uint(4)))
	}
	if flags&trunFirstFlags != 0 {
		t.at += 4
	}
	var before, entry int64 // the size within the entry of a sample
	for _, flag := range []uint64{trunDuration, trunSize, trunFlags, trunComposition} {
		if flags&flag != 0 {
			entry += 4
		}
	}
	if flags&trunDuration != 0 {
		before = 4
	}
	if entry > 0 && count > (b.end-b.body-t.at)/entry {
		return malformed("run of %d samples", count)
	}
	sum := min(count*f.defaultSize, s.size) // both have 32 bits
	if flags&trunSize != 0 {
		sum = 0
		first := t.at
		for i := range count {
			t.at = first + i*entry + before
			sum = min(sum+int64(t.uint(4)), s.size)
		}
	}
	if t.err != nil {
		return t.err
	}
	if f.at < 0 || f.at > s.size {
		f.at = s.size // its samples are outside of the file
	}
	err := s.cover(f.at, sum)
	f.at += sum
	return err
}
