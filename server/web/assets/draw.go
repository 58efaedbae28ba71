//go:build ignore

// Draw makes the pictures of this folder: go generate.
package main

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"log"
	"math"
	"math/rand/v2"
	"os"
)

var (
	night = rgb{0.13, 0.15, 0.30}
	dusk  = rgb{0.36, 0.30, 0.52}
	glow  = rgb{0.96, 0.60, 0.46}
	cream = rgb{0.98, 0.94, 0.87}
	mist  = rgb{0.76, 0.78, 0.86}
	slate = rgb{0.56, 0.59, 0.71}
)

func main() {
	write("images/avi.png", asPNG(draw(400, 400, avatar)))
	write("images/mascot.png", asPNG(draw(400, 400, mascot)))
	write("images/banner.png", asPNG(draw(1500, 500, banner)))
	write("images/city.jpg", asJPEG(draw(1920, 1080, city())))
	write("instance/thumbnail.jpeg", asJPEG(draw(1200, 630, card)))
	write("images/icon-192.png", asPNG(draw(192, 192, mark)))
	write("images/icon-512.png", asPNG(draw(512, 512, mark)))
	write("favicon.png", asPNG(draw(64, 64, mark)))
	write("favicon.ico", asICO(asPNG(draw(32, 32, mark)), 32))
}

type rgb [3]float64

func mix(a, b rgb, t float64) rgb {
	t = min(max(t, 0), 1)
	for i := range a {
		a[i] += (b[i] - a[i]) * t
	}
	return a
}

// painter gives the colour at x, y, where the height of the picture is 1 and the width w. px is the size of a pixel.
type painter func(x, y, w, px float64) (rgb, float64)

func draw(width, height int, paint painter) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	px := 1 / float64(height)
	for j := range height {
		for i := range width {
			c, alpha := paint((float64(i)+0.5)*px, (float64(j)+0.5)*px, float64(width)*px, px)
			img.SetNRGBA(i, j, color.NRGBA{level(c[0]), level(c[1]), level(c[2]), level(alpha)})
		}
	}
	return img
}

func level(v float64) uint8 { return uint8(math.Round(min(max(v, 0), 1) * 255)) }

// inside is 1 where the distance to an edge is below 0, 0 where it is above, and smooth over one pixel.
func inside(distance, px float64) float64 { return min(max(0.5-distance/px, 0), 1) }

func circle(x, y, cx, cy, r float64) float64 { return math.Hypot(x-cx, y-cy) - r }

// avatar draws the standard avatar.
func avatar(x, y, w, px float64) (rgb, float64) {
	c := mix(mist, slate, y)
	person := min(circle(x, y, 0.5, 0.40, 0.19), circle(x, y, 0.5, 1.05, 0.42))
	return mix(c, cream, inside(person, px)), 1
}

// mascot is a round owl.
func mascot(x, y, w, px float64) (rgb, float64) {
	x = math.Abs(x - 0.5) // it is symmetric
	ear := max(edge(x, y, 0.10, 0.22, 0.29, 0.07), edge(x, y, 0.29, 0.07, 0.31, 0.36), y-0.36)
	body := math.Hypot(x/0.9, y-0.56) - 0.40
	feet := min(circle(x, y, 0.10, 0.945, 0.035), circle(x, y, 0.16, 0.945, 0.035))
	c := mix(dusk, night, (y-0.3)*1.2)
	for _, part := range []struct {
		colour   rgb
		distance float64
	}{
		{mist, math.Hypot(x/0.8, y-0.74) - 0.22},
		{cream, circle(x, y, 0.145, 0.42, 0.135)},
		{night, circle(x, y, 0.125, 0.42, 0.070)},
		{cream, circle(x, y, 0.105, 0.395, 0.022)},
		{glow, max(0.48-y, edge(x, y, 0.055, 0.48, 0, 0.58))},
		{glow, feet},
	} {
		c = mix(c, part.colour, inside(part.distance, px))
	}
	return c, inside(min(ear, body, feet), px)
}

// edge is below 0 on one side of the line through two points: below it if the points go from left to right.
func edge(x, y, fromX, fromY, toX, toY float64) float64 {
	return ((y-toY)*(fromX-toX) - (x-toX)*(fromY-toY)) / math.Hypot(toX-fromX, toY-fromY)
}

// banner is an evening sky.
func banner(x, y, w, px float64) (rgb, float64) {
	return mix(mix(slate, mist, y), cream, math.Pow(y, 3)*0.6), 1
}

// mark is two bubbles of talk that overlap.
func mark(x, y, w, px float64) (rgb, float64) {
	a, b := inside(circle(x, y, 0.40, 0.42, 0.36), px), inside(circle(x, y, 0.62, 0.62, 0.34), px)
	c := mix(dusk, glow, b)
	if a > 0 && b > 0 {
		c = mix(c, mix(dusk, glow, 0.5), min(a, b))
	}
	return c, max(a, b)
}

// card is the mark before the evening sky.
func card(x, y, w, px float64) (rgb, float64) {
	sky := mix(night, dusk, y)
	const size = 0.6
	c, alpha := mark((x-(w-size)/2)/size, (y-(1-size)/2)/size, 1, px/size)
	return mix(sky, c, alpha), 1
}

// city is a row of houses at dusk, some windows lit.
func city() painter {
	rnd := rand.New(rand.NewPCG(7, 7))
	type house struct{ left, right, top, shade float64 }
	var rows [3][]house
	for row := range rows {
		for x := -0.05; x < 1.85; {
			width := 0.05 + 0.08*rnd.Float64()
			rows[row] = append(rows[row], house{x, x + width, 0.42 + 0.13*float64(row) + 0.2*rnd.Float64(), float64(row) / 3})
			x += width + 0.02*rnd.Float64()
		}
	}
	return func(x, y, w, px float64) (rgb, float64) {
		c := mix(mix(night, dusk, y*1.6), glow, math.Pow(y, 2)*0.9)
		for row, houses := range rows {
			for i, h := range houses {
				if x < h.left || x >= h.right || y < h.top {
					continue
				}
				c = mix(dusk, night, 0.35+h.shade)
				column, line := math.Floor((x-h.left)/0.016), math.Floor((y-h.top)/0.024)
				inX, inY := math.Mod(x-h.left, 0.016), math.Mod(y-h.top, 0.024)
				lit := (int(column)*7+int(line)*13+i*5+row)%11 == 0
				if lit && inX > 0.005 && inX < 0.012 && inY > 0.007 && inY < 0.018 && (column+1)*0.016 < h.right-h.left {
					c = mix(c, glow, 0.75)
				}
			}
		}
		return c, 1
	}
}

func asPNG(img image.Image) []byte {
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	check(encoder.Encode(&b, img))
	return b.Bytes()
}

func asJPEG(img image.Image) []byte {
	var b bytes.Buffer
	check(jpeg.Encode(&b, img, &jpeg.Options{Quality: 80}))
	return b.Bytes()
}

// asICO wraps a PNG file, as icons may hold.
func asICO(file []byte, side uint8) []byte {
	var b bytes.Buffer
	b.Write([]byte{0, 0, 1, 0, 1, 0, side, side, 0, 0, 1, 0, 32, 0})
	check(binary.Write(&b, binary.LittleEndian, []uint32{uint32(len(file)), uint32(b.Len() + 8)}))
	b.Write(file)
	return b.Bytes()
}

func write(name string, content []byte) { check(os.WriteFile(name, content, 0o644)) }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
