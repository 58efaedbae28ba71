package media

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"slices"
	"testing"
)

const afterIHDR = len(pngHeader) + 8 + 13 + 4

func TestCleanPNG(t *testing.T) {
	plain := encodePNG(quarters(40, 30))
	end := len(plain) - 12 // of IEND
	icc := pngChunk("iCCP", []byte("icc\x00\x00deflated"))
	for _, tt := range []struct {
		name     string
		add      [][]byte
		keep     [][]byte
		trailing string
		animated bool
	}{
		{name: "text", add: [][]byte{pngChunk("tEXt", []byte("Comment\x00"+secret))}},
		{name: "international text", add: [][]byte{pngChunk("iTXt", append([]byte("XML:com.adobe.xmp\x00\x00\x00\x00\x00"), xmp()...))}},
		{name: "compressed text", add: [][]byte{pngChunk("zTXt", []byte(secret))}},
		{name: "EXIF", add: [][]byte{pngChunk("eXIf", tiff(binary.BigEndian, 6))}},
		{name: "time", add: [][]byte{pngChunk("tIME", []byte(secret))}},
		{name: "unknown chunks", add: [][]byte{pngChunk("prVt", []byte(secret)), pngChunk("caBX", []byte(secret))}},
		{name: "unknown chunk with a wrong checksum", add: [][]byte{append(pngChunk("teSt", []byte(secret))[:24], 0, 0, 0, 0)}},
		{name: "colours stay", add: [][]byte{
			pngChunk("gAMA", be(45455)), pngChunk("sRGB", []byte{0}), pngChunk("pHYs", append(be(1, 1), 0)), icc,
			pngChunk("tEXt", []byte(secret))},
			keep: [][]byte{pngChunk("gAMA", be(45455)), pngChunk("sRGB", []byte{0}), pngChunk("pHYs", append(be(1, 1), 0)), icc}},
		{name: "animation stays", add: [][]byte{pngChunk("acTL", be(2, 0)), pngChunk("tEXt", []byte(secret))},
			keep: [][]byte{pngChunk("acTL", be(2, 0))}, animated: true},
		{name: "page behind the picture", trailing: "<script>" + secret},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dirty := append(insert(plain, afterIHDR, tt.add...), tt.trailing...)
			got, found, err := cleaned(dirty, scanPNG)
			if err != nil {
				t.Fatal(err)
			}
			wantNoSecret(t, got, dirty)
			samePixels(t, got, plain, png.Decode)
			if want := insert(plain, afterIHDR, tt.keep...); !bytes.Equal(got, want) {
				t.Errorf("%d bytes are left, want %d", len(got), len(want))
			}
			if found.width != 40 || found.height != 30 || found.animated() != tt.animated {
				t.Errorf("facts %+v", found)
			}

			behind := insert(plain, end, tt.add...) // where some writers put it
			if got, _, err = cleaned(behind, scanPNG); err != nil || bytes.Contains(got, []byte(secret)) {
				t.Errorf("behind the data: %v, or metadata is left", err)
			}
		})
	}
}

func TestPNGRefused(t *testing.T) {
	plain := encodePNG(quarters(40, 30))
	end := len(plain) - 12
	data := bytes.Index(plain, []byte("IDAT")) - 4
	broken := bytes.Clone(plain)
	broken[data+20] ^= 1
	for _, tt := range []struct {
		name string
		file []byte
	}{
		{"empty", nil},
		{"only the signature", plain[:8]},
		{"cut off in the data", plain[:data+20]},
		{"no end", plain[:end]},
		{"no data", slices.Concat(plain[:data], plain[end:])},
		{"a flipped bit", broken},
		{"unknown critical chunk", insert(plain, afterIHDR, pngChunk("CgBI", []byte{1}))},
		{"two headers", insert(plain, afterIHDR, plain[8:afterIHDR])},
		{"header not first", insert(plain, 8, pngChunk("gAMA", be(1)))},
		{"header too short", slices.Concat(plain[:8], pngChunk("IHDR", be(1, 1)), plain[afterIHDR:])},
		{"no width", slices.Concat(plain[:8], pngChunk("IHDR", append(be(0, 1), 8, 2, 0, 0, 0)), plain[afterIHDR:])},
		{"length beyond the end", insert(plain, afterIHDR, be(1<<31-1), []byte("tEXt"))},
		{"length of all bits", insert(plain, afterIHDR, be(1<<32-1), []byte("tEXt"))},
		{"short animation control", insert(plain, afterIHDR, pngChunk("acTL", be(2)))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := cleaned(tt.file, scanPNG)
			wantStatus(t, err, 422)
		})
	}
}

func TestPNGProfile(t *testing.T) {
	plain := encodePNG(quarters(20, 20))
	icc := iccProfile(3000)
	with := withPNGProfile(plain, icc)
	got, found, err := cleaned(with, scanPNG)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, with) || !bytes.Equal(found.profile, icc) {
		t.Errorf("profile of %d bytes in a file of %d; want %d in %d", len(found.profile), len(got), len(icc), len(with))
	}
	samePixels(t, with, plain, png.Decode)

	bomb := withPNGProfile(plain, make([]byte, 50<<20))
	if _, found, err = cleaned(bomb, scanPNG); err != nil || found.profile != nil {
		t.Errorf("profile of 50 MiB: %v, %d bytes", err, len(found.profile))
	}
}

// TestPNGMemory compares the estimate with the size of each kind of decoded picture.
func TestPNGMemory(t *testing.T) {
	r := image.Rect(0, 0, 50, 40)
	for _, tt := range []struct {
		name string
		img  image.Image
		want int64
	}{
		{"grey", image.NewGray(r), 1},
		{"deep grey", image.NewGray16(r), 2},
		{"colours", photo(50, 40), 4},
		{"transparent", image.NewNRGBA(r), 4},
		{"deep and transparent", image.NewNRGBA64(r), 8},
		{"palette", image.NewPaletted(r, color.Palette{color.White, color.Black}), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, found, err := cleaned(encodePNG(tt.img), scanPNG)
			if err != nil || found.memory != tt.want*50*40 {
				t.Errorf("%d bytes, %v; want %d a pixel", found.memory, err, tt.want)
			}
		})
	}
	for _, tt := range []struct {
		header      []byte
		transparent bool
		want        int64
	}{
		{[]byte{8: 8, 9: 0, 12: 0}, true, 4},
		{[]byte{8: 16, 9: 0, 12: 0}, true, 8},
		{[]byte{8: 8, 9: 3, 12: 0}, true, 1},
		{[]byte{8: 8, 9: 2, 12: 1}, false, 8},
	} {
		if got := pngPixel(tt.header, tt.transparent); got != tt.want {
			t.Errorf("header %v: %d bytes a pixel, want %d", tt.header, got, tt.want)
		}
	}
}

func FuzzCleanPNG(f *testing.F) {
	plain := encodePNG(quarters(8, 8))
	f.Add(plain)
	f.Add(withPNGProfile(plain, iccProfile(200)))
	f.Add(append(insert(plain, afterIHDR, pngChunk("tEXt", []byte(secret)), pngChunk("acTL", be(2, 0))), secret...))
	fuzzScan(f, scanPNG)
}
