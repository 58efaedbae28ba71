package media

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func TestThumbnail(t *testing.T) {
	f, dir := openFiles(t, Limits{})
	transparent := image.NewNRGBA(image.Rect(0, 0, 800, 800))
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range transparent.Pix {
		transparent.Pix[i] = uint8(noise.Uint32())
	}
	blank := image.NewPaletted(image.Rect(0, 0, 641, 641), color.Palette{color.White})
	lossless := func(alpha byte) []byte { return webpFile(riffChunk("VP8L", vp8l(1000, 800, alpha))) }
	frame := anmf(0, 0, 50, 40, riffChunk("VP8L", vp8l(50, 40, 255)))
	animatedWebP := webpFile(vp8x(2, 50, 40), riffChunk("ANIM", make([]byte, 6)), frame, frame)
	animatedPNG := insert(encodePNG(quarters(30, 30)), afterIHDR, pngChunk("acTL", be(2, 0)))
	for _, tt := range []struct {
		name   string
		file   []byte
		kind   Kind
		want   image.Point // zero for none
		format string
	}{
		{"JPEG", encodeJPEG(photo(1200, 800)), Attachment, image.Pt(640, 427), "jpeg"},
		{"JPEG that just fits", encodeJPEG(photo(640, 640)), Attachment, image.Point{}, ""},
		{"JPEG one pixel too wide", encodeJPEG(photo(641, 100)), Attachment, image.Pt(640, 100), "jpeg"},
		{"grey JPEG", encodeJPEG(image.NewGray(image.Rect(0, 0, 700, 1400))), Attachment, image.Pt(320, 640), "jpeg"},
		{"turned JPEG", insert(encodeJPEG(photo(1200, 800)), 2, exifSegment(6)), Attachment, image.Pt(427, 640), "jpeg"},
		{"PNG", encodePNG(photo(800, 800)), Attachment, image.Pt(640, 640), "jpeg"},
		{"transparent PNG", encodePNG(transparent), Attachment, image.Pt(640, 640), "png"},
		{"PNG smaller than any thumbnail", encodePNG(blank), Attachment, image.Point{}, ""},
		{"very long PNG", encodePNG(photo(6000, 3)), Attachment, image.Pt(640, 1), "jpeg"},
		{"GIF", encodeGIF(1400, 1000, 1), Attachment, image.Pt(640, 457), "jpeg"},
		{"small animated GIF", encodeGIF(30, 20, 2), Attachment, image.Pt(30, 20), "jpeg"},
		{"WebP", lossless(255), Attachment, image.Pt(640, 512), "jpeg"},
		{"transparent WebP", lossless(99), Attachment, image.Pt(640, 512), "png"},

		{"avatar", encodeJPEG(photo(900, 900)), Avatar, image.Pt(400, 400), "jpeg"},
		{"small avatar", encodeJPEG(photo(90, 90)), Avatar, image.Point{}, ""},
		{"animated avatar", encodeGIF(30, 20, 2), Avatar, image.Pt(30, 20), "jpeg"},
		{"avatar of one frame", encodeGIF(30, 20, 1), Avatar, image.Point{}, ""},
		{"animated WebP avatar", animatedWebP, Avatar, image.Pt(50, 40), "jpeg"},
		{"animated PNG avatar", animatedPNG, Avatar, image.Pt(30, 30), "jpeg"},
		{"animated emoji", encodeGIF(256, 256, 2), Emoji, image.Pt(128, 128), "jpeg"},
		{"header", encodeJPEG(photo(3000, 900)), Header, image.Pt(1500, 450), "jpeg"},
		{"header that fits", encodeJPEG(photo(1500, 500)), Header, image.Point{}, ""},
		{"background", encodeJPEG(photo(1920, 1080)), Background, image.Point{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.Ingest(t.Context(), 1, bytes.NewReader(tt.file), tt.kind, 10<<20)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == (image.Point{}) {
				if got.Thumbnail != "" {
					t.Error("there is a thumbnail")
				}
				return
			}
			if got.Thumbnail == "" {
				t.Fatal("there is no thumbnail")
			}
			img, format := decodeFile(t, dir, got.Thumbnail)
			if img.Bounds().Size() != tt.want || format != tt.format {
				t.Errorf("%s of %v, want %s of %v", format, img.Bounds().Size(), tt.format, tt.want)
			}
			if mime := mimeByExt[filepath.Ext(got.Thumbnail)[1:]]; mime != "image/"+format {
				t.Errorf("served as %q", mime)
			}
		})
	}
}

