package media

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"svc/internal/errs"
)

// fileInfo is what the structure of a file reveals.
type fileInfo struct {
	width, height int  // as stored, before orientation; 0 if not known
	orientation   int  // EXIF 4.6.5.1.6: 1 to 8, 0 if there is none
	frames        int  // of an animation; 0 and 1: none
	video         bool // a movie with a picture track
	duration      time.Duration
	frameRate     float64 // frames a second
	memory        int64   // bytes needed to decode at full size
	planes        int64   // the part of memory that is less for a reduced picture; 0 if the decoder cannot reduce
	profile       []byte  // ICC profile, if it is small and for RGB
	frame         webpFrame
	end           int64 // of a picture in its file; data behind it is dropped
}

// animated returns whether the picture has more than one frame.
func (f fileInfo) animated() bool { return f.frames > 1 }

// maxSide bounds each side of a picture. It is the limit of JPEG and GIF, and keeps sums of a column within 32 bits.
const maxSide = 65535

// plan lists the edits that remove the metadata from a file, in ascending order and without overlap.
type plan struct {
	edits []edit
	full  bool
}

// edit replaces n bytes at off by other bytes. If keepSize is set, zeros follow up to the same length.
type edit struct {
	off, n   int64
	with     []byte
	keepSize bool
}

// maxEdits bounds the memory of a plan.
const maxEdits = 1 << 16

func (p *plan) add(e edit) {
	if len(p.edits) >= maxEdits {
		p.full = true
		return
	}
	p.edits = append(p.edits, e)
}

// cut removes n bytes at off.
func (p *plan) cut(off, n int64) {
	if n == 0 {
		return
	}
	if last := len(p.edits) - 1; last >= 0 {
		if e := &p.edits[last]; e.off+e.n == off && !e.keepSize && len(e.with) == 0 {
			e.n += n
			return
		}
	}
	p.add(edit{off: off, n: n})
}

// replace replaces n bytes at off by other bytes, not more of them.
func (p *plan) replace(off, n int64, with []byte) { p.add(edit{off: off, n: n, with: with}) }

// blank overwrites n bytes at off with other bytes and zeros. The size does not change.
func (p *plan) blank(off, n int64, with []byte) {
	p.add(edit{off: off, n: n, with: with, keepSize: true})
}

// check sorts the edits and rejects invalid ones.
func (p *plan) check(size int64) error {
	if p.full {
		return malformed("more than %d pieces of metadata", maxEdits)
	}
	slices.SortFunc(p.edits, func(a, b edit) int { return cmp.Compare(a.off, b.off) })
	var end int64
	for _, e := range p.edits {
		if e.off < end || e.n < int64(len(e.with)) || e.n > size-e.off {
			return malformed("metadata at %d overlaps other parts", e.off)
		}
		end = e.off + e.n
	}
	return nil
}

// editable is a file that a plan is applied to.
type editable interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
}

// scanFunc reads the structure of a file and plans the edits that remove its metadata. The plan has no edits if there is none.
type scanFunc func(*peekReader) (fileInfo, *plan, error)

// stripMetadata removes the metadata from a file, then reads it again to check that none is left. It returns the new information and
// size.
func stripMetadata(f editable, size int64, scan scanFunc, limits Limits) (fileInfo, int64, error) {
	found, p, err := scanWithin(f, size, scan, limits)
	if err != nil || len(p.edits) == 0 {
		return found, size, err
	}
	if size, err = p.apply(f, size); err != nil {
		return fileInfo{}, 0, err
	}
	found, p, err = scanWithin(f, size, scan, limits)
	if err != nil {
		return fileInfo{}, 0, fmt.Errorf("read stripped file: %w", err)
	}
	if len(p.edits) != 0 {
		return fileInfo{}, 0, malformed("metadata is left at %d", p.edits[0].off)
	}
	return found, size, nil
}

func scanWithin(f io.ReaderAt, size int64, scan scanFunc, limits Limits) (fileInfo, *plan, error) {
	found, p, err := scan(newPeekReader(f, size))
	if err != nil {
		return fileInfo{}, nil, err
	}
	if err := p.check(size); err != nil {
		return fileInfo{}, nil, err
	}
	if found.video { // its pictures are never decoded
		return found, p, nil
	}
	if found.width > maxSide || found.height > maxSide || int64(found.width)*int64(found.height) > limits.Pixels {
		return fileInfo{}, nil, errs.Invalid("The picture is too large: more than %d megapixels", limits.Pixels/1_000_000)
	}
	if found.frames > limits.Frames {
		return fileInfo{}, nil, errs.Invalid("The animation is too long: more than %d frames", limits.Frames)
	}
	return found, p, nil
}

// apply applies the edits in place and returns the new size. No edit makes its range longer, so writing never overtakes reading.
func (p *plan) apply(f editable, size int64) (int64, error) {
	var from, to int64 // positions of reading and writing
	for _, e := range p.edits {
		if err := move(f, to, from, e.off-from); err != nil {
			return 0, err
		}
		to += e.off - from
		from = e.off + e.n
		if _, err := f.WriteAt(e.with, to); err != nil {
			return 0, writeError(err)
		}
		to += int64(len(e.with))
		if e.keepSize {
			rest := e.n - int64(len(e.with))
			if err := zero(f, to, rest); err != nil {
				return 0, err
			}
			to += rest
		}
	}
	if err := move(f, to, from, size-from); err != nil {
		return 0, err
	}
	to += size - from
	if err := f.Truncate(to); err != nil {
		return 0, writeError(err)
	}
	return to, nil
}

// move copies n bytes towards the start of a file.
func move(f editable, to, from, n int64) error {
	if to == from || n == 0 {
		return nil
	}
	if _, err := io.Copy(io.NewOffsetWriter(f, to), io.NewSectionReader(f, from, n)); err != nil {
		return writeError(err)
	}
	return nil
}

var zeros [16 << 10]byte

func zero(f io.WriterAt, off, n int64) error {
	for n > 0 {
		m := min(n, int64(len(zeros)))
		if _, err := f.WriteAt(zeros[:m], off); err != nil {
			return writeError(err)
		}
		off += m
		n -= m
	}
	return nil
}

// malformed is the error for a file that violates its format. The detail is only logged.
func malformed(format string, args ...any) error {
	return &errs.Error{Status: 422, Message: "The file is damaged or incomplete", Err: fmt.Errorf(format, args...)}
}

// unsupportedVariant is the error for a file that may be well-formed, but uses an unsupported feature.
func unsupportedVariant(format string, args ...any) error {
	return &errs.Error{Status: 422, Message: "This variant of the file type is not supported", Err: fmt.Errorf(format, args...)}
}
