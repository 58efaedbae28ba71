package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"svc/emoji"
	"svc/internal/packed"
	"svc/server/rest"
)

// Asset is a file that pages load. Its URL names its content, so that browsers keep it.
type Asset struct {
	Type string
	Body []byte
	gzip func() []byte // compressed at the first request
}

// assetFiles are the scripts, the parts of the style, and what library/fetch wrote.
//
//go:embed script/*.js style/*.css library/*.js.gz library/*.css
var assetFiles embed.FS

// Assets returns the files below /web/assets/VERSION/ by their path. The parts of the style are one file, the emoji are made of their table, and the
// texts of a script that is rarely loaded are one file for each language. They are made at the first call: commands need none.
var Assets = sync.OnceValue(readAssets)

// assetPath is where the assets are. The version is a hash of all of them, so that a script loads the others of its own version by a relative
// address.
var (
	assetPath    = sync.OnceValue(func() string { return "/web/assets/" + assetVersion() + "/" })
	assetVersion = sync.OnceValue(func() string { return versionOf(Assets()) })
)

// ServiceWorker returns the script that shows push messages, and a page of its own where the server is not reached. Its address has no version: browsers
// look for changes of it without their cache, and it controls the pages below its folder. It names the version of the assets, so that it changes with
// them.
var ServiceWorker = sync.OnceValue(func() Asset {
	return newAsset("sw.js", bytes.ReplaceAll(must(uiFiles.ReadFile("sw.js")), []byte("VERSION"), []byte(assetVersion())))
})

var assetTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".json": "application/json"}

func readAssets() map[string]Asset {
	assets := make(map[string]Asset)
	var style []byte
	err := fs.WalkDir(assetFiles, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := assetFiles.ReadFile(name)
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(name, "style/"):
			style = append(style, shorten(body)...)
		case strings.HasSuffix(name, ".gz"):
			name = strings.TrimSuffix(name, ".gz")
			assets[name] = newAsset(name, packed.Text(body))
		case strings.HasPrefix(name, "script/"):
			name = strings.TrimPrefix(name, "script/")
			assets[name] = newAsset(name, shorten(body))
		default:
			assets[name] = newAsset(name, body)
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	assets["style.css"] = newAsset("style.css", style)
	for _, language := range emoji.NameLanguages {
		name := "emoji." + language + ".json"
		assets[name] = newAsset(name, emojiData(language))
	}
	for _, m := range Languages() {
		name := "viewer-" + m.Language + ".js"
		assets[name] = newAsset(name, append([]byte("export default "), must(json.Marshal(m.below("viewer.")))...))
	}
	return assets
}

// shorten leaves out comments, and what lines begin with. No text in our scripts goes on in a second line or has " // " in it.
func shorten(source []byte) []byte {
	short := make([]byte, 0, len(source))
	for line := range bytes.Lines(source) {
		line = bytes.TrimLeft(line, " \t\n")
		if len(line) == 0 || bytes.HasPrefix(line, []byte("//")) {
			continue
		}
		code, _, commented := bytes.Cut(line, []byte(" // "))
		short = append(short, code...)
		if commented {
			short = append(short, '\n')
		}
	}
	return short
}

func newAsset(name string, body []byte) Asset {
	return Asset{assetTypes[path.Ext(name)], body, sync.OnceValue(func() []byte { return compressed(body) })}
}

func versionOf(assets map[string]Asset) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(assets)) {
		sum.Write([]byte(name))
		sum.Write(assets[name].Body)
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:9])
}

// AssetAt returns the file at a path below /web/assets/, which begins with a version. A page of another version of the program gets the present
// file.
func AssetAt(versioned string) (Asset, bool) {
	_, name, _ := strings.Cut(strings.TrimPrefix(versioned, "/"), "/")
	a, ok := Assets()[name]
	return a, ok
}

// compressed returns a text as gzip.
func compressed(text []byte) []byte {
	var b bytes.Buffer
	w := must(gzip.NewWriterLevel(&b, gzip.BestCompression))
	w.Write(text) // a Buffer accepts everything
	w.Close()
	return b.Bytes()
}

// must returns a value that is there in every build.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// ServeHTTP serves the file. The URL of pages has a hash of it.
func (a Asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.Type)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Etag", `W/"`+assetVersion()+`"`) // by which the emoji picker sees that it has the present emoji
	h.Add("Vary", "Accept-Encoding")
	body := a.Body
	if rest.AcceptsGzip(r.Header) {
		h.Set("Content-Encoding", "gzip")
		body = a.gzip()
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
