package media

import (
	"image"

	"github.com/disintegration/imaging"
)

// orientationTransforms are the transformations for EXIF orientations; 1 needs none.
var orientationTransforms = map[int]func(image.Image) *image.NRGBA{
	2: imaging.FlipH, 3: imaging.Rotate180, 4: imaging.FlipV,
	5: imaging.Transpose, 6: imaging.Rotate270, 7: imaging.Transverse, 8: imaging.Rotate90,
}

// orient transforms a picture by its orientation. It transforms the planes of a YCbCr picture, the usual photograph, one by one,
// because converting colours would cost as much as shrinking.
func orient(img image.Image, orientation int) image.Image {
	turn := orientationTransforms[orientation]
	if turn == nil {
		return img
	}
	if planes, ok := img.(*image.YCbCr); ok && planes.SubsampleRatio == image.YCbCrSubsampleRatio420 {
		return rotatePlanes(planes, orientation)
	}
	return turn(img)
}

func rotatePlanes(img *image.YCbCr, orientation int) *image.YCbCr {
	size := img.Rect.Size()
	chroma := image.Pt((size.X+1)/2, (size.Y+1)/2)
	turned := size
	if orientation >= 5 {
		turned = image.Pt(size.Y, size.X)
	}
	out := image.NewYCbCr(image.Rectangle{Max: turned}, img.SubsampleRatio)
	rotatePlane(out.Y, out.YStride, img.Y, img.YStride, size, orientation)
	rotatePlane(out.Cb, out.CStride, img.Cb, img.CStride, chroma, orientation)
	rotatePlane(out.Cr, out.CStride, img.Cr, img.CStride, chroma, orientation)
	return out
}

// rotatePlane copies a plane to out row by row: from the position of the first sample on, in steps along a row and to the next row.
func rotatePlane(out []uint8, outStride int, in []uint8, stride int, size image.Point, orientation int) {
	right, bottom := size.X-1, (size.Y-1)*stride
	from := [...]struct{ start, alongRow, toNextRow int }{
		2: {right, -1, stride},
		3: {bottom + right, -1, -stride},
		4: {bottom, 1, -stride},
		5: {0, stride, 1},
		6: {bottom, -stride, 1},
		7: {bottom + right, -stride, -1},
		8: {right, stride, -1},
	}[orientation]
	if orientation >= 5 {
		size.X, size.Y = size.Y, size.X
	}
	for y := range size.Y {
		at := from.start + y*from.toNextRow
		row := out[y*outStride:][:size.X]
		for x := range row {
			row[x] = in[at]
			at += from.alongRow
		}
	}
}
