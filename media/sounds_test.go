package media

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// wavChunk returns a chunk with its padding.
func wavChunk(kind, content string) []byte {
	return slices.Concat([]byte(kind), le32(uint32(len(content))), []byte(content), make([]byte, len(content)%2))
}

func wavOf(chunks ...[]byte) []byte {
	body := bytes.Join(chunks, nil)
	return slices.Concat([]byte("RIFF"), le32(uint32(4+len(body))), []byte("WAVE"), body)
}

var (
	wavFormat = wavChunk("fmt ", "\x01\x00\x01\x00\x40\x1f\x00\x00\xf4\x01\x00\x00\x01\x00\x08\x00") // 500 bytes a second
	wavData   = wavChunk("data", strings.Repeat("samples of sound", 63)[:999])
)

func TestCleanWAV(t *testing.T) {
	clean := wavOf(wavFormat, wavData)
	info := wavChunk("LIST", "INFOICMT"+secret+" ")
	declare := func(file []byte, riff, data uint32) []byte { // other sizes of the file and of the data at its end
		file = bytes.Clone(file)
		copy(file[4:], le32(riff))
		copy(file[len(file)-len(wavData)+4:], le32(data))
		return file
	}
	streamed := declare(wavOf(info, wavFormat, wavData), 0xffffffff, 0xffffffff)
	interrupted := declare(wavOf(wavFormat, info, wavData), 0, 0)
	repaired := declare(clean, uint32(len(clean)-8), 1000) // with the byte of padding
	for _, tt := range []struct {
		name       string
		file, want []byte
	}{
		{"texts before the sound", wavOf(info, wavFormat, wavChunk("bext", secret+"!"), wavData), clean},
		{"texts behind the sound", wavOf(wavFormat, wavData, info, wavChunk("id3 ", "ID3"+secret), wavChunk("iXML", secret), wavChunk("cart", secret)), clean},
		{"XMP and an unknown chunk", wavOf(wavFormat, wavChunk("_PMX", secret), wavChunk("gps ", secret), wavData), clean},
		{"padding that is not empty", wavOf(wavFormat, wavChunk("JUNK", secret), wavData), clean},
		{"labels", wavOf(wavFormat, wavData, wavChunk("cue ", "\x00\x00\x00\x00"), wavChunk("LIST", "adtllabl"+secret)), clean},
		{"a second sound", wavOf(wavFormat, wavData, wavChunk("data", secret)), clean},
		{"behind the end", append(wavOf(wavFormat, wavData), "TAG"+secret...), clean},
		{"the last chunk cut off", wavOf(wavFormat, wavData, info)[:len(clean)+8+24], clean},
		{"sizes unknown", streamed, repaired},
		{"recording interrupted", interrupted, repaired},
	} {
		t.Run(tt.name, func(t *testing.T) { wantCleaned(t, scanWAV, tt.file, tt.want, 2*time.Second) })
	}
	for _, tt := range []struct {
		name string
		file []byte
	}{
		{"no sound", wavOf(wavFormat, info)},
		{"the format cut off", wavOf(wavFormat)[:24]},
		{"too many chunks", wavOf(slices.Concat(bytes.Repeat(wavChunk("note", ""), maxChunks+1), wavFormat, wavData))},
	} {
		_, _, err := cleaned(tt.file, scanWAV)
		wantStatus(t, err, 422)
	}
}

// wantCleaned cleans a file with metadata and compares the result. A clean file stays as it is.
func wantCleaned(t *testing.T, scan scanFunc, file, want []byte, duration time.Duration) {
	t.Helper()
	got, found, err := cleaned(file, scan)
	if err != nil {
		t.Fatal(err)
	}
	wantNoSecret(t, got, append(bytes.Clone(file), secret...))
	if !bytes.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if d := found.duration - duration; d < -10*time.Millisecond || d > 10*time.Millisecond {
		t.Errorf("it lasts %v, want %v", found.duration, duration)
	}
	again, _, err := cleaned(want, scan)
	if err != nil || !bytes.Equal(again, want) {
		t.Errorf("a clean file becomes %q, %v", again, err)
	}
}

// mp3Frames are frames of 128 kbit/s and 44.1 kHz, of 417 bytes.
func mp3Frames(n int) []byte {
	return bytes.Repeat(append([]byte{0xff, 0xfb, 0x90, 0x64}, make([]byte, 413)...), n)
}

// id3v2 returns a tag. The lengths of the fixtures are below 128 · 128.
func id3v2(content string, footer bool) []byte {
	size := []byte{0, 0, byte(len(content) >> 7), byte(len(content) & 0x7f)}
	if !footer {
		return slices.Concat([]byte("ID3\x03\x00\x00"), size, []byte(content))
	}
	return slices.Concat([]byte("ID3\x04\x00\x10"), size, []byte(content), []byte("3DI\x04\x00\x10"), size)
}

