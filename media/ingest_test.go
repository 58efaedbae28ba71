package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

// sounds and movies as far as the code reads them.
var (
	oggFile  = append([]byte("OggS\x00\x02"+strings.Repeat("\x00", 20)+"\x01\x13OpusHead"), make([]byte, 11)...)
	flacFile = flacOf(flacInfo)
	wavFile  = wavOf(wavFormat, wavData)
	mp3File  = append([]byte("\xff\xfb\x90\x64"), make([]byte, 60)...)
	webmFile = append([]byte("\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm"), make([]byte, 60)...)
)

func TestIngestTypes(t *testing.T) {
	f, dir := openFiles(t, Limits{})
	video := movieTrack{id: 1, handler: "vide", chunks: []string{"frame"}}
	sound := movieTrack{id: 2, handler: "soun", chunks: []string{"sound"}}
	for _, tt := range []struct {
		name      string
		file      []byte
		ext, mime string // "" if it is refused
		picture   bool   // of the kind that avatars can be
	}{
		{"PNG", encodePNG(quarters(9, 9)), "png", "image/png", true},
		{"APNG", insert(encodePNG(quarters(9, 9)), afterIHDR, pngChunk("acTL", be(1, 0))), "png", "image/png", true},
		{"JPEG", encodeJPEG(photo(9, 9)), "jpg", "image/jpeg", true},
		{"GIF", encodeGIF(9, 9, 1), "gif", "image/gif", true},
		{"WebP", webpFile(riffChunk("VP8L", vp8l(9, 9, 255))), "webp", "image/webp", true},
		{"AVIF", heifFile(1, 2), "avif", "image/avif", false},
		{"HEIC", bytes.Replace(heifFile(1, 2), []byte("avif"), []byte("heic"), 1), "heic", "image/heic", false},
		{"HEIF", bytes.Replace(heifFile(1, 2), []byte("avif"), []byte("mif1"), 1), "heif", "image/heif", false},
		{"MP4", movieFile("isom", []movieTrack{video, sound}), "mp4", "video/mp4", false},
		{"MP4 of another brand", movieFile("M4V ", []movieTrack{video}), "mp4", "video/mp4", false},
		{"MP4 of a camera", movieFile("MSNV", []movieTrack{video}), "mp4", "video/mp4", false},
		{"MP4 of sound only", movieFile("mp42", []movieTrack{sound}), "m4a", "audio/mp4", false},
		{"M4A", movieFile("M4A ", []movieTrack{sound}), "m4a", "audio/mp4", false},
		{"QuickTime", movieFile("qt  ", []movieTrack{video, sound}), "mov", "video/quicktime", false},
		{"QuickTime of sound only", movieFile("qt  ", []movieTrack{sound}), "m4a", "audio/mp4", false},
		{"WebM", webmFile, "webm", "video/webm", false},
		{"WebM of picture and sound", webmOf(webmPlain, wide(idTracks, webmTrackOf(1, 2), webmTrackOf(2, 1)), webmCluster1), "webm", "video/webm", false},
		{"WebM of sound only", webmOf(webmPlain, webmSounds, webmCluster1), "weba", "audio/webm", false},
		{"WebM of sound and subtitles", webmOf(webmPlain, wide(idTracks, webmTrackOf(1, 2), webmTrackOf(2, 17)), webmCluster1), "weba", "audio/webm", false},
		{"Opus", oggFile, "ogg", "audio/ogg", false},
		{"FLAC", flacFile, "flac", "audio/flac", false},
		{"WAV", wavFile, "wav", "audio/wav", false},
		{"MP3", mp3File, "mp3", "audio/mpeg", false},
		{"SVG", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), "", "", false},
		{"HTML", []byte("<!DOCTYPE html><script>alert(1)</script>"), "", "", false},
		{"PDF", []byte("%PDF-1.7\n"), "", "", false},
		{"TIFF", tiff(binary.BigEndian, 1), "", "", false},
		{"BMP", []byte("BM" + strings.Repeat("\x00", 60)), "", "", false},
		{"ICO", []byte("\x00\x00\x01\x00" + strings.Repeat("\x00", 60)), "", "", false},
		{"ZIP", []byte("PK\x03\x04" + strings.Repeat("\x00", 60)), "", "", false},
		{"JSON", []byte(`{"@context":"https://www.w3.org/ns/activitystreams","type":"Note"}`), "", "", false},
		{"3GP", movieFile("3gp5", []movieTrack{video}), "", "", false},
		{"MP3 that begins with something else", append([]byte("\x01\x02binary"), bytes.Repeat(mp3File[:4], 600)...), "", "", false},
		{"text", []byte("hello"), "", "", false},
		{"one byte", []byte{0xff}, "", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file, err := f.Ingest(t.Context(), 1, bytes.NewReader(tt.file), Attachment, 1<<20)
			if tt.ext == "" {
				wantStatus(t, err, 422)
			} else if err != nil {
				t.Fatal(err)
			} else {
				content, err := os.ReadFile(filepath.Join(dir, file.Name))
				if err != nil {
					t.Fatal(err)
				}
				sum := sha256.Sum256(content)
				hash := hex.EncodeToString(sum[:])
				want := File{Name: f.storedName(1, sum, tt.ext), MIME: tt.mime, Size: int64(len(content)), SHA256: hash}
				if tt.picture {
					want.Width, want.Height = 9, 9
				}
				got := *file
				got.Duration, got.FrameRate, got.Blurhash, got.files, got.owner = 0, 0, "", nil, 0 // see TestProperties
				if tt.picture != (file.Blurhash != "") {
					t.Errorf("blurhash %q", file.Blurhash)
				}
				if got != want {
					t.Errorf("got %+v, want %+v", *file, want)
				}
			}
			for _, kind := range []Kind{Avatar, Header, Background, Emoji} {
				_, err := f.Ingest(t.Context(), 1, bytes.NewReader(tt.file), kind, 1<<20)
				if tt.picture && err != nil {
					t.Errorf("as kind %d: %v", kind, err)
				} else if !tt.picture {
					wantStatus(t, err, 422)
				}
			}
		})
	}
	if left, err := os.ReadDir(filepath.Join(dir, tempDir)); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if list := MIMETypes(); !slices.Contains(list, "image/webp") || len(list) != len(formats) {
		t.Errorf("types %v", list)
	}
}

