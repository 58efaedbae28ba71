package media

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"
)

// oggPages is a file of one stream. Each packet begins on the page of the one before, as Vorbis allows.
type oggPages struct {
	serial  uint32
	headers []string // packets; the first has a page of its own
	sound   string
}

// file returns pages with right checksums.
func (o oggPages) file() []byte {
	out := o.page(nil, 2, 0, []byte{byte(len(o.headers[0]))}, o.headers[0])
	var lacing []byte
	var data string
	for _, packet := range o.headers[1:] {
		lacing = append(append(lacing, bytes.Repeat([]byte{255}, len(packet)/255)...), byte(len(packet)%255))
		data += packet
	}
	flags := byte(0)
	for n := uint32(1); len(lacing) > 0; n++ {
		page := lacing[:min(len(lacing), 255)]
		size := 0
		for _, c := range page {
			size += int(c)
		}
		out = o.page(out, flags, n, page, data[:size])
		if flags = 0; page[len(page)-1] == 255 {
			flags = 1
		}
		data, lacing = data[size:], lacing[len(page):]
	}
	return o.pageAt(out, 4, 9, 48000*3+312, []byte{byte(len(o.sound))}, o.sound)
}

func (o oggPages) page(out []byte, flags byte, n uint32, lacing []byte, data string) []byte {
	return o.pageAt(out, flags, n, 0, lacing, data)
}

func (o oggPages) pageAt(out []byte, flags byte, n uint32, position uint64, lacing []byte, data string) []byte {
	page := slices.Concat([]byte("OggS\x00"), []byte{flags}, binary.LittleEndian.AppendUint64(nil, position), le32(o.serial), le32(n), le32(0),
		[]byte{byte(len(lacing))}, lacing, []byte(data))
	copy(page[22:], le32(oggChecksum(page)))
	return append(out, page...)
}

// oggComments is an Opus file, or one of Vorbis if framing is set, with comments.
func oggComments(mark string, framing bool, comments ...string) oggPages {
	if comments == nil {
		comments = []string{"LOCATION=" + secret, "METADATA_BLOCK_PICTURE=" + strings.Repeat(secret, 100)}
	}
	packet := mark + string(le32(7)) + "program" + string(le32(uint32(len(comments))))
	for _, c := range comments {
		packet += string(le32(uint32(len(c)))) + c
	}
	if !framing {
		return oggPages{1, []string{"OpusHead\x01\x02" + string([]byte{0x38, 0x01}) + strings.Repeat("\x00", 7), packet}, "coded sound"}
	}
	id := "\x01vorbis\x00\x00\x00\x00\x02" + string(le32(48000)) + strings.Repeat("\x00", 12) + "\xb8\x01"
	return oggPages{1, []string{id, packet + "\x01", "\x05vorbis" + strings.Repeat("setup", 300)}, "coded sound"}
}

// oggPackets reads a file as a player does: it verifies checksums and joins the packets of each stream.
func oggPackets(t *testing.T, file []byte) map[uint32][]string {
	t.Helper()
	packets := make(map[uint32][]string)
	open := make(map[uint32]string)
	for len(file) > 0 {
		if !bytes.HasPrefix(file, []byte("OggS\x00")) {
			t.Fatalf("no page: %q", file[:min(len(file), 20)])
		}
		lacing, size := file[27:][:file[26]], 0
		for _, c := range lacing {
			size += int(c)
		}
		page := bytes.Clone(file[:27+len(lacing)+size])
		sum := binary.LittleEndian.Uint32(page[22:])
		clear(page[22:26])
		if oggChecksum(page) != sum {
			t.Errorf("page with a wrong checksum: %q", page)
		}
		serial, data := binary.LittleEndian.Uint32(page[14:]), page[27+len(lacing):]
		for _, c := range lacing {
			open[serial] += string(data[:c])
			if data = data[c:]; c < 255 {
				packets[serial] = append(packets[serial], open[serial])
				delete(open, serial)
			}
		}
		file = file[len(page):]
	}
	return packets
}

func TestOggChecksum(t *testing.T) {
	// The first page of an Opus stream, as an encoder writes it.
	page := []byte("OggS\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x01a")
	var crc uint32 // bit by bit, by the definition
	for _, b := range page {
		for i := 7; i >= 0; i-- {
			top := crc>>31 ^ uint32(b>>i&1)
			if crc <<= 1; top != 0 {
				crc ^= 0x04c11db7
			}
		}
	}
	if got := oggChecksum(page); got != crc {
		t.Errorf("%08x, want %08x", got, crc)
	}
}

