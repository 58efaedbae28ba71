package media

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"io"
	"slices"
	"testing"

	"golang.org/x/image/webp"
)

func TestCleanWebP(t *testing.T) {
	const webpEverything = 0x3e
	data := riffChunk("VP8L", vp8l(40, 30, 255))
	odd := riffChunk("VP8L", append(vp8l(40, 31, 255), make([]byte, 1-len(vp8l(40, 31, 255))&1)...))
	icc := riffChunk("ICCP", iccProfile(301))
	anim := riffChunk("ANIM", make([]byte, 6))
	exif, xmp := riffChunk("EXIF", tiff(binary.BigEndian, 6)), riffChunk("XMP ", xmp())
	unknown := riffChunk("JUNK", []byte(secret))
	frame := anmf(0, 0, 40, 30, data)
	for _, tt := range []struct {
		name         string
		dirty, clean []byte
		animated     bool
	}{
		{"EXIF", webpFile(vp8x(webpEXIF, 40, 30), data, exif), webpFile(vp8x(0, 40, 30), data), false},
		{"XMP", webpFile(vp8x(webpXMP|webpAlpha, 40, 30), data, xmp), webpFile(vp8x(webpAlpha, 40, 30), data), false},
		{"both, and a profile", webpFile(vp8x(webpEverything, 40, 30), icc, data, exif, xmp),
			webpFile(vp8x(webpEverything&^(webpEXIF|webpXMP), 40, 30), icc, data), false},
		{"unknown chunks", webpFile(vp8x(0, 40, 30), unknown, data, unknown, unknown), webpFile(vp8x(0, 40, 30), data), false},
		{"behind a plain picture", webpFile(data, exif, unknown), webpFile(data), false},
		{"behind data of odd length", webpFile(odd, exif), webpFile(odd), false},
		{"archive behind the picture", append(webpFile(data), "PK"+secret...), webpFile(data), false},
		{"animation", webpFile(vp8x(webpEverything, 40, 30), anim, frame, frame, exif),
			webpFile(vp8x(webpEverything&^(webpEXIF|webpXMP), 40, 30), anim, frame, frame), true},
		{"within a frame", webpFile(vp8x(2, 40, 30), anim, anmf(0, 0, 40, 30, unknown, data, exif), anmf(0, 0, 40, 30, data, exif)),
			webpFile(vp8x(2, 40, 30), anim, frame, frame), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, found, err := cleaned(tt.dirty, scanWebP)
			if err != nil {
				t.Fatal(err)
			}
			wantNoSecret(t, got, tt.dirty)
			if !bytes.Equal(got, tt.clean) {
				t.Errorf("%d bytes are left, want %d:\n%q\n%q", len(got), len(tt.clean), got, tt.clean)
			}
			if found.width != 40 || found.height < 30 || found.animated() != tt.animated {
				t.Errorf("facts %+v", found)
			}
			if !tt.animated {
				samePixels(t, got, tt.dirty, webp.Decode)
			}
		})
	}
}

func TestCleanWebPWithoutPadding(t *testing.T) {
	data := vp8l(40, 31, 255)
	if len(data)&1 == 0 {
		data = append(data, 0)
	}
	file := webpFile(riffChunk("VP8L", data))
	file = file[:len(file)-1]
	binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
	if got, _, err := cleaned(file, scanWebP); err != nil || !bytes.Equal(got, file) {
		t.Errorf("%v, or the file was changed", err)
	}
}

func TestWebPRefused(t *testing.T) {
	data := riffChunk("VP8L", vp8l(40, 30, 255))
	plain := webpFile(data)
	frame := anmf(0, 0, 40, 30, data)
	for _, tt := range []struct {
		name string
		file []byte
	}{
		{"empty", nil},
		{"only the header", plain[:12]},
		{"cut off", plain[:len(plain)-2]},
		{"no picture", webpFile(vp8x(0, 40, 30))},
		{"chunk beyond the end", webpFile(data[:len(data)-2])},
		{"data without a header", webpFile(riffChunk("VP8L", []byte("garbage")))},
		{"lossy data without a header", webpFile(riffChunk("VP8 ", []byte("more garbage")))},
		{"two pictures", webpFile(vp8x(0, 40, 30), data, data)},
		{"two headers", webpFile(vp8x(0, 40, 30), vp8x(0, 40, 30), data)},
		{"picture larger than its header says", webpFile(vp8x(0, 4, 3), riffChunk("VP8 ", vp8Header(16383, 16383)))},
		{"frame larger than the picture", webpFile(vp8x(2, 40, 30), anmf(2, 0, 40, 30, data))},
		{"data larger than the frame", webpFile(vp8x(2, 40, 30), anmf(0, 0, 20, 30, data))},
		{"frame without data", webpFile(vp8x(2, 40, 30), frame, anmf(0, 0, 40, 30))},
		{"frame with two pictures", webpFile(vp8x(2, 40, 30), anmf(0, 0, 40, 30, data, data))},
		{"short header", webpFile(riffChunk("VP8X", make([]byte, 9)), data)},
		{"short frame", webpFile(vp8x(2, 40, 30), riffChunk("ANMF", make([]byte, 10)))},
		{"metadata first", webpFile(riffChunk("EXIF", []byte("x")), data)},
		{"sound", slices.Concat([]byte("RIFF\x04\x00\x00\x00WAVE"))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := cleaned(tt.file, scanWebP)
			wantStatus(t, err, 422)
		})
	}
}

