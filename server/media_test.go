package server_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

func gifFile() []byte {
	var b bytes.Buffer
	frame := image.NewPaletted(image.Rect(0, 0, 4, 4), color.Palette{color.Black, color.White})
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{1, 1}}); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func mp4Box(kind string, content ...[]byte) []byte {
	body := bytes.Join(content, nil)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), kind...), body...)
}

func words(values ...uint32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// mp4File returns a video or audio file of one sample.
func mp4File(handler string) []byte {
	ftyp := mp4Box("ftyp", []byte("isom"), words(0), []byte("isommp42"))
	at := uint32(len(ftyp) + 8)
	return slices.Concat(ftyp, mp4Box("mdat", []byte("frame")), mp4Box("moov",
		mp4Box("mvhd", words(0, 0, 0, 1000, 5000), make([]byte, 80)),
		mp4Box("trak",
			mp4Box("tkhd", words(7, 0, 0, 1), make([]byte, 68)),
			mp4Box("mdia",
				mp4Box("mdhd", words(0, 0, 0, 1000, 5000), make([]byte, 4)),
				mp4Box("hdlr", words(0, 0), []byte(handler), make([]byte, 13)),
				mp4Box("minf", mp4Box("stbl",
					mp4Box("stsd", words(0, 0)), mp4Box("stsc", words(0, 1, 1, 1, 1)),
					mp4Box("stsz", words(0, 5, 1)), mp4Box("stco", words(0, 1, at))))))))
}

var (
	webpFile  = []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00")
	oggFile   = append([]byte("OggS\x00\x02"+strings.Repeat("\x00", 20)+"\x01\x13OpusHead"), make([]byte, 60)...)
	mp3File   = append([]byte("\xff\xfb\x90\x64"), make([]byte, 60)...)
	webmAudio = []byte("\x1a\x45\xdf\xa3\x87\x42\x82\x84webm\x18\x53\x80\x67\x97" + // header, segment
		"\x16\x54\xae\x6b\x88\xae\x86\xd7\x81\x01\x83\x81\x02" + // a track with sound
		"\x1f\x43\xb6\x75\x85\xe7\x81\x00\xa3\x80")
	webmFile = append([]byte("\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm"), make([]byte, 60)...)
)

func TestUploadTypes(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	listed := srv.As(nil).Get("/api/v1/instance").Want(200).Object().At("configuration.media_attachments.supported_mime_types").([]any)
	for i, tt := range []struct {
		name    string
		file    []byte
		kind    string
		mime    string
		preview bool // preview_url is a picture
	}{
		{"PNG", apptest.PNG(3, 3), "image", "image/png", true},
		{"JPEG", apptest.JPEG(9, 9), "image", "image/jpeg", true},
		{"GIF", gifFile(), "image", "image/gif", true},
		{"WebP", webpFile, "image", "image/webp", true},
		{"MP4", mp4File("vide"), "video", "video/mp4", false},
		{"WebM", webmFile, "video", "video/webm", false},
		{"MP4 audio", mp4File("soun"), "audio", "audio/mp4", false},
		{"QuickTime audio", bytes.Replace(mp4File("soun"), []byte("isom"), []byte("qt  "), 1), "audio", "audio/mp4", false},
		{"WebM audio", webmAudio, "audio", "audio/webm", false},
		{"MP3", mp3File, "audio", "audio/mpeg", false},
		{"Ogg", oggFile, "audio", "audio/ogg", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := []string{"/api/v1/media", "/api/v2/media", "/api/v1/media/"}[i%3]
			m := alice.SendForm("POST", path, apptest.FilePart(tt.file), apptest.ValuePart("description", " what it shows "), apptest.ValuePart("focus", "0.5,-0.3")).Want(200).Object()
			if m.Str("type") != tt.kind || m.Str("svc.mime_type") != tt.mime {
				t.Errorf("got %s of %s, want %s of %s", m.Str("type"), m.Str("svc.mime_type"), tt.kind, tt.mime)
			}
			if !slices.Contains(listed, any(tt.mime)) {
				t.Errorf("the instance does not list %s", tt.mime)
			}
			if m.Str("description") != "what it shows" || m.At("remote_url") != nil || m.Str("text_url") != m.Str("url") {
				t.Errorf("got %v", m.Fields)
			}
			for _, key := range []string{"meta", "blurhash"} {
				if m.Has(key) {
					t.Errorf("unexpected member %q", key)
				}
			}
			if !tt.preview && m.At("preview_url") != nil {
				t.Errorf("preview_url is %v", m.At("preview_url"))
			}
			if animated := tt.name == "GIF"; tt.preview && (m.Str("preview_url") != m.Str("url")) != animated { // an animation has a still preview
				t.Errorf("preview_url is %v", m.At("preview_url"))
			}
			file := srv.As(nil).Get(m.Str("url")).Want(200)
			if got := file.Header.Get("Content-Type"); got != tt.mime {
				t.Errorf("served as %s", got)
			}
			shown := alice.Get("/api/v1/media/" + m.ID()).Want(200)
			if fmt.Sprint(shown.Object().Fields) != fmt.Sprint(m.Fields) {
				t.Errorf("GET shows %s", shown.Body)
			}
		})
	}
}