func TestIngestRemovesMetadata(t *testing.T) {
	f, dir := openFiles(t, Limits{})
	for name, file := range map[string][]byte{
		"JPEG":  insert(encodeJPEG(photo(9, 9)), 2, exifSegment(6)),
		"PNG":   insert(encodePNG(quarters(9, 9)), afterIHDR, pngChunk("tEXt", []byte(secret))),
		"GIF":   append(encodeGIF(9, 9, 2), secret...),
		"WebP":  webpFile(vp8x(webpEXIF, 9, 9), riffChunk("VP8L", vp8l(9, 9, 255)), riffChunk("EXIF", []byte(secret))),
		"MP4":   movieFile("isom", []movieTrack{{id: 1, handler: "vide", chunks: []string{"frame"}}}, mp4Box("udta", []byte(secret))),
		"AVIF":  heifFile(1, 2),
		"audio": movieFile("M4A ", []movieTrack{{id: 1, handler: "soun", chunks: []string{"sound"}}}, mp4Box("udta", []byte(secret))),
	} {
		t.Run(name, func(t *testing.T) {
			// The result does not depend on the pieces in which the file arrives.
			got, err := f.Ingest(t.Context(), 1, iotest.OneByteReader(bytes.NewReader(file)), Attachment, int64(len(file)))
			if err != nil {
				t.Fatal(err)
			}
			again, err := f.Ingest(t.Context(), 1, iotest.DataErrReader(bytes.NewReader(file)), Attachment, 1<<20)
			if err != nil || *again != *got {
				t.Errorf("%+v, %v; want %+v", again, err, got)
			}
			content, err := os.ReadFile(filepath.Join(dir, got.Name))
			if err != nil {
				t.Fatal(err)
			}
			wantNoSecret(t, content, file)
			if name == "JPEG" && (got.Width != 9 || got.Height != 9) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestIngestRejects(t *testing.T) {
	plain := encodePNG(quarters(40, 30))
	header := func(width, height uint32) []byte {
		return slices.Concat(plain[:8], pngChunk("IHDR", append(be(width, height), 8, 6, 0, 0, 0)), plain[afterIHDR:])
	}
	bombJPEG := encodeJPEG(photo(8, 8))
	copy(bombJPEG[bytes.Index(bombJPEG, []byte{0xff, markerSOF0})+5:], []byte{0xff, 0xdc, 0xff, 0xdc})
	bombGIF := encodeGIF(8, 8, 1)
	copy(bombGIF[6:], []byte{0xff, 0xff, 0xff, 0xff})
	garbled := encodeJPEG(photo(900, 700))
	clear(garbled[bytes.Index(garbled, []byte{0xff, markerDHT})+4:][:400])
	lost := errors.New("connection lost")
	for _, tt := range []struct {
		name string
		r    io.Reader
		max  int64
		want int // status, or 0 for the error lost
	}{
		{"nothing", bytes.NewReader(nil), 100, 422},
		{"one byte too much", bytes.NewReader(plain), int64(len(plain)) - 1, 413},
		{"far too much", io.MultiReader(bytes.NewReader(plain), endless{}), 1 << 20, 413},
		{"too much of an unsupported type", endless{}, 100, 413},
		{"nothing allowed", bytes.NewReader(plain), 0, 413},
		{"cut off picture", bytes.NewReader(plain[:len(plain)-20]), 1 << 20, 422},
		{"cut off request", io.MultiReader(bytes.NewReader(plain), iotest.ErrReader(io.ErrUnexpectedEOF)), 1 << 20, 400},
		{"lost connection", io.MultiReader(bytes.NewReader(plain), iotest.ErrReader(lost)), 1 << 20, 0},
		{"lost connection at the start", iotest.ErrReader(lost), 1 << 20, 0},
		{"PNG bomb", bytes.NewReader(header(60000, 60000)), 1 << 20, 422},
		{"long PNG", bytes.NewReader(header(1, 1<<31-1)), 1 << 20, 422},
		{"PNG of all bits", bytes.NewReader(header(1<<32-1, 1<<32-1)), 1 << 20, 422},
		{"JPEG bomb", bytes.NewReader(bombJPEG), 1 << 20, 422},
		{"GIF bomb", bytes.NewReader(bombGIF), 1 << 20, 422},
		{"WebP bomb", bytes.NewReader(webpFile(riffChunk("VP8 ", vp8Header(16383, 16383)))), 1 << 20, 422},
		{"sound structure, no picture behind the header", bytes.NewReader(webpFile(riffChunk("VP8 ", vp8Header(2000, 2000)))), 1 << 20, 422},
		{"picture that cannot be decoded", bytes.NewReader(garbled), 1 << 20, 422},
		{"JPEG in name only", strings.NewReader("\xff\xd8\xff<script>alert(1)</script>"), 1 << 20, 422},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, dir := openFiles(t, Limits{})
			file, err := f.Ingest(t.Context(), 1, tt.r, Attachment, tt.max)
			if file != nil {
				t.Errorf("stored %+v", file)
			}
			if tt.want == 0 {
				if !errors.Is(err, lost) {
					t.Errorf("got %v, want %v", err, lost)
				}
			} else {
				wantStatus(t, err, tt.want)
			}
			wantNothingStored(t, dir)
		})
	}
}

// endless yields letters without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestPixelLimit(t *testing.T) {
	f, _ := openFiles(t, Limits{Pixels: 40 * 30})
	if _, err := f.Ingest(t.Context(), 1, bytes.NewReader(encodePNG(quarters(40, 30))), Attachment, 1<<20); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	_, err := f.Ingest(t.Context(), 1, bytes.NewReader(encodePNG(quarters(40, 31))), Attachment, 1<<20)
	wantStatus(t, err, 422)
}

func TestIngestConcurrently(t *testing.T) {
	f, dir := openFiles(t, Limits{})
	file := insert(encodeJPEG(photo(900, 600)), 2, exifSegment(1))
	results := make([]*File, 8)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			got, err := f.Ingest(t.Context(), 1, bytes.NewReader(file), Attachment, 1<<20)
			if err != nil {
				t.Error(err)
			}
			results[i] = got
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	for _, r := range results[1:] {
		if *r != *results[0] {
			t.Errorf("got %+v and %+v", *r, *results[0])
		}
	}
	got := stored(t, f)
	if _, ok := got[results[0].Thumbnail]; !ok || len(got) != 2 || got[results[0].Name].Size != results[0].Size {
		t.Errorf("stored %v", got)
	}
	if left, err := os.ReadDir(filepath.Join(dir, tempDir)); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestIngestCancelled ends the context while the upload waits to be decoded.
func TestIngestCancelled(t *testing.T) {
	f, dir := openFiles(t, Limits{})
	f.decoding <- struct{}{} // another picture is being decoded, and will not end
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := f.Ingest(ctx, 1, bytes.NewReader(encodeJPEG(photo(700, 700))), Attachment, 1<<20)
		done <- err
	}()
	small, err := f.Ingest(t.Context(), 1, bytes.NewReader(encodeJPEG(photo(70, 70))), Avatar, 1<<20)
	if err != nil {
		t.Errorf("a picture that needs no thumbnail has to wait: %v", err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	small.Release()
	if _, err := f.RemoveOlder(t.Context(), small.Name, time.Now().Add(time.Hour)); err != nil {
		t.Error(err)
	}
	wantNothingStored(t, dir)
}

func FuzzIngest(f *testing.F) {
	for _, file := range [][]byte{
		encodePNG(quarters(16, 16)), encodeGIF(16, 16, 2), oggFile, heifFile(1, 2),
		insert(encodeJPEG(photo(16, 16)), 2, exifSegment(6)),
		webpFile(riffChunk("VP8L", vp8l(16, 16, 255))),
		movieFile("isom", []movieTrack{{id: 1, handler: "vide", chunks: []string{"frame"}}}),
	} {
		f.Add(file, uint8(Attachment))
		f.Add(file, uint8(Emoji))
	}
	files, dir := openFiles(f, Limits{Pixels: 1_000_000})
	f.Fuzz(func(t *testing.T, file []byte, kind uint8) {
		got, err := files.Ingest(t.Context(), 1, bytes.NewReader(file), Kind(kind%uint8(len(kindRules))), 1<<16)
		if err != nil {
			if got != nil {
				t.Errorf("%+v with %v", got, err)
			}
			return
		}
		content, err := os.ReadFile(filepath.Join(dir, got.Name))
		if err != nil {
			t.Fatal(err)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(content)); sum != got.SHA256 || int64(len(content)) != got.Size {
			t.Errorf("%+v does not describe the stored file", got)
		}
		got.Release()
		for _, name := range []string{got.Name, got.Thumbnail} {
			if _, err := files.RemoveOlder(t.Context(), name, time.Now().Add(time.Hour)); err != nil {
				t.Error(err)
			}
		}
	})
}

func decodeFile(t *testing.T, dir, name string) (image.Image, string) {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	img, format, err := image.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	return img, format
}
