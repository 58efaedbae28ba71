package media

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// wide returns an element whose size has eight bytes.
func wide(id []byte, content ...[]byte) []byte {
	body := bytes.Join(content, nil)
	return slices.Concat(id, binary.BigEndian.AppendUint64(nil, 1<<56|uint64(len(body))), body)
}

// unsized returns an element of unknown size.
func unsized(id []byte, content ...[]byte) []byte {
	return slices.Concat(id, []byte{0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, bytes.Join(content, nil))
}

// Ids of elements in the fixtures.
var (
	idHeader   = []byte{0x1a, 0x45, 0xdf, 0xa3}
	idSegment  = []byte{0x18, 0x53, 0x80, 0x67}
	idInfo     = []byte{0x15, 0x49, 0xa9, 0x66}
	idTracks   = []byte{0x16, 0x54, 0xae, 0x6b}
	idCluster  = []byte{0x1f, 0x43, 0xb6, 0x75}
	idTags     = []byte{0x12, 0x54, 0xc3, 0x67}
	idCues     = []byte{0x1c, 0x53, 0xbb, 0x6b}
	idSeekHead = []byte{0x11, 0x4d, 0x9b, 0x74}
	idAttached = []byte{0x19, 0x41, 0xa4, 0x69}
	idChapters = []byte{0x10, 0x43, 0xa7, 0x70}

	webmDoc      = element(idHeader, element([]byte{0x42, 0x82}, []byte("webm")))
	webmLength   = element([]byte{0x44, 0x89}, binary.BigEndian.AppendUint64(nil, math.Float64bits(2500)))
	webmPlain    = element(idInfo, webmLength)
	webmSounds   = wide(idTracks, webmTrackOf(1, 2))
	webmCluster1 = wide(idCluster, element([]byte{0xe7}, []byte{0}), element([]byte{0xa3}, []byte("\x81\x00\x00\x80sound")))
)

// webmTrackOf returns a track with a number, a type and more elements.
func webmTrackOf(number, kind byte, more ...[]byte) []byte {
	return wide([]byte{0xae}, element([]byte{0xd7}, []byte{number}), element([]byte{0x83}, []byte{kind}), bytes.Join(more, nil))
}

func webmTitle() []byte {
	return element(idInfo, webmLength, element([]byte{0x7b, 0xa9}, []byte(secret)))
}

func webmTagged() []byte {
	return wide(idTags, element([]byte{0x73, 0x73}, element([]byte{0x67, 0xc8}, element([]byte{0x45, 0xa3}, []byte("LOCATION")), element([]byte{0x44, 0x87}, []byte(secret)))))
}

func webmOf(elements ...[]byte) []byte {
	return slices.Concat(webmDoc, wide(idSegment, elements...))
}

// void returns a Void element of n bytes.
func void(n int) []byte {
	if n > 128 {
		return wide([]byte{0xec}, make([]byte, n-9))
	}
	return element([]byte{0xec}, make([]byte, n-2))
}

func TestCleanWebM(t *testing.T) {
	block := func(track byte, text string) []byte {
		return element([]byte{0xa3}, append([]byte{0x80 | track, 0, 0, 0x80}, text...))
	}
	group := func(track byte, text string) []byte {
		return element([]byte{0xa0}, element([]byte{0xa1}, append([]byte{0x80 | track, 0, 0, 0}, text...)), element([]byte{0x9b}, []byte{1}))
	}
	title, tags := element([]byte{0x7b, 0xa9}, []byte(secret)), webmTagged()
	apps := func(name string) []byte {
		return append(element([]byte{0x4d, 0x80}, []byte(name)), element([]byte{0x57, 0x41}, []byte(name))...)
	}
	seek := func(id []byte) []byte {
		return element([]byte{0x4d, 0xbb}, element([]byte{0x53, 0xab}, id), element([]byte{0x53, 0xac}, []byte{99}))
	}
	crc := element([]byte{0xbf}, []byte("sums"))
	nothing := strings.Repeat("\x00", len(secret))
	subtitles := webmTrackOf(3, 17, element([]byte{0x53, 0x6e}, []byte(secret)))
	vorbis := func(comment string) []byte {
		return wide([]byte{0x63, 0xa2}, []byte{2, 30, byte(len(comment))}, []byte("\x01vorbis"), make([]byte, 23), []byte(comment), []byte("\x05vorbis setup"))
	}
	comment := "\x03vorbis" + string(le32(0)) + string(le32(1)) + string(le32(uint32(len(secret)))) + secret + "\x01"
	noComment := "\x03vorbis" + string(le32(0)) + string(le32(0)) + "\x01" + strings.Repeat("\x00", len(secret)+4)
	for _, tt := range []struct {
		name       string
		file, want []byte
	}{
		{"tags before the sound", webmOf(webmPlain, tags, webmSounds, webmCluster1), webmOf(webmPlain, void(len(tags)), webmSounds, webmCluster1)},
		{"tags behind the sound", webmOf(webmPlain, webmSounds, webmCluster1, tags), webmOf(webmPlain, webmSounds, webmCluster1, void(len(tags)))},
		{"tags of 3 kB", webmOf(webmPlain, webmSounds, wide(idTags, bytes.Repeat([]byte(secret), 200)), webmCluster1), webmOf(webmPlain, webmSounds, void(12+200*16), webmCluster1)},
		{"title and date", webmOf(element(idInfo, webmLength, title, element([]byte{0x44, 0x61}, make([]byte, 8))), webmSounds, webmCluster1),
			webmOf(element(idInfo, webmLength, void(len(title)), void(11)), webmSounds, webmCluster1)},
		{"programs", webmOf(element(idInfo, apps(secret), webmLength), webmSounds, webmCluster1), webmOf(element(idInfo, apps(nothing), webmLength), webmSounds, webmCluster1)},
		{"attachments and chapters", webmOf(webmPlain, wide(idAttached, []byte(secret)), webmSounds, webmCluster1, wide(idChapters, []byte(secret))),
			webmOf(webmPlain, void(28), webmSounds, webmCluster1, void(28))},
		{"an unknown element", webmOf(webmPlain, webmSounds, wide([]byte{0x1f, 0xff, 0xff, 0x01}, []byte(secret)), webmCluster1), webmOf(webmPlain, webmSounds, void(28), webmCluster1)},
		{"a void that is not empty", webmOf(webmPlain, element([]byte{0xec}, []byte(secret)), webmSounds, webmCluster1), webmOf(webmPlain, void(18), webmSounds, webmCluster1)},
		{"what points to it", webmOf(wide(idSeekHead, crc, seek(idInfo), seek(idTags), seek(idCues)), webmPlain, webmSounds, webmCluster1, wide(idCues, crc), tags),
			webmOf(wide(idSeekHead, void(6), seek(idInfo), void(len(seek(idTags))), seek(idCues)), webmPlain, webmSounds, webmCluster1, wide(idCues, void(6)), void(len(tags)))},
		{"the name of a track", webmOf(webmPlain, wide(idTracks, crc, webmTrackOf(1, 2, element([]byte{0x53, 0x6e}, []byte(secret)))), webmCluster1),
			webmOf(webmPlain, wide(idTracks, void(6), webmTrackOf(1, 2, void(3+len(secret)))), webmCluster1)},
		{"comments of Vorbis", webmOf(webmPlain, wide(idTracks, webmTrackOf(1, 2, vorbis(comment))), webmCluster1),
			webmOf(webmPlain, wide(idTracks, webmTrackOf(1, 2, vorbis(noComment))), webmCluster1)},
		{"a track of texts", webmOf(webmPlain, wide(idTracks, webmTrackOf(1, 2), subtitles), wide(idCluster, block(3, secret), block(1, "sound"), group(3, secret), group(1, "more"))),
			webmOf(webmPlain, wide(idTracks, webmTrackOf(1, 2), void(len(subtitles))), wide(idCluster, void(len(block(3, secret))), block(1, "sound"), void(len(group(3, secret))), group(1, "more")))},
		{"something in a cluster", webmOf(webmPlain, webmSounds, wide(idCluster, block(1, "sound"), element([]byte{0x58, 0x54}, []byte(secret)))),
			webmOf(webmPlain, webmSounds, wide(idCluster, block(1, "sound"), void(19)))},
		{"a live recording", slices.Concat(webmDoc, unsized(idSegment, webmPlain, webmSounds, unsized(idCluster, block(1, "sound")), unsized(idCluster, block(1, "more")), tags)),
			slices.Concat(webmDoc, unsized(idSegment, webmPlain, webmSounds, unsized(idCluster, block(1, "sound")), unsized(idCluster, block(1, "more")), void(len(tags))))},
		{"two recordings", slices.Concat(webmDoc, unsized(idSegment, webmPlain, webmSounds, unsized(idCluster, block(1, "sound"))), webmDoc, unsized(idSegment, webmPlain, tags)),
			slices.Concat(webmDoc, unsized(idSegment, webmPlain, webmSounds, unsized(idCluster, block(1, "sound"))), webmDoc, unsized(idSegment, webmPlain, void(len(tags))))},
		{"behind the segment", append(webmOf(webmPlain, webmSounds, webmCluster1), tags...), append(webmOf(webmPlain, webmSounds, webmCluster1), void(len(tags))...)},
		{"no element behind the segment", append(webmOf(webmPlain, webmSounds, webmCluster1), secret...), webmOf(webmPlain, webmSounds, webmCluster1)},
		{"an element of another kind behind the segment", slices.Concat(webmOf(webmPlain, webmSounds, webmCluster1), element([]byte{0x42, 0x82}, []byte(secret)), webmCluster1),
			webmOf(webmPlain, webmSounds, webmCluster1)},
		{"no element in the header", slices.Concat(element(idHeader, element([]byte{0x42, 0x82}, []byte("webm")), []byte("\x00"+secret)), wide(idSegment, webmPlain, webmSounds, webmCluster1)),
			slices.Concat(element(idHeader, element([]byte{0x42, 0x82}, []byte("webm")), make([]byte, 1+len(secret))), wide(idSegment, webmPlain, webmSounds, webmCluster1))},
		{"in the header", slices.Concat(element(idHeader, element([]byte{0x42, 0x82}, []byte("webm")), title), wide(idSegment, webmPlain, webmSounds, webmCluster1)),
			slices.Concat(element(idHeader, element([]byte{0x42, 0x82}, []byte("webm")), void(len(title))), wide(idSegment, webmPlain, webmSounds, webmCluster1))},
	} {
		t.Run(tt.name, func(t *testing.T) { wantCleaned(t, scanWebM, tt.file, tt.want, 2500*time.Millisecond) })
	}
	damaged := webmOf(webmPlain, webmSounds, wide(idCluster, block(1, "sound"), []byte("\x00\x00damaged")), tags)
	if got := mustClean(t, damaged, scanWebM); len(got) != len(damaged) || bytes.Contains(got, []byte(secret)) || bytes.Contains(got, []byte("damaged")) {
		t.Errorf("a damaged cluster becomes %q", got)
	}
	for name, file := range map[string][]byte{
		"no element":               webmOf(webmPlain, make([]byte, 50), tags),
		"larger than its parent":   webmOf(wide(idTracks, []byte{0xae, 0xbf, 0}), tags),
		"tags of unknown size":     webmOf(webmPlain, unsized(idTags, []byte(secret)), webmSounds, webmCluster1),
		"information without size": webmOf(unsized(idInfo, webmLength), webmSounds),
		"a segment in a segment":   webmOf(webmPlain, wide(idSegment, tags)),
		"damage without an end":    slices.Concat(webmDoc, unsized(idSegment, webmPlain, webmSounds, unsized(idCluster, make([]byte, 50), tags))),
		"texts before their track": webmOf(webmPlain, webmCluster1, wide(idTracks, subtitles)),
		"comments of megabytes": webmOf(webmPlain, wide(idTracks, webmTrackOf(1, 2, wide([]byte{0x63, 0xa2}, []byte{2, 30}, bytes.Repeat([]byte{255}, 17_000),
			[]byte("\x01\x01vorbis"+strings.Repeat("x", 23)+"\x03vorbis"+strings.Repeat(secret, 300_000))))), webmCluster1),
		"another codec with comments": webmOf(webmPlain, wide(idTracks, webmTrackOf(1, 1, wide([]byte{0x63, 0xa2}, []byte("\x02\x08\x17\x80theora?\x81theora"+secret)))), webmCluster1),
		"many tracks of texts":        webmOf(webmPlain, wide(idTracks, manyTracks(maxDroppedTracks+1)), webmCluster1),
		"comments of no size":         webmOf(webmPlain, wide(idTracks, webmTrackOf(1, 2, vorbis("")))),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := cleaned(file, scanWebM)
			wantStatus(t, err, 422)
		})
	}
}

// manyTracks returns n tracks of texts.
func manyTracks(n int) (list []byte) {
	for i := range n {
		list = append(list, wide([]byte{0xae}, element([]byte{0xd7}, binary.BigEndian.AppendUint32(nil, uint32(i))), element([]byte{0x83}, []byte{17}))...)
	}
	return list
}

func FuzzCleanWebM(f *testing.F) {
	f.Add(webmOf(webmTitle(), webmTagged(), webmSounds, webmCluster1))
	f.Add(slices.Concat(webmDoc, unsized(idSegment, webmPlain, webmSounds, unsized(idCluster, element([]byte{0xa3}, []byte("\x81\x00\x00\x80sound"))), webmTagged())))
	f.Add(webmOf(webmPlain, wide(idTracks, webmTrackOf(1, 17)), wide(idCluster, element([]byte{0xa3}, []byte("\x81\x00\x00\x80text")))))
	fuzzScan(f, scanWebM)
}
