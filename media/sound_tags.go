package media

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// maxTags bounds the tags at one end of a file. There are rarely more than three.
const maxTags = 100

// Sizes of tags at the end of sound files.
const (
	id3v1Size         = 128
	id3v1ExtendedSize = 227
	id3v2HeaderSize   = 10
	apeHeaderSize     = 32
	lyricsTrailerSize = 15   // 6 digits and "LYRICS200"
	maxLyrics1        = 5120 // Lyrics3 v1: 5100 bytes of text between its marks
)

// maxMP3Lead bounds the bytes between the tags and the first frame that are searched for it.
const maxMP3Lead = 64 << 10

// scanMP3 plans to drop the tags before and behind the sound: ID3 v1 and v2, APE, Lyrics3. The sound itself is not read: players resume at
// the next frame where it is damaged.
func scanMP3(w *peekReader) (fileInfo, *plan, error) {
	start, err := leadingTags(w)
	if err != nil {
		return fileInfo{}, nil, err
	}
	if start > 0 {
		if start, err = firstMP3Frame(w, start); err != nil {
			return fileInfo{}, nil, err
		}
	}
	end, err := trailingTags(w, start)
	if err != nil {
		return fileInfo{}, nil, err
	}
	if end-start < 4 {
		return fileInfo{}, nil, malformed("MP3 without sound")
	}
	var p plan
	p.cut(0, start)
	if err := cutTags(w, &p, start, end); err != nil {
		return fileInfo{}, nil, err
	}
	p.cut(end, w.size-end)
	w.pos = 0
	return probeMP3(w), &p, nil
}

// leadingTags returns where the tags at the start of a file end.
func leadingTags(w *peekReader) (int64, error) {
	w.pos = 0
	for range maxTags {
		start := w.pos
		size, err := id3v2Size(w, start, "ID3")
		if err == nil && size == 0 {
			size, err = apeSize(w, start)
		}
		if err != nil {
			return 0, err
		}
		if size == 0 {
			return start, nil
		}
		w.pos = start
		if err := w.skip(size); err != nil {
			return 0, err
		}
	}
	return 0, malformed("more than %d tags", maxTags)
}

// trailingTags returns where the tags at the end of a file begin, not before start.
func trailingTags(w *peekReader, start int64) (int64, error) {
	end := w.size
	for range maxTags {
		size, err := trailingTag(w, start, end)
		if err != nil {
			return 0, err
		}
		if size == 0 {
			return end, nil
		}
		end -= size
	}
	return 0, malformed("more than %d tags", maxTags)
}

// trailingTag returns the size of the tag that ends at end, 0 if there is none.
func trailingTag(w *peekReader, start, end int64) (int64, error) {
	starts := func(before int64, mark string) (bool, error) {
		if end-before < start {
			return false, nil
		}
		w.pos = end - before
		b, err := w.peek(len(mark))
		return err == nil && string(b) == mark, err
	}
	for _, mark := range []struct {
		at   int64
		text string
		size func() (int64, error)
	}{
		{id3v1Size, "TAG", func() (int64, error) { return id3v1Size, nil }},
		{id3v1ExtendedSize, "TAG+", func() (int64, error) { return id3v1ExtendedSize, nil }},
		{apeHeaderSize, "APETAGEX", func() (int64, error) { return apeSize(w, end-apeHeaderSize) }},
		{id3v2HeaderSize, "3DI", func() (int64, error) { return id3v2Size(w, end-id3v2HeaderSize, "3DI") }},
		{9, "LYRICS200", func() (int64, error) { return lyrics2Size(w, end) }},
		{9, "LYRICSEND", func() (int64, error) { return lyrics1Size(w, start, end) }},
	} {
		found, err := starts(mark.at, mark.text)
		if err != nil || !found {
			if err != nil {
				return 0, err
			}
			continue
		}
		size, err := mark.size()
		if err != nil {
			return 0, err
		}
		if size > end-start {
			return 0, malformed("tag %q of %d bytes at %d", mark.text, size, end)
		}
		if size > 0 {
			return size, nil
		}
	}
	return 0, nil
}

// id3v2Size returns the size of the ID3 v2 tag whose header or footer is at off (ID3v2.4 3.1, 3.4), 0 if there is none.
func id3v2Size(w *peekReader, off int64, mark string) (int64, error) {
	if w.size-off < id3v2HeaderSize {
		return 0, nil
	}
	w.pos = off
	b, err := w.peek(id3v2HeaderSize)
	if err != nil || !hasPrefix(b, mark) || b[3] == 0xff || b[4] == 0xff {
		return 0, err
	}
	size := int64(id3v2HeaderSize)
	for i, c := range b[6:10] {
		if c >= 0x80 {
			return 0, malformed("size of the tag at %d", off)
		}
		size += int64(c) << (21 - 7*i)
	}
	if b[5]&0x10 != 0 || mark == "3DI" { // header and footer
		size += id3v2HeaderSize
	}
	return size, nil
}

// apeSize returns the size of the APE tag whose header or footer is at off, 0 if there is none.
func apeSize(w *peekReader, off int64) (int64, error) {
	if w.size-off < apeHeaderSize {
		return 0, nil
	}
	w.pos = off
	b, err := w.peek(apeHeaderSize)
	if err != nil || !hasPrefix(b, "APETAGEX") {
		return 0, err
	}
	size := int64(binary.LittleEndian.Uint32(b[12:])) // of items and footer
	if size < apeHeaderSize {
		return 0, malformed("APE tag of %d bytes", size)
	}
	if flags := binary.LittleEndian.Uint32(b[20:]); flags&(1<<31) != 0 {
		size += apeHeaderSize
	}
	return size, nil
}

