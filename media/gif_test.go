package media

import (
	"bytes"
	"slices"
	"testing"
)

// gifData is a chain of data blocks.
func gifData(blocks ...string) []byte {
	var b []byte
	for _, s := range blocks {
		b = append(append(b, byte(len(s))), s...)
	}
	return append(b, 0)
}

func TestCleanGIF(t *testing.T) {
	still, moving := encodeGIF(30, 20, 1), encodeGIF(30, 20, 3)
	extension := func(label byte, blocks ...string) []byte {
		return append([]byte{gifExtension, label}, gifData(blocks...)...)
	}
	// XMP in a GIF file is not in blocks; a trailer of descending numbers ends the reading of readers that expect blocks.
	magic := []byte{1}
	for i := 255; i >= 0; i-- {
		magic = append(magic, byte(i))
	}
	xmpBlock := slices.Concat([]byte{gifExtension, gifApplication, 11}, []byte("XMP DataXMP"), xmp(), magic, []byte{0})
	for _, tt := range []struct {
		name     string
		file     []byte
		add      []byte
		trailing string
	}{
		{"comment", still, extension(0xfe, "taken at", secret), ""},
		{"plain text", still, extension(0x01, "............", secret), ""},
		{"XMP", still, xmpBlock, ""},
		{"application", moving, extension(gifApplication, "SOMEAPP 1.0", secret), ""},
		{"application that claims to loop", moving, extension(gifApplication, "NETSCAPE2.0", secret), ""},
		{"unknown extension", moving, extension(0x77, secret), ""},
		{"archive behind the picture", moving, nil, "PK" + secret},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := 13 // behind the header, which has no table in these files
			if tt.file[10]&0x80 != 0 {
				first += 3 << (tt.file[10]&7 + 1)
			}
			dirty := append(insert(tt.file, first, tt.add), tt.trailing...)
			got, found, err := cleaned(dirty, scanGIF)
			if err != nil {
				t.Fatal(err)
			}
			wantNoSecret(t, got, dirty)
			sameFrames(t, got, tt.file)
			if !bytes.Equal(got, tt.file) {
				t.Errorf("%d bytes are left, want %d", len(got), len(tt.file))
			}
			if found.width != 30 || found.height != 20 || found.animated() != bytes.Equal(tt.file, moving) {
				t.Errorf("facts %+v", found)
			}
		})
	}
}

// TestGIFWithoutTrailer stores a file without trailer, which browsers display.
func TestGIFWithoutTrailer(t *testing.T) {
	plain := encodeGIF(30, 20, 2)
	file := append(bytes.Clone(plain[:len(plain)-1]), gifExtension, 0xfe)
	file = append(file, gifData(secret)...)
	got, found, err := cleaned(file, scanGIF)
	if err != nil || !found.animated() || !bytes.Equal(got, plain[:len(plain)-1]) {
		t.Errorf("%v; %+v; %d bytes are left, want %d", err, found, len(got), len(plain)-1)
	}
}

func TestGIFRefused(t *testing.T) {
	plain := encodeGIF(30, 20, 1)
	image := bytes.IndexByte(plain[13:], gifImage) + 13
	larger := bytes.Clone(plain)
	larger[image+5] = 31
	for _, tt := range []struct {
		name string
		file []byte
	}{
		{"empty", nil},
		{"only the header", plain[:13]},
		{"cut off in the data", plain[:len(plain)-10]},
		{"no end of the data", plain[:len(plain)-2]},
		{"no picture", slices.Concat(plain[:10], []byte{0, 0, 0, gifTrailer})},
		{"garbage", insert(plain, len(plain)-1, []byte("garbage"))},
		{"frame larger than the picture", larger},
		{"no size", slices.Concat(plain[:6], []byte{0, 0, 0, 0}, plain[10:])},
		{"odd graphic control", insert(plain, len(plain)-1, []byte{gifExtension, gifControl, 5, 0, 0, 0, 0, 0, 0})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := cleaned(tt.file, scanGIF)
			wantStatus(t, err, 422)
		})
	}
}

func FuzzCleanGIF(f *testing.F) {
	f.Add(encodeGIF(8, 8, 1))
	f.Add(append(encodeGIF(8, 8, 3), secret...))
	f.Add(insert(encodeGIF(8, 8, 2), 13, []byte{gifExtension, 0xfe}, gifData(secret)))
	fuzzScan(f, scanGIF)
}
