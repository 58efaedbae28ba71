package media

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"slices"
	"testing"
)

// jfif returns the segment at the start of most JPEG files, optionally with a thumbnail of one pixel.
func jfif(thumbnail bool) []byte {
	body := []byte("JFIF\x00\x01\x02\x01\x00\x48\x00\x48\x00\x00")
	if thumbnail {
		body[12], body[13] = 1, 1
		body = append(body, 1, 2, 3)
	}
	return segmentOf(markerAPP0, body)
}

func TestCleanJPEG(t *testing.T) {
	plain := encodeJPEG(photo(120, 80))
	icc := segmentOf(markerAPP2, append([]byte(iccHeader+"\x01\x01"), iccProfile(500)...))
	adobe := segmentOf(markerAPP14, []byte("Adobe\x00\x64\x00\x00\x00\x00\x01"))
	minimal := func(o int) []byte {
		return segmentOf(markerAPP1, append([]byte(exifHeader), orientationTIFF(o)...))
	}
	for _, tt := range []struct {
		name        string
		add         [][]byte // after the start of image
		keep        [][]byte // what of that is left
		trailing    string
		orientation int
	}{
		{name: "EXIF with GPS", add: [][]byte{exifSegment(1)}},
		{name: "EXIF that turns the picture", add: [][]byte{exifSegment(6)}, keep: [][]byte{minimal(6)}, orientation: 6},
		{name: "EXIF in the other byte order", add: [][]byte{segmentOf(markerAPP1,
			append([]byte(exifHeader), tiff(binary.BigEndian, 8)...))}, keep: [][]byte{minimal(8)}, orientation: 8},
		{name: "EXIF with an orientation that does not exist", add: [][]byte{exifSegment(9)}},
		{name: "EXIF twice", add: [][]byte{exifSegment(3), exifSegment(6)}, keep: [][]byte{minimal(3)}, orientation: 3},
		{name: "XMP", add: [][]byte{segmentOf(markerAPP1, append([]byte("http://ns.adobe.com/xap/1.0/\x00"), xmp()...))}},
		{name: "IPTC", add: [][]byte{segmentOf(0xed, []byte("Photoshop 3.0\x00"+secret))}},
		{name: "comment", add: [][]byte{segmentOf(markerCOM, []byte(secret))}},
		{name: "colour profile and JFIF stay", add: [][]byte{jfif(false), icc, adobe, exifSegment(1)},
			keep: [][]byte{jfif(false), icc, adobe}},
		{name: "thumbnail", add: [][]byte{jfif(true), segmentOf(markerAPP0, []byte("JFXX\x00\x10"+secret))},
			keep: [][]byte{jfif(false)}},
		{name: "more behind Adobe's transform", add: [][]byte{segmentOf(markerAPP14, []byte("Adobe\x00\x64\x00\x00\x00\x00\x01"+secret))},
			keep: [][]byte{adobe}},
		{name: "other application segments", add: [][]byte{
			segmentOf(markerAPP2, []byte("MPF\x00"+secret)), segmentOf(0xe5, []byte(secret)), segmentOf(0xeb, []byte("JP"+secret))}},
		{name: "archive behind the picture", trailing: "PK\x03\x04" + secret},
		{name: "everything at once", add: [][]byte{jfif(true), exifSegment(5), icc, segmentOf(markerCOM, []byte(secret))},
			keep: [][]byte{jfif(false), minimal(5), icc}, trailing: secret, orientation: 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dirty := append(insert(plain, 2, tt.add...), tt.trailing...)
			got, found, err := cleaned(dirty, scanJPEG)
			if err != nil {
				t.Fatal(err)
			}
			wantNoSecret(t, got, dirty)
			samePixels(t, got, plain, jpeg.Decode)
			if want := insert(plain, 2, tt.keep...); !bytes.Equal(got, want) {
				t.Errorf("%d bytes are left, want %d", len(got), len(want))
			}
			if found.width != 120 || found.height != 80 || found.orientation != tt.orientation {
				t.Errorf("facts %+v", found)
			}
		})
	}
}

func TestCleanJPEGProfile(t *testing.T) {
	plain := encodeJPEG(photo(16, 16))
	segment := func(of byte, icc []byte) []byte {
		return segmentOf(markerAPP2, append([]byte(iccHeader+"\x01"+string(of)), icc...))
	}
	grey := iccProfile(300)
	copy(grey[16:], "GRAY")
	for _, tt := range []struct {
		name string
		file []byte
		want []byte
	}{
		{"one segment", insert(plain, 2, segment(1, iccProfile(300))), iccProfile(300)},
		{"two segments", insert(plain, 2, segment(2, iccProfile(300)), segment(2, iccProfile(300))), nil},
		{"for grey", insert(plain, 2, segment(1, grey)), nil},
		{"for colours in a grey picture", insert(encodeJPEG(image.NewGray(image.Rect(0, 0, 8, 8))), 2, segment(1, iccProfile(300))), nil},
		{"none", plain, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, found, err := cleaned(tt.file, scanJPEG)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, tt.file) {
				t.Error("a profile was changed")
			}
			if !bytes.Equal(found.profile, tt.want) {
				t.Errorf("profile of %d bytes, want %d", len(found.profile), len(tt.want))
			}
		})
	}
}

