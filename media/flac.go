package media

// Metadata blocks of FLAC (RFC 9639 8.1).
const (
	flacStreamInfo = 0
	flacPadding    = 1
	flacSeekTable  = 3
	flacComment    = 4
	flacInvalid    = 127

	flacLast = 0x80 // in the first byte of the last block
)

// maxFLACBlocks bounds the metadata blocks that are read.
const maxFLACBlocks = 1000

// scanFLAC plans to drop all metadata blocks but the stream information and the seek table, whose offsets count from the first frame, and
// the tags that some programs write behind the sound.
func scanFLAC(w *peekReader) (fileInfo, *plan, error) {
	var p plan
	head, err := w.read(4)
	if err != nil {
		return fileInfo{}, nil, err
	}
	if string(head) != "fLaC" {
		return fileInfo{}, nil, malformed("no FLAC signature")
	}
	var kept int64 // position of the last block that is kept
	var first byte // its first byte
	for last, n := false, 0; !last; n++ {
		start := w.pos
		head, err := w.read(4)
		if err != nil {
			return fileInfo{}, nil, err
		}
		kind, size := head[0]&^flacLast, int64(head[1])<<16|int64(head[2])<<8|int64(head[3])
		last = head[0]&flacLast != 0
		if kind == flacInvalid || n == maxFLACBlocks || (n == 0) != (kind == flacStreamInfo) || kind == flacStreamInfo && size != 34 {
			return fileInfo{}, nil, malformed("metadata block %d of type %d at %d", n, kind, start)
		}
		if kind == flacStreamInfo || kind == flacSeekTable {
			kept, first = start, head[0]
		}
		if err := w.skip(size); err != nil {
			return fileInfo{}, nil, err
		}
		if kind != flacStreamInfo && kind != flacSeekTable {
			p.cut(start, w.pos-start)
		}
	}
	start := w.pos
	if b, err := w.peek(2); err != nil || b[0] != 0xff || b[1]&0xfe != 0xf8 {
		return fileInfo{}, nil, malformed("no frame at %d", start)
	}
	if first&flacLast == 0 {
		p.replace(kept, 1, []byte{first | flacLast})
	}
	end, err := trailingTags(w, start)
	if err != nil {
		return fileInfo{}, nil, err
	}
	if err := cutTags(w, &p, start, end); err != nil {
		return fileInfo{}, nil, err
	}
	p.cut(end, w.size-end)
	w.pos = 0
	return probeFLAC(w), &p, nil
}