// TestDecodeWebPFrame decodes the first frame of an animation, in a corner of the picture.
func TestDecodeWebPFrame(t *testing.T) {
	frame := anmf(60, 40, 40, 30, riffChunk("VP8L", vp8l(40, 30, 255)))
	file := webpFile(vp8x(2, 100, 70), riffChunk("ANIM", make([]byte, 6)), frame, frame)
	_, found, err := cleaned(file, scanWebP)
	if err != nil {
		t.Fatal(err)
	}
	img, err := decodeWebP(io.NewSectionReader(bytes.NewReader(file), 0, int64(len(file))), found, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := image.Rect(60, 40, 100, 70); img.Bounds() != want {
		t.Errorf("bounds %v, want %v", img.Bounds(), want)
	}
	if got, want := img.At(60, 40), (color.NRGBA{255, 40, 10, 255}); got != want {
		t.Errorf("colour %v, want %v", got, want)
	}
}

// TestDecodeLossyWebP decodes a grey picture with and without transparency.
func TestDecodeLossyWebP(t *testing.T) {
	const width, height = 50, 40
	alpha := append([]byte{0}, bytes.Repeat([]byte{77}, width*height)...) // not compressed
	for _, tt := range []struct {
		name string
		file []byte
		want uint8
	}{
		{"opaque", webpFile(riffChunk("VP8 ", vp8(width, height))), 255},
		{"flagged as transparent, and is not", webpFile(vp8x(webpAlpha, width, height), riffChunk("VP8 ", vp8(width, height))), 255},
		{"transparent", webpFile(vp8x(webpAlpha, width, height), riffChunk("ALPH", alpha), riffChunk("VP8 ", vp8(width, height))), 77},
		{"animated", webpFile(vp8x(webpAlpha|2, width, height), riffChunk("ANIM", make([]byte, 6)),
			anmf(0, 0, width, height, riffChunk("ALPH", alpha), riffChunk("VP8 ", vp8(width, height)))), 77},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, found, err := cleaned(tt.file, scanWebP)
			if err != nil || !bytes.Equal(got, tt.file) {
				t.Fatalf("%v, or the file was changed", err)
			}
			img, err := decodeWebP(io.NewSectionReader(bytes.NewReader(got), 0, int64(len(got))), found, 1)
			if err != nil {
				t.Fatal(err)
			}
			c := color.NRGBAModel.Convert(img.At(width-1, height-1)).(color.NRGBA)
			if img.Bounds() != image.Rect(0, 0, width, height) || c.A != tt.want {
				t.Errorf("bounds %v, colour %v", img.Bounds(), c)
			}
			if size := int64(width * height); found.memory < size {
				t.Errorf("estimate of %d bytes", found.memory)
			}
		})
	}
}

func TestWidenRange(t *testing.T) {
	img := image.NewYCbCr(image.Rect(0, 0, 2, 2), image.YCbCrSubsampleRatio420)
	copy(img.Y, []uint8{16, 235, 0, 255})
	img.Cb[0], img.Cr[0] = 128, 240
	widenRange(img)
	if want := []uint8{0, 255, 0, 255}; !bytes.Equal(img.Y, want) {
		t.Errorf("luma %v, want %v", img.Y, want)
	}
	if img.Cb[0] != 128 || img.Cr[0] != 255 {
		t.Errorf("chroma %d, %d", img.Cb[0], img.Cr[0])
	}
}

func FuzzCleanWebP(f *testing.F) {
	data := riffChunk("VP8L", vp8l(8, 8, 255))
	frame := anmf(0, 0, 8, 8, data, riffChunk("JUNK", []byte(secret)))
	f.Add(webpFile(data))
	f.Add(webpFile(vp8x(webpEXIF, 8, 8), data, riffChunk("EXIF", []byte(secret))))
	f.Add(webpFile(vp8x(2, 8, 8), riffChunk("ANIM", make([]byte, 6)), frame, frame))
	f.Add(webpFile(vp8x(webpAlpha, 8, 8), riffChunk("ALPH", []byte{0}), riffChunk("VP8 ", vp8Header(8, 8))))
	fuzzScan(f, scanWebP)
}
