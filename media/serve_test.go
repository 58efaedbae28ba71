package media

import (
	"bytes"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestServe(t *testing.T) {
	f, _ := openFiles(t, Limits{})
	content := encodePNG(quarters(40, 30))
	picture, err := f.Ingest(t.Context(), 1, bytes.NewReader(content), Attachment, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	sound, err := f.Ingest(t.Context(), 1, bytes.NewReader(oggFile), Attachment, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	path := "/media/" + picture.Name
	other := strings.Repeat("0", 64)
	h := func(pairs ...string) http.Header {
		header := make(http.Header)
		for i := 0; i < len(pairs); i += 2 {
			header.Add(pairs[i], pairs[i+1])
		}
		return header
	}
	const activity, ld = "application/activity+json", `application/ld+json; profile="https://www.w3.org/ns/activitystreams"`
	tag := picture.Name[len("ab/") : len(picture.Name)-len(".png")]
	for _, tt := range []struct {
		name, method, path string
		header             http.Header
		want               int
		body               string
		answer             http.Header
	}{
		{"a picture", "GET", path, nil, 200, string(content), h("Content-Type", "image/png", "Accept-Ranges", "bytes",
			"Cache-Control", "public, max-age=1209600, immutable", "Etag", `"`+tag+`"`, "Content-Disposition", "inline")},
		{"its head", "HEAD", path, nil, 200, "", h("Content-Type", "image/png")},
		{"sound", "GET", "/media/" + sound.Name, nil, 200, string(oggFile), h("Content-Type", "audio/ogg")},
		{"with a name", "GET", path + "?name=cat.jpeg", nil, 200, string(content), h("Content-Disposition", "inline; filename=cat.png")},
		{"the beginning", "GET", path, h("Range", "bytes=0-3"), 206, string(content[:4]), h("Content-Type", "image/png")},
		{"the end", "GET", path, h("Range", "bytes=-5"), 206, string(content[len(content)-5:]), nil},
		{"beyond the end", "GET", path, h("Range", "bytes=999999-"), 416, "*", h("Cache-Control", "")},
		{"a part of another version", "GET", path, h("Range", "bytes=0-3", "If-Range", `"other"`), 200, string(content), nil},
		{"known", "GET", path, h("If-None-Match", `"`+tag+`"`), 304, "", nil},

		{"as an activity", "GET", path, h("Accept", activity), 406, "*",
			h("Content-Type", "text/plain; charset=utf-8", "Cache-Control", "")},
		{"as linked data", "GET", path, h("Accept", ld+", "+activity), 406, "*", nil},
		{"as an activity or anything", "GET", path, h("Accept", activity+", */*;q=0.1"), 200, "*", h("Content-Type", "image/png")},
		{"as an activity, not anything", "GET", path, h("Accept", activity+", */*;q=0"), 406, "*", nil},
		{"as an activity or a picture", "GET", path, h("Accept", activity, "Accept", "image/*"), 200, "*", nil},
		{"as an activity or sound", "GET", path, h("Accept", activity+", audio/*"), 406, "*", nil},
		{"sound as an activity or sound", "GET", "/media/" + sound.Name, h("Accept", activity+", audio/*"), 200, "*", nil},
		{"as a browser does", "GET", path, h("Accept", "image/avif,image/webp,*/*;q=0.8"), 200, "*", nil},
		{"as a page", "GET", path, h("Accept", "text/html"), 200, "*", h("Content-Type", "image/png")},

		{"one that is not there", "GET", "/media/00/" + other + ".png", nil, 404, "*", h("Cache-Control", "")},
		{"another extension", "GET", strings.TrimSuffix(path, "png") + "jpg", nil, 404, "*", nil},
		{"a type that is not served", "GET", strings.TrimSuffix(path, "png") + "html", nil, 404, "*", nil},
		{"the directory", "GET", "/media/", nil, 404, "*", nil},
		{"a directory", "GET", "/media/" + picture.Name[:2], nil, 404, "*", nil},
		{"a directory with a slash", "GET", "/media/" + picture.Name[:2] + "/", nil, 404, "*", nil},
		{"upward", "GET", "/media/../svc.db", nil, 404, "*", nil},
		{"upward, escaped", "GET", "/media/%2e%2e%2fsvc.db", nil, 404, "*", nil},
		{"upward and back", "GET", "/media/../media/" + picture.Name, nil, 404, "*", nil},
		{"with a backslash", "GET", `/media/..%5csvc.db`, nil, 404, "*", nil},
		{"with a zero byte", "GET", path + "%00", nil, 404, "*", nil},
		{"an escaped slash", "GET", "/media/" + strings.Replace(picture.Name, "/", "%2f", 1), nil, 200, "*", nil},
		{"another path", "GET", "/" + picture.Name, nil, 404, "*", nil},
		{"to write", "POST", path, nil, 405, "*", h("Allow", "GET, HEAD")},
		{"to delete", "DELETE", path, nil, 405, "*", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, tt.path, nil)
			if tt.header != nil {
				r.Header = tt.header
			}
			w := httptest.NewRecorder()
			f.Handler(netip.Addr{}).ServeHTTP(w, r)
			if w.Code != tt.want {
				t.Errorf("status %d, want %d", w.Code, tt.want)
			}
			if tt.body != "*" && w.Body.String() != tt.body {
				t.Errorf("%d bytes, want %d", w.Body.Len(), len(tt.body))
			}
			for key, want := range tt.answer {
				if got := w.Header().Get(key); got != want[0] {
					t.Errorf("%s: %q, want %q", key, got, want[0])
				}
			}
			if strings.HasPrefix(tt.path, "/media/") {
				for key, want := range map[string]string{
					"X-Content-Type-Options":       "nosniff",
					"Content-Security-Policy":      "default-src 'none'; sandbox",
					"Access-Control-Allow-Origin":  "*",
					"Cross-Origin-Resource-Policy": "cross-origin",
				} {
					if got := w.Header().Get(key); got != want {
						t.Errorf("%s: %q, want %q", key, got, want)
					}
				}
			}
		})
	}
}

func TestDisposition(t *testing.T) {
	for name, want := range map[string]string{
		"":                                  "",
		"cat.png":                           "cat.jpg",
		"cat":                               "cat.jpg",
		"page.html":                         "page.jpg",
		"../../etc/passwd":                  "passwd.jpg",
		`C:\cat.jpg`:                        "cat.jpg",
		"a\"b;c\r\nX-Evil: 1":               "ab;cX-Evil 1.jpg",
		"кот.jpg":                           "кот.jpg",
		"gpj\u202e.exe":                     "gpj.jpg",
		"\xff\xfe":                          "",
		"...":                               "",
		".htaccess":                         "",
		strings.Repeat("ö", maxFileName+50): strings.Repeat("ö", maxFileName) + ".jpg",
	} {
		got := disposition(name, "jpg")
		kind, params, err := mime.ParseMediaType(got)
		if err != nil || kind != "inline" || params["filename"] != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func FuzzDisposition(f *testing.F) {
	f.Add("cat.png")
	f.Add("a\"b\r\n;ö")
	f.Fuzz(func(t *testing.T, name string) {
		got := disposition(name, "png")
		_, params, err := mime.ParseMediaType(got)
		file := params["filename"]
		if err != nil || strings.ContainsAny(got, "\r\n\x00") || file != "" && !strings.HasSuffix(file, ".png") {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	})
}
