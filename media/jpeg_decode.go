package media

import (
	"image"
	"image/jpeg"
	"io"

	"github.com/gen2brain/jpegn"
)

// decodeJPEG decodes a picture. The usual kinds are reduced while their blocks are decoded: that costs less than half the time and a
// fraction of the memory of shrinking the whole picture. Variants that jpegn does not support, such as baseline pictures of several scans,
// are decoded by the standard library at full size.
func decodeJPEG(src *io.SectionReader, f fileInfo, reduction int) (image.Image, error) {
	if f.planes == 0 {
		return jpeg.Decode(src)
	}
	return jpegn.Decode(sized{src}, &jpegn.Options{ScaleDenom: reduction})
}

// sized tells jpegn the size of the file, so that it allocates its buffer once.
type sized struct{ *io.SectionReader }

func (r sized) Len() int { return int(r.Size()) }

// isUsualSampling returns whether the components of a frame header are a grey plane, or three of which the second and the third have one
// block a unit and the first has one or two in each direction.
func isUsualSampling(components []byte) bool {
	if len(components) == 3 {
		return components[1] == 0x11
	}
	if len(components) != 9 || components[4] != 0x11 || components[7] != 0x11 {
		return false
	}
	switch components[1] {
	case 0x11, 0x12, 0x21, 0x22:
		return true
	}
	return false
}

// reduction returns by what the picture is divided while it is decoded: 8, 4, 2 or 1. The result has at least twice the size, because
// blocks that are reduced show their edges in fine patterns; the average of four pixels hides them.
func (f fileInfo) reduction(size image.Point) int {
	if f.planes == 0 {
		return 1
	}
	by := 8
	for by > 1 && (f.width < 2*by*size.X || f.height < 2*by*size.Y) {
		by /= 2
	}
	return by
}

// decodeMemory returns the bytes that decoding needs.
func (f fileInfo) decodeMemory(reduction int) int64 {
	return f.memory - f.planes + f.planes/int64(reduction*reduction)
}

// size returns the size as stored.
func (f fileInfo) size() image.Point { return image.Pt(f.width, f.height) }
