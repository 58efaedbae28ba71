package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"sync"
	"time"

	"svc/server/rest"
)

// Asset is a file that all pages load. Its URL names its content, so that browsers keep it.
type Asset struct {
	Type string
	Body []byte
	gzip func() []byte // compressed at the first request
}

// Assets are the files below /web/ by name.
var Assets = map[string]Asset{
	"style.css": readAsset("style.css", "text/css; charset=utf-8"),
	"app.js":    readAsset("app.js", "text/javascript; charset=utf-8"),
	"sw.js":     readAsset("sw.js", "text/javascript; charset=utf-8"), // browsers look for changes of it without the cache
}

var (
	styleURL  = assetURL("style.css")
	scriptURL = assetURL("app.js")
)

func readAsset(name, contentType string) Asset {
	body, err := uiFiles.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return Asset{contentType, body, sync.OnceValue(func() []byte { return compressed(body) })}
}

// compressed returns a text as gzip.
func compressed(text []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // there is no such level
	}
	w.Write(text) // a Buffer accepts everything
	w.Close()
	return b.Bytes()
}

func assetURL(name string) string {
	sum := sha256.Sum256(Assets[name].Body)
	return "/web/" + name + "?v=" + base64.RawURLEncoding.EncodeToString(sum[:9])
}

// ServeHTTP serves the file. The URL of pages has a hash of it.
func (a Asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.Type)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Add("Vary", "Accept-Encoding")
	body := a.Body
	if rest.AcceptsGzip(r.Header) {
		h.Set("Content-Encoding", "gzip")
		body = a.gzip()
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