func apeTag(content string, header bool) []byte {
	part := func(flags uint32) []byte {
		return slices.Concat([]byte("APETAGEX"), le32(2000), le32(uint32(len(content)+32)), le32(1), le32(flags), make([]byte, 8))
	}
	if !header {
		return append([]byte(content), part(0)...)
	}
	return slices.Concat(part(1<<31|1<<29), []byte(content), part(1<<31))
}

var (
	id3v1   = []byte(fmt.Sprintf("TAG%-125s", secret))
	lyrics2 = []byte(fmt.Sprintf("LYRICSBEGININD00002%s%06dLYRICS200", secret, len("LYRICSBEGININD00002")+len(secret)))
)

func TestCleanMP3(t *testing.T) {
	frames := mp3Frames(100)
	for _, tt := range []struct {
		name          string
		before, after []byte
	}{
		{"ID3 version 2", id3v2("TXXX"+secret, false), nil},
		{"a picture of 3 kB in it", id3v2(strings.Repeat("APIC"+secret, 200), false), nil},
		{"two of them", slices.Concat(id3v2("TXXX"+secret, false), id3v2(secret, true)), nil},
		{"padding behind it", append(id3v2("TXXX"+secret, false), make([]byte, 1000)...), nil},
		{"other bytes behind it", append(id3v2("", false), secret...), nil},
		{"at the end", nil, id3v2(secret, true)},
		{"ID3 version 1", nil, id3v1},
		{"APE", nil, apeTag("item "+secret, true)},
		{"APE without header, before ID3", nil, append(apeTag("item "+secret, false), id3v1...)},
		{"APE at the start", append(id3v2("", false), apeTag("item "+secret, true)...), nil},
		{"lyrics", nil, append(bytes.Clone(lyrics2), id3v1...)},
		{"older lyrics", nil, []byte("LYRICSBEGIN" + secret + "LYRICSEND")},
		{"all", id3v2("TXXX"+secret, false), slices.Concat(apeTag(secret, true), lyrics2, id3v1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantCleaned(t, scanMP3, slices.Concat(tt.before, frames, tt.after), frames, 2612*time.Millisecond)
		})
	}
	damaged := append(mp3Frames(3), "no frame but something that players skip"...)
	wantCleaned(t, scanMP3, append(bytes.Clone(damaged), id3v1...), damaged, 80*time.Millisecond)
	for name, file := range map[string][]byte{
		"tag cut off":         id3v2("TXXX"+secret, false)[:20],
		"nothing behind it":   id3v2("TXXX"+secret, false),
		"no frame behind it":  append(id3v2("TXXX"+secret, false), strings.Repeat(secret, 100)...),
		"FLAC behind it":      append(id3v2("TXXX"+secret, false), flacOf(flacInfo)...),
		"size of the tag":     append([]byte("ID3\x03\x00\x00\xff\xff\xff\xff"), frames...),
		"too many tags":       append(bytes.Repeat(id3v2("", false), maxTags+1), frames...),
		"APE larger than all": append(bytes.Clone(frames), bytes.Replace(apeTag(secret, false), le32(uint32(len(secret)+32)), le32(1<<30), 1)...),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := cleaned(file, scanMP3)
			wantStatus(t, err, 422)
		})
	}
}

// flacBlock is a metadata block. flacOf sets the bit of the last one.
func flacBlock(kind byte, content string) []byte {
	return append([]byte{kind, 0, byte(len(content) >> 8), byte(len(content))}, content...)
}

var (
	flacSound = append([]byte("\xff\xf8\xc9\x08\x00"), strings.Repeat("coded sound", 20)...)
	flacInfo  = flacBlock(0, string(slices.Concat(make([]byte, 10), binary.BigEndian.AppendUint64(nil, 44100<<44|441000), make([]byte, 16))))
	flacSeek  = flacBlock(3, strings.Repeat("\x00", 18))
)

func flacOf(blocks ...[]byte) []byte {
	blocks = slices.Clone(blocks)
	last := bytes.Clone(blocks[len(blocks)-1])
	last[0] |= 0x80
	blocks[len(blocks)-1] = last
	return slices.Concat([]byte("fLaC"), bytes.Join(blocks, nil), flacSound)
}