func TestJPEGRefused(t *testing.T) {
	plain := encodeJPEG(photo(64, 64))
	frame := bytes.Index(plain, []byte{0xff, markerSOF0})
	scan := bytes.Index(plain, []byte{0xff, markerSOS})
	with := func(off int, b byte) []byte {
		file := bytes.Clone(plain)
		file[off] = b
		return file
	}
	for _, tt := range []struct {
		name string
		file []byte
	}{
		{"empty", nil},
		{"only the start", plain[:2]},
		{"cut off in a table", plain[:30]},
		{"cut off in the data", plain[:len(plain)-20]},
		{"no end of image", plain[:len(plain)-2]},
		{"no data", slices.Concat(plain[:scan], []byte{0xff, markerEOI})},
		{"segment without length", insert(plain, 2, []byte{0xff, markerCOM, 0, 1})},
		{"garbage between segments", insert(plain, 2, []byte("garbage"))},
		{"arithmetic coding", with(frame+1, 0xc9)},
		{"lossless", with(frame+1, 0xc3)},
		{"twelve bits", with(frame+4, 12)},
		{"two components", with(frame+9, 2)},
		{"no width", slices.Concat(plain[:frame+7], []byte{0, 0}, plain[frame+9:])},
		{"sampling of nothing", with(frame+11, 0)},
		{"two frames", insert(plain, frame, plain[frame:frame+19])},
		{"too many scans", insert(plain, len(plain)-2, bytes.Repeat(plain[scan:len(plain)-2], maxScans))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := cleaned(tt.file, scanJPEG)
			wantStatus(t, err, 422)
		})
	}
}

// TestJPEGMemory compares the estimate with the memory of the decoded planes; the decoder's coefficients are not visible.
func TestJPEGMemory(t *testing.T) {
	for _, size := range []image.Point{{64, 64}, {100, 37}, {1, 1}, {1001, 300}} {
		_, found, err := cleaned(encodeJPEG(photo(size.X, size.Y)), scanJPEG)
		if err != nil {
			t.Fatal(err)
		}
		img, err := jpeg.Decode(bytes.NewReader(encodeJPEG(photo(size.X, size.Y))))
		if err != nil {
			t.Fatal(err)
		}
		planes := img.(*image.YCbCr)
		if got := int64(cap(planes.Y)); found.memory < got {
			t.Errorf("%v: estimate %d, decoded picture takes %d", size, found.memory, got)
		}
	}
}

func TestEXIFOrientation(t *testing.T) {
	sound := tiff(binary.BigEndian, 7)
	for _, tt := range []struct {
		name string
		tiff []byte
		want int
	}{
		{"big-endian", sound, 7},
		{"little-endian", tiff(binary.LittleEndian, 2), 2},
		{"made here", orientationTIFF(4), 4},
		{"empty", nil, 0},
		{"no TIFF", []byte("XX*\x00\x00\x00\x00\x08"), 0},
		{"directory outside", []byte("MM\x00*\x00\x00\xff\x00"), 0},
		{"directory at the start", []byte("MM\x00*\x00\x00\x00\x00"), 0},
		{"more entries than there are", []byte("MM\x00*\x00\x00\x00\x08\xff\xff"), 0},
		{"cut off", sound[:40], 0},
		{"too large a value", tiff(binary.BigEndian, 9), 0},
		{"zero", tiff(binary.BigEndian, 0), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := exifOrientation(tt.tiff); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func FuzzCleanJPEG(f *testing.F) {
	plain := encodeJPEG(photo(16, 16))
	f.Add(plain)
	f.Add(append(insert(plain, 2, jfif(true), exifSegment(6), segmentOf(markerCOM, []byte(secret))), secret...))
	fuzzScan(f, scanJPEG)
}

func FuzzEXIFOrientation(f *testing.F) {
	f.Add(tiff(binary.BigEndian, 6))
	f.Add(orientationTIFF(3))
	f.Fuzz(func(t *testing.T, tiff []byte) {
		o := exifOrientation(tiff)
		if o < 0 || o > 8 {
			t.Fatalf("orientation %d", o)
		}
		if o > 0 && len(tiff) < len(orientationTIFF(o)) {
			t.Fatalf("%d bytes are less than what replaces them", len(tiff))
		}
	})
}
