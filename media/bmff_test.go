package media

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// movieTrack describes a track of a fixture. Each chunk of its data has two samples, the last one possibly one.
type movieTrack struct {
	id      uint32
	handler string
	chunks  []string
	same    bool   // all samples have one size
	large   bool   // offsets of 64 bits
	extra   []byte // more boxes
}

// movieFile makes a movie: ftyp, mdat with the chunks of the tracks in turn, moov.
func movieFile(brand string, tracks []movieTrack, extra ...[]byte) []byte {
	ftyp := mp4Box("ftyp", []byte(brand), be(0), []byte("isommp42"))
	var data []byte
	offsets := make([][]uint64, len(tracks))
	for i := 0; ; i++ {
		more := false
		for j, t := range tracks {
			if i < len(t.chunks) {
				offsets[j] = append(offsets[j], uint64(len(ftyp)+8+len(data)))
				data = append(data, t.chunks[i]...)
				more = true
			}
		}
		if !more {
			break
		}
	}
	moov := [][]byte{mp4Box("mvhd", be(0, 3900000000, 3900000001, 1000, 5000), make([]byte, 80))}
	for j, t := range tracks {
		moov = append(moov, trackBox(t, offsets[j]))
	}
	return slices.Concat(ftyp, mp4Box("mdat", data), mp4Box("moov", append(moov, extra...)...))
}

func trackBox(t movieTrack, offsets []uint64) []byte {
	stsz := be(0, 0, uint32(2*len(t.chunks)))
	chunks, kind := be(0, uint32(len(offsets))), "stco"
	if t.large {
		kind = "co64"
	}
	for i, c := range t.chunks {
		n := uint32(len(c))
		stsz = append(stsz, be(n/2, n-n/2)...)
		if t.large {
			chunks = binary.BigEndian.AppendUint64(chunks, offsets[i])
		} else {
			chunks = append(chunks, be(uint32(offsets[i]))...)
		}
	}
	if t.same {
		stsz = be(0, uint32(len(t.chunks[0])/2), uint32(2*len(t.chunks)))
	}
	stbl := mp4Box("stbl", mp4Box("stsd", be(0, 0)), mp4Box("stsc", be(0, 1, 1, 2, 1)),
		mp4Box("stsz", stsz), mp4Box(kind, chunks))
	return mp4Box("trak",
		mp4Box("tkhd", be(7, 3900000000, 3900000001, t.id), make([]byte, 68)),
		t.extra,
		mp4Box("mdia",
			mp4Box("mdhd", be(1<<24, 0, 3900000000, 0, 3900000001, 1000), make([]byte, 12)),
			mp4Box("hdlr", be(0, 0), []byte(t.handler), make([]byte, 13)),
			mp4Box("minf", mp4Box("vmhd", make([]byte, 12)), mp4Box("dinf"), stbl)))
}

// dated is a time in the headers of a movie.
var dated = be(3900000000)

