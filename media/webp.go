package media

import (
	"bytes"
	"encoding/binary"
	"image"
	"io"

	"golang.org/x/image/webp"
)

// Flags of the VP8X chunk.
const (
	webpXMP   = 1 << 2
	webpEXIF  = 1 << 3
	webpAlpha = 1 << 4
)

// webpFrame is the position of the first frame of a WebP picture in the file.
type webpFrame struct {
	kind        string // of data: "VP8 " or "VP8L"
	alpha, data span
	area        image.Rectangle // within the picture
}

// span is a range of a file.
type span struct{ off, n int64 }

type webpScan struct {
	*peekReader
	plan  plan
	facts fileInfo

	end      int64 // of the picture, as its header declares
	removed  int64 // bytes before end that are dropped
	extended bool  // it begins with VP8X, so it may have alpha, a profile, an animation
	frames   int
	frame    webpFrame // being read
}

// scanWebP plans to drop EXIF, XMP and unknown chunks, also within animation frames, and what follows the picture.
func scanWebP(w *peekReader) (fileInfo, *plan, error) {
	s := webpScan{peekReader: w}
	head, err := w.read(12)
	if err != nil {
		return fileInfo{}, nil, err
	}
	if !hasPrefix(head, "RIFF") || string(head[8:]) != "WEBP" {
		return fileInfo{}, nil, malformed("no WebP signature")
	}
	s.end = int64(binary.LittleEndian.Uint32(head[4:])) + 8
	if s.end > w.size {
		return fileInfo{}, nil, malformed("%d bytes of %d", w.size, s.end)
	}
	if err := s.chunks(s.end, s.chunk); err != nil {
		return fileInfo{}, nil, err
	}
	if s.frames == 0 {
		return fileInfo{}, nil, malformed("WebP without a picture")
	}
	if s.removed > 0 {
		s.plan.replace(4, 4, binary.LittleEndian.AppendUint32(nil, uint32(s.end-8-s.removed)))
	}
	s.facts.end = s.end
	s.plan.cut(s.end, w.size-s.end)
	s.facts.frames = s.frames
	return s.facts, &s.plan, nil
}

// chunks calls fn for each chunk up to end, with the range of the chunk's data. fn may read there.
func (s *webpScan) chunks(end int64, fn func(kind string, data span) (keep bool, err error)) error {
	for s.pos < end {
		start := s.pos
		head, err := s.read(8)
		if err != nil {
			return err
		}
		kind := string(head[:4])
		data := span{s.pos, int64(binary.LittleEndian.Uint32(head[4:]))}
		if data.n > end-s.pos {
			return malformed("chunk %q is cut off", kind)
		}
		next := min(data.off+data.n+data.n&1, end) // some writers forget to pad the last chunk
		keep, err := fn(kind, data)
		if err != nil {
			return err
		}
		if !keep {
			s.plan.cut(start, next-start)
			s.removed += next - start
		}
		s.pos = next
	}
	return nil
}

// chunk decides whether a chunk of the file is kept.
func (s *webpScan) chunk(kind string, data span) (keep bool, err error) {
	first := data.off == 20
	switch {
	case first && kind == "VP8X":
		return true, s.header(data)
	case first && kind != "VP8 " && kind != "VP8L", kind == "VP8X":
		return false, malformed("chunk %q at %d", kind, data.off)
	case kind == "VP8 " || kind == "VP8L":
		if s.frames > 0 {
			return false, malformed("two pictures that are no animation")
		}
		if s.extended {
			s.frame.area = image.Rect(0, 0, s.facts.width, s.facts.height)
		}
		if err := s.bitstream(kind, data); err != nil {
			return false, err
		}
		s.facts.width, s.facts.height = s.frame.area.Dx(), s.frame.area.Dy()
		s.endFrame()
		return true, nil
	case !s.extended:
		return false, nil
	case kind == "ANMF":
		return true, s.animationFrame(data)
	case kind == "ALPH":
		return s.frames == 0 && s.alpha(data), nil
	}
	return kind == "ICCP" && s.profile(data) || kind == "ANIM", nil
}

// header reads the size of the picture and clears the flags of dropped chunks.
func (s *webpScan) header(data span) error {
	if data.n != 10 {
		return malformed("header of %d bytes", data.n)
	}
	b, err := s.peek(10)
	if err != nil {
		return err
	}
	s.extended = true
	s.facts.width, s.facts.height = uint24(b[4:])+1, uint24(b[7:])+1
	if flags := b[0] &^ (webpEXIF | webpXMP); flags != b[0] {
		s.plan.replace(data.off, 1, []byte{flags})
	}
	return nil
}

// profile reads the colour profile.
func (s *webpScan) profile(data span) bool {
	if data.n <= int64(maxProfile) {
		if b, err := s.peek(int(data.n)); err == nil {
			s.facts.profile = rgbProfile(b)
		}
	}
	return true
}

// alpha records the alpha chunk of a frame and returns false for a second one.
func (s *webpScan) alpha(data span) bool {
	if s.frame.alpha.n != 0 {
		return false
	}
	s.frame.alpha = data
	return data.n != 0
}