func TestCleanOGG(t *testing.T) {
	flacHead := "\x7fFLAC\x01\x00\x00\x02" + string(flacOf(flacInfo)[:42])
	flacBlocks := []string{flacHead, string(flacBlock(4, string(le32(0))+string(le32(1))+string(le32(16))+secret)), string(flacBlock(3, "seek table")), string(flacBlock(0x86, secret))}
	other := oggComments("OpusTags", false)
	other.serial = 2
	empty := "\x00\x00\x00\x00\x00\x00\x00\x00"
	for _, tt := range []struct {
		name   string
		file   []byte
		starts []string // of the second packet and those after it, zeros follow up to the old length
	}{
		{"Opus", oggComments("OpusTags", false).file(), []string{"OpusTags" + empty}},
		{"Opus with padding that is not empty", oggPages{1, []string{"OpusHead\x01\x02\x38\x01", "OpusTags" + empty + secret}, "sound"}.file(), []string{"OpusTags" + empty}},
		{"comments on many pages", oggComments("OpusTags", false, strings.Repeat(secret, 10_000)).file(), []string{"OpusTags" + empty}},
		{"Vorbis", oggComments("\x03vorbis", true).file(), []string{"\x03vorbis" + empty + "\x01", "\x05vorbis" + strings.Repeat("setup", 300)}},
		{"Speex", oggPages{1, []string{"Speex   1.2", string(le32(0)) + string(le32(1)) + string(le32(16)) + secret}, "sound"}.file(), []string{empty}},
		{"FLAC", oggPages{1, flacBlocks, "sound"}.file(), []string{"\x04\x00\x00\x1c" + empty, "\x03\x00\x00\x0aseek table", "\x81\x00\x00\x10"}},
		{"one file behind another", append(oggComments("OpusTags", false).file(), other.file()...), []string{"OpusTags" + empty}},
		{"tags behind the sound", append(oggComments("OpusTags", false).file(), id3v1...), []string{"OpusTags" + empty}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := cleaned(tt.file, scanOGG)
			if err != nil {
				t.Fatal(err)
			}
			wantNoSecret(t, got, tt.file)
			before, after := oggPackets(t, bytes.TrimSuffix(tt.file, id3v1)), oggPackets(t, got)
			for serial, packets := range before {
				if len(after[serial]) != len(packets) {
					t.Fatalf("%d packets, want %d", len(after[serial]), len(packets))
				}
				for i, packet := range packets {
					want := packet
					if i > 0 && i <= len(tt.starts) {
						want = tt.starts[i-1] + strings.Repeat("\x00", len(packet)-len(tt.starts[i-1]))
					}
					if after[serial][i] != want {
						t.Errorf("packet %d is %q, want %q", i, after[serial][i], want)
					}
				}
			}
		})
	}
	opus, clean := oggComments("OpusTags", false, "").file(), mustClean(t, oggComments("OpusTags", false, "").file(), scanOGG)
	for name, file := range map[string][]byte{
		"behind the pages": append(bytes.Clone(opus), strings.Repeat(secret, 5)...),
		"few bytes":        append(bytes.Clone(opus), secret...),
		"before the sound": slices.Concat(opus[:47], []byte(secret+"OggS"+secret), opus[47:]),
		"a page cut off":   append(bytes.Clone(opus), "OggS\x00"+strings.Repeat("\xff", 40)+secret...),
	} {
		t.Run(name, func(t *testing.T) { wantCleaned(t, scanOGG, file, clean, 3*time.Second) })
	}
	wantCleaned(t, scanOGG, append(oggComments("OpusTags", false, "").file(), id3v1...), mustClean(t, oggComments("OpusTags", false, "").file(), scanOGG), 3*time.Second)
	video := oggPages{2, []string{"\x80theora", "\x81theora" + secret}, "pictures"}.file()
	for name, file := range map[string][]byte{
		"an unknown stream":   append(oggComments("OpusTags", false).file(), video...),
		"no comments":         oggPages{1, []string{"OpusHead", "something else " + secret}, "sound"}.file(),
		"comments too short":  oggPages{1, []string{"OpusHead", "OpusTags"}, "sound"}.file(),
		"comments cut off":    oggComments("OpusTags", false).file()[:100],
		"too many streams":    manyOggStreams(maxOggStreams + 1),
		"packet not resumed":  slices.Concat(oggComments("OpusTags", false, strings.Repeat(secret, 10_000)).file()[:70_000], oggComments("OpusTags", false).file()[47:]),
		"a block of no type":  oggPages{1, []string{flacHead, "\xff\x00\x00\x00"}, "sound"}.file(),
		"a packet of nothing": oggPages{1, []string{flacHead, ""}, "sound"}.file(),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := cleaned(file, scanOGG)
			wantStatus(t, err, 422)
		})
	}
}

// manyOggStreams returns the first pages of n streams.
func manyOggStreams(n int) (file []byte) {
	for i := range n {
		file = oggPages{serial: uint32(i)}.page(file, 2, 0, []byte{8}, "OpusHead")
	}
	return file
}

func mustClean(t *testing.T, file []byte, scan scanFunc) []byte {
	t.Helper()
	got, _, err := cleaned(file, scan)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func FuzzCleanOGG(f *testing.F) {
	f.Add(oggComments("OpusTags", false).file())
	f.Add(oggComments("\x03vorbis", true).file())
	f.Add(oggPages{1, []string{"\x7fFLAC", string(flacBlock(4, secret)), string(flacBlock(0x81, secret))}, "sound"}.file())
	fuzzScan(f, scanOGG)
}
