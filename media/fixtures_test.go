package media

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
)

// secret is private text in every piece of metadata of the fixtures.
const secret = "52.3731N 4.8922E"

// memFile is a file in memory.
type memFile struct{ b []byte }

func (m *memFile) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(m.b).ReadAt(p, off)
}

func (m *memFile) WriteAt(p []byte, off int64) (int, error) {
	if grow := off + int64(len(p)) - int64(len(m.b)); grow > 0 {
		m.b = append(m.b, make([]byte, grow)...)
	}
	return copy(m.b[off:], p), nil
}

func (m *memFile) Truncate(size int64) error {
	m.b = m.b[:size]
	return nil
}

// cleaned returns a file after stripMetadata.
func cleaned(file []byte, scan scanFunc) ([]byte, fileInfo, error) {
	m := &memFile{bytes.Clone(file)}
	found, size, err := stripMetadata(m, int64(len(m.b)), scan, Limits{Pixels: defaultPixels, Frames: defaultFrames})
	if err == nil && size != int64(len(m.b)) {
		panic("size returned is not the size of the file")
	}
	return m.b, found, err
}

// photo returns a picture with gradients, shapes and grain, which compresses like a photograph.
func photo(width, height int) *image.RGBA {
	r := rand.New(rand.NewPCG(uint64(width), uint64(height)))
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	level := func(v float64) uint8 { return uint8(min(255, max(0, v))) }
	for y := range height {
		for x := range width {
			u, v := float64(x)/float64(width), float64(y)/float64(height)
			grain := float64(r.IntN(17)) - 8
			img.SetRGBA(x, y, color.RGBA{
				level(128 + 90*math.Sin(24*u)*math.Cos(20*v) + grain),
				level(255*v*0.8 + 30*math.Sin(40*u*v) + grain),
				level(200*(1-u) + 20*math.Cos(60*v) + grain),
				255,
			})
		}
	}
	return img
}