// TestOrientation stores a picture with all orientations and compares the corners of the thumbnail.
func TestOrientation(t *testing.T) {
	f, dir := openFiles(t, Limits{})
	plain := encodeJPEG(quarters(1000, 800))
	for orientation, want := range []string{1: "rgbw", 2: "grwb", 3: "wbgr", 4: "bwrg", 5: "rbgw", 6: "brwg", 7: "wgbr", 8: "gwrb"} {
		if want == "" {
			continue
		}
		got, err := f.Ingest(t.Context(), 1, bytes.NewReader(insert(plain, 2, exifSegment(uint16(orientation)))), Avatar, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		img, _ := decodeFile(t, dir, got.Thumbnail)
		size := image.Pt(400, 320)
		if orientation >= 5 {
			size = image.Pt(320, 400)
		}
		if img.Bounds().Size() != size || got.Width*size.Y != got.Height*size.X {
			t.Errorf("orientation %d: thumbnail %v of %d x %d", orientation, img.Bounds().Size(), got.Width, got.Height)
		}
		corners := ""
		for _, p := range []image.Point{{10, 10}, {size.X - 10, 10}, {10, size.Y - 10}, {size.X - 10, size.Y - 10}} {
			r, g, b, _ := img.At(p.X, p.Y).RGBA()
			switch bright := uint32(0x8000); {
			case r > bright && g > bright && b > bright:
				corners += "w"
			case r > bright:
				corners += "r"
			case g > bright:
				corners += "g"
			case b > bright:
				corners += "b"
			}
		}
		if corners != want {
			t.Errorf("orientation %d: corners %q, want %q", orientation, corners, want)
		}
	}
}

// TestRotatePlanes compares both ways to rotate. Colours may differ by half a pixel for odd sizes, so those are compared in grey.
func TestRotatePlanes(t *testing.T) {
	noise := rand.New(rand.NewPCG(3, 4))
	for _, size := range []image.Point{{64, 48}, {63, 47}, {1, 5}} {
		img := image.NewYCbCr(image.Rectangle{Max: size}, image.YCbCrSubsampleRatio420)
		for i := range img.Y {
			img.Y[i] = uint8(noise.Uint32())
		}
		for i := range img.Cb {
			img.Cb[i], img.Cr[i] = 128, 128
			if size.X%2 == 0 {
				img.Cb[i], img.Cr[i] = uint8(noise.Uint32()), uint8(noise.Uint32())
			}
		}
		for orientation, turn := range orientationTransforms {
			got, want := orient(img, orientation), turn(img)
			if got.Bounds() != want.Bounds() {
				t.Fatalf("orientation %d: %v, want %v", orientation, got.Bounds(), want.Bounds())
			}
			for y := range want.Rect.Dy() {
				for x := range want.Rect.Dx() {
					if got := color.NRGBAModel.Convert(got.At(x, y)).(color.NRGBA); !near(got, want.NRGBAAt(x, y)) {
						t.Fatalf("orientation %d of %v: pixel %d,%d is %v, want %v", orientation, size, x, y, got, want.At(x, y))
					}
				}
			}
		}
	}
}

func TestThumbnailProfile(t *testing.T) {
	f, dir := openFiles(t, Limits{})
	icc := iccProfile(600)
	transparent := image.NewNRGBA(image.Rect(0, 0, 700, 700))
	draw.Draw(transparent, transparent.Rect, photo(700, 700), image.Point{}, draw.Src)
	clear(transparent.Pix[:4*700*20])
	for _, tt := range []struct {
		name string
		file []byte
		scan scanFunc
	}{
		{"JPEG", withJPEGProfile(encodeJPEG(photo(800, 600)), icc), scanJPEG},
		{"PNG", withPNGProfile(encodePNG(transparent), icc), scanPNG},
		{"PNG to JPEG", withPNGProfile(encodePNG(photo(800, 600)), icc), scanJPEG},
		{"WebP to JPEG", webpFile(vp8x(1<<5, 3000, 900), riffChunk("ICCP", icc), riffChunk("VP8L", vp8l(3000, 900, 255))), scanJPEG},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.Ingest(t.Context(), 1, bytes.NewReader(tt.file), Attachment, 10<<20)
			if err != nil {
				t.Fatal(err)
			}
			thumbnail, err := os.ReadFile(filepath.Join(dir, got.Thumbnail))
			if err != nil {
				t.Fatal(err)
			}
			clean, found, err := cleaned(thumbnail, tt.scan)
			if err != nil || !bytes.Equal(clean, thumbnail) || !bytes.Equal(found.profile, icc) {
				t.Errorf("%v; profile of %d bytes, want %d", err, len(found.profile), len(icc))
			}
			decodeFile(t, dir, got.Thumbnail)
		})
	}
}

