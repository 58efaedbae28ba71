package media

import "encoding/binary"

// maxChunks bounds the chunks of a WAV file that are read. Recorders write less than a dozen.
const maxChunks = 1000

// wavChunks are the chunks that are kept, because players need them.
var wavChunks = set("fmt ", "fact", "data")

// scanWAV plans to drop all chunks but format, number of samples and data: texts (LIST INFO, iXML, bext, cart, id3), XMP, and positions.
// It repairs the sizes of the file and of the data, which recorders leave at 0 or at the maximum if they were interrupted.
func scanWAV(w *peekReader) (fileInfo, *plan, error) {
	var p plan
	head, err := w.read(12)
	if err != nil {
		return fileInfo{}, nil, err
	}
	if string(head[:4]) != "RIFF" || string(head[8:]) != "WAVE" {
		return fileInfo{}, nil, malformed("no WAVE header")
	}
	declared := int64(binary.LittleEndian.Uint32(head[4:]))
	kept, hasData := int64(4), false // bytes behind the size of the file that are kept
	for n := 0; w.size-w.pos >= 8; n++ {
		if n == maxChunks {
			return fileInfo{}, nil, malformed("more than %d chunks", maxChunks)
		}
		start := w.pos
		head, err := w.read(8)
		if err != nil {
			return fileInfo{}, nil, err
		}
		kind, size := string(head[:4]), int64(binary.LittleEndian.Uint32(head[4:]))
		rest := w.size - w.pos
		keep := wavChunks[kind] && (kind != "data" || !hasData)
		switch {
		case kind == "data" && keep:
			hasData = true
			if size > rest || size == 0 && rest > 0 && declared <= w.pos-8 { // written before its size was known, or cut off
				size = rest
				p.replace(start+4, 4, binary.LittleEndian.AppendUint32(nil, uint32(size)))
			}
		case size > rest && keep:
			return fileInfo{}, nil, malformed("chunk %q is cut off", kind)
		}
		padded := min(size+size&1, rest)
		w.pos += padded
		if keep {
			kept += 8 + padded
		} else {
			p.cut(start, w.pos-start)
		}
	}
	if !hasData {
		return fileInfo{}, nil, malformed("WAV without data")
	}
	p.cut(w.pos, w.size-w.pos)
	if declared != kept {
		p.replace(4, 4, binary.LittleEndian.AppendUint32(nil, uint32(kept)))
	}
	w.pos = 0
	return probeWAV(w), &p, nil
}
