package web

import (
	"encoding/base64"
	"encoding/binary"
	"html/template"
	"math"
	"strings"
)

// The size of placeholders in pixels. Browsers make them larger, which blurs them. A row of a bitmap has a multiple of four bytes.
const (
	blurWidth  = 8
	blurHeight = 6
)

const base83 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"

// blurred returns a picture of a blurhash (https://github.com/woltapp/blurhash) as a URL, grey if the hash is "" or malformed.
func blurred(hash string) template.URL {
	factors, columns := blurFactors(hash)
	if factors == nil {
		factors, columns = [][3]float64{{0.2, 0.2, 0.2}}, 1
	}
	bitmap := bitmapHeader(blurWidth, blurHeight)
	for y := blurHeight - 1; y >= 0; y-- { // a bitmap begins with its last row
		for x := range blurWidth {
			var colour [3]float64
			for i, f := range factors {
				weight := math.Cos(math.Pi*float64(i%columns)*(float64(x)+0.5)/blurWidth) * math.Cos(math.Pi*float64(i/columns)*(float64(y)+0.5)/blurHeight)
				for c := range colour {
					colour[c] += f[c] * weight
				}
			}
			bitmap = append(bitmap, srgb(colour[2]), srgb(colour[1]), srgb(colour[0]))
		}
	}
	return template.URL("data:image/bmp;base64," + base64.StdEncoding.EncodeToString(bitmap))
}

// blurFactors returns the factors of the cosines of a blurhash row by row, and how many a row has; nil if it is malformed.
func blurFactors(hash string) (factors [][3]float64, columns int) {
	digits := make([]int, len(hash))
	for i := range hash {
		if digits[i] = strings.IndexByte(base83, hash[i]); digits[i] < 0 {
			return nil, 0
		}
	}
	if len(digits) < 6 || digits[0] > 80 || len(digits) != 4+2*(digits[0]%9+1)*(digits[0]/9+1) {
		return nil, 0
	}
	mean := ((digits[2]*83+digits[3])*83+digits[4])*83 + digits[5]
	factors = append(factors, [3]float64{linear(mean >> 16 & 255), linear(mean >> 8 & 255), linear(mean & 255)})
	largest := float64(digits[1]+1) / 166
	for i := 6; i < len(digits); i += 2 {
		v := digits[i]*83 + digits[i+1]
		factors = append(factors, [3]float64{largest * step(v/361), largest * step(v/19%19), largest * step(v%19)})
	}
	return factors, digits[0]%9 + 1
}

// step returns a factor between -1 and 1 of one of 19 steps, which are finer near 0.
func step(n int) float64 {
	f := float64(n-9) / 9
	return math.Copysign(f*f, f)
}

// linear returns the intensity of an sRGB value (IEC 61966-2-1).
func linear(v int) float64 {
	f := float64(v) / 255
	if f <= 0.04045 {
		return f / 12.92
	}
	return math.Pow((f+0.055)/1.055, 2.4)
}

// srgb returns the sRGB value of an intensity.
func srgb(f float64) byte {
	f = min(1, max(0, f))
	if f <= 0.0031308 {
		return byte(f*12.92*255 + 0.5)
	}
	return byte((1.055*math.Pow(f, 1/2.4)-0.055)*255 + 0.5)
}

// bitmapHeader returns the header of a bitmap (BMP) of 24 bits a pixel, whose pixels follow.
func bitmapHeader(width, height int) []byte {
	const size = 54
	b := append(make([]byte, 0, size+3*width*height), "BM"...)
	for _, field := range []int{size + 3*width*height, 0, size, 40, width, height, 1 | 24<<16, 0, 3 * width * height, 0, 0, 0, 0} {
		b = binary.LittleEndian.AppendUint32(b, uint32(field))
	}
	return b
}