// cutTags plans to drop ID3 v2 tags and APE tags between start and end, within the sound. A tag of ID3 v2.3 that was appended has nothing at
// its end by which trailingTags could find it, and joined files have tags in the middle. Nothing else looks like one: header and size
// are valid, and a frame, another tag or the end follows.
func cutTags(w *peekReader, p *plan, start, end int64) error {
	const overlap = 31 // a header may begin in the last bytes
	for pos := start; pos < end; {
		w.pos = pos
		b, err := w.peekAny()
		if err != nil {
			return err
		}
		b = b[:min(int64(len(b)), end-pos)]
		i := firstOf(b, "ID3", "APETAGEX")
		if i < 0 {
			pos += max(int64(len(b))-overlap, 1)
			continue
		}
		pos += int64(i)
		size, err := tagWithin(w, pos, end)
		if err != nil {
			return err
		}
		if size > 0 {
			p.cut(pos, size)
		}
		pos += max(size, 1)
	}
	return nil
}

// firstOf returns the first position of one of two marks in b, -1 if there is none.
func firstOf(b []byte, mark, other string) int {
	i, j := bytes.Index(b, []byte(mark)), bytes.Index(b, []byte(other))
	if i < 0 || j >= 0 && j < i {
		return j
	}
	return i
}

// tagWithin returns the size of the tag at off that ends at end, or before a frame or another tag; 0 if there is none.
func tagWithin(w *peekReader, off, end int64) (int64, error) {
	w.pos = off
	b, err := w.peek(int(min(w.size-off, apeHeaderSize)))
	if err != nil {
		return 0, err
	}
	var size int64
	if hasPrefix(b, "ID3") {
		if len(b) < id3v2HeaderSize || b[3] < 2 || b[3] > 4 || b[5]&0x0f != 0 || (b[6]|b[7]|b[8]|b[9])&0x80 != 0 {
			return 0, nil
		}
		size, err = id3v2Size(w, off, "ID3")
	} else if len(b) == apeHeaderSize && binary.LittleEndian.Uint32(b[12:]) >= apeHeaderSize {
		size, err = apeSize(w, off)
	}
	if err != nil || size == 0 {
		return 0, err
	}
	if size > end-off { // cut off
		if hasPrefix(b, "ID3") && len(b) >= id3v2HeaderSize+4 && isFrameID(b[id3v2HeaderSize:][:4]) {
			return end - off, nil
		}
		return 0, nil
	}
	w.pos = off + size
	next, err := w.peek(int(min(w.size-w.pos, 8)))
	if err != nil {
		return 0, err
	}
	if off+size == end || len(next) > 1 && next[0] == 0xff && next[1]&0xe0 == 0xe0 || hasPrefix(next, "ID3") || hasPrefix(next, "APETAGEX") || hasPrefix(next, "TAG") {
		return size, nil
	}
	return 0, nil
}

// isFrameID returns whether b can be the name of the first frame of an ID3 v2 tag.
func isFrameID(b []byte) bool {
	for _, c := range b {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// lyrics2Size returns the size of the Lyrics3 v2 tag that ends at end.
func lyrics2Size(w *peekReader, end int64) (int64, error) {
	if w.pos = end - lyricsTrailerSize; w.pos < 0 {
		return 0, nil
	}
	b, err := w.peek(6)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(string(b), 10, 32)
	if err != nil {
		return 0, malformed("size of lyrics at %d", end)
	}
	return int64(n) + lyricsTrailerSize, nil
}

// lyrics1Size returns the size of the Lyrics3 v1 tag that ends at end, 0 if its begin is not found.
func lyrics1Size(w *peekReader, start, end int64) (int64, error) {
	w.pos = max(start, end-maxLyrics1)
	from := w.pos
	b, err := w.peek(int(end - from))
	if err != nil {
		return 0, err
	}
	i := bytes.LastIndex(b, []byte("LYRICSBEGIN"))
	if i < 0 {
		return 0, nil
	}
	return end - from - int64(i), nil
}

// firstMP3Frame returns where the first frame behind the tags begins. Padding and other bytes before it belong to the tags.
func firstMP3Frame(w *peekReader, start int64) (int64, error) {
	if w.size-start < 4 {
		return 0, malformed("MP3 without sound")
	}
	w.pos = start
	b, err := w.peek(int(min(w.size-start, maxMP3Lead)))
	if err != nil {
		return 0, err
	}
	if b[0] == 0xff && b[1]&0xe0 == 0xe0 {
		return start, nil
	}
	if hasPrefix(b, "fLaC") || hasPrefix(b, "OggS") || hasPrefix(b, "RIFF") {
		return 0, unsupportedVariant("ID3 tag before a file of another type")
	}
	for i := 1; i+4 <= len(b); i++ {
		n := mp3FrameSize(b[i:])
		if n > 0 && (int64(i+n) == w.size-start || i+n+4 <= len(b) && mp3FrameSize(b[i+n:]) > 0) {
			return start + int64(i), nil
		}
	}
	return 0, malformed("no frame behind the tags")
}

// mp3FrameSize returns the size of the layer III frame that begins with b, 0 if none begins or its size is not known.
func mp3FrameSize(b []byte) int {
	if b[0] != 0xff || b[1]&0xe6 != 0xe2 {
		return 0
	}
	version, rate, samples, padding := b[1]>>3&3, int(b[2]>>4), int(b[2]>>2&3), int(b[2]>>1&1)
	if version == 1 || rate == 0 || rate == 15 || samples == 3 {
		return 0
	}
	switch version {
	case 3:
		return 144_000*mp3Rates[0][rate]/mp3Samples[samples] + padding
	case 2:
		return 72_000*mp3Rates[1][rate]/(mp3Samples[samples]/2) + padding
	default:
		return 72_000*mp3Rates[1][rate]/(mp3Samples[samples]/4) + padding
	}
}
