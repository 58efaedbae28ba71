package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"runtime/debug"

	"github.com/disintegration/imaging"

	"svc/internal/errs"
)

// thumbnailQuality is the JPEG quality of thumbnails.
const thumbnailQuality = 82

// largeDecodeBytes is the size from which on the memory of a decoded picture is returned to the system at once. Otherwise it would
// still be allocated when the next pictures are decoded.
const largeDecodeBytes = 16 << 20

// rotated returns whether the orientation swaps width and height.
func (f fileInfo) rotated() bool { return f.orientation >= 5 }

// thumbnail stores a smaller version of a picture and returns its name and size; "" if none is needed or decoding would take too much memory. A
// picture that cannot be decoded is rejected.
func (f *Files) thumbnail(ctx context.Context, src *io.SectionReader, format *format, found fileInfo, kind Kind, room *Reservation) (name string, size int64, err error) {
	box := kindRules[kind].box
	if found.rotated() {
		box.X, box.Y = box.Y, box.X
	}
	still := found.animated && kindRules[kind].still
	small := found.width <= box.X && found.height <= box.Y
	if box == (image.Point{}) || small && !still || found.memory > f.limits.DecodeMemory {
		return "", 0, nil
	}
	select {
	case f.decoding <- struct{}{}:
		defer func() { <-f.decoding }()
	case <-ctx.Done():
		return "", 0, ctx.Err()
	}
	picture, err := reduce(src, format, found, box)
	if found.memory >= largeDecodeBytes {
		debug.FreeOSMemory()
	}
	if ctx.Err() != nil {
		return "", 0, ctx.Err()
	}
	if err != nil {
		return "", 0, err
	}
	data, ext, err := encode(picture, found.profile)
	if err != nil {
		return "", 0, err
	}
	if int64(len(data)) >= src.Size() && !still {
		return "", 0, nil
	}
	if err := room.Grow(ctx, int64(len(data))); err != nil {
		return "", 0, err
	}
	t, err := f.newTemp()
	if err != nil {
		return "", 0, err
	}
	defer t.discard()
	if _, err := t.Write(data); err != nil {
		return "", 0, writeError(err)
	}
	sum := sha256.Sum256(data)
	name = storedName(sum[:], ext)
	return name, int64(len(data)), t.store(name)
}

// reduce decodes a picture, scales it down to fit into the box, and applies the orientation. It recovers from panics of decoders, which
// only touch their own picture.
func reduce(src *io.SectionReader, format *format, found fileInfo, box image.Point) (small image.Image, err error) {
	defer func() {
		if p := recover(); p != nil {
			small, err = nil, malformed("decoder panicked: %v", p)
		}
	}()
	picture, err := format.decode(src, found)
	if err != nil {
		return nil, &errs.Error{Status: 422, Message: "The picture cannot be decoded", Err: err}
	}
	canvas := image.Rect(0, 0, found.width, found.height)
	if !picture.Bounds().In(canvas) {
		return nil, malformed("picture of %v instead of %v", picture.Bounds(), canvas)
	}
	return orient(shrink(picture, canvas, fit(canvas.Size(), box)), found.orientation), nil
}

// encode encodes an opaque picture as JPEG and any other as PNG.
func encode(img image.Image, profile []byte) (data []byte, ext string, err error) {
	var buf bytes.Buffer
	if o, ok := img.(interface{ Opaque() bool }); ok && !o.Opaque() {
		if err := png.Encode(&buf, imaging.Clone(img)); err != nil {
			return nil, "", fmt.Errorf("encode thumbnail: %w", err)
		}
		if profile != nil {
			return withPNGProfile(buf.Bytes(), profile), formatPNG.ext, nil
		}
		return buf.Bytes(), formatPNG.ext, nil
	}
	if n, ok := img.(*image.NRGBA); ok {
		img = &image.RGBA{Pix: n.Pix, Stride: n.Stride, Rect: n.Rect} // equal if opaque, and faster to encode
	}
	if _, ok := img.(*image.Gray); ok {
		profile = nil // it is an RGB profile
	}
	if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: thumbnailQuality}); err != nil {
		return nil, "", fmt.Errorf("encode thumbnail: %w", err)
	}
	if profile != nil {
		return withJPEGProfile(buf.Bytes(), profile), formatJPEG.ext, nil
	}
	return buf.Bytes(), formatJPEG.ext, nil
}
