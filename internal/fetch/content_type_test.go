package fetch_test

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"svc/internal/fetch"
)

// TestContentTypes checks which declared types are read as one of a list, as a file, and as a document of any type.
func TestContentTypes(t *testing.T) {
	const page, file, static = 1, 2, 4 // OneOf("text/html"), NotDocument, NotPage
	for declared, want := range map[string]int{
		"":                           file | static,
		"image/jpeg":                 file | static,
		"image/*":                    file | static,
		"image":                      file | static,
		"application/octet-stream":   file | static,
		"binary/octet-stream":        file | static,
		"application/force-download": file | static,
		"application/mp4":            file | static,
		"text/plain; charset=utf-8":  file | static,
		"/":                          file | static,
		"Text/HTML":                  page,
		"text/html; charset":         page,
		"text/html, image/png":       page,
		"text/html\t; x":             page,
		"application/xhtml+xml":      0,
		"application/xml":            static,
		"text/xml":                   static,
		"image/svg+xml":              static,
		"image/svg":                  static,
		"IMAGE/SVG+XML; x":           static,
		"application/rss+xml":        static,
		"application/xml-dtd":        static,
		"application/json":           static,
		"text/json":                  static,
		"application/activity+json":  static,
		`application/ld+json; profile="https://www.w3.org/ns/activitystreams"`: static,
		"application/jrd+json":     static,
		"text/javascript":          static,
		"application/x-javascript": static,
		"application/ecmascript":   static,
	} {
		ts := startServer(t, false, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{declared}
			io.WriteString(w, "x")
		}})
		c := newClient(ts, fetch.Options{})
		for bit, accepts := range map[int]func(string) bool{page: fetch.OneOf("text/html", "text/htm"), file: fetch.NotDocument, static: fetch.NotPage} {
			_, err := c.Get(t.Context(), ts.URL, fetch.Limits{Accepts: accepts})
			if want&bit != 0 && err != nil || want&bit == 0 && !errors.Is(err, fetch.ErrContentType) {
				t.Errorf("%q, predicate %d: %v", declared, bit, err)
			}
		}
		if _, err := c.Get(t.Context(), ts.URL, fetch.Limits{}); err != nil {
			t.Errorf("%q without a predicate: %v", declared, err)
		}
	}
}
