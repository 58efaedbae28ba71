package server_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"mime/multipart"
	"net/http/httptest"
	"net/url"
	"testing"

	"svc/app/apptest"
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

// BenchmarkEmoji measures requests that look for custom emoji, on a server that has three and on one that has 10 000.
func BenchmarkEmoji(b *testing.B) {
	srv, people := benchServer(b)
	srv.AddEmoji("few", map[string]string{"cat": "cat.png", "dog": "dog.png", "owl": "owl.png"})
	post := url.Values{"status": {"it is 12:30: a :cat: and an :owl: sleep, see https://example.org/a:b:c"}}.Encode()
	for i := range 40 {
		people[i%10].Publish("at 12:30 a :cat: and an :owl: sleep")
	}
	for _, name := range []string{"few", "10000"} {
		if name == "10000" {
			for pack := range 2 {
				files := make(map[string]string, 5000)
				for i := range 5000 {
					files[fmt.Sprintf("emoji_%d_%d", pack, i)] = fmt.Sprintf("e%d.png", i)
				}
				srv.AddEmoji(fmt.Sprintf("pack%d", pack), files)
			}
		}
		b.Run(name+"/home20", func(b *testing.B) {
			benchRequests(srv, b, "GET", "/api/v1/timelines/home?limit=20", people[0].Token, "")
		})
		b.Run(name+"/custom_emojis", func(b *testing.B) { benchRequests(srv, b, "GET", "/api/v1/custom_emojis", "", "") })
		b.Run(name+"/post", func(b *testing.B) { benchRequests(srv, b, "POST", "/api/v1/statuses", people[0].Token, post) })
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
