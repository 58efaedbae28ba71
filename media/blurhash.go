package media

import (
	"image"
	"math"
)

// Blurhash is a placeholder that apps draw until a picture has loaded (https://github.com/woltapp/blurhash): a cosine transform of few
// components, in base 83.
const (
	hashColumns = 4  // components along a row
	hashRows    = 3  // and along a column
	hashSide    = 32 // of the picture that is transformed: more pixels do not change what the components say
)

const base83 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"

// blurhash returns the placeholder of a picture.
func blurhash(img image.Image) string {
	size := fit(img.Bounds().Size(), image.Pt(hashSide, hashSide))
	small := shrink(img, img.Bounds(), size)
	pixels := make([][3]float64, 0, size.X*size.Y)
	for y := range size.Y {
		for x := range size.X {
			r, g, b, _ := small.At(x, y).RGBA()
			pixels = append(pixels, [3]float64{linear(r >> 8), linear(g >> 8), linear(b >> 8)})
		}
	}
	var factors [hashColumns * hashRows][3]float64
	for j := range hashRows {
		for i := range hashColumns {
			factors[j*hashColumns+i] = component(pixels, size, i, j)
		}
	}
	largest := 0.0
	for _, f := range factors[1:] {
		largest = max(largest, math.Abs(f[0]), math.Abs(f[1]), math.Abs(f[2]))
	}
	steps := int(min(82, max(0, math.Floor(largest*166-0.5))))
	scale := float64(steps+1) / 166

	hash := appendBase83(nil, hashColumns-1+(hashRows-1)*9, 1)
	hash = appendBase83(hash, steps, 1)
	mean := factors[0]
	hash = appendBase83(hash, srgb(mean[0])<<16|srgb(mean[1])<<8|srgb(mean[2]), 4)
	for _, f := range factors[1:] {
		hash = appendBase83(hash, (quantized(f[0]/scale)*19+quantized(f[1]/scale))*19+quantized(f[2]/scale), 2)
	}
	return string(hash)
}

// component returns the share of a cosine in each colour of a picture. It samples the centres of pixels, so that a picture of one colour
// has no components but its mean.
func component(pixels [][3]float64, size image.Point, i, j int) (sum [3]float64) {
	norm := 2.0
	if i == 0 && j == 0 {
		norm = 1
	}
	norm /= float64(size.X * size.Y)
	for y := range size.Y {
		row := norm * math.Cos(math.Pi*float64(j)*(float64(y)+0.5)/float64(size.Y))
		for x := range size.X {
			weight := row * math.Cos(math.Pi*float64(i)*(float64(x)+0.5)/float64(size.X))
			for c, v := range pixels[y*size.X+x] {
				sum[c] += weight * v
			}
		}
	}
	return sum
}

// linear returns the intensity of an sRGB value (IEC 61966-2-1).
func linear(v uint32) float64 {
	f := float64(v) / 255
	if f <= 0.04045 {
		return f / 12.92
	}
	return math.Pow((f+0.055)/1.055, 2.4)
}

// srgb returns the sRGB value of an intensity.
func srgb(f float64) int {
	f = min(1, max(0, f))
	if f <= 0.0031308 {
		return int(f*12.92*255 + 0.5)
	}
	return int((1.055*math.Pow(f, 1/2.4)-0.055)*255 + 0.5)
}

// quantized returns a factor between -1 and 1 as one of 19 steps, which are finer near 0.
func quantized(f float64) int {
	root := math.Copysign(math.Sqrt(math.Abs(f)), f)
	return int(min(18, max(0, math.Floor(root*9+9.5))))
}

// appendBase83 appends the digits of n, the highest first.
func appendBase83(b []byte, n, digits int) []byte {
	for i := digits - 1; i >= 0; i-- {
		b = append(b, base83[n/int(math.Pow(83, float64(i)))%83])
	}
	return b
}
