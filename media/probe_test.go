package media

import (
	"bytes"
	"encoding/binary"
	"image"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }

// element returns an element of WebM with a size of one byte.
func element(id []byte, content ...[]byte) []byte {
	body := bytes.Join(content, nil)
	return slices.Concat(id, []byte{0x80 | byte(len(body))}, body)
}

// TestProperties checks the properties of files that are never decoded.
func TestProperties(t *testing.T) {
	f, _ := openFiles(t, Limits{})
	track := element([]byte{0xae}, element([]byte{0x23, 0xe3, 0x83}, []byte{0x02, 0x62, 0x5a, 0x00}), // 40 ms
		element([]byte{0xe0}, element([]byte{0xb0}, []byte{2, 0x80}), element([]byte{0xba}, []byte{1, 0x68})))
	sound := element([]byte{0xae}, element([]byte{0x23, 0xe3, 0x83}, []byte{0x01, 0x31, 0x2d, 0x00})) // 20 ms
	webm := slices.Concat(element([]byte{0x1a, 0x45, 0xdf, 0xa3}, element([]byte{0x42, 0x82}, []byte("webm"))),
		element([]byte{0x18, 0x53, 0x80, 0x67},
			element([]byte{0x15, 0x49, 0xa9, 0x66}, element([]byte{0x44, 0x89}, binary.BigEndian.AppendUint64(nil, math.Float64bits(2500)))),
			element([]byte{0x16, 0x54, 0xae, 0x6b}, sound, track)))
	mp3 := append([]byte{0xff, 0xfb, 0x90, 0x64}, make([]byte, 15996)...) // 128 kbit/s
	xing := append([]byte{0xff, 0xfb, 0x90, 0x64}, make([]byte, 32)...)
	xing = append(append(xing, "Xing\x00\x00\x00\x01"...), 0, 0, 1, 0) // 256 frames of 1152 samples
	xing = append(xing, make([]byte, 60)...)
	for _, tt := range []struct {
		name     string
		file     []byte
		duration time.Duration
		size     image.Point
		rate     float64
	}{
		{"WebM", webm, 2500 * time.Millisecond, image.Pt(640, 360), 25},
		{"WebM, cut off", webm[:len(webm)-20], 2500 * time.Millisecond, image.Point{}, 0},
		{"FLAC", flacFile, 10 * time.Second, image.Point{}, 0},
		{"WAV", wavFile, 1998 * time.Millisecond, image.Point{}, 0},
		{"Opus", oggComments("OpusTags", false).file(), 3 * time.Second, image.Point{}, 0},
		{"MP3 of a constant rate", mp3, time.Second, image.Point{}, 0},
		{"MP3 with a header", xing, 256 * 1152 * time.Second / 44100, image.Point{}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.Ingest(t.Context(), 1, bytes.NewReader(tt.file), Attachment, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			defer got.Release()
			if d := got.Duration - tt.duration; d < -time.Microsecond || d > time.Microsecond || got.FrameRate != tt.rate || image.Pt(got.Width, got.Height) != tt.size {
				t.Errorf("%v, %d x %d, %v frames a second", got.Duration, got.Width, got.Height, got.FrameRate)
			}
		})
	}
}

// TestProbesOfDamagedFiles cuts files off everywhere and changes each byte: the probes stay within the file.
func TestProbesOfDamagedFiles(t *testing.T) {
	for _, probe := range []func(*peekReader) fileInfo{probeWebM, probeMP3, probeOGG, probeFLAC, probeWAV} {
		for n := range 200 {
			for _, fill := range []byte{0, 1, 0x7f, 0x80, 0xff} {
				file := bytes.Repeat([]byte{fill}, n)
				for _, head := range []string{"", "OggS", "fLaC", "RIFF....WAVEfmt ", "ID3", "\xff\xfb\x90", "\x1a\x45\xdf\xa3"} {
					copy(file, head)
					if found := probe(newPeekReader(&memFile{file}, int64(n))); found.duration < 0 || found.duration > maxDuration {
						t.Fatalf("%q: %v", file, found.duration)
					}
				}
			}
		}
	}
}

// TestBlurhash compares with values that follow from the definition: a picture of one colour has no other components.
func TestBlurhash(t *testing.T) {
	one := image.NewNRGBA(image.Rect(0, 0, 50, 40))
	for i := range one.Pix {
		one.Pix[i] = 255
	}
	if got, want := blurhash(one), "L0TSUA"+strings.Repeat("fQ", 11); got != want {
		t.Errorf("white is %q, want %q", got, want)
	}
	hash := blurhash(photo(300, 200))
	if len(hash) != 28 || hash[0] != 'L' || strings.Trim(hash, base83) != "" {
		t.Errorf("a photograph is %q", hash)
	}
	if left, right := blurhash(quarters(64, 64)), blurhash(quarters(640, 640)); left[2:6] != right[2:6] {
		t.Errorf("the mean colours of one picture in two sizes are %q and %q", left, right)
	}
}

// TestTooManyFrames refuses animations that are longer than the limit, in each format.
func TestTooManyFrames(t *testing.T) {
	f, dir := openFiles(t, Limits{Frames: 3})
	frame := anmf(0, 0, 50, 40, riffChunk("VP8L", vp8l(50, 40, 255)))
	animatedWebP := func(n int) []byte {
		return webpFile(append([][]byte{vp8x(2, 50, 40), riffChunk("ANIM", make([]byte, 6))}, slices.Repeat([][]byte{frame}, n)...)...)
	}
	for name, files := range map[string][2][]byte{
		"GIF":  {encodeGIF(30, 20, 3), encodeGIF(30, 20, 4)},
		"WebP": {animatedWebP(3), animatedWebP(4)},
		"PNG, declared": {insert(encodePNG(quarters(30, 30)), afterIHDR, pngChunk("acTL", be(3, 0))),
			insert(encodePNG(quarters(30, 30)), afterIHDR, pngChunk("acTL", be(4, 0)))},
	} {
		file, err := f.Ingest(t.Context(), 1, bytes.NewReader(files[0]), Avatar, 1<<20)
		if err != nil {
			t.Errorf("%s of 3 frames: %v", name, err)
			continue
		}
		file.Release()
		for _, n := range []string{file.Name, file.Thumbnail} {
			if _, err := f.RemoveOlder(t.Context(), n, time.Now().Add(time.Hour)); err != nil {
				t.Error(err)
			}
		}
		_, err = f.Ingest(t.Context(), 1, bytes.NewReader(files[1]), Avatar, 1<<20)
		wantStatus(t, err, 422)
	}
	wantNothingStored(t, dir)
}
