package media

import (
	"bytes"
	"errors"
	"image"
	"image/gif"
	"io"
	"strings"
	"testing"

	"svc/internal/errs"
)

// wantStatus fails if err is not a client error with that status.
func wantStatus(t *testing.T, err error, status int) {
	t.Helper()
	var e *errs.Error
	if !errors.As(err, &e) || e.Status != status {
		t.Errorf("got %v, want an error with status %d", err, status)
	}
}

// sameFrames fails if two animations are not displayed equally.
func sameFrames(t *testing.T, got, want []byte) {
	t.Helper()
	g, err := gif.DecodeAll(bytes.NewReader(got))
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	w, err := gif.DecodeAll(bytes.NewReader(want))
	if err != nil {
		t.Fatalf("decode original: %v", err)
	}
	if len(g.Image) != len(w.Image) || g.LoopCount != w.LoopCount {
		t.Fatalf("%d frames, loop %d; want %d, %d", len(g.Image), g.LoopCount, len(w.Image), w.LoopCount)
	}
	for i := range g.Image {
		if !bytes.Equal(g.Image[i].Pix, w.Image[i].Pix) || g.Delay[i] != w.Delay[i] {
			t.Errorf("frame %d differs", i)
		}
	}
}

// samePixels fails if two files do not decode to the same picture.
func samePixels(t *testing.T, got, want []byte, decode func(io.Reader) (image.Image, error)) {
	t.Helper()
	g, err := decode(bytes.NewReader(got))
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	w, err := decode(bytes.NewReader(want))
	if err != nil {
		t.Fatalf("decode original: %v", err)
	}
	if g.Bounds() != w.Bounds() {
		t.Fatalf("bounds %v, want %v", g.Bounds(), w.Bounds())
	}
	for y := range g.Bounds().Dy() {
		for x := range g.Bounds().Dx() {
			if g.At(x, y) != w.At(x, y) {
				t.Fatalf("pixel %d,%d is %v, want %v", x, y, g.At(x, y), w.At(x, y))
			}
		}
	}
}

// wantNoSecret fails if metadata is left in a file, or was not in the original.
func wantNoSecret(t *testing.T, got, original []byte) {
	t.Helper()
	if !bytes.Contains(original, []byte(secret)) {
		t.Fatal("the fixture has no metadata")
	}
	if i := bytes.Index(got, []byte(secret)); i >= 0 {
		t.Errorf("metadata is left at %d", i)
	}
	for _, s := range []string{"xmpmeta", "http://ns.adobe.com", "Photoshop 3.0"} {
		if strings.Contains(string(got), s) {
			t.Errorf("%q is left", s)
		}
	}
}

// fuzzScan checks that a scan never panics on any bytes, and that stripped files have no metadata left.
func fuzzScan(f *testing.F, scan scanFunc) {
	f.Fuzz(func(t *testing.T, file []byte) {
		once, _, err := cleaned(file, scan)
		if err != nil {
			return
		}
		if len(once) > len(file) {
			t.Fatalf("cleaning made %d bytes of %d", len(once), len(file))
		}
		_, p, err := scan(newPeekReader(&memFile{once}, int64(len(once))))
		if err != nil {
			t.Fatalf("read cleaned file: %v", err)
		}
		if len(p.edits) != 0 {
			t.Fatalf("a second cleaning would change %+v", p.edits)
		}
	})
}