func TestDecodeMemoryLimit(t *testing.T) {
	whole, large := encodeJPEG(photo(704, 704)), encodeJPEG(photo(2816, 2816))
	grey := encodeJPEG(image.NewGray(image.Rect(0, 0, 2816, 5632)))
	progressive := progressiveJPEG(1408, 1408)
	extended := bytes.Replace(encodeJPEG(photo(1408, 1408)), []byte{0xff, markerSOF0}, []byte{0xff, markerSOF1}, 1)
	for _, tt := range []struct {
		name string
		file []byte
		need int
	}{
		{"JPEG", whole, 704*704*3/2 + len(whole)}, // blocks of 16 pixels, planes of 1.5 bytes a pixel
		{"JPEG that is reduced to a half", large, 1408*1408*3/2 + len(large)},
		{"grey JPEG that is reduced to a quarter", grey, 704*1408 + len(grey)},
		{"progressive JPEG, with coefficients of four bytes", progressive, 5*1408*1408*3/2 + len(progressive)},
		{"JPEG that the standard library decodes", extended, 1408 * 1408 * 3 / 2},
		{"PNG", encodePNG(photo(704, 704)), 704 * 704 * 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, limit := range []int{tt.need, tt.need - 1} {
				f, _ := openFiles(t, Limits{DecodeMemory: int64(limit)})
				got, err := f.Ingest(t.Context(), 1, bytes.NewReader(tt.file), Attachment, 10<<20)
				if err != nil {
					t.Fatal(err)
				}
				if has := got.Thumbnail != ""; has != (limit == tt.need) {
					t.Errorf("limit %d of %d: thumbnail %v", limit, tt.need, has)
				}
				got.Release()
			}
		})
	}
}

// TestDecodeOneAtATime decodes many pictures at the same time, so that the memory limit of one is the limit of all.
func TestDecodeOneAtATime(t *testing.T) {
	f, _ := openFiles(t, Limits{})
	src := io.NewSectionReader(bytes.NewReader(nil), 0, 0)
	found := fileInfo{width: 1000, height: 1000}
	var decoding, most atomic.Int32
	started, finish := make(chan struct{}), make(chan struct{})
	slow := &format{decode: func(*io.SectionReader, fileInfo, int) (image.Image, error) {
		if n := decoding.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer decoding.Add(-1)
		started <- struct{}{}
		<-finish
		return image.NewGray(image.Rect(0, 0, 1000, 1000)), nil
	}}
	var previews sync.WaitGroup
	for range 8 {
		previews.Go(func() {
			if _, err := f.preview(t.Context(), src, slow, found, Attachment, new(File)); err != nil {
				t.Error(err)
			}
		})
	}
	<-started
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.preview(canceled, src, slow, found, Attachment, new(File)); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for a turn after the client has left: %v", err)
	}
	finish <- struct{}{}
	for range 7 {
		<-started
		finish <- struct{}{}
	}
	previews.Wait()
	if most.Load() != 1 {
		t.Errorf("%d pictures were decoded at the same time", most.Load())
	}
}

