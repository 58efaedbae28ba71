package media

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// freeGPS is a block that dash cameras write between the samples.
var freeGPS = append([]byte("\x00\x00\x10\x00freeGPS "), secret...)

// dashcam makes a movie whose media data are pieces in the given order; chunks lists the pieces that are samples of the video track, one each.
// The movie is before or behind the data.
func dashcam(pieces []string, chunks []int, movieFirst, large bool, more ...[]byte) []byte {
	sizes, offsets := be(0, 0, uint32(len(chunks))), be(0, uint32(len(chunks)))
	moov := func(base uint64) []byte {
		sizes, offsets := slices.Clone(sizes), slices.Clone(offsets)
		for _, c := range chunks {
			at := base
			for _, p := range pieces[:c] {
				at += uint64(len(p))
			}
			sizes = append(sizes, be(uint32(len(pieces[c])))...)
			if large {
				offsets = binary.BigEndian.AppendUint64(offsets, at)
			} else {
				offsets = append(offsets, be(uint32(at))...)
			}
		}
		kind := "stco"
		if large {
			kind = "co64"
		}
		return mp4Box("moov", mp4Box("mvhd", be(0, 0, 0, 1000, 5000), make([]byte, 80)),
			pictureTrack(mp4Box("stsc", be(0, 1, 1, 1, 1)), mp4Box("stsz", sizes), mp4Box(kind, offsets)), bytes.Join(more, nil))
	}
	ftyp := mp4Box("ftyp", []byte("isom"), be(0))
	data := []byte(strings.Join(pieces, ""))
	mdat := mp4Box("mdat", data)
	if large {
		mdat = slices.Concat(be(1), []byte("mdat"), be(0, uint32(16+len(data))), data)
	}
	head := uint64(len(mdat) - len(data))
	if movieFirst {
		return slices.Concat(ftyp, moov(uint64(len(ftyp)+len(moov(0)))+head), mdat)
	}
	return slices.Concat(ftyp, mdat, moov(uint64(len(ftyp))+head))
}

// pictureTrack makes a track with sample tables and with the names that cameras give it.
func pictureTrack(tables ...[]byte) []byte {
	entry := mp4Box("avc1", make([]byte, 42), []byte("\x10"+secret[:16]), make([]byte, 15), be(0))
	handler := func(kind, of string) []byte {
		return mp4Box("hdlr", be(0), []byte(kind), []byte(of), []byte(secret[:12]), []byte("\x0b"+secret))
	}
	return mp4Box("trak", mp4Box("tkhd", be(7, 0, 0, 1), make([]byte, 68)), mp4Box("mdia",
		mp4Box("mdhd", be(0, 0, 0, 1000, 0, 0)), handler("mhlr", "vide"),
		mp4Box("minf", mp4Box("vmhd", make([]byte, 12)), handler("dhlr", "alis"), mp4Box("dinf"),
			mp4Box("stbl", mp4Box("stsd", be(0, 1), entry), bytes.Join(tables, nil)))))
}

// wantKept cleans a file and fails unless the texts are where they were and no secret is left.
func wantKept(t *testing.T, file []byte, texts ...string) {
	t.Helper()
	got, _, err := cleaned(file, scanMovie)
	if err != nil {
		t.Fatal(err)
	}
	wantNoSecret(t, got, file)
	if len(got) > len(file) {
		t.Errorf("%d bytes of %d", len(got), len(file))
	}
	if strings.Contains(string(got), secret[:12]) || strings.Contains(string(got), "freeGPS") {
		t.Error("a name or a block is left")
	}
	for _, s := range texts {
		at := strings.Index(string(file), s)
		if at < 0 || at+len(s) > len(got) || string(got[at:at+len(s)]) != s {
			t.Errorf("%q is missing or was moved", s)
		}
	}
}

