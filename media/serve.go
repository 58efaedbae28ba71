package media

import (
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"net/netip"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"

	"svc/internal/text"
)

// Handler serves stored files below /media/. It serves only the types of mimeByExt, with headers that keep a file from running scripts
// or loading resources, and never as an ActivityPub document. The files that one network receives from a bucket at the same time are limited; client
// is the zero Addr if it is not known.
func (f *Files) Handler(client netip.Addr) http.Handler {
	return http.StripPrefix("/media/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, client) }))
}

func (f *Files) serve(w http.ResponseWriter, r *http.Request, client netip.Addr) {
	h := w.Header()
	setSafeHeaders(h)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "Method not allowed", http.StatusMethodNotAllowed)
		return
	}
	name := r.URL.Path
	if !validName(name) {
		http.Error(w, "Not found", http.StatusNotFound)
		return
	}
	ext := strings.TrimPrefix(path.Ext(name), ".")
	if wantsActivity(r.Header.Values("Accept"), mimeByExt[ext]) {
		http.Error(w, "Not acceptable", http.StatusNotAcceptable)
		return
	}
	served, err := f.isServed(r.Context(), name)
	if err == nil && !served {
		http.Error(w, "Not found", http.StatusNotFound)
		return
	}
	var file *os.File
	if err == nil {
		file, err = f.root.Open(name)
	}
	elsewhere := errors.Is(err, fs.ErrNotExist) && f.bucket != nil
	if err != nil && !elsewhere {
		serveError(w, err)
		return
	}
	h.Set("Content-Type", mimeByExt[ext])
	h.Set("Content-Disposition", disposition(r.URL.Query().Get("name"), ext))
	h.Set("Cache-Control", "public, max-age=1209600, immutable")
	h.Set("ETag", `"`+strings.TrimSuffix(path.Base(name), "."+ext)+`"`)
	if elsewhere {
		f.serveBucket(w, r, client, name)
		return
	}
	defer file.Close()
	http.ServeContent(w, r, "", time.Time{}, file)
}

// setSafeHeaders sets the headers that keep a file from running scripts or loading resources.
func setSafeHeaders(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// wantsActivity returns whether an Accept header asks for an ActivityPub document and does not accept the type of the file.
func wantsActivity(accept []string, fileType string) bool {
	major, _, _ := strings.Cut(fileType, "/")
	activity := false
	for mediaRange := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		t, params, err := text.ParseMediaType(mediaRange)
		if err != nil {
			continue
		}
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil && q <= 0 {
			continue
		}
		switch t {
		case "*/*", major + "/*", fileType:
			return false
		case "application/activity+json", "application/ld+json":
			activity = true
		}
	}
	return activity
}

// maxFileName bounds the suggested file name, in characters.
const maxFileName = 100

// disposition returns a Content-Disposition that shows the file inline and suggests a name: the given one without characters that are
// special to file systems, and with the extension of the actual format.
func disposition(name, ext string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || strings.ContainsRune(`:*?"<>|`, c) {
			return -1
		}
		return c
	}, strings.ToValidUTF8(name, ""))
	name = strings.Trim(strings.TrimSuffix(name, path.Ext(name)), ". ")
	if name == "" {
		return "inline"
	}
	if runes := []rune(name); len(runes) > maxFileName {
		name = string(runes[:maxFileName])
	}
	return mime.FormatMediaType("inline", map[string]string{"filename": name + "." + ext})
}