// TestReducedDecoding compares thumbnails of reduced JPEG pictures with those of whole ones. From 35 dB on, a difference cannot be seen.
func TestReducedDecoding(t *testing.T) {
	waves := image.NewGray(image.Rect(0, 0, 1632, 1224)) // finer and finer to the right and the bottom
	for y := range waves.Rect.Dy() {
		for x := range waves.Rect.Dx() {
			waves.SetGray(x, y, color.Gray{uint8(128 + 100*math.Sin(float64(x*x+y*y)/16000))})
		}
	}
	for _, tt := range []struct {
		name      string
		picture   image.Image
		size      image.Point
		reduction int
	}{
		{"half", photo(1632, 1224), image.Pt(400, 300), 2},
		{"odd half", photo(1635, 1227), image.Pt(400, 300), 2},
		{"quarter", photo(1632, 1224), image.Pt(200, 150), 4},
		{"eighth", photo(1632, 1224), image.Pt(100, 75), 8},
		{"waves, half", waves, image.Pt(400, 300), 2},
		{"waves, quarter", waves, image.Pt(200, 150), 4},
		{"not reduced", photo(1632, 1224), image.Pt(640, 480), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := encodeJPEG(tt.picture)
			_, found, err := cleaned(file, scanJPEG)
			if err != nil {
				t.Fatal(err)
			}
			if got := found.reduction(tt.size); got != tt.reduction {
				t.Errorf("reduction by %d, want %d", got, tt.reduction)
			}
			reduced, err := decodeJPEG(io.NewSectionReader(bytes.NewReader(file), 0, int64(len(file))), found, tt.reduction)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := jpeg.Decode(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			got := shrink(reduced, reduced.Bounds(), tt.size)
			want := shrink(whole, whole.Bounds(), tt.size)
			if ratio := likeness(got, want); ratio < 35 {
				t.Errorf("%.1f dB, want 35", ratio)
			}
		})
	}
}

// likeness returns the peak signal-to-noise ratio in dB.
func likeness(a, b image.Image) float64 {
	size, sum := a.Bounds().Size(), 0.0
	for y := range size.Y {
		for x := range size.X {
			r1, g1, b1, _ := a.At(x, y).RGBA()
			r2, g2, b2, _ := b.At(x, y).RGBA()
			for _, d := range []float64{float64(r1>>8) - float64(r2>>8), float64(g1>>8) - float64(g2>>8), float64(b1>>8) - float64(b2>>8)} {
				sum += d * d
			}
		}
	}
	return 10 * math.Log10(255*255*float64(3*size.X*size.Y)/sum)
}

// TestDecoderPanics simulates a panic of a decoder.
func TestDecoderPanics(t *testing.T) {
	broken := &format{decode: func(*io.SectionReader, fileInfo, int) (image.Image, error) { panic("index out of range") }}
	_, _, err := reduce(nil, broken, fileInfo{width: 9, height: 9}, image.Pt(4, 4))
	wantStatus(t, err, 422)
}

func TestFit(t *testing.T) {
	box := image.Pt(640, 480)
	for _, tt := range []struct{ size, want image.Point }{
		{image.Pt(1, 1), image.Pt(1, 1)},
		{image.Pt(640, 480), image.Pt(640, 480)},
		{image.Pt(641, 480), image.Pt(640, 479)},
		{image.Pt(1280, 960), image.Pt(640, 480)},
		{image.Pt(1000, 1000), image.Pt(480, 480)},
		{image.Pt(65535, 1), image.Pt(640, 1)},
		{image.Pt(1, 65535), image.Pt(1, 480)},
	} {
		if got := fit(tt.size, box); got != tt.want {
			t.Errorf("fit(%v) = %v, want %v", tt.size, got, tt.want)
		}
	}
}