func TestCleanMovie(t *testing.T) {
	video := movieTrack{id: 1, handler: "vide", chunks: []string{"frame one", "frame two", "frame three"}}
	sound := movieTrack{id: 2, handler: "soun", chunks: []string{"sound one", "sound two"}, same: true}
	both := []movieTrack{video, sound}
	gps := func(same, large bool) movieTrack {
		return movieTrack{id: 3, handler: "meta", chunks: []string{secret, secret}, same: same, large: large}
	}
	keys := mp4Box("meta", mp4Box("hdlr", be(0, 0), []byte("mdta"), make([]byte, 13)),
		mp4Box("keys", be(0, 1), mp4Box("mdta", []byte("com.apple.quicktime.location.ISO6709"))),
		mp4Box("ilst", mp4Box("\x00\x00\x00\x01", mp4Box("data", be(1, 0), []byte(secret)))))
	udta := mp4Box("udta", mp4Box("\xa9xyz", []byte(secret)), mp4Box("loci", []byte(secret)), be(0))
	with := func(t movieTrack, extra []byte) movieTrack {
		t.extra = extra
		return t
	}
	for _, tt := range []struct {
		name string
		file []byte
	}{
		{"user data", movieFile("isom", both, udta)},
		{"metadata with keys", movieFile("isom", both, keys)},
		{"XMP", movieFile("isom", both, mp4Box("uuid", []byte("sixteen bytes id"), xmp()))},
		{"unknown box", movieFile("isom", both, mp4Box("gps ", []byte(secret)))},
		{"free space that is not empty", movieFile("isom", both, mp4Box("free", []byte(secret)))},
		{"user data of a track", movieFile("isom", []movieTrack{with(video, udta), sound})},
		{"metadata of a track", movieFile("isom", []movieTrack{video, with(sound, keys)})},
		{"behind the movie", append(movieFile("isom", both), mp4Box("udta", []byte(secret))...)},
		{"a box up to the end", append(movieFile("isom", both), append(be(0), "skip"+secret...)...)},
		{"a box of 64-bit size", append(movieFile("isom", both),
			slices.Concat(be(1), []byte("uuid"), be(0, 16+uint32(len(secret))), []byte(secret))...)},
		{"no box at all", append(movieFile("isom", both), "\x00\x00\x00\x00\x00\x00\x00\x00"+secret...)},
		{"a few bytes behind", append(movieFile("isom", both, udta), 1, 2, 3)},
		{"positions in a track", movieFile("isom", []movieTrack{video, gps(false, false), sound})},
		{"positions of equal size", movieFile("isom", []movieTrack{gps(true, false), video})},
		{"positions far away", movieFile("isom", []movieTrack{video, gps(false, true)})},
		{"subtitles", movieFile("qt  ", []movieTrack{video, {id: 9, handler: "sbtl", chunks: []string{secret}}})},
		{"references", movieFile("isom", []movieTrack{
			with(video, mp4Box("tref", mp4Box("cdsc", be(1, 3)), mp4Box("auxl", be(2)))), gps(false, false), sound})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, found, err := cleaned(tt.file, scanMovie)
			if err != nil {
				t.Fatal(err)
			}
			wantNoSecret(t, got, tt.file)
			if bytes.Contains(got, dated) {
				t.Error("a time is left")
			}
			if strings.Contains(string(got), "location") {
				t.Error("a key is left")
			}
			for _, s := range []string{"frame one", "frame two", "frame three"} {
				if at := strings.Index(string(tt.file), s); string(got[at:at+len(s)]) != s {
					t.Errorf("%q is missing or was moved", s)
				}
			}
			if !found.video {
				t.Error("no picture track was seen")
			}
			if strings.HasPrefix(tt.name, "ref") {
				if strings.Contains(string(got), "cdsc") || !strings.Contains(string(got), "auxl") {
					t.Error("references are wrong")
				}
			}
		})
	}
}

func TestMovieSizeStays(t *testing.T) {
	file := movieFile("isom", []movieTrack{{id: 1, handler: "soun", chunks: []string{"sound"}}}, mp4Box("udta", []byte(secret)))
	got, found, err := cleaned(file, scanMovie)
	if err != nil || len(got) != len(file) || found.video {
		t.Errorf("%v; %d bytes, want %d; %+v", err, len(got), len(file), found)
	}
}

func TestFragmentedMovie(t *testing.T) {
	video := movieTrack{id: 1, handler: "vide", chunks: []string{"frame"}}
	fragment := slices.Concat(mp4Box("moof", mp4Box("mfhd", be(0, 1)), mp4Box("udta", []byte(secret)),
		mp4Box("traf", mp4Box("tfhd", be(0, 1)), mp4Box("meta", []byte(secret)), mp4Box("trun", be(0, 0)))), mp4Box("mdat", []byte("more")))
	file := append(movieFile("isom", []movieTrack{video}), fragment...)
	got, _, err := cleaned(file, scanMovie)
	if err != nil {
		t.Fatal(err)
	}
	wantNoSecret(t, got, file)
	if !strings.Contains(string(got), "trun") {
		t.Error("the fragment is gone")
	}
	positions := movieTrack{id: 2, handler: "meta", chunks: []string{secret}}
	_, _, err = cleaned(append(movieFile("isom", []movieTrack{video, positions}), fragment...), scanMovie)
	wantStatus(t, err, 422)
}