func TestUploadRefused(t *testing.T) {
	const limit = 20_000
	srv := apptest.Start(t, func(c *config.Config) { c.Media.UploadLimit, c.Media.DescriptionLength = limit, 10 })
	alice := srv.SignUp("alice")
	small := apptest.FilePart(apptest.PNG(3, 3))
	atLimit := append(slices.Clone(oggFile), make([]byte, limit-len(oggFile))...)
	for _, tt := range []struct {
		name   string
		parts  []apptest.FormPart
		status int
		error  string
	}{
		{"no body", nil, 422, "Validation failed: File can't be blank"},
		{"no file", []apptest.FormPart{apptest.ValuePart("description", "x")}, 422, "Validation failed: File can't be blank"},
		{"a text instead of a file", []apptest.FormPart{apptest.ValuePart("file", "x")}, 422, "Validation failed: File can't be blank"},
		{"an empty text", []apptest.FormPart{apptest.ValuePart("file", "")}, 422, "Validation failed: File can't be blank"},
		{"no file chosen", []apptest.FormPart{{Name: "file", IsFile: true, Type: "application/octet-stream"}}, 422, "Validation failed: File can't be blank"},
		{"an empty file", []apptest.FormPart{apptest.FilePart(nil)}, 422, "Validation failed: File can't be blank"},
		{"a file of another name", []apptest.FormPart{{Name: "picture", Content: string(mp3File), IsFile: true, Filename: "a.mp3"}}, 422, "Validation failed: File can't be blank"},
		{"SVG", []apptest.FormPart{apptest.FilePart([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`))}, 422, "Files of this type are not accepted"},
		{"HTML", []apptest.FormPart{apptest.FilePart([]byte("<!DOCTYPE html><script>alert(1)</script>"))}, 422, "Files of this type are not accepted"},
		{"HTML that claims to be PNG", []apptest.FormPart{{Name: "file", Content: "<html>", IsFile: true, Filename: "a.png", Type: "image/png"}}, 422, "Files of this type are not accepted"},
		{"PDF", []apptest.FormPart{apptest.FilePart([]byte("%PDF-1.7\n"))}, 422, "Files of this type are not accepted"},
		{"ActivityPub", []apptest.FormPart{apptest.FilePart([]byte(`{"@context":"https://www.w3.org/ns/activitystreams","type":"Note"}`))}, 422, "Files of this type are not accepted"},
		{"one byte too large", []apptest.FormPart{apptest.FilePart(append(atLimit, 0))}, 413, "File is too large"},
		{"much too large", []apptest.FormPart{apptest.FilePart(make([]byte, 4_000_000))}, 413, ""},
		{"a long description", []apptest.FormPart{small, apptest.ValuePart("description", "12345678901")}, 400, "description_too_long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, path := range []string{"/api/v1/media", "/api/v2/media"} {
				a := alice.SendForm("POST", path, tt.parts...).Want(tt.status)
				if got := a.Object().Str("error"); tt.error != "" && got != tt.error {
					t.Errorf("got error %q, want %q", got, tt.error)
				}
			}
		})
	}
	alice.Upload(atLimit, apptest.ValuePart("description", "1234567890"))
	alice.SendForm("POST", "/api/v1/media", apptest.FilePart(apptest.PNG(3, 3)[:60])).Want(422) // truncated
	alice.SendForm("POST", "/api/v1/media", apptest.FilePart(mp3File), apptest.FormPart{Name: "thumbnail", Content: "x", Filename: "t.png", IsFile: true}).Want(422)
	alice.Post("/api/v1/media", "description", "x").Want(422)
	alice.SendJSON("POST", "/api/v1/media", map[string]any{"file": nil}).Want(422)
	srv.As(nil).SendForm("POST", "/api/v2/media", small).Want(401)
}

// TestUploadNeedsToken checks that a client that expects 100-continue is refused before it sends the file.
func TestUploadNeedsToken(t *testing.T) {
	srv := apptest.Start(t)
	body := &countingReader{Reader: bytes.NewReader(make([]byte, 8_000_000))}
	req, err := http.NewRequest("POST", srv.URL+"/api/v2/media", body)
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = 8_000_000
	req.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	req.Header.Set("Expect", "100-continue")
	client := http.Transport{ExpectContinueTimeout: time.Minute}
	defer client.CloseIdleConnections()
	resp, err := client.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 401 || body.n > 0 {
		t.Errorf("got %d after %d bytes", resp.StatusCode, body.n)
	}
}

type countingReader struct {
	io.Reader
	n int
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n += n
	return n, err
}

func TestUploadLimit(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.MediaUpload = config.Rate{Count: 2, Window: time.Hour}
	})
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.SendForm("POST", "/api/v1/media", apptest.FilePart(mp3File)).Want(200)
	alice.SendForm("POST", "/api/v2/media", apptest.FilePart(mp3File)).Want(200)
	a := alice.SendForm("POST", "/api/v1/media", apptest.FilePart(mp3File))
	a.WantError(429, "Throttled")
	if a.Header.Get("X-RateLimit-Remaining") != "0" || a.Header.Get("X-RateLimit-Limit") != "2" {
		t.Errorf("headers %v", a.Header)
	}
	bob.SendForm("POST", "/api/v1/media", apptest.FilePart(mp3File)).Want(200)
}

func TestMediaBelongsToItsOwner(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Media.DescriptionLength = 10 })
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	m := alice.Upload(apptest.PNG(3, 3), apptest.ValuePart("description", "old"))
	path := "/api/v1/media/" + m.ID()
	for _, tt := range []struct {
		name   string
		as     *apptest.User
		path   string
		status int
	}{
		{"another user", bob, path, 404},
		{"an anonymous client", nil, path, 401},
		{"an unknown id", alice, "/api/v1/media/0000000000000000AA", 404},
		{"an invalid id", alice, "/api/v1/media/x", 404},
		{"its owner", alice, path, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv.As(tt.as).Get(tt.path).Want(tt.status)
			if tt.status != 200 {
				srv.As(tt.as).SendJSON("PUT", tt.path, map[string]any{"description": "mine"}).Want(tt.status)
				srv.As(tt.as).SendJSON("PUT", tt.path, nil).Want(tt.status)
			}
		})
	}
	if got := alice.Get(path).Object().Str("description"); got != "old" {
		t.Errorf("the description is %q", got)
	}
	bob.Get(path).WantError(404, "Record not found")
	alice.SendJSON("PUT", "/api/v2/media/"+m.ID(), map[string]any{"description": "x"}).WantError(404, "Record not found")
	alice.Get("/api/v2/media/"+m.ID()).WantError(404, "Record not found")
}

func TestDescribeMedia(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Media.DescriptionLength = 10 })
	alice := srv.SignUp("alice")
	m := alice.Upload(apptest.PNG(3, 3))
	if m.At("description") != nil {
		t.Errorf("the description is %v", m.At("description"))
	}
	path := "/api/v1/media/" + m.ID()
	st := alice.Publish("look", "media_ids[]", m.ID())
	for _, tt := range []struct {
		name string
		do   func() *apptest.Response
		want any
	}{
		{"JSON", func() *apptest.Response {
			return alice.SendJSON("PUT", path, map[string]any{"description": "one", "focus": "0,0"})
		}, "one"},
		{"multipart", func() *apptest.Response { return alice.SendForm("PUT", path, apptest.ValuePart("description", "two")) }, "two"},
		{"no thumbnail chosen", func() *apptest.Response {
			return alice.SendForm("PUT", path, apptest.FormPart{Name: "thumbnail", IsFile: true, Type: "application/octet-stream"})
		}, "two"},
		{"an urlencoded form", func() *apptest.Response {
			return alice.Do("PUT", path, "application/x-www-form-urlencoded", strings.NewReader("description=three"))
		}, "three"},
		{"null", func() *apptest.Response { return alice.SendJSON("PUT", path, map[string]any{"description": nil}) }, "three"},
		{"no body", func() *apptest.Response { return alice.Do("PUT", path, "", nil) }, "three"},
		{"an empty text", func() *apptest.Response { return alice.SendJSON("PUT", path, map[string]any{"description": ""}) }, nil},
		{"the maximum length", func() *apptest.Response {
			return alice.SendJSON("PUT", path, map[string]any{"description": "äöüäöüäöüä"})
		}, "äöüäöüäöüä"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.do().Want(200).Object().At("description"); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			attached := alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object().At("media_attachments").([]any)
			if got := attached[0].(map[string]any)["description"]; got != tt.want {
				t.Errorf("the status shows %v", got)
			}
		})
	}
	alice.SendJSON("PUT", path, map[string]any{"description": "äöüäöüäöüäö"}).WantError(400, "description_too_long")
}

func TestAttach(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	big := alice.Upload(apptest.PNG(900, 700), apptest.ValuePart("description", "noise"))
	small := alice.Upload(mp3File)
	others := bob.Upload(apptest.PNG(3, 3))
	if big.Str("preview_url") == big.Str("url") {
		t.Error("a large picture has no preview")
	}
	thumbnail := srv.As(nil).Get(big.Str("preview_url")).Want(200)
	conf, kind, err := image.DecodeConfig(bytes.NewReader(thumbnail.Body))
	if err != nil || conf.Width != 640 || thumbnail.Header.Get("Content-Type") != "image/"+kind {
		t.Errorf("the preview is %d wide, a %s served as %s: %v", conf.Width, kind, thumbnail.Header.Get("Content-Type"), err)
	}

	st := alice.Publish("", "media_ids[]", small.ID(), "media_ids[]", big.ID())
	shown := srv.As(nil).Get("/api/v1/statuses/" + st.ID()).Want(200).Object()
	attached := shown.At("media_attachments").([]any)
	if len(attached) != 2 {
		t.Fatalf("attached are %v", attached)
	}
	for i, want := range []*apptest.Object{small, big} {
		if got := attached[i]; fmt.Sprint(got) != fmt.Sprint(want.Fields) {
			t.Errorf("attachment %d is\n%v, want\n%v", i, got, want.Fields)
		}
	}
	alice.Post("/api/v1/statuses", "status", "again", "media_ids[]", big.ID()).WantError(422, "Media not found or already attached to another post")
	bob.Publish("mine", "media_ids[]", others.ID())

	alice.Do("DELETE", "/api/v1/statuses/"+st.ID(), "", nil).Want(200) // delete and redraft
	redraft := alice.Publish("redrafted", "media_ids[]", big.ID())
	if list := redraft.At("media_attachments").([]any); len(list) != 1 {
		t.Errorf("attached to the redraft are %v", list)
	}
}

func TestServeMedia(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	content := apptest.PNG(30, 30)
	url := alice.Upload(content).Str("url")
	get := func(method string, header ...string) *apptest.Response {
		t.Helper()
		req, err := http.NewRequest(method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		return srv.As(nil).DoRequest(req)
	}
	a := get("GET").Want(200)
	if !bytes.Equal(a.Body, content) {
		t.Error("the content differs")
	}
	for key, want := range map[string]string{
		"Content-Type":                "image/png",
		"X-Content-Type-Options":      "nosniff",
		"Content-Security-Policy":     "default-src 'none'; sandbox",
		"Content-Disposition":         "inline",
		"Access-Control-Allow-Origin": "*",
		"Accept-Ranges":               "bytes",
		"Cache-Control":               "public, max-age=1209600, immutable",
		"Content-Length":              fmt.Sprint(len(content)),
		"Set-Cookie":                  "",
	} {
		if got := a.Header.Get(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if got := get("HEAD").Want(200); len(got.Body) > 0 || got.Header.Get("Content-Length") != fmt.Sprint(len(content)) {
		t.Errorf("HEAD: %d bytes, %v", len(got.Body), got.Header)
	}
	if got := get("GET", "Range", "bytes=10-19").Want(206); !bytes.Equal(got.Body, content[10:20]) || got.Header.Get("Content-Range") != fmt.Sprintf("bytes 10-19/%d", len(content)) {
		t.Errorf("range: %x, %v", got.Body, got.Header)
	}
	get("GET", "Range", "bytes=99999999-").Want(416)
	get("GET", "If-None-Match", a.Header.Get("ETag")).Want(304)
	get("GET", "Accept", "application/activity+json").Want(406)
	if got := srv.As(nil).Get(url + "?name=cat.html").Want(200).Header.Get("Content-Disposition"); got != "inline; filename=cat.png" {
		t.Errorf("Content-Disposition is %q", got)
	}
	get("POST").WantError(405, "Method not allowed")
	get("OPTIONS", "Origin", "https://example.com").Want(204)
	for _, path := range []string{
		"/media/", "/media/x", "/media/../svc.db", "/media/%2e%2e/svc.db", "/media/..%2fsvc.db", "/media/tmp/x", "/media/tmp",
		strings.TrimPrefix(url, srv.URL) + "/", strings.TrimPrefix(url, srv.URL) + "x", strings.ToUpper(strings.TrimPrefix(url, srv.URL)),
		strings.Replace(strings.TrimPrefix(url, srv.URL), ".png", ".svg", 1), "/media/ff/" + strings.Repeat("f", 64) + ".png",
	} {
		a := srv.As(nil).Get(path)
		if a.Status != 404 || bytes.Contains(a.Body, []byte("SQLite")) {
			t.Errorf("GET %s: %d", path, a.Status)
		}
	}
}

// TestConcurrentUploads checks that concurrent uploads of the same content create one file of each user.
func TestConcurrentUploads(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	content := apptest.PNG(20, 20)
	responses := make([]*apptest.Response, 12)
	var wg sync.WaitGroup
	for i := range responses {
		as := []*apptest.User{alice, bob}[i%2]
		wg.Go(func() { responses[i] = as.SendForm("POST", "/api/v2/media", apptest.FilePart(content)) })
	}
	wg.Wait()
	ids := make(map[string]bool)
	for i, a := range responses {
		m := a.Want(200).Object()
		ids[m.ID()] = true
		if m.Str("url") != responses[i%2].Object().Str("url") {
			t.Errorf("another URL: %v", m.Fields)
		}
	}
	if len(ids) != len(responses) {
		t.Errorf("%d ids", len(ids))
	}
}

func TestDeleteMedia(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	upload := func() string { return alice.Upload(apptest.PNG(3, 3)).ID() }
	free, posted, scheduled, sent := upload(), upload(), upload(), upload()
	alice.Publish("a picture", "media_ids[]", posted)
	alice.Post("/api/v1/statuses", "status", "later", "media_ids[]", scheduled, "scheduled_at", time.Now().Add(time.Hour).Format(time.RFC3339)).Want(200)
	chat := alice.Post("/api/v1/svc/chats/by-account-id/" + bob.ID).Want(200).Object().ID()
	alice.Post("/api/v1/svc/chats/"+chat+"/messages", "media_id", sent).Want(200)
	for _, tt := range []struct {
		name   string
		as     *apptest.Client
		id     string
		status int
	}{
		{"anonymously", srv.As(nil), free, 401},
		{"without the scope", srv.NewToken(alice, "read"), free, 403},
		{"of another account", bob.Client, free, 404},
		{"in a status", alice.Client, posted, 422},
		{"in a scheduled status", alice.Client, scheduled, 422},
		{"in a chat message", alice.Client, sent, 422},
		{"unknown", alice.Client, "1", 404},
		{"not an id", alice.Client, "undefined", 404},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.as.Do("DELETE", "/api/v1/media/"+tt.id, "", nil).Want(tt.status)
			for _, id := range []string{free, posted, scheduled, sent} {
				alice.Get("/api/v1/media/" + id).Want(200)
			}
		})
	}
	if a := alice.Do("DELETE", "/api/v1/media/"+free, "", nil).Want(200); string(a.Body) != "{}" {
		t.Errorf("got %s", a.Body)
	}
	alice.Get("/api/v1/media/" + free).Want(404)
	alice.Do("DELETE", "/api/v1/media/"+free, "", nil).Want(404)
	alice.Post("/api/v1/statuses", "status", "without it", "media_ids[]", free).WantError(422, "Media not found or already attached to another post")
}
