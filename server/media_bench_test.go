package server_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"mime/multipart"
	"net/http/httptest"
	"svc/app/apptest"
	"testing"
)

// BenchmarkInstance measures the documents that clients fetch first.
func BenchmarkInstance(b *testing.B) {
	srv := apptest.Start(b)
	for _, bb := range []struct{ name, path string }{
		{"instance_v1", "/api/v1/instance"}, {"instance_v2", "/api/v2/instance"}, {"nodeinfo", "/nodeinfo/2.1"},
	} {
		b.Run(bb.name, func(b *testing.B) { benchRequests(srv, b, "GET", bb.path, "", "") })
	}
}

// BenchmarkUpload measures the upload of a JPEG of two megapixels, until it and its thumbnail are on disk.
func BenchmarkUpload(b *testing.B) {
	srv := apptest.Start(b)
	alice := srv.SignUp("alice")
	img := image.NewRGBA(image.Rect(0, 0, 1632, 1224))
	for y := range 1224 {
		for x := range 1632 {
			wave := 60 * math.Sin(float64(x)/37) * math.Cos(float64(y)/23)
			img.SetRGBA(x, y, color.RGBA{uint8(120 + wave), uint8(x / 8), uint8(y / 6), 255})
		}
	}
	var file, body bytes.Buffer
	if err := jpeg.Encode(&file, img, nil); err != nil {
		b.Fatal(err)
	}
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "photo.jpg")
	if err == nil {
		_, err = part.Write(file.Bytes())
	}
	if err != nil {
		b.Fatal(err)
	}
	form.Close()
	for b.Loop() {
		req := httptest.NewRequest("POST", "/api/v2/media", bytes.NewReader(body.Bytes()))
		req.Header.Set("Content-Type", form.FormDataContentType())
		req.Header.Set("Authorization", "Bearer "+alice.Token)
		w := httptest.NewRecorder()
		srv.HTTP.ServeHTTP(w, req)
		if w.Code != 200 {
			b.Fatalf("%d %s", w.Code, w.Body)
		}
	}
}
