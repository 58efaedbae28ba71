package rest

import (
	"errors"
	"net/http"
	"runtime"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// Bounds of compression. A writer takes about a MiB of memory.
const (
	minCompressed = 1 << 10   // bytes of an answer; shorter ones are one packet anyway
	maxCompressed = 1 << 20   // longer ones are sent as they are, because they cost too much
	maxGzip       = 256 << 10 // bytes of gzip; texts that become longer are hostile, or no texts
	maxGzipPool   = 16        // writers
	gzipLevel     = 3         // a page of 20 posts becomes an eighth in a quarter of the time that level 6 of compress/gzip takes for a ninth less
)

// gzipPool has the writers that are free. Compression does not wait for clients, so more writers than processors would not make it faster.
var gzipPool = func() chan *gzipWriter {
	pool := make(chan *gzipWriter, min(max(2, runtime.GOMAXPROCS(0)), maxGzipPool))
	for range cap(pool) {
		pool <- new(gzipWriter)
	}
	return pool
}()

// gzipWriter compresses one text after the other into its buffer. Its memory is taken with the first text.
type gzipWriter struct {
	zip   *gzip.Writer
	bytes []byte
	most  int // bytes
}

var errNotSmaller = errors.New("gzip is not smaller")

// Write is for zip.
func (w *gzipWriter) Write(p []byte) (int, error) {
	if len(w.bytes)+len(p) > w.most {
		return 0, errNotSmaller
	}
	w.bytes = append(w.bytes, p...)
	return len(p), nil
}

// compress fills the buffer. It returns false if the text does not become a quarter smaller.
func (w *gzipWriter) compress(text []byte) bool {
	w.bytes, w.most = w.bytes[:0], min(len(text)-len(text)/4, maxGzip)
	if w.zip == nil {
		zip, err := gzip.NewWriterLevel(w, gzipLevel)
		if err != nil {
			panic(err) // there is no such level
		}
		w.zip = zip
	} else {
		w.zip.Reset(w)
	}
	_, err := w.zip.Write(text)
	return errors.Join(err, w.zip.Close()) == nil
}

// Gzip appends a text as gzip to dst, which may be the beginning of the text itself. It returns nil if the text is too short or too long for it, or
// does not become smaller.
func Gzip(dst, text []byte) []byte {
	if len(text) < minCompressed || len(text) > maxCompressed {
		return nil
	}
	w := <-gzipPool
	defer func() { gzipPool <- w }()
	if !w.compress(text) {
		return nil
	}
	return append(dst, w.bytes...)
}

// AcceptsGzip returns true if a client prefers gzip to a text as it is, by the weights of its Accept-Encoding (RFC 9110, 12.5.3).
func AcceptsGzip(h http.Header) bool {
	zipped, other, plain := -1.0, -1.0, -1.0 // the weights of gzip, * and identity; -1: not named
	for _, line := range h["Accept-Encoding"] {
		for coding := range strings.SplitSeq(line, ",") {
			name, parameter, _ := strings.Cut(coding, ";")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip", "x-gzip":
				zipped = max(zipped, weight(parameter))
			case "*":
				other = weight(parameter)
			case "identity":
				plain = weight(parameter)
			}
		}
	}
	if zipped < 0 {
		zipped = other
	}
	return zipped > 0 && zipped >= plain
}

// weight returns the weight in the parameter of a coding: 1 if it has none, 0 if it cannot be read.
func weight(parameter string) float64 {
	name, value, found := strings.Cut(parameter, "=")
	if !found && strings.TrimSpace(parameter) == "" {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(0 <= q && q <= 1) || !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 0
	}
	return q
}

// mayCompress returns true if the size of the compressed answer reveals nothing. An attacker who sees sizes, and makes a browser request a page
// that repeats a part of its address, can guess a secret of the page: a right guess makes it shorter (BREACH). So answers with secrets are never
// compressed (Access.Secret), nor are those to requests that another site makes a signed-in browser send. Form tokens differ in each answer.
func (r *Request) mayCompress() bool {
	if r.secret {
		return false
	}
	browser := r.endpoint.Access.session || RequestToken(r.Request) == "" // its credentials are sent without its user
	return r.Viewer == nil || !browser || r.SameOrigin()
}

// compress returns the answer as it is sent: as gzip in dst, which may be the beginning of the text, or the text itself. It sets the headers that
// say so.
func (r *Request) compress(h http.Header, dst, text []byte) []byte {
	if len(text) < minCompressed || h["Content-Encoding"] != nil || !r.mayCompress() {
		return text
	}
	h.Add("Vary", "Accept-Encoding")
	if !AcceptsGzip(r.Header) {
		return text
	}
	zipped := Gzip(dst, text)
	if zipped == nil {
		return text
	}
	h["Content-Encoding"] = []string{"gzip"}
	return zipped
}

// WriteText answers with a text, compressed if the client wants that. It may overwrite the text. w is the writer of a handler's ServeHTTP.
func WriteText(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	if out, ok := w.(*responseWriter); ok {
		text = out.request.compress(h, text[:0], text)
	}
	h["Content-Length"] = []string{strconv.Itoa(len(text))}
	w.WriteHeader(status)
	w.Write(text) // an error means that the client is gone
}
