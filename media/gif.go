package media

import "encoding/binary"

// Introducers and labels of GIF89a.
const (
	gifImage       = 0x2c
	gifExtension   = 0x21
	gifTrailer     = 0x3b
	gifControl     = 0xf9 // graphic control: transparency and delay
	gifApplication = 0xff
)

type gifScan struct {
	*peekReader
	plan   plan
	facts  fileInfo
	frames int
}

// scanGIF plans to drop comments, plain text, application extensions such as XMP, except the one for loops, and what follows the
// trailer.
func scanGIF(w *peekReader) (fileInfo, *plan, error) {
	s := gifScan{peekReader: w}
	head, err := w.read(13)
	if err != nil {
		return fileInfo{}, nil, err
	}
	if version := string(head[:6]); version != "GIF87a" && version != "GIF89a" {
		return fileInfo{}, nil, malformed("no GIF signature")
	}
	s.facts.width, s.facts.height = int(binary.LittleEndian.Uint16(head[6:])), int(binary.LittleEndian.Uint16(head[8:]))
	if s.facts.width == 0 || s.facts.height == 0 {
		return fileInfo{}, nil, malformed("picture without size")
	}
	s.facts.memory = int64(s.facts.width) * int64(s.facts.height)
	if err := s.colours(head[10]); err != nil {
		return fileInfo{}, nil, err
	}
	ended := false
	for !ended && (w.pos < w.size || s.frames == 0) { // some files lack only the trailer
		start := w.pos
		b, err := w.read(1)
		if err != nil {
			return fileInfo{}, nil, err
		}
		switch b[0] {
		case gifTrailer:
			ended = true
		case gifImage:
			err = s.image()
		case gifExtension:
			err = s.extension(start)
		default:
			err = malformed("block %#x at %d", b[0], start)
		}
		if err != nil {
			return fileInfo{}, nil, err
		}
	}
	if s.frames == 0 {
		return fileInfo{}, nil, malformed("GIF without a picture")
	}
	s.facts.end = w.pos
	s.plan.cut(w.pos, w.size-w.pos)
	s.facts.frames = s.frames
	return s.facts, &s.plan, nil
}

// colours skips the colour table that the flags declare.
func (s *gifScan) colours(flags byte) error {
	if flags&0x80 == 0 {
		return nil
	}
	return s.skip(3 << (flags&7 + 1))
}

func (s *gifScan) image() error {
	d, err := s.read(9)
	if err != nil {
		return err
	}
	left, top := int(binary.LittleEndian.Uint16(d)), int(binary.LittleEndian.Uint16(d[2:]))
	width, height := int(binary.LittleEndian.Uint16(d[4:])), int(binary.LittleEndian.Uint16(d[6:]))
	if left+width > s.facts.width || top+height > s.facts.height {
		return malformed("frame is larger than the picture")
	}
	s.frames++
	if err := s.colours(d[8]); err != nil {
		return err
	}
	if err := s.skip(1); err != nil { // code size
		return err
	}
	return s.subBlocks()
}

// extension reads the extension that began at start, and plans to drop it unless it is kept.
func (s *gifScan) extension(start int64) error {
	label, err := s.read(1)
	if err != nil {
		return err
	}
	switch label[0] {
	case gifControl:
		if b, err := s.peek(6); err != nil {
			return err
		} else if b[0] != 4 || b[5] != 0 {
			return malformed("graphic control at %d", start)
		}
		return s.skip(6)
	case gifApplication:
		// The first block of eleven bytes names the application. The looping ones have a second block of three bytes.
		if b, err := s.peek(17); err == nil && b[0] == 11 && b[12] == 3 && b[13] == 1 && b[16] == 0 {
			if name := string(b[1:12]); name == "NETSCAPE2.0" || name == "ANIMEXTS1.0" {
				return s.skip(17)
			}
		}
	}
	if err := s.subBlocks(); err != nil {
		return err
	}
	s.plan.cut(start, s.pos-start)
	return nil
}

// subBlocks skips a chain of data blocks with its terminator.
func (s *gifScan) subBlocks() error {
	for {
		n, err := s.read(1)
		if err != nil {
			return err
		}
		if n[0] == 0 {
			return nil
		}
		if err := s.skip(int64(n[0])); err != nil {
			return err
		}
	}
}
