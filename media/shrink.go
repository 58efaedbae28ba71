package media

import (
	"image"
	"image/draw"
)

// fit returns the size of a picture that is scaled down to fit into a box. No side becomes 0.
func fit(size, box image.Point) image.Point {
	if size.X <= box.X && size.Y <= box.Y {
		return size
	}
	if size.X*box.Y > size.Y*box.X {
		return image.Pt(box.X, max(1, (size.Y*box.X+size.X/2)/size.X))
	}
	return image.Pt(max(1, (size.X*box.Y+size.Y/2)/size.Y), box.Y)
}

// shrink scales a picture down: each new pixel is the mean of the area that it covers. The canvas is transparent where it is larger
// than the picture.
//
// The usual photograph consists of three planes, which are averaged directly: no pixel is converted, and the encoder takes planes. For
// a photograph of 2 megapixels this is several times as fast as the resampling of imaging, and it needs memory for two rows.
func shrink(img image.Image, canvas image.Rectangle, size image.Point) image.Image {
	if planes, ok := img.(*image.YCbCr); ok && planes.Rect == canvas {
		if small := shrinkPlanes(planes, size); small != nil {
			return small
		}
	}
	if grey, ok := img.(*image.Gray); ok && grey.Rect == canvas {
		small := image.NewGray(image.Rectangle{Max: size})
		average(small.Pix, small.Stride, size, planeRows(grey.Pix, grey.Stride, canvas.Dx()), canvas.Size(), 1)
		return small
	}
	// Other pictures are converted row by row, with colours premultiplied by alpha, as averages require.
	var cached [2]*image.RGBA // the latest rows
	latest := [2]int{-1, -1}
	for i := range cached {
		cached[i] = image.NewRGBA(image.Rect(0, 0, canvas.Dx(), 1))
	}
	rows := func(y int) []uint8 {
		row := cached[y%2]
		if latest[y%2] != y {
			latest[y%2] = y
			clear(row.Pix)
			draw.Draw(row, row.Rect, img, image.Pt(canvas.Min.X, canvas.Min.Y+y), draw.Src)
		}
		return row.Pix
	}
	small := image.NewRGBA(image.Rectangle{Max: size})
	average(small.Pix, small.Stride, size, rows, canvas.Size(), 4)
	return small
}

// shrinkPlanes averages each of the three planes. It returns nil for rare subsampling ratios, for which a plane might have to grow.
func shrinkPlanes(img *image.YCbCr, size image.Point) *image.YCbCr {
	width, height := img.Rect.Dx(), img.Rect.Dy()
	cw, ch := width, height
	switch img.SubsampleRatio {
	case image.YCbCrSubsampleRatio444:
	case image.YCbCrSubsampleRatio422:
		cw = (width + 1) / 2
	case image.YCbCrSubsampleRatio420:
		cw, ch = (width+1)/2, (height+1)/2
	default:
		return nil
	}
	small := image.NewYCbCr(image.Rectangle{Max: size}, image.YCbCrSubsampleRatio420)
	average(small.Y, small.YStride, size, planeRows(img.Y, img.YStride, width), image.Pt(width, height), 1)
	chroma := image.Pt((size.X+1)/2, (size.Y+1)/2)
	average(small.Cb, small.CStride, chroma, planeRows(img.Cb, img.CStride, cw), image.Pt(cw, ch), 1)
	average(small.Cr, small.CStride, chroma, planeRows(img.Cr, img.CStride, cw), image.Pt(cw, ch), 1)
	return small
}

func planeRows(pix []uint8, stride, width int) func(y int) []uint8 {
	return func(y int) []uint8 { return pix[y*stride:][:width] }
}

// average fills a picture of size to with the averages of a larger one of size from. It reads the rows top to bottom; a row must stay
// valid until the next but one is read. Both have the same number of samples per pixel.
//
// A row of the larger picture counts to.Y units and a row of the smaller one covers from.Y of them, so that all weights are integers;
// likewise for columns. Sums of a column stay within 32 bits because of maxSide.
func average(pix []uint8, stride int, to image.Point, row func(y int) []uint8, from image.Point, samples int) {
	columns := make([]uint32, from.X*samples)
	scale := 1 / (float64(from.X) * float64(from.Y))
	y, left := 0, to.Y
	take := func(need int) (r []uint8, weight int) {
		r, weight = row(y), min(left, need)
		if left -= weight; left == 0 {
			y, left = y+1, to.Y
		}
		return r, weight
	}
	for j := range to.Y {
		clear(columns)
		for need := from.Y; need > 0; {
			r, weight := take(need)
			need -= weight
			r2, weight2 := r, 0
			if need > 0 {
				r2, weight2 = take(need)
				need -= weight2
			}
			addRows(columns, r, r2, uint32(weight), uint32(weight2))
		}
		out := pix[j*stride:][:to.X*samples]
		for c := range samples {
			averageRow(out[c:], columns[c:], to.X, from.X, samples, scale)
		}
	}
}

// addRows adds two rows at a time, which halves the accesses to the sums.
func addRows(columns []uint32, a, b []uint8, weightA, weightB uint32) {
	a, b = a[:len(columns)], b[:len(columns)]
	for i := range columns {
		columns[i] += uint32(a[i])*weightA + uint32(b[i])*weightB
	}
}

// averageRow computes a row of to samples from the sums of from columns. Both slices have a sample at every step-th index.
func averageRow(out []uint8, columns []uint32, to, from, step int, scale float64) {
	x, left := 0, to
	for i := range to {
		var whole, parts int64 // sums of columns that are covered completely and partly
		need := from
		if left < to {
			parts = int64(columns[x*step]) * int64(left)
			need -= left
			x++
		}
		for ; need >= to; need -= to {
			whole += int64(columns[x*step])
			x++
		}
		left = to - need
		if need > 0 {
			parts += int64(columns[x*step]) * int64(need)
		}
		out[i*step] = uint8(int(float64(whole*int64(to)+parts)*scale + 0.5))
	}
}