func TestMovieRefused(t *testing.T) {
	video := movieTrack{id: 1, handler: "vide", chunks: []string{"frame one", "frame two"}}
	positions := movieTrack{id: 2, handler: "meta", chunks: []string{"here", "here", "here"}}
	plain := movieFile("isom", []movieTrack{video})
	patch := func(file []byte, box string, at int, values ...uint32) []byte {
		file = bytes.Clone(file)
		copy(file[bytes.LastIndex(file, []byte(box))+4+at:], be(values...))
		return file
	}
	for _, tt := range []struct {
		name string
		file []byte
	}{
		{"empty", nil},
		{"cut off", plain[:len(plain)-5]},
		{"no movie", mp4Box("ftyp", []byte("isom"), be(0))},
		{"no data", slices.Concat(mp4Box("ftyp", []byte("isom"), be(0)), mp4Box("moov", trackBox(video, []uint64{0, 0})))},
		{"no picture and no sound", movieFile("isom", []movieTrack{positions})},
		{"box larger than the one around it", patch(plain, "tkhd", -8, 9999)},
		{"box smaller than its head", patch(plain, "tkhd", -8, 7)},
		{"box of no size", patch(plain, "tkhd", -8, 0)},
		{"box of 64-bit size beyond the end", patch(plain, "mvhd", -8, 1)},
		{"track header too short", movieFile("isom", []movieTrack{video}, mp4Box("trak", mp4Box("tkhd", be(0))))},
		{"more chunks than there are", patch(plain, "stco", 4, 1<<31)},
		{"more samples than there are", patch(plain, "stsz", 4, 0, 1<<31, 1<<30)},
		{"too many boxes", append(bytes.Clone(plain), bytes.Repeat(mp4Box("free"), maxBoxes)...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := cleaned(tt.file, scanMovie)
			wantStatus(t, err, 422)
		})
	}
}

// heifFile makes a picture of items: one of type av01, EXIF in two pieces, XMP, a URI, and EXIF within "idat". The versions
// are of the boxes iloc and infe.
func heifFile(iloc, infe byte) []byte {
	ftyp := mp4Box("ftyp", []byte("avif"), be(0), []byte("mif1avif"))
	exif := append(be(0), tiff(binary.BigEndian, 6)...)
	data := slices.Concat([]byte("picture"), exif, exif, xmp(), []byte(secret))
	number := func(v uint16, wide bool) []byte {
		if wide {
			return be(uint32(v))
		}
		return []byte{byte(v >> 8), byte(v)}
	}
	kinds := []string{"av01", "Exif", "mime", "uri ", "Exif"}
	var items []byte
	for i, kind := range kinds {
		items = append(items, mp4Box("infe", []byte{infe, 0, 0, 0}, number(uint16(i+1), infe > 2), []byte{0, 0}, []byte(kind+"name\x00"))...)
	}
	iinf := mp4Box("iinf", []byte{infe - 2, 0, 0, 0}, number(uint16(len(kinds)), infe > 2), items)

	// The positions of the items depend on the size of the box with the positions.
	meta := func(at uint32) []byte {
		extent := func(n int) []byte {
			at += uint32(n)
			return be(at-uint32(n), uint32(n))
		}
		item := func(id uint16, method byte, extents ...[]byte) []byte {
			b := number(id, iloc > 1)
			if iloc > 0 {
				b = append(b, 0, method)
			}
			return append(append(b, 0, 0, 0, byte(len(extents))), bytes.Join(extents, nil)...)
		}
		locations := [][]byte{item(1, 0, extent(7)), item(2, 0, extent(len(exif)), extent(len(exif))),
			item(3, 0, extent(len(xmp()))), item(4, 0, extent(len(secret)))}
		if iloc > 0 {
			locations = append(locations, item(5, 1, be(0, uint32(len(secret)))))
		}
		return mp4Box("meta", be(0), mp4Box("hdlr", be(0, 0), []byte("pict"), be(0, 0, 0), []byte{0}), mp4Box("pitm", be(0), []byte{0, 1}),
			iinf, mp4Box("iloc", []byte{iloc, 0, 0, 0, 0x44, 0}, number(uint16(len(locations)), iloc > 1), bytes.Join(locations, nil)),
			mp4Box("iprp"), mp4Box("idat", []byte(secret)), mp4Box("uuid", []byte(secret)))
	}
	return slices.Concat(ftyp, meta(uint32(len(ftyp)+len(meta(0))+8)), mp4Box("mdat", data))
}

