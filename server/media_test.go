package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/internal/config"
)

// formPart is a part of a multipart form: a value, or a file if it has a file name or a type.
type formPart struct {
	name, content    string
	filename, typeOf string
	isFile           bool
}

func filePart(content []byte) formPart {
	return formPart{name: "file", content: string(content), filename: "x", typeOf: "application/octet-stream", isFile: true}
}

func valuePart(name, value string) formPart { return formPart{name: name, content: value} }

// form sends a multipart form.
func (c *caller) form(method, path string, parts ...formPart) *answer {
	c.api.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, p := range parts {
		h := textproto.MIMEHeader{}
		disposition := fmt.Sprintf(`form-data; name="%s"`, p.name)
		if p.isFile {
			disposition += fmt.Sprintf(`; filename="%s"`, p.filename)
		}
		h.Set("Content-Disposition", disposition)
		if p.typeOf != "" {
			h.Set("Content-Type", p.typeOf)
		}
		part, err := w.CreatePart(h)
		if err == nil {
			_, err = io.WriteString(part, p.content)
		}
		if err != nil {
			c.api.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		c.api.t.Fatal(err)
	}
	return c.do(method, path, w.FormDataContentType(), &body)
}

// upload uploads a file and returns the attachment.
func (c *caller) upload(content []byte, more ...formPart) *object {
	c.api.t.Helper()
	return c.form("POST", "/api/v2/media", append([]formPart{filePart(content)}, more...)...).want(200).object()
}

// picture is a picture of noise: it cannot be made small by compression.
func picture(width, height int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	seed := uint32(width*31 + height)
	for i := range img.Pix {
		seed = seed*1664525 + 1013904223
		img.Pix[i] = uint8(seed >> 24)
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	return img
}

func pngFile(width, height int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, picture(width, height)); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func jpegFile(width, height int) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, picture(width, height), nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

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

// mp4File is a film, or a recording of sound, of one sample.
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
	webpFile = []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00")
	oggFile  = append([]byte("OggS\x00\x02"+strings.Repeat("\x00", 20)+"\x01\x13OpusHead"), make([]byte, 60)...)
	mp3File  = append([]byte("\xff\xfb\x90\x64"), make([]byte, 60)...)
	webmFile = append([]byte("\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm"), make([]byte, 60)...)
)

func TestUploadTypes(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	listed := srv.as(nil).get("/api/v1/instance").want(200).object().at("configuration.media_attachments.supported_mime_types").([]any)
	for i, tt := range []struct {
		name    string
		file    []byte
		kind    string
		mime    string
		preview bool // something that is a picture
	}{
		{"PNG", pngFile(3, 3), "image", "image/png", true},
		{"JPEG", jpegFile(9, 9), "image", "image/jpeg", true},
		{"GIF", gifFile(), "image", "image/gif", true},
		{"WebP", webpFile, "image", "image/webp", true},
		{"MP4", mp4File("vide"), "video", "video/mp4", false},
		{"WebM", webmFile, "video", "video/webm", false},
		{"MP4 of sound", mp4File("soun"), "audio", "audio/mp4", false},
		{"MP3", mp3File, "audio", "audio/mpeg", false},
		{"Ogg", oggFile, "audio", "audio/ogg", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := []string{"/api/v1/media", "/api/v2/media", "/api/v1/media/"}[i%3]
			m := alice.form("POST", path, filePart(tt.file), valuePart("description", " what it shows "), valuePart("focus", "0.5,-0.3")).want(200).object()
			if m.str("type") != tt.kind || m.str("svc.mime_type") != tt.mime {
				t.Errorf("got %s of %s, want %s of %s", m.str("type"), m.str("svc.mime_type"), tt.kind, tt.mime)
			}
			if !slices.Contains(listed, any(tt.mime)) {
				t.Errorf("the instance does not list %s", tt.mime)
			}
			if m.str("description") != "what it shows" || m.at("remote_url") != nil || m.str("text_url") != m.str("url") {
				t.Errorf("got %v", m.m)
			}
			for _, key := range []string{"meta", "blurhash"} {
				if m.has(key) {
					t.Errorf("there is a %q", key)
				}
			}
			if !tt.preview && m.at("preview_url") != nil {
				t.Errorf("preview_url is %v", m.at("preview_url"))
			}
			if tt.preview && m.str("preview_url") != m.str("url") {
				t.Errorf("preview_url is %v", m.at("preview_url"))
			}
			file := srv.as(nil).get(m.str("url")).want(200)
			if got := file.header.Get("Content-Type"); got != tt.mime {
				t.Errorf("served as %s", got)
			}
			shown := alice.get("/api/v1/media/" + m.id()).want(200)
			if fmt.Sprint(shown.object().m) != fmt.Sprint(m.m) {
				t.Errorf("GET shows %s", shown.body)
			}
		})
	}
}

