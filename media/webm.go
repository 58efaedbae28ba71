package media

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Elements of Matroska (RFC 9559).
const (
	webmSegment         = 0x18538067
	webmInfo            = 0x1549a966
	webmTimestampScale  = 0x2ad7b1
	webmDuration        = 0x4489
	webmTracks          = 0x1654ae6b
	webmTrackEntry      = 0xae
	webmVideo           = 0xe0
	webmPixelWidth      = 0xb0
	webmPixelHeight     = 0xba
	webmDefaultDuration = 0x23e383
	webmTrackType       = 0x83
	webmCluster         = 0x1f43b675
)

// maxElements bounds the elements that are read: those before the first cluster are some dozen.
const maxElements = 1000

// webmProbe reads the elements before the first cluster.
type webmProbe struct {
	*peekReader
	facts    fileInfo
	elements int
	scale    float64 // nanoseconds of a unit of the duration
	duration float64
	rate     float64 // frames a second of the track being read

	picture, sound bool // there is a track of this type
}

// Types of tracks that are kept (RFC 9559 5.1.4.1.3).
const (
	webmPicture = 1
	webmSound   = 2
)

// probeWebM reads duration, size and frame rate, and whether there is a picture track: it is no sound file if its tracks cannot be read.
func probeWebM(w *peekReader) fileInfo {
	p := webmProbe{peekReader: w, scale: 1e6}
	p.each(w.size)
	p.facts.video = p.picture || p.facts.width > 0 || !p.sound
	p.facts.duration = seconds(p.duration * p.scale / 1e9)
	return p.facts
}

// each reads elements up to end. It returns false when nothing of interest follows.
func (p *webmProbe) each(end int64) bool {
	for p.pos < end {
		p.elements++
		id, ok := p.number(4, false)
		size, ok2 := p.number(8, true)
		if !ok || !ok2 || p.pos > end || p.elements > maxElements || id == webmCluster {
			return false
		}
		next := end
		if size >= 0 && size <= end-p.pos { // else it lasts to the end
			next = p.pos + size
		}
		if !p.element(id, next) {
			return false
		}
		p.pos = next
	}
	return true
}

// element reads an element up to end.
func (p *webmProbe) element(id, end int64) bool {
	switch id {
	case webmSegment, webmInfo, webmTracks, webmVideo:
		return p.each(end)
	case webmTrackEntry:
		p.rate = 0
		more := p.each(end)
		if p.facts.width > 0 && p.facts.frameRate == 0 { // this track is the picture
			p.facts.frameRate = p.rate
		}
		return more
	}
	n := int(min(end-p.pos, 9))
	b, err := p.peek(n)
	if err != nil {
		return false
	}
	var buf [8]byte
	if n <= 8 {
		copy(buf[8-n:], b)
	}
	v := binary.BigEndian.Uint64(buf[:])
	switch {
	case id == webmTimestampScale:
		p.scale = float64(v)
	case id == webmDuration && n == 8:
		p.duration = math.Float64frombits(v)
	case id == webmDuration && n == 4:
		p.duration = float64(math.Float32frombits(uint32(v)))
	case id == webmPixelWidth:
		p.facts.width = int(min(v, maxSide))
	case id == webmPixelHeight:
		p.facts.height = int(min(v, maxSide))
	case id == webmTrackType:
		p.picture, p.sound = p.picture || v == webmPicture, p.sound || v == webmSound
	case id == webmDefaultDuration && v > 0:
		p.rate = plausibleRate(1e9 / float64(v))
	}
	return true
}

// number reads a number of variable length of EBML (RFC 8794 4). The length stays in an id and is removed from a size; an unknown size is -1.
func (w *peekReader) number(maxBytes int, isSize bool) (int64, bool) {
	first, err := w.peek(1)
	if err != nil || first[0] == 0 {
		return 0, false
	}
	n := bits.LeadingZeros8(first[0]) + 1
	b, err := w.peek(n)
	if n > maxBytes || err != nil {
		return 0, false
	}
	v := int64(0)
	for i, c := range b {
		if i == 0 && isSize {
			c &= byte(0xff >> n)
		}
		v = v<<8 | int64(c)
	}
	w.pos += int64(n)
	if isSize && v == 1<<(7*n)-1 {
		v = -1
	}
	return v, true
}
