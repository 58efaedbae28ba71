package media

import (
	"bytes"
	"encoding/binary"
)

// Markers of ITU-T T.81, table B.1.
const (
	markerSOF0  = 0xc0 // baseline
	markerSOF1  = 0xc1 // extended sequential
	markerSOF2  = 0xc2 // progressive
	markerDHT   = 0xc4
	markerRST0  = 0xd0
	markerRST7  = 0xd7
	markerSOI   = 0xd8
	markerEOI   = 0xd9
	markerSOS   = 0xda
	markerDQT   = 0xdb
	markerDRI   = 0xdd
	markerAPP0  = 0xe0
	markerAPP1  = 0xe1
	markerAPP2  = 0xe2
	markerAPP14 = 0xee
	markerAPP15 = 0xef
	markerCOM   = 0xfe
)

// maxScans bounds the passes over all blocks of a picture that a small file can cause. Encoders make about ten.
const maxScans = 100

const (
	jfifHeader = "JFIF\x00"
	iccHeader  = "ICC_PROFILE\x00"
)

type jpegScan struct {
	*peekReader
	plan  plan
	facts fileInfo

	components int
	baseline   bool
	reducible  bool // see decodeJPEG
	planes     int64
	scans      int
	seenJFIF   bool
	seenEXIF   bool
	seenRGB    bool // the components are RGB, not YCbCr
	profiles   int
}

// scanJPEG plans to keep tables, scans, JFIF without its thumbnail, the ICC profile, Adobe's colour transform, and the EXIF orientation
// if it is not 1. It drops all else and what follows the picture.
func scanJPEG(w *peekReader) (fileInfo, *plan, error) {
	s := jpegScan{peekReader: w}
	soi, err := w.read(2)
	if err != nil {
		return fileInfo{}, nil, err
	}
	if soi[0] != 0xff || soi[1] != markerSOI {
		return fileInfo{}, nil, malformed("no start of image")
	}
	for {
		start := w.pos
		marker, err := s.marker()
		if err != nil {
			return fileInfo{}, nil, err
		}
		if marker == markerEOI {
			break
		}
		if err := s.segment(start, marker); err != nil {
			return fileInfo{}, nil, err
		}
	}
	if s.scans == 0 {
		return fileInfo{}, nil, malformed("no picture before the end of image")
	}
	s.facts.end = w.pos
	s.plan.cut(w.pos, w.size-w.pos)
	switch {
	case s.components == 4 || s.seenRGB:
		s.facts.memory += 4 * int64(s.facts.width) * int64(s.facts.height)
	case s.reducible && (s.scans == 1 || !s.baseline):
		s.facts.planes = s.planes
		s.facts.memory += s.facts.end // the decoder reads the whole file
	}
	if s.components != 3 || s.profiles != 1 {
		s.facts.profile = nil
	}
	return s.facts, &s.plan, nil
}

// marker reads a marker and skips fill bytes before it (T.81 B.1.1.2).
func (s *jpegScan) marker() (byte, error) {
	b, err := s.read(2)
	if err != nil {
		return 0, err
	}
	if b[0] != 0xff {
		return 0, malformed("no marker at %d", s.pos-2)
	}
	marker := b[1]
	for marker == 0xff {
		if b, err = s.read(1); err != nil {
			return 0, err
		}
		marker = b[0]
	}
	return marker, nil
}

// segment reads the segment whose marker began at start, and plans to drop it unless it is kept.
func (s *jpegScan) segment(start int64, marker byte) error {
	switch {
	case marker == markerSOF0, marker == markerSOF1, marker == markerSOF2:
	case marker == markerDHT, marker == markerDQT, marker == markerDRI, marker == markerSOS:
	case marker >= markerAPP0 && marker <= markerAPP15, marker == markerCOM:
	default:
		return unsupportedVariant("JPEG marker %#x", marker)
	}
	length, err := s.read(2)
	if err != nil {
		return err
	}
	n := int(binary.BigEndian.Uint16(length)) - 2
	if n < 0 {
		return malformed("segment of negative length at %d", start)
	}
	body, err := s.read(n)
	if err != nil {
		return err
	}
	switch marker {
	case markerSOF0, markerSOF1, markerSOF2:
		return s.frame(marker, body)
	case markerDHT, markerDQT, markerDRI:
		return nil
	case markerSOS:
		return s.scan()
	}
	keep := s.application(marker, body)
	switch size := s.pos - start; {
	case keep == nil:
		s.plan.cut(start, size)
	case len(keep) != len(body) || !bytes.Equal(keep, body):
		s.plan.replace(start, size, segmentOf(marker, keep))
	}
	return nil
}

