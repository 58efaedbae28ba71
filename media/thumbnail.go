package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/png"
	"io"
	"runtime/debug"

	"github.com/disintegration/imaging"
	"github.com/gen2brain/jpegn"

	"svc/internal/errs"
)

// thumbnailQuality is the JPEG quality of thumbnails.
const thumbnailQuality = 82

// largeDecodeBytes is the size from which on the memory of a decoded picture is returned to the system at once. Otherwise it would
// still be allocated when the next pictures are decoded.
const largeDecodeBytes = 16 << 20

// rotated returns whether the orientation swaps width and height.
func (f fileInfo) rotated() bool { return f.orientation >= 5 }

// preview decodes a picture and returns the content of its thumbnail; nil if none is needed or decoding would take too much memory. It
// sets the name and size of the thumbnail, and the blurhash. A picture that cannot be decoded is rejected.
func (f *Files) preview(ctx context.Context, src *io.SectionReader, format *format, found fileInfo, kind Kind, file *File) ([]byte, error) {
	rules := kindRules[kind]
	box := rules.box
	if found.rotated() {
		box.X, box.Y = box.Y, box.X
	}
	still := found.animated() && rules.still
	needed := box != image.Point{} && (still || found.width > box.X || found.height > box.Y)
	if !needed && !rules.blurhash {
		return nil, nil
	}
	memory := found.decodeMemory(found.reduction(fit(found.size(), box)))
	if memory > f.limits.DecodeMemory {
		if kind == Preview {
			return nil, errs.Invalid("The picture is too large for a thumbnail")
		}
		return nil, nil
	}
	select {
	case f.decoding <- struct{}{}:
		defer func() { <-f.decoding }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	picture, hash, err := reduce(src, format, found, box)
	if memory >= largeDecodeBytes {
		debug.FreeOSMemory()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if rules.blurhash {
		file.Blurhash = hash
	}
	if !needed {
		return nil, nil
	}
	data, ext, err := encode(picture, found.profile)
	if err != nil || int64(len(data)) >= src.Size() && !still {
		return nil, err
	}
	sum := sha256.Sum256(data)
	file.Thumbnail, file.thumbnailSum = f.storedName(file.owner, sum, ext), hex.EncodeToString(sum[:])
	file.ThumbSize, file.thumbnailSize = picture.Bounds().Size(), int64(len(data))
	return data, nil
}

// storeBytes stores a small file.
func (f *Files) storeBytes(ctx context.Context, name string, data []byte) error {
	t, err := f.newTemp()
	if err != nil {
		return err
	}
	defer t.discard()
	if _, err := t.Write(data); err != nil {
		return writeError(err)
	}
	return t.store(ctx, name)
}

// reduce decodes a picture, scales it down to fit into the box, and applies the orientation. It also returns the blurhash. It recovers
// from panics of decoders, which only touch their own picture.
func reduce(src *io.SectionReader, format *format, found fileInfo, box image.Point) (small image.Image, hash string, err error) {
	defer func() {
		if p := recover(); p != nil {
			small, hash, err = nil, "", malformed("decoder panicked: %v", p)
		}
	}()
	size := fit(found.size(), box)
	reduction := found.reduction(size)
	picture, err := format.decode(src, found, reduction)
	if err != nil {
		return nil, "", &errs.Error{Status: 422, Message: "The picture cannot be decoded", Err: err}
	}
	canvas := image.Rect(0, 0, (found.width+reduction-1)/reduction, (found.height+reduction-1)/reduction)
	if !picture.Bounds().In(canvas) {
		return nil, "", malformed("picture of %v instead of %v", picture.Bounds(), canvas)
	}
	if size == canvas.Size() && picture.Bounds() == canvas {
		small = orient(picture, found.orientation)
	} else {
		small = orient(shrink(picture, canvas, size), found.orientation)
	}
	return small, blurhash(small), nil
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
	if err := jpegn.Encode(&buf, img, &jpegn.EncodeOptions{Quality: thumbnailQuality}); err != nil {
		return nil, "", fmt.Errorf("encode thumbnail: %w", err)
	}
	if profile != nil {
		return withJPEGProfile(buf.Bytes(), profile), formatJPEG.ext, nil
	}
	return buf.Bytes(), formatJPEG.ext, nil
}