func TestCleanHEIF(t *testing.T) {
	for _, version := range [][2]byte{{0, 2}, {1, 2}, {2, 3}} {
		file := heifFile(version[0], version[1])
		got, _, err := cleaned(file, scanHEIF)
		if err != nil {
			t.Fatalf("versions %d: %v", version, err)
		}
		if n := bytes.Count(got, []byte(secret)); n != 0 {
			t.Errorf("versions %d: %d pieces of metadata are left", version, n)
		}
		if len(got) != len(file) || !strings.Contains(string(got), "picture") {
			t.Errorf("versions %d: the picture is missing or was moved", version)
		}
		if want := append(be(0), orientationTIFF(1)...); bytes.Count(got, want) != 1 {
			t.Errorf("versions %d: there is no empty EXIF item", version)
		}
	}
}

func TestHEIFRefused(t *testing.T) {
	plain := heifFile(1, 2)
	patch := func(box string, at int, b ...byte) []byte {
		file := bytes.Clone(plain)
		copy(file[bytes.Index(file, []byte(box))+4+at:], b)
		return file
	}
	for _, tt := range []struct {
		name string
		file []byte
	}{
		{"empty", nil},
		{"cut off", plain[:len(plain)-5]},
		{"no items", mp4Box("ftyp", []byte("avif"), be(0))},
		{"no item table", slices.Concat(mp4Box("ftyp", []byte("avif"), be(0)), mp4Box("meta", be(0), mp4Box("pitm", be(0))))},
		{"item beyond the end", patch("iloc", 8+16+8, 0x7f)},
		{"numbers of odd width", patch("iloc", 4, 0xff, 0xff)},
		{"more items than there are", patch("iloc", 6, 0xff, 0xff)},
		{"metadata made of items", patch("iloc", 8+16+2, 0, 2)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := cleaned(tt.file, scanHEIF)
			wantStatus(t, err, 422)
		})
	}
}

// TestItemTableTime reads a table that declares billions of empty extents.
func TestItemTableTime(t *testing.T) {
	entries := bytes.Repeat([]byte{0, 9, 0, 0, 0xff, 0xff}, 60000)
	file := slices.Concat(mp4Box("ftyp", []byte("avif"), be(0)),
		mp4Box("meta", be(0), mp4Box("pitm", be(0), []byte{0, 1}),
			mp4Box("iinf", be(0), []byte{0, 1}, mp4Box("infe", be(2<<24), []byte{0, 1, 0, 0}, []byte("Exif\x00"))),
			mp4Box("iloc", []byte{0, 0, 0, 0, 0, 0, 0xea, 0x60}, entries)))
	if _, _, err := cleaned(file, scanHEIF); err != nil {
		t.Errorf("items of no size are no metadata: %v", err)
	}
}

func FuzzCleanMovie(f *testing.F) {
	video := movieTrack{id: 1, handler: "vide", chunks: []string{"frame one", "frame two"},
		extra: mp4Box("tref", mp4Box("cdsc", be(2)))}
	f.Add(movieFile("isom", []movieTrack{video}, mp4Box("udta", []byte(secret))))
	f.Add(movieFile("isom", []movieTrack{video, {id: 2, handler: "meta", chunks: []string{secret}}}))
	f.Add(movieFile("isom", []movieTrack{video, {id: 2, handler: "meta", chunks: []string{secret}, same: true, large: true}}))
	fuzzScan(f, scanMovie)
}

func FuzzCleanHEIF(f *testing.F) {
	f.Add(heifFile(0, 2))
	f.Add(heifFile(1, 2))
	f.Add(heifFile(2, 3))
	fuzzScan(f, scanHEIF)
}