// TestMediaDataOutsideOfSamples puts blocks of positions wherever no sample is.
func TestMediaDataOutsideOfSamples(t *testing.T) {
	gps := string(freeGPS)
	texts := []string{"frame one", "frame two", "frame three"}
	for _, movieFirst := range []bool{false, true} {
		for _, large := range []bool{false, true} {
			wantKept(t, dashcam([]string{"frame one", gps, "frame two", gps, "frame three"}, []int{0, 2, 4}, movieFirst, large), texts...)
			wantKept(t, dashcam([]string{gps, "frame one", "frame two", "frame three", gps}, []int{1, 2, 3}, movieFirst, large), texts...)
			wantKept(t, dashcam([]string{"frame three", gps, "frame one", gps, "frame two"}, []int{2, 4, 0}, movieFirst, large), texts...)
			wantKept(t, dashcam([]string{"frame one", gps, "frame two", "frame three"}, []int{0, 0, 2, 2, 3}, movieFirst, large), texts...) // overlap
		}
	}
	plain := dashcam([]string{"frame one", gps, "frame two"}, []int{0, 2}, false, false)
	wantKept(t, append(bytes.Clone(plain), mp4Box("mdat", freeGPS)...), "frame one", "frame two")
	for _, kind := range []string{"prft", "gps ", "GPS ", "uuid", "udta", "meta", "skip"} {
		wantKept(t, append(bytes.Clone(plain), mp4Box(kind, be(0), []byte(secret))...), "frame one", "frame two")
		wantKept(t, dashcam([]string{"frame one", "frame two"}, []int{0, 1}, true, true, mp4Box(kind, []byte(secret))), "frame one", "frame two")
	}
	wantKept(t, append(bytes.Clone(plain), mp4Box("mfra", mp4Box("tfra", be(0)), mp4Box("GPS ", []byte(secret)))...), "frame one")
	id3 := append([]byte("ID3\x03\x00\x00\x00\x00\x00\x40"), secret...)
	wantKept(t, append(bytes.Clone(plain), id3...), "frame one", "frame two")
}

// TestSampleSizes checks chunks whose size the table of sizes gives in other ways.
func TestSampleSizes(t *testing.T) {
	data := "12345678" + string(freeGPS) + "abcdefgh"
	file := func(handler string, stsd []byte, perChunk uint32, sizes []byte) []byte {
		ftyp := mp4Box("ftyp", []byte("isom"), be(0))
		at := uint32(len(ftyp) + 8)
		stbl := mp4Box("stbl", stsd, mp4Box("stsc", be(0, 1, 1, perChunk, 1)), sizes, mp4Box("stco", be(0, 2, at, at+8+uint32(len(freeGPS)))))
		return slices.Concat(ftyp, mp4Box("mdat", []byte(data)), mp4Box("moov", mp4Box("trak", mp4Box("tkhd", be(0, 0, 0, 1), make([]byte, 68)),
			mp4Box("mdia", mp4Box("mdhd", be(0, 0, 0, 1000, 0, 0)), mp4Box("hdlr", be(0, 0), []byte(handler), make([]byte, 13)), mp4Box("minf", stbl)))))
	}
	sound := func(version uint16, channels, bits uint16, more ...uint32) []byte {
		b := be(0, 1, 100)
		b = append(b, "sowt\x00\x00\x00\x00\x00\x00\x00\x01"...)
		for _, v := range []uint16{version, 0, 0, 0, channels, bits, 0, 0, 0xac44, 0} {
			b = binary.BigEndian.AppendUint16(b, v)
		}
		return mp4Box("stsd", b, be(more...))
	}
	none := mp4Box("stsd", be(0, 0))
	for name, f := range map[string][]byte{
		"sizes of 4 bits":        file("vide", none, 2, mp4Box("stz2", be(0, 4, 4), []byte{0x44, 0x44})),
		"sizes of 8 bits":        file("vide", none, 2, mp4Box("stz2", be(0, 8, 4), []byte{4, 4, 3, 5})),
		"sizes of 16 bits":       file("vide", none, 2, mp4Box("stz2", be(0, 16, 4), []byte{0, 4, 0, 4, 0, 3, 0, 5})),
		"equal sizes":            file("vide", none, 2, mp4Box("stsz", be(0, 4, 4))),
		"sound by channel":       file("soun", sound(0, 2, 16), 2, mp4Box("stsz", be(0, 1, 4))),
		"sound in packets":       file("soun", sound(1, 2, 16, 64, 0, 4, 0), 128, mp4Box("stsz", be(0, 1, 256))), // of 64 samples and 4 bytes
		"sound of version 2":     file("soun", sound(2, 3, 16, 72, 0, 0, 2, 0x7f000000, 16, 0, 4, 1), 2, mp4Box("stsz", be(0, 1, 4))),
		"a size of each":         file("vide", none, 2, mp4Box("stsz", be(0, 0, 4, 4, 4, 3, 5))),
		"samples beyond the end": file("vide", none, 2, mp4Box("stsz", be(0, 0, 5, 4, 4, 3, 5, 1<<31))),
	} {
		t.Run(name, func(t *testing.T) { wantKept(t, f, "12345678", "abcdefgh") })
	}
}