// animationFrame reads the chunks of one frame.
func (s *webpScan) animationFrame(data span) error {
	head, err := s.read(16)
	if err != nil {
		return err
	}
	left, top := 2*uint24(head), 2*uint24(head[3:])
	s.frame = webpFrame{area: image.Rect(left, top, left+uint24(head[6:])+1, top+uint24(head[9:])+1)}
	if !s.frame.area.In(image.Rect(0, 0, s.facts.width, s.facts.height)) {
		return malformed("frame is larger than the picture")
	}
	before := s.removed
	err = s.chunks(data.off+data.n, func(kind string, data span) (keep bool, err error) {
		switch kind {
		case "ALPH":
			return s.alpha(data), nil
		case "VP8 ", "VP8L":
			if s.frame.kind != "" {
				return false, malformed("two pictures in a frame")
			}
			return true, s.bitstream(kind, data)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	if s.frame.kind == "" {
		return malformed("frame without a picture")
	}
	if gone := s.removed - before; gone > 0 {
		s.plan.replace(data.off-4, 4, binary.LittleEndian.AppendUint32(nil, uint32(data.n-gone)))
	}
	s.endFrame()
	return nil
}

// bitstream reads the size in the coded picture (RFC 6386 9.1, WebP lossless 3). It must be that of the frame, if there is one.
func (s *webpScan) bitstream(kind string, data span) error {
	var width, height int
	b, err := s.peek(int(min(data.n, 10)))
	switch {
	case err != nil:
		return err
	case kind == "VP8 " && len(b) == 10 && bytes.Equal(b[3:6], []byte{0x9d, 0x01, 0x2a}):
		width, height = int(binary.LittleEndian.Uint16(b[6:])&0x3fff), int(binary.LittleEndian.Uint16(b[8:])&0x3fff)
	case kind == "VP8L" && len(b) >= 5 && b[0] == 0x2f:
		bits := binary.LittleEndian.Uint32(b[1:])
		width, height = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1
	}
	if width == 0 || height == 0 {
		return malformed("picture data at %d without a header", data.off)
	}
	if s.frame.area.Empty() {
		s.frame.area = image.Rect(0, 0, width, height)
	}
	if s.frame.area.Dx() != width || s.frame.area.Dy() != height {
		return malformed("picture of %d x %d in a frame of %v", width, height, s.frame.area.Size())
	}
	s.frame.kind, s.frame.data = kind, data
	return nil
}

// endFrame counts a frame and stores the first.
func (s *webpScan) endFrame() {
	if s.frames++; s.frames > 1 {
		return
	}
	s.facts.frame = s.frame
	pixels := int64(s.frame.area.Dx()) * int64(s.frame.area.Dy())
	switch {
	case s.frame.kind == "VP8L":
		s.facts.memory = 8 * pixels
	case s.frame.alpha.n != 0:
		s.facts.memory = 10 * pixels
	default:
		s.facts.memory = 2 * pixels
	}
}

// decodeWebP decodes the first frame. It builds a file with only that frame, because the decoder does not support animations.
func decodeWebP(src *io.SectionReader, f fileInfo, _ int) (image.Image, error) {
	var body []io.Reader
	size := 4
	chunk := func(kind string, data io.Reader, n int64) {
		head := binary.LittleEndian.AppendUint32([]byte(kind), uint32(n))
		body = append(body, bytes.NewReader(head), data, bytes.NewReader(zeros[:n&1]))
		size += 8 + int(n+n&1)
	}
	frame := f.frame
	if frame.kind == "VP8 " && frame.alpha.n != 0 {
		header := []byte{webpAlpha, 0, 0, 0}
		header = appendUint24(header, frame.area.Dx()-1)
		header = appendUint24(header, frame.area.Dy()-1)
		chunk("VP8X", bytes.NewReader(header), 10)
		chunk("ALPH", io.NewSectionReader(src, frame.alpha.off, frame.alpha.n), frame.alpha.n)
	}
	chunk(frame.kind, io.NewSectionReader(src, frame.data.off, frame.data.n), frame.data.n)
	head := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(size))
	head = append(head, "WEBP"...)

	img, err := webp.Decode(io.MultiReader(append([]io.Reader{bytes.NewReader(head)}, body...)...))
	if err != nil {
		return nil, err
	}
	switch img := img.(type) {
	case *image.YCbCr:
		widenRange(img)
		img.Rect = img.Rect.Add(frame.area.Min)
	case *image.NYCbCrA:
		widenRange(&img.YCbCr)
		img.Rect = img.Rect.Add(frame.area.Min)
	case *image.NRGBA:
		img.Rect = img.Rect.Add(frame.area.Min)
	}
	return img, nil
}

// widenRange converts the samples of a VP8 picture, in which black is 16 and white is 235 (RFC 6386 9.2, ITU-R BT.601), to the full
// range of image.YCbCr. The decoder does not, so black would become grey.
func widenRange(img *image.YCbCr) {
	var luma, chroma [256]uint8
	for i := range 256 {
		luma[i] = uint8(min(max((i-16)*255/219, 0), 255))
		chroma[i] = uint8(min(max((i-128)*255/224+128, 0), 255))
	}
	for i, v := range img.Y {
		img.Y[i] = luma[v]
	}
	for i := range img.Cb {
		img.Cb[i], img.Cr[i] = chroma[img.Cb[i]], chroma[img.Cr[i]]
	}
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

func appendUint24(b []byte, v int) []byte { return append(b, byte(v), byte(v>>8), byte(v>>16)) }