// quarters returns a picture with one colour per quarter: red, green in the first row, blue, white in the second.
func quarters(width, height int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.NRGBA{255, 0, 0, 255}
			switch {
			case x >= width/2 && y >= height/2:
				c = color.NRGBA{255, 255, 255, 255}
			case y >= height/2:
				c = color.NRGBA{0, 0, 255, 255}
			case x >= width/2:
				c = color.NRGBA{0, 255, 0, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func encodeJPEG(img image.Image) []byte {
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: 88}); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// progressiveJPEG returns a grey picture in one progressive scan, which has only the mean of each block: a small file that needs much
// memory. Each difference is zero, whose code has two bits 0 in both tables of the encoder (T.81 K.3).
func progressiveJPEG(width, height int) []byte {
	file := encodeJPEG(image.NewRGBA(image.Rect(0, 0, width, height)))
	file = bytes.Replace(file, []byte{0xff, markerSOF0}, []byte{0xff, markerSOF2}, 1)
	scan := bytes.Index(file, []byte{0xff, markerSOS})
	header := file[scan : scan+14]
	copy(header[11:], []byte{0, 0, 0}) // coefficient 0 only, no approximation
	const blocks = 6                   // of a unit of 16 x 16 pixels
	data := make([]byte, (width+15)/16*((height+15)/16)*blocks*2/8)
	return append(append(file[:scan+14:scan+14], data...), 0, 0xff, markerEOI)
}

func encodePNG(img image.Image) []byte {
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// encodeGIF returns an animation of frames of noise.
func encodeGIF(width, height, frames int) []byte {
	noise := rand.New(rand.NewPCG(uint64(width), uint64(frames)))
	g := &gif.GIF{}
	palette := color.Palette{color.Black, color.White, color.Gray{100}, color.Gray{200}}
	for range frames {
		frame := image.NewPaletted(image.Rect(0, 0, width, height), palette)
		for j := range frame.Pix {
			frame.Pix[j] = uint8(noise.IntN(len(palette)))
		}
		g.Image = append(g.Image, frame)
		g.Delay = append(g.Delay, 10)
	}
	var buf bytes.Buffer
	if err := gif.EncodeAll(&buf, g); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// insert puts pieces into a file at off.
func insert(file []byte, off int, pieces ...[]byte) []byte {
	return bytes.Join([][]byte{file[:off], bytes.Join(pieces, nil), file[off:]}, nil)
}

// tiff returns a TIFF structure as cameras write it: orientation, maker, and a directory of GPS data.
func tiff(order binary.AppendByteOrder, orientation uint16) []byte {
	header := "MM\x00*"
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		header = "II*\x00"
	}
	b := order.AppendUint32([]byte(header), 8)
	entry := func(tag, kind uint16, count uint32) {
		b = order.AppendUint16(b, tag)
		b = order.AppendUint16(b, kind)
		b = order.AppendUint32(b, count)
	}
	const dir1, dir2 = 8, 8 + 2 + 3*12 + 4
	const text = dir2 + 2 + 12 + 4
	b = order.AppendUint16(b, 3)
	entry(0x010f, 2, uint32(len(secret)))
	b = order.AppendUint32(b, text)
	entry(0x0112, 3, 1)
	b = order.AppendUint16(b, orientation)
	b = order.AppendUint16(b, 0)
	entry(0x8825, 4, 1)
	b = order.AppendUint32(b, dir2)
	b = order.AppendUint32(b, 0)
	b = order.AppendUint16(b, 1)
	entry(0x0002, 2, uint32(len(secret)))
	b = order.AppendUint32(b, text)
	b = order.AppendUint32(b, 0)
	return append(b, secret...)
}

// exifSegment is an APP1 segment of a JPEG file.
func exifSegment(orientation uint16) []byte {
	return segmentOf(markerAPP1, append([]byte(exifHeader), tiff(binary.LittleEndian, orientation)...))
}

// xmp is a packet of XMP metadata.
func xmp() []byte {
	return []byte(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><exif:GPSLatitude>` + secret + `</exif:GPSLatitude></x:xmpmeta>`)
}

// iccProfile returns a colour profile for RGB, as far as the code reads it.
func iccProfile(size int) []byte {
	icc := make([]byte, size)
	for i := range icc {
		icc[i] = byte(i * 7)
	}
	copy(icc[16:], "RGB ")
	copy(icc[36:], "acsp")
	return icc
}

// pngChunk is one chunk of a PNG file.
func pngChunk(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// riffChunk is one chunk of a WebP file.
func riffChunk(kind string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(data)))
	b = append(b, data...)
	return append(b, make([]byte, len(data)&1)...)
}

func webpFile(chunks ...[]byte) []byte {
	body := bytes.Join(chunks, nil)
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+len(body)))
	return append(append(b, "WEBP"...), body...)
}

// vp8x is the header of an extended WebP file.
func vp8x(flags byte, width, height int) []byte {
	b := appendUint24([]byte{flags, 0, 0, 0}, width-1)
	return riffChunk("VP8X", appendUint24(b, height-1))
}

// vp8l is a lossless WebP bitstream: vertical stripes of two colours that differ in green.
func vp8l(width, height int, alpha byte) []byte {
	var out []byte
	var bits uint64
	var n uint
	put := func(v uint64, width uint) {
		bits |= v << n
		for n += width; n >= 8; n -= 8 {
			out = append(out, byte(bits))
			bits >>= 8
		}
	}
	code := func(symbols ...uint64) { // a prefix code of one or two symbols
		put(1, 1)
		put(uint64(len(symbols)-1), 1)
		put(1, 1)
		for _, s := range symbols {
			put(s, 8)
		}
	}
	put(0x2f, 8)
	put(uint64(width-1), 14)
	put(uint64(height-1), 14)
	put(1, 1)       // there is alpha
	put(0, 3+1+1+1) // version 0, no transform, no colour cache, no groups of codes
	code(40, 200)   // green
	code(255)       // red
	code(10)        // blue
	code(uint64(alpha))
	code(0) // distances
	for i := range width * height {
		put(uint64(i%width/8)&1, 1)
	}
	put(0, 7)
	return out
}

// vp8Header returns the header of a lossy WebP bitstream without a picture.
func vp8Header(width, height int) []byte {
	b := []byte{0x10, 0, 0, 0x9d, 0x01, 0x2a}
	b = binary.LittleEndian.AppendUint16(b, uint16(width))
	return binary.LittleEndian.AppendUint16(b, uint16(height))
}

// vp8 returns a lossy WebP bitstream of one colour: zeros decode to the most probable symbols.
func vp8(width, height int) []byte {
	partition := 1000 + width*height/8
	b := append(vp8Header(width, height), make([]byte, 2*partition)...)
	tag := uint32(partition)<<5 | 1<<4 // a key frame that is shown
	b[0], b[1], b[2] = byte(tag), byte(tag>>8), byte(tag>>16)
	return b
}

// anmf is a frame of an animated WebP file.
func anmf(left, top, width, height int, chunks ...[]byte) []byte {
	var b []byte
	for _, v := range []int{left / 2, top / 2, width - 1, height - 1, 100} {
		b = appendUint24(b, v)
	}
	return riffChunk("ANMF", append(append(b, 0), bytes.Join(chunks, nil)...))
}

// mp4Box is one box of an ISO base media file.
func mp4Box(kind string, content ...[]byte) []byte {
	body := bytes.Join(content, nil)
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
	return append(append(b, kind...), body...)
}

// be is a sequence of 32-bit numbers.
func be(values ...uint32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}