func TestCleanFLAC(t *testing.T) {
	comment := flacBlock(4, string(slices.Concat(le32(4), []byte("prog"), le32(1), le32(uint32(9+len(secret))), []byte("LOCATION="+secret))))
	for _, tt := range []struct {
		name       string
		file, want []byte
	}{
		{"comments", flacOf(flacInfo, comment), flacOf(flacInfo)},
		{"comments before the seek table", flacOf(flacInfo, comment, flacSeek), flacOf(flacInfo, flacSeek)},
		{"picture, application, padding", flacOf(flacInfo, flacSeek, flacBlock(6, secret), flacBlock(2, "riff"+secret), flacBlock(1, secret)), flacOf(flacInfo, flacSeek)},
		{"cue sheet and an unknown block", flacOf(flacInfo, flacBlock(5, secret), flacBlock(99, secret)), flacOf(flacInfo)},
		{"tags behind the sound", slices.Concat(flacOf(flacInfo), apeTag(secret, true), id3v1), flacOf(flacInfo)},
	} {
		t.Run(tt.name, func(t *testing.T) { wantCleaned(t, scanFLAC, tt.file, tt.want, 10*time.Second) })
	}
	for name, file := range map[string][]byte{
		"no stream information": flacOf(comment),
		"two of them":           flacOf(flacInfo, flacInfo),
		"a block cut off":       flacOf(flacInfo, comment)[:60],
		"no last block":         append([]byte("fLaC"), append(bytes.Clone(flacInfo), flacSound...)...),
		"no sound":              bytes.TrimSuffix(flacOf(flacInfo, comment), flacSound),
		"too many blocks":       flacOf(append([][]byte{flacInfo}, slices.Repeat([][]byte{comment}, maxFLACBlocks)...)...),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := cleaned(file, scanFLAC)
			wantStatus(t, err, 422)
		})
	}
}

// TestIngestSounds checks that no metadata reaches the disk, and that a stored file can be uploaded again.
func TestIngestSounds(t *testing.T) {
	f, dir := openFiles(t, Limits{})
	for name, file := range map[string][]byte{
		"WAV":  wavOf(wavChunk("LIST", "INFOICMT"+secret), wavFormat, wavData),
		"MP3":  slices.Concat(id3v2("TXXX"+secret, false), mp3Frames(3), id3v1),
		"FLAC": flacOf(flacInfo, flacBlock(4, secret)),
		"Ogg":  oggComments("OpusTags", false).file(),
		"WebM": webmOf(webmTitle(), webmTagged(), webmSounds, webmCluster1),
	} {
		t.Run(name, func(t *testing.T) {
			stored, err := f.Ingest(t.Context(), 1, bytes.NewReader(file), Attachment, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			defer stored.Release()
			content, err := os.ReadFile(filepath.Join(dir, stored.Name))
			if err != nil {
				t.Fatal(err)
			}
			wantNoSecret(t, content, file)
			again, err := f.Ingest(t.Context(), 1, bytes.NewReader(content), Attachment, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Release()
			if again.Name != stored.Name || again.MIME != stored.MIME {
				t.Errorf("%s of %s becomes %s of %s", stored.Name, stored.MIME, again.Name, again.MIME)
			}
		})
	}
}

// TestSoundsCutOff cuts sounds with metadata off everywhere: they are refused, or stored without metadata.
func TestSoundsCutOff(t *testing.T) {
	comment := flacBlock(4, string(slices.Concat(le32(0), le32(1), le32(uint32(len(secret))), []byte(secret))))
	for name, tt := range map[string]struct {
		file []byte
		scan scanFunc
	}{
		"WAV":  {wavOf(wavChunk("LIST", "INFOICMT"+secret), wavFormat, wavData), scanWAV},
		"MP3":  {append(id3v2("TXXX"+secret, false), mp3Frames(3)...), scanMP3},
		"FLAC": {flacOf(flacInfo, comment), scanFLAC},
		"Ogg":  {oggComments("OpusTags", false).file(), scanOGG},
		"WebM": {webmOf(webmTitle(), webmTagged(), webmSounds, webmCluster1), scanWebM},
	} {
		t.Run(name, func(t *testing.T) {
			for n := range tt.file {
				got, _, err := cleaned(tt.file[:n], tt.scan)
				if err != nil {
					wantStatus(t, err, 422)
				} else if bytes.Contains(got, []byte(secret)) {
					t.Fatalf("metadata is left in %d of %d bytes", n, len(tt.file))
				}
			}
		})
	}
}

func FuzzCleanWAV(f *testing.F) {
	f.Add(wavOf(wavChunk("LIST", "INFOICMT"+secret), wavFormat, wavData))
	f.Add(wavOf(wavFormat, wavChunk("data", ""), wavChunk("bext", secret)))
	fuzzScan(f, scanWAV)
}

func FuzzCleanMP3(f *testing.F) {
	f.Add(slices.Concat(id3v2("TXXX"+secret, false), mp3Frames(2), apeTag(secret, true), lyrics2, id3v1))
	f.Add(slices.Concat(id3v2("", false), make([]byte, 20), mp3Frames(2), id3v2(secret, true), []byte("LYRICSBEGIN"+secret+"LYRICSEND")))
	fuzzScan(f, scanMP3)
}

func FuzzCleanFLAC(f *testing.F) {
	f.Add(flacOf(flacInfo, flacBlock(4, secret), flacSeek, flacBlock(1, secret)))
	fuzzScan(f, scanFLAC)
}