func TestShrink(t *testing.T) {
	// Four columns become three: each is the mean of one and a third columns.
	grey := image.NewGray(image.Rect(0, 0, 4, 1))
	copy(grey.Pix, []uint8{0, 90, 180, 255})
	got := shrink(grey, grey.Rect, image.Pt(3, 1)).(*image.Gray)
	if want := []uint8{23, 135, 236}; !bytes.Equal(got.Pix, want) {
		t.Errorf("columns %v, want %v", got.Pix, want)
	}

	// A picture of one colour keeps it, for each type and size.
	c := color.NRGBA{200, 100, 50, 255}
	r := image.Rect(0, 0, 37, 53)
	ratios := []image.YCbCrSubsampleRatio{
		image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420,
		image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410,
	}
	pictures := map[string]image.Image{"NRGBA": uniform(image.NewNRGBA(r), c), "RGBA": uniform(image.NewRGBA(r), c),
		"deep": uniform(image.NewNRGBA64(r), c), "CMYK": uniform(image.NewCMYK(r), c),
		"palette": uniform(image.NewPaletted(r, color.Palette{color.Black, c}), c)}
	for _, ratio := range ratios {
		img := image.NewYCbCr(r, ratio)
		y, cb, cr := color.RGBToYCbCr(c.R, c.G, c.B)
		for i := range img.Y {
			img.Y[i] = y
		}
		for i := range img.Cb {
			img.Cb[i], img.Cr[i] = cb, cr
		}
		pictures[ratio.String()] = img
	}
	for name, img := range pictures {
		for _, size := range []image.Point{{37, 53}, {36, 52}, {20, 30}, {3, 2}, {1, 1}} {
			small := shrink(img, r, size)
			if small.Bounds() != (image.Rectangle{Max: size}) {
				t.Errorf("%s: bounds %v, want %v", name, small.Bounds(), size)
			}
			for y := range size.Y {
				for x := range size.X {
					if got := color.NRGBAModel.Convert(small.At(x, y)).(color.NRGBA); !near(got, c) {
						t.Fatalf("%s to %v: pixel %d,%d is %v", name, size, x, y, got)
					}
				}
			}
		}
	}

	// Transparent pixels do not change the colour, and a frame does not fill a larger canvas.
	half := image.NewNRGBA(image.Rect(2, 0, 4, 2))
	uniform(half, color.NRGBA{255, 0, 0, 255})
	spread := shrink(half, image.Rect(0, 0, 4, 2), image.Pt(1, 1))
	if got := color.NRGBAModel.Convert(spread.At(0, 0)).(color.NRGBA); !near(got, color.NRGBA{255, 0, 0, 128}) {
		t.Errorf("half a picture became %v", got)
	}
}

type settable interface {
	image.Image
	Set(x, y int, c color.Color)
}

func uniform(img settable, c color.Color) image.Image {
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			img.Set(x, y, c)
		}
	}
	return img
}

func near(a, b color.NRGBA) bool {
	for _, d := range []int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B), int(a.A) - int(b.A)} {
		if d < -2 || d > 2 {
			return false
		}
	}
	return true
}

// TestFirstFrame makes a thumbnail of an animation whose first frame covers only a part.
func TestFirstFrame(t *testing.T) {
	frame := image.NewPaletted(image.Rect(10, 10, 20, 20), color.Palette{color.White})
	var buf bytes.Buffer
	err := gif.EncodeAll(&buf, &gif.GIF{
		Image:  []*image.Paletted{frame, frame},
		Delay:  []int{1, 1},
		Config: image.Config{Width: 30, Height: 30},
	})
	if err != nil {
		t.Fatal(err)
	}
	f, dir := openFiles(t, Limits{})
	got, err := f.Ingest(t.Context(), 1, &buf, Avatar, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	img, format := decodeFile(t, dir, got.Thumbnail)
	if format != "png" || img.Bounds() != image.Rect(0, 0, 30, 30) {
		t.Fatalf("%s of %v", format, img.Bounds())
	}
	if got, want := color.NRGBAModel.Convert(img.At(5, 5)), (color.NRGBA{}); got != want {
		t.Errorf("outside of the frame: %v", got)
	}
	if got, want := color.NRGBAModel.Convert(img.At(15, 15)), (color.NRGBA{255, 255, 255, 255}); got != want {
		t.Errorf("within the frame: %v", got)
	}
}
