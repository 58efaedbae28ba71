package captcha

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"math/big"
	mathrand "math/rand/v2"
	"sync"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

const (
	digitCount = 5

	pictureWidth  = 240
	pictureHeight = 80
	glyphSize     = 56 // pixels per em
	noiseLines    = 6
)

// newDigits returns random digits.
func newDigits() string {
	digits := make([]byte, digitCount)
	for i := range digits {
		n, err := rand.Int(rand.Reader, big.NewInt(10))
		if err != nil {
			panic(err) // crypto/rand does not fail
		}
		digits[i] = '0' + byte(n.Int64())
	}
	return string(digits)
}

var loadFont = sync.OnceValue(func() *sfnt.Font {
	f, err := sfnt.Parse(gobold.TTF)
	if err != nil {
		panic(err)
	}
	return f
})

// pictureURL returns a PNG of the digits as a data URL. The digits are turned, moved, bent by a wave and struck through by curves.
func pictureURL(digits string) string {
	p := &picture{raster: vector.NewRasterizer(pictureWidth, pictureHeight)}
	p.amplitude, p.phase, p.period = 3+3*mathrand.Float64(), 2*math.Pi*mathrand.Float64(), 50+40*mathrand.Float64()
	step := float64(pictureWidth-30) / digitCount
	for i, d := range digits {
		p.drawGlyph(d, 15+step*(float64(i)+0.5)+5*spread(), pictureHeight/2+6*spread(), 0.35*spread())
	}
	for range noiseLines {
		p.drawLine()
	}
	img := image.NewGray(image.Rect(0, 0, pictureWidth, pictureHeight))
	draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
	p.raster.Draw(img, img.Bounds(), image.NewUniform(color.Gray{Y: 40}), image.Point{})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // a buffer does not fail
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

// picture collects outlines.
type picture struct {
	raster                   *vector.Rasterizer
	amplitude, phase, period float64 // of the wave
}

// spread returns a random number from -1 to 1.
func spread() float64 { return 2*mathrand.Float64() - 1 }

// drawGlyph adds a digit with its centre at x, y, turned by an angle.
func (p *picture) drawGlyph(digit rune, x, y, angle float64) {
	var b sfnt.Buffer
	font := loadFont()
	index, err := font.GlyphIndex(&b, digit)
	if err != nil {
		panic(err) // the font has all digits
	}
	segments, err := font.LoadGlyph(&b, index, fixed.I(glyphSize), nil)
	if err != nil {
		panic(err)
	}
	bounds := segments.Bounds()
	centreX, centreY := float64(bounds.Min.X+bounds.Max.X)/128, float64(bounds.Min.Y+bounds.Max.Y)/128 // 26.6 fixed point
	sin, cos := math.Sincos(angle)
	place := func(q fixed.Point26_6) (float32, float32) {
		dx, dy := float64(q.X)/64-centreX, float64(q.Y)/64-centreY
		return p.bend(x+dx*cos-dy*sin, y+dx*sin+dy*cos)
	}
	for _, s := range segments {
		ax, ay := place(s.Args[0])
		bx, by := place(s.Args[1])
		cx, cy := place(s.Args[2])
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			p.raster.ClosePath()
			p.raster.MoveTo(ax, ay)
		case sfnt.SegmentOpLineTo:
			p.raster.LineTo(ax, ay)
		case sfnt.SegmentOpQuadTo:
			p.raster.QuadTo(ax, ay, bx, by)
		case sfnt.SegmentOpCubeTo:
			p.raster.CubeTo(ax, ay, bx, by, cx, cy)
		}
	}
	p.raster.ClosePath()
}

// bend moves a point by the wave.
func (p *picture) bend(x, y float64) (float32, float32) {
	return float32(x + p.amplitude/2*math.Cos(p.phase+y/p.period*2*math.Pi)), float32(y + p.amplitude*math.Sin(p.phase+x/p.period*2*math.Pi))
}

// drawLine adds a thin curve from the left to the right side.
func (p *picture) drawLine() {
	height := func() float32 { return float32(pictureHeight * mathrand.Float64()) }
	from, middle, to, width := height(), height(), height(), float32(1+1.5*mathrand.Float64())
	p.raster.MoveTo(0, from)
	p.raster.QuadTo(pictureWidth/2, middle, pictureWidth, to)
	p.raster.LineTo(pictureWidth, to+width)
	p.raster.QuadTo(pictureWidth/2, middle+width, 0, from+width)
	p.raster.ClosePath()
}
