package media

import (
	"encoding/binary"
	"math"
	"time"
)

// maxDuration bounds durations; longer ones are ignored.
const maxDuration = 1000 * time.Hour

// seconds returns a duration, or 0 if it is not plausible.
func seconds(s float64) time.Duration {
	if !(s > 0 && s < maxDuration.Seconds()) {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}

// durationOf returns the duration in a movie header or media header, 0 if it is not known (14496-12 8.2.2, 8.4.2).
func (s *bmffScan) durationOf(b box) (time.Duration, error) {
	version, err := s.bytes(b, 0, 1)
	if err != nil {
		return 0, err
	}
	scaleAt, size := int64(12), 4
	if version[0] == 1 {
		scaleAt, size = 20, 8
	}
	v, err := s.bytes(b, scaleAt, 4+size)
	if err != nil {
		return 0, nil // the box is needed for nothing else
	}
	scale, length := binary.BigEndian.Uint32(v), uint64(binary.BigEndian.Uint32(v[4:]))
	unknown := uint64(math.MaxUint32)
	if size == 8 {
		length, unknown = binary.BigEndian.Uint64(v[4:]), math.MaxUint64
	}
	if scale == 0 || length == unknown {
		return 0, nil
	}
	return seconds(float64(length) / float64(scale)), nil
}

// videoTrack reads the size of the picture as displayed, and the frame rate (14496-12 8.3.2).
func (s *bmffScan) videoTrack(t *track) error {
	if t.header.kind == "" {
		return nil
	}
	version, err := s.bytes(t.header, 0, 1)
	if err != nil {
		return err
	}
	matrix := int64(40)
	if version[0] == 1 {
		matrix = 52
	}
	v, err := s.bytes(t.header, matrix, 44)
	if err != nil {
		return nil // too short for a size
	}
	width, height := int(binary.BigEndian.Uint32(v[36:])>>16), int(binary.BigEndian.Uint32(v[40:])>>16)
	if turned := binary.BigEndian.Uint32(v) == 0 && binary.BigEndian.Uint32(v[4:]) != 0; turned { // by 90 or 270 degrees
		width, height = height, width
	}
	s.facts.width, s.facts.height = width, height
	sizes := t.tables["stsz"]
	if sizes.kind == "" || t.length <= 0 {
		return nil
	}
	if frames, err := s.uint(sizes, 8, 4); err == nil {
		s.facts.frameRate = plausibleRate(float64(frames) / t.length.Seconds())
	}
	return nil
}

// plausibleRate returns a frame rate rounded to thousandths, or 0 if it cannot be one.
func plausibleRate(rate float64) float64 {
	if !(rate > 0 && rate <= 1000) {
		return 0
	}
	return math.Round(rate*1000) / 1000
}

// pictureSize reads the properties of a HEIF picture: the largest size of an item is that of the whole picture, the others are tiles and
// thumbnails (23008-12 6.5.3, 6.5.10).
func (s *bmffScan) pictureSize(properties box) error {
	turned := false
	err := s.each(properties, func(b box) error {
		if b.kind != "ipco" {
			return nil
		}
		return s.each(b, func(b box) error {
			switch b.kind {
			case "ispe":
				v, err := s.bytes(b, 4, 8)
				if err != nil {
					return err
				}
				width, height := int(binary.BigEndian.Uint32(v)), int(binary.BigEndian.Uint32(v[4:]))
				if int64(width)*int64(height) > int64(s.facts.width)*int64(s.facts.height) {
					s.facts.width, s.facts.height = width, height
				}
			case "irot":
				v, err := s.bytes(b, 0, 1)
				if err != nil {
					return err
				}
				turned = turned || v[0]&1 == 1
			}
			return nil
		})
	})
	if turned {
		s.facts.width, s.facts.height = s.facts.height, s.facts.width
	}
	return err
}
