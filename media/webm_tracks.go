package media

// track drops tracks other than picture and sound, and names of the others.
func (s *webmScan) track(track webmElement) error {
	if track.id != webmTrackEntry {
		return s.keepOnly(track)
	}
	var number, kind int64
	err := s.each(track, func(e webmElement) error {
		if e.id != webmTrackNumber && e.id != webmTrackType {
			return nil
		}
		b, err := s.peek(int(min(e.end-e.body, 8)))
		if err != nil {
			return err
		}
		v := int64(0)
		for _, c := range b {
			v = v<<8 | int64(c)
		}
		if e.id == webmTrackNumber {
			number = v
		} else {
			kind = v
		}
		return nil
	})
	if err != nil {
		return err
	}
	if kind != 0 && kind != webmPicture && kind != webmSound {
		if s.clusters {
			return unsupportedVariant("track of type %d behind the first cluster", kind)
		}
		if len(s.dropped) == maxDroppedTracks {
			return malformed("more than %d tracks", maxDroppedTracks)
		}
		s.dropped[number] = true
		s.void(track)
		return nil
	}
	return s.each(track, func(e webmElement) error {
		if e.id == webmCodecPrivate {
			return s.vorbisComments(e)
		}
		return s.keepOnly(e, webmTrackElements...)
	})
}

// vorbisComments erases the comments among the three headers of Vorbis (RFC 9559 A.1): their number less one, the sizes of two, the headers.
func (s *webmScan) vorbisComments(e webmElement) error {
	b, err := s.peek(int(min(e.end-e.body, 16<<10)))
	if err != nil {
		return err
	}
	if len(b) == 0 || b[0] != 2 {
		return nil
	}
	var sizes [2]int64
	i := 1
	for n := range sizes {
		for more := true; more; i++ {
			if i == len(b) {
				if int64(len(b)) < e.end-e.body {
					return unsupportedVariant("headers of Vorbis of more than %d bytes at %d", sizes[0]+sizes[1], e.body)
				}
				return nil // not Vorbis
			}
			sizes[n] += int64(b[i])
			more = b[i] == 255
		}
	}
	if hasPrefix(b[i:], "\x80theora") {
		return unsupportedVariant("Theora in WebM")
	}
	if !hasPrefix(b[i:], "\x01vorbis") {
		return nil
	}
	off := e.body + int64(i) + sizes[0]
	if with := "\x03vorbis\x00\x00\x00\x00\x00\x00\x00\x00\x01"; sizes[1] >= int64(len(with)) && off+sizes[1] <= e.end {
		return s.blankRange(off, sizes[1], []byte(with))
	}
	return malformed("headers of Vorbis at %d", e.body)
}

// isDropped returns whether the block at off belongs to a track that is dropped.
func (s *webmScan) isDropped(off int64) (bool, error) {
	if len(s.dropped) == 0 {
		return false, nil
	}
	s.pos = off
	track, ok := s.number(8, true)
	if !ok && !s.nearEnd(off) {
		return false, malformed("block at %d", off)
	}
	return s.dropped[track], nil
}
