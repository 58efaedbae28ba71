package media

import (
	"slices"
	"strings"
	"testing"
)

// TestBytesOfNoFrame puts texts where no frame is, in each format that has such places besides movies.
func TestBytesOfNoFrame(t *testing.T) {
	id3 := func(version byte) []byte {
		return append([]byte{'I', 'D', '3', version, 0, 0, 0, 0, 0, byte(len(secret))}, secret...)
	}
	sound := mp3Frames(3)
	flac := slices.Concat([]byte("fLaC\x80\x00\x00\x22"), make([]byte, 34), []byte("\xff\xf8frame of sound"))
	block := element([]byte{0xa0}, element([]byte{0xa1}, []byte("\x81\x00\x00\x00sound")), element([]byte{0xec}, []byte(secret)), element([]byte{0x4f, 0xff}, []byte(secret)))
	point := element([]byte{0xbb}, element([]byte{0xb3}, []byte{0}), element([]byte{0xec}, []byte(secret)),
		element([]byte{0xb7}, element([]byte{0xf7}, []byte{1}), element([]byte{0x4f, 0xff}, []byte(secret))))
	cluster := wide(idCluster, element([]byte{0xe7}, []byte{0}), element([]byte{0xa3}, []byte("\x81\x00\x00\x80sound")), []byte("\x00\x00"), []byte(secret))
	for _, tt := range []struct {
		name string
		scan scanFunc
		file []byte
		kept string
	}{
		{"MP3: ID3v2.3 behind the sound", scanMP3, slices.Concat(sound, id3(3)), string(sound)},
		{"MP3: ID3v2.4 without footer, before ID3v1", scanMP3, slices.Concat(sound, id3(4), []byte("TAG"), make([]byte, 125)), string(sound)},
		{"MP3: ID3v2.3 that is cut off", scanMP3, slices.Concat(sound, []byte("ID3\x03\x00\x00\x00\x00\x10\x00TPE1"), []byte(secret)), string(sound)},
		{"MP3: joined files", scanMP3, slices.Concat(sound, id3(3), sound, id3(2), id3(3)), string(sound) + string(sound)},
		{"MP3: a mark in the sound", scanMP3, slices.Concat(sound, []byte("ID3\x03\x00\x00"), sound, id3(3)), string(sound) + "ID3\x03\x00\x00" + string(sound)},
		{"FLAC: ID3v2.3 behind the sound", scanFLAC, slices.Concat(flac, id3(3)), string(flac)},
		{"WebM: a block group", scanWebM, webmOf(webmPlain, webmSounds, wide(idCluster, element([]byte{0xe7}, []byte{0}), block)), "\x81\x00\x00\x00sound"},
		{"WebM: the index", scanWebM, webmOf(webmPlain, webmSounds, webmCluster1, wide(idCues, point, element([]byte{0xec}, []byte(secret)))), "\x81\x00\x00\x80sound"},
		{"WebM: no element in a cluster", scanWebM, webmOf(webmPlain, webmSounds, cluster, webmCluster1), "\x81\x00\x00\x80sound"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := cleaned(tt.file, tt.scan)
			if err != nil {
				t.Fatal(err)
			}
			wantNoSecret(t, got, tt.file)
			if !strings.Contains(string(got), tt.kept) {
				t.Errorf("the sound is not there: %q", got)
			}
		})
	}
}