// TestFragmentsOutsideOfRuns puts positions between the runs of fragments.
func TestFragmentsOutsideOfRuns(t *testing.T) {
	gps := string(freeGPS)
	init := slices.Concat(mp4Box("ftyp", []byte("isom"), be(0)), mp4Box("moov",
		pictureTrack(mp4Box("stsc", be(0, 0)), mp4Box("stsz", be(0, 0, 0)), mp4Box("stco", be(0, 0))), mp4Box("mvex", mp4Box("trex", be(0, 1, 1, 0, 5, 0)))))
	fragment := func(at int, data string, traf ...[]byte) []byte {
		return slices.Concat(mp4Box("moof", mp4Box("mfhd", be(0, 1)), mp4Box("GPS ", []byte(secret)), bytes.Join(traf, nil)), mp4Box("mdat", []byte(data)))
	}
	moofSize := func(traf ...[]byte) uint32 { return uint32(len(fragment(0, "", traf...))) - 8 }
	data := gps + "one" + "three" + gps + "seven.." + gps
	skip := uint32(8 + len(gps))
	later := skip + 8 + uint32(len(gps))
	traf := func(tfhd []byte, base uint32) [][]byte {
		return [][]byte{mp4Box("traf", tfhd, mp4Box("GPS ", []byte(secret)),
			mp4Box("trun", be(0x301, 2, base+skip, 10, 3, 10, 5)),
			mp4Box("trun", be(0x205, 1, base+later, 0, 7)))}
	}
	for name, build := range map[string]func() [][]byte{
		"from the fragment": func() [][]byte {
			tfhd := mp4Box("tfhd", be(tfhdBaseIsMoof, 1))
			return traf(tfhd, moofSize(traf(tfhd, 0)...))
		},
		"from an offset": func() [][]byte {
			tfhd := mp4Box("tfhd", be(tfhdBaseOffset, 1, 0, uint32(len(init))))
			return traf(tfhd, moofSize(traf(tfhd, 0)...))
		},
		"without any base": func() [][]byte {
			tfhd := mp4Box("tfhd", be(0, 1))
			return traf(tfhd, moofSize(traf(tfhd, 0)...))
		},
	} {
		t.Run(name, func(t *testing.T) {
			wantKept(t, slices.Concat(init, fragment(0, data, build()...)), "onethree", "seven..")
		})
	}
	// Sizes by default: of the movie, five bytes, or of the fragment; runs and tracks that follow the one before.
	small := func(base uint32) [][]byte {
		return [][]byte{
			mp4Box("traf", mp4Box("tfhd", be(0, 1)), mp4Box("trun", be(1, 2, base+8)), mp4Box("trun", be(0, 1))),
			mp4Box("traf", mp4Box("tfhd", be(tfhdSize, 1, 4)), mp4Box("trun", be(0, 1))),
		}
	}
	wantKept(t, slices.Concat(init, fragment(0, "aaaaabbbbbcccccdddd"+gps, small(moofSize(small(0)...))...)), "aaaaabbbbbcccccdddd")
}

