package apptest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"maps"
	"mime/multipart"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func FilePart(content []byte) FormPart {
	return FormPart{Name: "file", Content: string(content), Filename: "x", Type: "application/octet-stream", IsFile: true}
}

// FormPart is a part of a multipart form: a value, or a file if it has a file name or a type.
type FormPart struct {
	Name, Content  string
	Filename, Type string
	IsFile         bool
}

func ValuePart(name, value string) FormPart { return FormPart{Name: name, Content: value} }

func JPEG(width, height int) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, Noise(width, height), nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Zip returns an archive of files by name, in order of name.
func Zip[Content ~string | ~[]byte](t testing.TB, files map[string]Content) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func PNG(width, height int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, Noise(width, height)); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// SendForm sends a multipart form.
func (c *Client) SendForm(method, path string, parts ...FormPart) *Response {
	c.Server.T.Helper()
	contentType, body := multipartForm(c.Server.T, parts)
	return c.Do(method, path, contentType, body)
}

// multipartForm returns a multipart form and its content type.
func multipartForm(t testing.TB, parts []FormPart) (contentType string, body *bytes.Buffer) {
	t.Helper()
	body = new(bytes.Buffer)
	w := multipart.NewWriter(body)
	for _, p := range parts {
		h := textproto.MIMEHeader{}
		disposition := fmt.Sprintf(`form-data; name="%s"`, p.Name)
		if p.IsFile {
			disposition += fmt.Sprintf(`; filename="%s"`, p.Filename)
		}
		h.Set("Content-Disposition", disposition)
		if p.Type != "" {
			h.Set("Content-Type", p.Type)
		}
		part, err := w.CreatePart(h)
		if err == nil {
			_, err = io.WriteString(part, p.Content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), body
}

// Upload uploads a file and returns the attachment.
func (c *Client) Upload(content []byte, more ...FormPart) *Object {
	c.Server.T.Helper()
	return c.SendForm("POST", "/api/v2/media", append([]FormPart{FilePart(content)}, more...)...).Want(200).Object()
}

// AddEmoji adds an emoji pack.
func (a *Server) AddEmoji(pack string, files map[string]string) {
	a.T.Helper()
	entries := make([]string, 0, len(files))
	for code, name := range files {
		entries = append(entries, `"`+code+`":"`+name+`"`)
		WriteDataFile(a, "emoji/"+pack+"/"+name, "picture of "+code)
	}
	WriteDataFile(a, "emoji/"+pack+"/pack.json", `{"files":{`+strings.Join(entries, ",")+`}}`)
	if err := a.Emojis.Reload(); err != nil {
		a.T.Fatal(err)
	}
}

// Noise returns an image of noise, which does not compress.
func Noise(width, height int) image.Image {
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

// WriteDataFile writes a file in the data directory.
func WriteDataFile(a *Server, name, content string) {
	a.T.Helper()
	path := filepath.Join(a.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		a.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		a.T.Fatal(err)
	}
}