func TestUploadRefused(t *testing.T) {
	const limit = 20_000
	srv := startAPI(t, func(c *config.Config) { c.Media.UploadLimit, c.Media.DescriptionLength = limit, 10 })
	alice := srv.signUp("alice")
	small := filePart(pngFile(3, 3))
	atLimit := append(slices.Clone(oggFile), make([]byte, limit-len(oggFile))...)
	for _, tt := range []struct {
		name   string
		parts  []formPart
		status int
		error  string
	}{
		{"nothing at all", nil, 422, "Validation failed: File can't be blank"},
		{"no file", []formPart{valuePart("description", "x")}, 422, "Validation failed: File can't be blank"},
		{"a text instead of a file", []formPart{valuePart("file", "x")}, 422, "Validation failed: File can't be blank"},
		{"an empty text", []formPart{valuePart("file", "")}, 422, "Validation failed: File can't be blank"},
		{"no file chosen", []formPart{{name: "file", isFile: true, typeOf: "application/octet-stream"}}, 422, "Validation failed: File can't be blank"},
		{"an empty file", []formPart{filePart(nil)}, 422, "Validation failed: File can't be blank"},
		{"a file of another name", []formPart{{name: "picture", content: string(mp3File), isFile: true, filename: "a.mp3"}}, 422, "Validation failed: File can't be blank"},
		{"SVG", []formPart{filePart([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`))}, 422, "Files of this type are not accepted"},
		{"HTML", []formPart{filePart([]byte("<!DOCTYPE html><script>alert(1)</script>"))}, 422, "Files of this type are not accepted"},
		{"HTML that claims to be PNG", []formPart{{name: "file", content: "<html>", isFile: true, filename: "a.png", typeOf: "image/png"}}, 422, "Files of this type are not accepted"},
		{"PDF", []formPart{filePart([]byte("%PDF-1.7\n"))}, 422, "Files of this type are not accepted"},
		{"ActivityPub", []formPart{filePart([]byte(`{"@context":"https://www.w3.org/ns/activitystreams","type":"Note"}`))}, 422, "Files of this type are not accepted"},
		{"one byte more than allowed", []formPart{filePart(append(atLimit, 0))}, 413, "File is too large"},
		{"far more than allowed", []formPart{filePart(make([]byte, 4_000_000))}, 413, ""},
		{"a long description", []formPart{small, valuePart("description", "12345678901")}, 400, "description_too_long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, path := range []string{"/api/v1/media", "/api/v2/media"} {
				a := alice.form("POST", path, tt.parts...).want(tt.status)
				if got := a.object().str("error"); tt.error != "" && got != tt.error {
					t.Errorf("got error %q, want %q", got, tt.error)
				}
			}
		})
	}
	alice.upload(atLimit, valuePart("description", "1234567890"))
	alice.form("POST", "/api/v1/media", filePart(pngFile(3, 3)[:60])).want(422) // cut off
	alice.form("POST", "/api/v1/media", filePart(mp3File), formPart{name: "thumbnail", content: "x", filename: "t.png", isFile: true}).want(200)
	alice.post("/api/v1/media", "description", "x").want(422)
	alice.send("POST", "/api/v1/media", map[string]any{"file": nil}).want(422)
	srv.as(nil).form("POST", "/api/v2/media", small).want(401)
}

// Who says 100-continue learns of the refusal before the file is sent.
func TestUploadNeedsToken(t *testing.T) {
	srv := startAPI(t)
	body := &countingReader{Reader: bytes.NewReader(make([]byte, 8_000_000))}
	req, err := http.NewRequest("POST", srv.url+"/api/v2/media", body)
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
	srv := startAPI(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.MediaUpload = config.Rate{Count: 2, Window: time.Hour}
	})
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	alice.form("POST", "/api/v1/media", filePart(mp3File)).want(200)
	alice.form("POST", "/api/v2/media", filePart(mp3File)).want(200)
	a := alice.form("POST", "/api/v1/media", filePart(mp3File))
	a.wantError(429, "Throttled")
	if a.header.Get("X-RateLimit-Remaining") != "0" || a.header.Get("X-RateLimit-Limit") != "2" {
		t.Errorf("headers %v", a.header)
	}
	bob.form("POST", "/api/v1/media", filePart(mp3File)).want(200)
}

func TestMediaBelongsToItsOwner(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.Media.DescriptionLength = 10 })
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	m := alice.upload(pngFile(3, 3), valuePart("description", "old"))
	path := "/api/v1/media/" + m.id()
	for _, tt := range []struct {
		name   string
		as     *member
		path   string
		status int
	}{
		{"somebody else", bob, path, 404},
		{"the anonymous", nil, path, 401},
		{"an id that is not there", alice, "/api/v1/media/0000000000000000AA", 404},
		{"no id", alice, "/api/v1/media/x", 404},
		{"its owner", alice, path, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv.as(tt.as).get(tt.path).want(tt.status)
			if tt.status != 200 {
				srv.as(tt.as).send("PUT", tt.path, map[string]any{"description": "mine"}).want(tt.status)
				srv.as(tt.as).send("PUT", tt.path, nil).want(tt.status)
			}
		})
	}
	if got := alice.get(path).object().str("description"); got != "old" {
		t.Errorf("the description is %q", got)
	}
	bob.get(path).wantError(404, "Record not found")
	alice.send("PUT", "/api/v2/media/"+m.id(), map[string]any{"description": "x"}).wantError(404, "Record not found")
	alice.get("/api/v2/media/"+m.id()).wantError(404, "Record not found")
	alice.do("DELETE", path, "", nil).wantError(404, "Record not found")
}

func TestDescribeMedia(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.Media.DescriptionLength = 10 })
	alice := srv.signUp("alice")
	m := alice.upload(pngFile(3, 3))
	if m.at("description") != nil {
		t.Errorf("the description is %v", m.at("description"))
	}
	path := "/api/v1/media/" + m.id()
	st := alice.publish("look", "media_ids[]", m.id())
	for _, tt := range []struct {
		name string
		do   func() *answer
		want any
	}{
		{"JSON", func() *answer { return alice.send("PUT", path, map[string]any{"description": "one", "focus": "0,0"}) }, "one"},
		{"multipart", func() *answer { return alice.form("PUT", path, valuePart("description", "two")) }, "two"},
		{"a thumbnail only", func() *answer {
			return alice.form("PUT", path, formPart{name: "thumbnail", content: string(pngFile(9, 9)), filename: "t.png", isFile: true})
		}, "two"},
		{"an urlencoded form", func() *answer {
			return alice.do("PUT", path, "application/x-www-form-urlencoded", strings.NewReader("description=three"))
		}, "three"},
		{"null", func() *answer { return alice.send("PUT", path, map[string]any{"description": nil}) }, "three"},
		{"no body", func() *answer { return alice.do("PUT", path, "", nil) }, "three"},
		{"an empty text", func() *answer { return alice.send("PUT", path, map[string]any{"description": ""}) }, nil},
		{"as long as may be", func() *answer { return alice.send("PUT", path, map[string]any{"description": "äöüäöüäöüä"}) }, "äöüäöüäöüä"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.do().want(200).object().at("description"); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			attached := alice.get("/api/v1/statuses/" + st.id()).want(200).object().at("media_attachments").([]any)
			if got := attached[0].(map[string]any)["description"]; got != tt.want {
				t.Errorf("the status shows %v", got)
			}
		})
	}
	alice.send("PUT", path, map[string]any{"description": "äöüäöüäöüäö"}).wantError(400, "description_too_long")
}

func TestAttach(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	big := alice.upload(pngFile(900, 700), valuePart("description", "noise"))
	small := alice.upload(mp3File)
	foreign := bob.upload(pngFile(3, 3))
	if big.str("preview_url") == big.str("url") {
		t.Error("a large picture has no smaller form")
	}
	thumbnail := srv.as(nil).get(big.str("preview_url")).want(200)
	conf, kind, err := image.DecodeConfig(bytes.NewReader(thumbnail.body))
	if err != nil || conf.Width != 640 || thumbnail.header.Get("Content-Type") != "image/"+kind {
		t.Errorf("the preview is %d wide, a %s served as %s: %v", conf.Width, kind, thumbnail.header.Get("Content-Type"), err)
	}

	st := alice.publish("", "media_ids[]", small.id(), "media_ids[]", foreign.id(), "media_ids[]", big.id(), "media_ids[]", "nonsense")
	shown := srv.as(nil).get("/api/v1/statuses/" + st.id()).want(200).object()
	attached := shown.at("media_attachments").([]any)
	if len(attached) != 2 {
		t.Fatalf("attached are %v", attached)
	}
	for i, want := range []*object{small, big} {
		if got := attached[i]; fmt.Sprint(got) != fmt.Sprint(want.m) {
			t.Errorf("attachment %d is\n%v, want\n%v", i, got, want.m)
		}
	}
	again := alice.publish("again", "media_ids[]", big.id())
	if list := again.at("media_attachments").([]any); len(list) != 0 {
		t.Errorf("an upload was attached twice: %v", list)
	}
	bob.publish("mine", "media_ids[]", foreign.id())

	alice.do("DELETE", "/api/v1/statuses/"+st.id(), "", nil).want(200) // to write it anew
	redraft := alice.publish("anew", "media_ids[]", big.id())
	if list := redraft.at("media_attachments").([]any); len(list) != 1 {
		t.Errorf("attached anew are %v", list)
	}
}

func TestServeMedia(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	content := pngFile(30, 30)
	url := alice.upload(content).str("url")
	get := func(method string, header ...string) *answer {
		t.Helper()
		req, err := http.NewRequest(method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		return srv.as(nil).request(req)
	}
	sum := sha256.Sum256(content)
	if want := hex.EncodeToString(sum[:]) + ".png"; !strings.HasSuffix(url, "/"+want) {
		t.Errorf("the address is %s, want …/%s", url, want)
	}
	a := get("GET").want(200)
	if !bytes.Equal(a.body, content) {
		t.Error("the file is another")
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
		if got := a.header.Get(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if got := get("HEAD").want(200); len(got.body) > 0 || got.header.Get("Content-Length") != fmt.Sprint(len(content)) {
		t.Errorf("HEAD: %d bytes, %v", len(got.body), got.header)
	}
	if got := get("GET", "Range", "bytes=10-19").want(206); !bytes.Equal(got.body, content[10:20]) || got.header.Get("Content-Range") != fmt.Sprintf("bytes 10-19/%d", len(content)) {
		t.Errorf("range: %x, %v", got.body, got.header)
	}
	get("GET", "Range", "bytes=99999999-").want(416)
	get("GET", "If-None-Match", a.header.Get("ETag")).want(304)
	get("GET", "Accept", "application/activity+json").want(406)
	if got := srv.as(nil).get(url + "?name=cat.html").want(200).header.Get("Content-Disposition"); got != "inline; filename=cat.png" {
		t.Errorf("Content-Disposition is %q", got)
	}
	get("POST").wantError(404, "Record not found")
	get("OPTIONS", "Origin", "https://example.com").want(204)
	for _, path := range []string{
		"/media/", "/media/x", "/media/../svc.db", "/media/%2e%2e/svc.db", "/media/..%2fsvc.db", "/media/tmp/x", "/media/tmp",
		strings.TrimPrefix(url, srv.url) + "/", strings.TrimPrefix(url, srv.url) + "x", strings.ToUpper(strings.TrimPrefix(url, srv.url)),
		strings.Replace(strings.TrimPrefix(url, srv.url), ".png", ".svg", 1), "/media/ff/" + strings.Repeat("f", 64) + ".png",
	} {
		a := srv.as(nil).get(path)
		if a.status != 404 || bytes.Contains(a.body, []byte("SQLite")) {
			t.Errorf("GET %s: %d", path, a.status)
		}
	}
}

// The same content is one file, however often and by whomever it is uploaded at the same time.
func TestUploadAtTheSameTime(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	content := pngFile(20, 20)
	answers := make([]*answer, 12)
	var wg sync.WaitGroup
	for i := range answers {
		as := []*member{alice, bob}[i%2]
		wg.Go(func() { answers[i] = as.form("POST", "/api/v2/media", filePart(content)) })
	}
	wg.Wait()
	ids := make(map[string]bool)
	for _, a := range answers {
		m := a.want(200).object()
		ids[m.id()] = true
		if m.str("url") != answers[0].object().str("url") {
			t.Errorf("another address: %v", m.m)
		}
	}
	if len(ids) != len(answers) {
		t.Errorf("%d ids", len(ids))
	}
}
