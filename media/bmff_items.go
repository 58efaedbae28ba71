package media

import "encoding/binary"

// itemBoxes are the children of a "meta" box that are kept (ISO/IEC 14496-12 8.11, 23008-12).
var itemBoxes = set("hdlr", "pitm", "iloc", "iinf", "iprp", "iref", "idat", "grpl", "dinf", "ipro")

// itemsBox plans to erase the items of a HEIF picture that are not pictures. Their table entries stay, because removing them would move
// offsets; without content they reveal nothing.
func (s *bmffScan) itemsBox(b box) error {
	var info, locations, data box
	err := s.eachFrom(b.body+4, b.end, func(b box) error {
		if !itemBoxes[b.kind] {
			return s.free(b)
		}
		if b.kind == info.kind || b.kind == locations.kind || b.kind == data.kind {
			return malformed("two boxes %q", b.kind)
		}
		switch b.kind {
		case "iinf":
			info = b
		case "iloc":
			locations = b
		case "idat":
			data = b
			s.data = append(s.data, b)
		case "pitm":
			s.items = true
		case "iprp":
			return s.pictureSize(b)
		case "hdlr":
			return s.eraseName(b)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if info.kind == "" || locations.kind == "" {
		return malformed("items without iinf or iloc")
	}
	metadata, err := s.metadataItems(info)
	if err != nil {
		return err
	}
	return s.locate(locations, data, metadata)
}

// metadataItems returns the ids of metadata items, with true for EXIF.
func (s *bmffScan) metadataItems(info box) (map[uint32]bool, error) {
	version, err := s.bytes(info, 0, 1)
	if err != nil {
		return nil, err
	}
	entries := info.body + 6
	if version[0] != 0 {
		entries = info.body + 8
	}
	exif := make(map[uint32]bool)
	err = s.eachFrom(entries, info.end, func(b box) error {
		if b.kind != "infe" {
			return s.free(b)
		}
		// Version 2 has an id of 16 bits, version 3 of 32 bits. Older versions have no picture items.
		f, err := s.bytes(b, 0, 6)
		if err != nil {
			return err
		}
		version, id, kind := f[0], uint32(binary.BigEndian.Uint16(f[4:])), int64(8)
		switch {
		case version < 2:
			exif[id] = false
			return nil
		case version > 2:
			if f, err = s.bytes(b, 4, 4); err != nil {
				return err
			}
			id, kind = binary.BigEndian.Uint32(f), 10
		}
		t, err := s.bytes(b, kind, 4)
		if err != nil {
			return err
		}
		switch t := string(t); t {
		case "Exif", "mime", "uri ":
			exif[id] = t == "Exif"
		}
		return nil
	})
	return exif, err
}

// locate finds the content of the items, and adds that of metadata to the extents (14496-12 8.11.3).
func (s *bmffScan) locate(locations, data box, exif map[uint32]bool) error {
	t := itemTable{bmffScan: s, box: locations}
	version := t.uint(1)
	t.at += 3
	sizes := t.uint(2)
	offsetSize, lengthSize, baseSize, indexSize := int(sizes>>12), int(sizes>>8&15), int(sizes>>4&15), int(sizes&15)
	idSize := 4
	if version < 2 {
		idSize = 2
	}
	if version == 0 {
		indexSize = 0
	}
	count := t.uint(idSize)
	for range count {
		id := uint32(t.uint(idSize))
		method := uint64(0)
		if version > 0 {
			method = t.uint(2) & 15
		}
		t.at += 2 // data reference
		base := t.uint(baseSize)
		extents := t.uint(2)
		if t.err != nil {
			return t.err
		}
		isEXIF, erase := exif[id]
		if !erase && (lengthSize == 0 || method > 1) { // all of the file, or a part of other items
			s.coverAll = s.coverAll || method <= 1
			t.at += int64(extents) * int64(indexSize+offsetSize+lengthSize)
			continue
		}
		for i := range extents {
			t.at += int64(indexSize)
			off, n := base+t.uint(offsetSize), t.uint(lengthSize)
			if t.err != nil {
				return t.err
			}
			if !erase {
				if err := s.coverItem(off, n, method, data); err != nil {
					return err
				}
				continue
			}
			if n == 0 || n > uint64(s.size) || off > uint64(s.size) {
				return unsupportedVariant("metadata item of %d bytes at %d", n, off)
			}
			e := extent{off: int64(off), n: int64(n)}
			switch {
			case method == 1 && data.kind != "":
				e.off += data.body
			case method != 0:
				return unsupportedVariant("metadata item by construction method %d", method)
			}
			if isEXIF && i == 0 {
				e.head = emptyItem(e.n)
			}
			if err := s.addExtent(e); err != nil {
				return err
			}
		}
	}
	return t.err
}

// coverItem covers an extent of an item that is kept. One without length lasts to the end.
func (s *bmffScan) coverItem(off, n, method uint64, data box) error {
	if n == 0 {
		s.coverAll = true
		return nil
	}
	if method == 1 {
		off += uint64(data.body)
	}
	return s.cover(int64(min(off, uint64(s.size))), int64(min(n, uint64(s.size))))
}

// emptyItem returns empty EXIF metadata, for readers that require the structure (23008-12 A.2.1). These files do not use the EXIF
// orientation.
func emptyItem(room int64) []byte {
	item := append(make([]byte, 4), orientationTIFF(1)...)
	if room < int64(len(item)) {
		return nil
	}
	return item
}

// itemTable reads consecutive numbers of any width. After an error all are zero.
type itemTable struct {
	*bmffScan
	box box
	at  int64
	err error
}

func (t *itemTable) uint(n int) uint64 {
	if t.err != nil || n == 0 {
		return 0
	}
	if n > 8 {
		t.err = malformed("number of %d bytes", n)
		return 0
	}
	b, err := t.bytes(t.box, t.at, n)
	if err != nil {
		t.err = err
		return 0
	}
	t.at += int64(n)
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v
}