// frame reads the size of the picture (T.81 B.2.2).
func (s *jpegScan) frame(marker byte, body []byte) error {
	if s.components != 0 {
		return malformed("two frame headers")
	}
	if len(body) < 6 || len(body) != 6+3*int(body[5]) {
		return malformed("frame header of %d bytes", len(body))
	}
	s.components = int(body[5])
	s.facts.height, s.facts.width = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
	if body[0] != 8 || s.components != 1 && s.components != 3 && s.components != 4 || s.facts.height == 0 {
		return unsupportedVariant("JPEG of %d components, %d bits, height %d", s.components, body[0], s.facts.height)
	}
	if s.facts.width == 0 {
		return malformed("picture without width")
	}
	var ids string
	var hMax, vMax, blocks int
	for i := range s.components {
		c := body[6+3*i:]
		h, v := int(c[1]>>4), int(c[1]&15)
		if h < 1 || h > 4 || v < 1 || v > 4 {
			return malformed("sampling factor %#x", c[1])
		}
		ids += string(rune(c[0]))
		hMax, vMax, blocks = max(hMax, h), max(vMax, v), blocks+h*v
	}
	units := int64((s.facts.width+8*hMax-1)/(8*hMax)) * int64((s.facts.height+8*vMax-1)/(8*vMax))
	s.planes = units * int64(blocks) * 64
	s.facts.memory = s.planes
	if marker == markerSOF2 {
		s.facts.memory *= 5 // a progressive decoder keeps the coefficients, 32 bits each
	}
	s.baseline = marker == markerSOF0
	s.reducible = marker != markerSOF1 && isUsualSampling(body[6:])
	s.seenRGB = s.seenRGB || ids == "RGB"
	return nil
}

// scan skips the entropy-coded data after a scan header (T.81 B.1.1.5).
func (s *jpegScan) scan() error {
	if s.components == 0 {
		return malformed("scan before the frame header")
	}
	if s.scans++; s.scans > maxScans {
		return unsupportedVariant("more than %d scans", maxScans)
	}
	for {
		b, err := s.peekAny()
		if err != nil {
			return err
		}
		i := bytes.IndexByte(b, 0xff)
		if i < 0 {
			s.pos += int64(len(b))
			continue
		}
		s.pos += int64(i)
		pair, err := s.peek(2)
		if err != nil {
			return err
		}
		switch c := pair[1]; {
		case c == 0, c >= markerRST0 && c <= markerRST7:
			s.pos += 2
		case c == 0xff:
			s.pos++
		default:
			return nil
		}
	}
}

// application returns what replaces an application segment or comment; nil to drop it.
func (s *jpegScan) application(marker byte, body []byte) []byte {
	if s.scans > 0 {
		return nil // they belong before the first scan
	}
	switch {
	case marker == markerAPP0 && hasPrefix(body, jfifHeader) && len(body) >= 14 && !s.seenJFIF:
		s.seenJFIF = true
		return append(bytes.Clone(body[:12]), 0, 0) // no thumbnail
	case marker == markerAPP1 && hasPrefix(body, exifHeader) && !s.seenEXIF:
		s.seenEXIF = true
		if o := exifOrientation(body[len(exifHeader):]); o > 1 {
			s.facts.orientation = o
			return append([]byte(exifHeader), orientationTIFF(o)...)
		}
	case marker == markerAPP2 && hasPrefix(body, iccHeader) && len(body) > 14:
		s.profiles++
		s.facts.profile = rgbProfile(body[14:])
		return body
	case marker == markerAPP14 && hasPrefix(body, "Adobe") && len(body) >= 12:
		s.seenRGB = s.seenRGB || body[11] == 0
		return body[:12]
	}
	return nil
}

// segmentOf returns a segment with a marker, its length and a body.
func segmentOf(marker byte, body []byte) []byte {
	seg := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(body)+2))
	return append(seg, body...)
}

func hasPrefix(b []byte, prefix string) bool { return bytes.HasPrefix(b, []byte(prefix)) }
