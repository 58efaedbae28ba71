package media

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
)

const pngHeader = "\x89PNG\r\n\x1a\n"

// pngChunks are the chunks that are kept: image data, colours, animation. Other critical chunks are rejected, other ancillary ones
// dropped (PNG 5.4).
var pngChunks = set("IHDR", "PLTE", "IDAT", "IEND", "tRNS", "bKGD", "pHYs", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP",
	"mDCV", "mDCv", "cLLI", "cLLi", "acTL", "fcTL", "fdAT")

// scanPNG plans to drop text, times, EXIF, and what follows the picture. It verifies the checksums of the other chunks.
func scanPNG(w *peekReader) (fileInfo, *plan, error) {
	var found fileInfo
	var p plan
	head, err := w.read(len(pngHeader))
	if err != nil {
		return fileInfo{}, nil, err
	}
	if string(head) != pngHeader {
		return fileInfo{}, nil, malformed("no PNG signature")
	}
	var header []byte
	var seenData, transparent bool
	var declared int // frames of the animation
	for kind := ""; kind != "IEND"; {
		start := w.pos
		head, err := w.read(8)
		if err != nil {
			return fileInfo{}, nil, err
		}
		n := int64(binary.BigEndian.Uint32(head))
		kind = string(head[4:])
		if first := start == int64(len(pngHeader)); first != (kind == "IHDR") {
			return fileInfo{}, nil, malformed("chunk %q at %d", kind, start)
		}
		if n+4 > w.size-w.pos {
			return fileInfo{}, nil, malformed("chunk %q is cut off", kind)
		}
		if !pngChunks[kind] {
			if critical := kind[0]&0x20 == 0; critical {
				return fileInfo{}, nil, unsupportedVariant("PNG chunk %q", kind)
			}
			w.pos += n + 4
			p.cut(start, w.pos-start)
			continue
		}
		switch kind {
		case "IHDR":
			header, err = pngSize(w, n, &found)
		case "tRNS":
			transparent = true
		case "IDAT":
			seenData = true
		case "acTL":
			declared, err = pngFrames(w, n)
		case "fcTL":
			found.frames++
		case "iCCP":
			found.profile, err = pngProfile(w, n)
		case "IEND":
			if n != 0 {
				err = malformed("end of %d bytes", n)
			}
		}
		if err != nil {
			return fileInfo{}, nil, err
		}
		if err := pngChecksum(w, kind, n); err != nil {
			return fileInfo{}, nil, err
		}
	}
	if !seenData {
		return fileInfo{}, nil, malformed("PNG without data")
	}
	found.end = w.pos
	p.cut(w.pos, w.size-w.pos)
	found.frames = max(found.frames, declared)
	found.memory = int64(found.width) * int64(found.height) * pngPixel(header, transparent)
	return found, &p, nil
}

// pngSize reads the header chunk (PNG 11.2.1) and returns a copy of it.
func pngSize(w *peekReader, n int64, found *fileInfo) ([]byte, error) {
	if n != 13 {
		return nil, malformed("header of %d bytes", n)
	}
	header, err := w.peek(13)
	if err != nil {
		return nil, err
	}
	width, height := binary.BigEndian.Uint32(header), binary.BigEndian.Uint32(header[4:])
	if width == 0 || height == 0 {
		return nil, malformed("picture without size")
	}
	found.width, found.height = int(min(width, maxSide+1)), int(min(height, maxSide+1))
	return bytes.Clone(header), nil
}

// pngPixel returns the bytes per pixel while the picture is decoded.
func pngPixel(header []byte, transparent bool) int64 {
	const grey, palette = 0, 3
	depth, colour, interlaced := header[8], header[9], header[12] != 0
	size := int64(4)
	if colour == palette || colour == grey && !transparent {
		size = 1
	}
	if depth == 16 {
		size *= 2
	}
	if interlaced {
		size *= 2 // passes are decoded separately
	}
	return size
}

// pngFrames returns the number of frames that the animation declares.
func pngFrames(w *peekReader, n int64) (int, error) {
	if n != 8 {
		return 0, malformed("animation control of %d bytes", n)
	}
	b, err := w.peek(4)
	if err != nil {
		return 0, err
	}
	return int(min(binary.BigEndian.Uint32(b), math.MaxInt32)), nil
}

// pngChecksum skips a chunk's data and verifies its checksum (PNG 5.5).
func pngChecksum(w *peekReader, kind string, n int64) error {
	sum := crc32.ChecksumIEEE([]byte(kind))
	for n > 0 {
		b, err := w.peekAny()
		if err != nil {
			return err
		}
		b = b[:min(int64(len(b)), n)]
		sum = crc32.Update(sum, crc32.IEEETable, b)
		w.pos += int64(len(b))
		n -= int64(len(b))
	}
	want, err := w.read(4)
	if err != nil {
		return err
	}
	if binary.BigEndian.Uint32(want) != sum {
		return malformed("chunk %q fails its checksum", kind)
	}
	return nil
}