// TestHostileSampleTables cleans files whose tables are made to cost much.
func TestHostileSampleTables(t *testing.T) {
	movie := func(data []byte, tracks ...[]byte) []byte {
		return slices.Concat(mp4Box("ftyp", []byte("isom"), be(0)), mp4Box("mdat", data), mp4Box("moov", tracks...))
	}
	const many = 3_000_000
	zeros := make([]byte, 4*many)
	ones := bytes.Repeat([]byte{0, 0, 0, 1}, many)
	falling := make([]byte, 0, 4*many)
	for i := range uint32(many) {
		falling = append(falling, be(many-i)...)
	}
	co64 := func(at uint64) []byte { return binary.BigEndian.AppendUint64(be(0, 1), at) }
	for _, tt := range []struct {
		name   string
		file   []byte
		status int
	}{
		{"millions of samples", movie([]byte("x"), pictureTrack(mp4Box("stsc", be(0, 1, 1, many, 1)), mp4Box("stsz", be(0, 0, many), ones), mp4Box("stco", be(0, 1, 24)))), 0},
		{"millions of chunks", movie([]byte("x"), pictureTrack(mp4Box("stsc", be(0, 1, 1, 1, 1)), mp4Box("stsz", be(0, 1, many)), mp4Box("stco", be(0, many), zeros))), 0},
		{"millions of chunks in falling order", movie([]byte("x"), pictureTrack(mp4Box("stsc", be(0, 1, 1, 1, 1)), mp4Box("stsz", be(0, 1, many)), mp4Box("stco", be(0, many), falling))), 422},
		{"millions of samples of a run", slices.Concat(movie([]byte("x"), pictureTrack()), mp4Box("moof", mp4Box("traf", mp4Box("tfhd", be(0, 1)), mp4Box("trun", be(0x200, many), ones)))), 0},
		{"more samples of a run than there are", slices.Concat(movie([]byte("x"), pictureTrack()), mp4Box("moof", mp4Box("traf", mp4Box("tfhd", be(0, 1)), mp4Box("trun", be(0x200, many))))), 422},
		{"an offset of 2^63", movie([]byte("x"), pictureTrack(mp4Box("stsc", be(0, 1, 1, 1, 1)), mp4Box("stsz", be(0, 1, 1)), mp4Box("co64", co64(1<<63)))), 422},
		{"an offset of 2^62", movie([]byte("x"), pictureTrack(mp4Box("stsc", be(0, 1, 1, 1<<32-1, 1)), mp4Box("stsz", be(0, 1<<32-1, 1<<32-1)), mp4Box("co64", co64(1<<62)))), 0},
		{"a chunk of 2^64 bytes", movie([]byte("x"), pictureTrack(mp4Box("stsc", be(0, 1, 1, 1<<32-1, 1)), mp4Box("stsz", be(0, 1<<32-1, 1<<32-1)), mp4Box("stco", be(0, 1, 24)))), 0},
		{"many tracks", movie([]byte("x"), bytes.Repeat(pictureTrack(mp4Box("stco", be(0, 0))), maxKeptTracks+1)), 422},
		{"many gaps", movie(bytes.Repeat([]byte("ab"), many/10), pictureTrack(mp4Box("stsc", be(0, 1, 1, 1, 1)), mp4Box("stsz", be(0, 1, many/10)), mp4Box("stco", be(0, many/10), evenOffsets(many/10)))), 422},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			w := newPeekReader(bytes.NewReader(tt.file), int64(len(tt.file)))
			_, p, err := scanMovie(w)
			if err == nil {
				err = p.check(int64(len(tt.file)))
			}
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if tt.status != 0 {
				wantStatus(t, err, tt.status)
			} else if err != nil {
				t.Error(err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 32<<20 || took > time.Minute { // a second on a machine that does nothing else
				t.Errorf("took %v and %d kB", took, n>>10)
			}
		})
	}
}

// evenOffsets returns the offsets of every second byte of the media data.
func evenOffsets(n int) []byte {
	b := make([]byte, 0, 4*n)
	for i := range uint32(n) {
		b = append(b, be(24+2*i)...)
	}
	return b
}
