package media

import (
	"bytes"
	"encoding/binary"
	"time"
)

// The probes of sounds. They read what the file says about its length, and nothing if it is malformed: players are more lenient than any
// check here would be.

// probeFLAC reads the stream information (RFC 9639 8.2).
func probeFLAC(w *peekReader) (found fileInfo) {
	b, err := w.peek(4 + 4 + 18)
	if err != nil || b[4]&0x7f != 0 {
		return found
	}
	info := binary.BigEndian.Uint64(b[18:])
	rate, samples := info>>44, info&(1<<36-1)
	if rate > 0 {
		found.duration = seconds(float64(samples) / float64(rate))
	}
	return found
}

// probeWAV reads the byte rate of the format and the size of the data.
func probeWAV(w *peekReader) (found fileInfo) {
	w.pos = 12
	rate := uint32(0)
	for range maxChunks {
		head, err := w.read(8)
		if err != nil {
			return found
		}
		kind, size := string(head[:4]), int64(binary.LittleEndian.Uint32(head[4:]))
		switch kind {
		case "fmt ":
			b, err := w.peek(12)
			if err != nil {
				return found
			}
			rate = binary.LittleEndian.Uint32(b[8:])
		case "data":
			if rate > 0 {
				found.duration = seconds(float64(min(size, w.size-w.pos)) / float64(rate))
			}
			return found
		}
		if w.skip(size+size&1) != nil {
			return found
		}
	}
	return found
}

// maxOggTail is how far from the end the last page is searched: a page has 65 307 bytes at most.
const maxOggTail = 66 << 10

// probeOGG divides the position of the last page by the rate of the first stream (RFC 3533 6, RFC 7845 5.1, Vorbis I 4.2.2).
func probeOGG(w *peekReader) (found fileInfo) {
	head, err := w.peek(int(min(w.size, 128)))
	if err != nil || len(head) < 60 {
		return found
	}
	packet := head[min(len(head), 27+int(head[26])):]
	var rate, skip uint64
	switch {
	case hasPrefix(packet, "OpusHead") && len(packet) >= 12:
		rate, skip = 48_000, uint64(binary.LittleEndian.Uint16(packet[10:]))
	case hasPrefix(packet, "\x01vorbis") && len(packet) >= 16:
		rate = uint64(binary.LittleEndian.Uint32(packet[12:]))
	}
	serial := bytes.Clone(head[14:18])
	w.pos = max(0, w.size-maxOggTail)
	tail, err := w.peek(int(w.size - w.pos))
	if err != nil || rate == 0 {
		return found
	}
	for i := bytes.LastIndex(tail, []byte("OggS")); i >= 0; i = bytes.LastIndex(tail[:i], []byte("OggS")) {
		if page := tail[i:]; len(page) >= 27 && bytes.Equal(page[14:18], serial) {
			position := binary.LittleEndian.Uint64(page[6:])
			if position > skip && position != 1<<64-1 {
				found.duration = seconds(float64(position-skip) / float64(rate))
			}
			return found
		}
	}
	return found
}

// Tables of ISO/IEC 11172-3 2.4.2.3 for layer III: kilobits a second of MPEG 1 and of MPEG 2, and samples a second.
var (
	mp3Rates   = [2][15]int{{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}, {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}}
	mp3Samples = [3]int{44_100, 48_000, 32_000}
)

// probeMP3 takes the number of frames from the header that encoders with a variable bit rate write, else the bit rate of the first frame
// for the whole file.
func probeMP3(w *peekReader) (found fileInfo) {
	if tag, err := w.peek(10); err == nil && hasPrefix(tag, "ID3") {
		size := int64(tag[6]&0x7f)<<21 | int64(tag[7]&0x7f)<<14 | int64(tag[8]&0x7f)<<7 | int64(tag[9]&0x7f)
		if w.skip(10+size) != nil {
			return found
		}
	}
	start := w.pos
	b, err := w.peek(int(min(w.size-w.pos, 200)))
	if err != nil || len(b) < 4 || b[0] != 0xff || b[1]&0xe6 != 0xe2 { // layer III
		return found
	}
	version, rate, samples := b[1]>>3&3, int(b[2]>>4), int(b[2]>>2&3) // version 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5
	if version == 1 || rate == 0 || rate == 15 || samples == 3 {
		return found
	}
	perSecond, perFrame, row := mp3Samples[samples], 1152, 0
	if version != 3 {
		perFrame, row = 576, 1
		if perSecond /= 2; version == 0 {
			perSecond /= 2
		}
	}
	for _, name := range []string{"Xing", "Info"} {
		if i := bytes.Index(b, []byte(name)); i >= 0 && i+12 <= len(b) && b[i+7]&1 != 0 {
			frames := binary.BigEndian.Uint32(b[i+8:])
			found.duration = seconds(float64(frames) * float64(perFrame) / float64(perSecond))
			return found
		}
	}
	found.duration = seconds(float64(w.size-start) * 8 / float64(mp3Rates[row][rate]*1000)).Round(time.Millisecond)
	return found
}
