package rest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// jsonAppender is a value that writes its own JSON, as entities do.
type jsonAppender interface {
	AppendJSON(dst []byte) []byte
}

// NoContent is a 204.
var NoContent http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNoContent)
})

// jsonBuffer is a buffer with an encoder that writes into it.
type jsonBuffer struct {
	bytes   []byte
	encoder *json.Encoder
}

func (b *jsonBuffer) Write(p []byte) (int, error) {
	b.bytes = append(b.bytes, p...)
	return len(p), nil
}

var jsonBuffers = sync.Pool{New: func() any { return newJSONBuffer() }}

func newJSONBuffer() *jsonBuffer {
	b := new(jsonBuffer)
	b.encoder = json.NewEncoder(b)
	b.encoder.SetEscapeHTML(false)
	return b
}

// maxPooledBuffer is the size above which a buffer is not reused.
const maxPooledBuffer = 512 << 10

// respond writes what a handler returned. It returns the status.
func (s *Server) respond(w http.ResponseWriter, r *Request, value any, err error) int {
	if err != nil {
		return s.respondError(w, r, err)
	}
	if h, ok := value.(http.Handler); ok {
		return s.serveHandler(w, r, h)
	}
	if text, ok := value.(json.RawMessage); ok { // not copied, as it may be long
		r.observe(Observation{Status: r.status, Answer: text})
		if len(text) <= smallAnswer { // else the compressed one would need memory beside it
			text = r.compress(w.Header(), nil, text)
		}
		s.writeJSON(w, r, r.status, text)
		return r.status
	}
	b := jsonBuffers.Get().(*jsonBuffer)
	defer b.release()
	if err := b.encodeAnswer(r, value); err != nil {
		return s.respondError(w, r, err)
	}
	r.observe(Observation{Status: r.status, Answer: b.bytes})
	b.bytes = r.compress(w.Header(), b.bytes[:0], b.bytes)
	s.writeJSON(w, r, r.status, b.bytes)
	return r.status
}

// encodeAnswer appends a value. A large one takes its memory first if its size is known, and is not copied while the buffer grows.
func (b *jsonBuffer) encodeAnswer(r *Request, value any) error {
	switch n, err := r.takeSized(value); {
	case err != nil:
		return err
	case n > smallAnswer:
		b.bytes = slices.Grow(b.bytes, n+n/64)
	}
	if err := b.encode(value); err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	if len(b.bytes) > smallAnswer {
		return r.takeMemory(len(b.bytes))
	}
	return nil
}

// takeSized takes the memory of an answer whose size is known before it is encoded. It returns this size, or 0.
func (r *Request) takeSized(value any) (n int, err error) {
	if v, ok := value.(sized); ok {
		n = v.JSONSize()
	}
	if n > smallAnswer {
		err = r.takeMemory(n)
	}
	return n, err
}

// encode appends a value. nil becomes an empty object, a nil slice an empty list.
func (b *jsonBuffer) encode(value any) error {
	switch value := value.(type) {
	case nil:
		b.bytes = append(b.bytes, "{}"...)
		return nil
	case jsonAppender:
		b.bytes = value.AppendJSON(b.bytes)
		return nil
	case json.RawMessage:
		b.bytes = append(b.bytes, value...)
		return nil
	}
	if err := b.encoder.Encode(value); err != nil {
		return err
	}
	b.bytes = b.bytes[:len(b.bytes)-1] // the encoder ends with a newline
	if string(b.bytes) == "null" {
		b.bytes = append(b.bytes[:0], "{}"...)
		if reflect.TypeOf(value).Kind() == reflect.Slice {
			copy(b.bytes, "[]")
		}
	}
	return nil
}

// AppendJSON appends a value as it stands in an answer.
func AppendJSON(dst []byte, value any) ([]byte, error) {
	b := newJSONBuffer()
	b.bytes = dst
	err := b.encode(value)
	return b.bytes, err
}

func (b *jsonBuffer) release() {
	if cap(b.bytes) <= maxPooledBuffer {
		b.bytes = b.bytes[:0]
		jsonBuffers.Put(b)
	}
}

var (
	JsonType       = []string{"application/json; charset=utf-8"}
	PrivateNoStore = []string{"private, no-store"}
)

func (s *Server) writeJSON(w http.ResponseWriter, r *Request, status int, text []byte) {
	h := w.Header()
	h["Content-Type"] = JsonType
	h["Content-Length"] = []string{strconv.Itoa(len(text))}
	if h["Cache-Control"] == nil {
		h["Cache-Control"] = PrivateNoStore
	}
	// net/http counts the write timeout from the request headers. A long upload may have used it up.
	if patience := s.settings.Load().Server.WriteTimeout; time.Since(r.start) > patience/4 {
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience))
	}
	r.sending(w)
	w.WriteHeader(status)
	w.Write(text) // an error means that the client is gone
}

// respondError answers with an error for clients. Any other error is logged and answered with a 500 that does not name the cause.
func (s *Server) respondError(w http.ResponseWriter, r *Request, err error) int {
	if r.endpoint.Access.shared && r.Viewer == nil {
		r.parameters() // for the page to sign in on, which takes the text along; an error means that there is less of it
	}
	r.body.drain(r.Request)
	var e *errs.Error
	switch {
	case !errors.As(err, &e):
		e = errs.New(http.StatusInternalServerError, "Something went wrong")
		if r.Context().Err() == nil { // else the client is gone, which may be the cause
			r.logError(slog.LevelError, err)
		}
	case e.Err != nil: // an error for clients is no fault of the server, whatever its status
		r.logError(slog.LevelDebug, err)
	}
	h := w.Header()
	if e == errBodyDropped {
		h.Set("Connection", "close") // its bytes are not read any more
	}
	delete(h, "Link")
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(e.RetryAfter.Seconds())))
	}
	var t *throttledError
	if errors.As(err, &t) {
		t.setHeaders(h, s.now())
	}
	if e.Status == http.StatusUnauthorized && r.endpoint.Access.session && r.Viewer == nil && s.sessions != nil {
		return s.serveHandler(w, r, s.sessions.SignIn(r))
	}
	if r.endpoint.Access.html {
		return s.serveHandler(w, r, s.errorPage(r, e))
	}
	if e.Status == http.StatusUnauthorized && h["Www-Authenticate"] == nil {
		h.Set("WWW-Authenticate", challenge(r.Request))
	}
	r.observe(Observation{Status: e.Status})
	s.writeJSON(w, r, e.Status, ErrorJSON(e))
	return e.Status
}

// challenge returns the WWW-Authenticate header of a 401. A request without a token gets no error code (RFC 6750, 3.1).
func challenge(r *http.Request) string {
	if RequestToken(r) == "" {
		return "Bearer"
	}
	return `Bearer error="invalid_token"`
}

// LogError logs an error that the answer does not name, unless the handler is called again because of it.
func (r *Request) LogError(err error) {
	if !r.root().retried || !errors.Is(err, store.ErrReadBudget) {
		r.logError(slog.LevelError, err)
	}
}

func (r *Request) logError(level slog.Level, err error) {
	r.server.log.LogAttrs(r.Context(), level, "request failed", slog.String("request", r.ID),
		slog.String("method", r.Method), slog.String("route", r.endpoint.path), slog.Any("error", err))
}

// ErrorJSON returns {"error": message} with the details beside it.
func ErrorJSON(e *errs.Error) []byte {
	dst := AppendString([]byte(`{"error":`), e.Message)
	for _, k := range slices.Sorted(maps.Keys(e.Details)) {
		detail, err := json.Marshal(e.Details[k])
		if err != nil {
			continue
		}
		dst = append(AppendString(append(dst, ','), k), ':')
		dst = append(dst, detail...)
	}
	return append(dst, '}')
}

// AppendString appends a JSON string, without escaping HTML.
func AppendString(dst []byte, text string) []byte {
	b := jsonBuffer{bytes: dst}
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.Encode(text) // cannot fail
	return b.bytes[:len(b.bytes)-1]
}

// serveHandler lets a handler write the answer.
func (s *Server) serveHandler(w http.ResponseWriter, r *Request, h http.Handler) int {
	if out := w.Header(); r.endpoint.isAPI && out["Cache-Control"] == nil {
		out["Cache-Control"] = PrivateNoStore // the handler may change it
	}
	out := &responseWriter{ResponseWriter: w, control: http.NewResponseController(w), request: r, writeTimeout: s.settings.Load().Server.WriteTimeout}
	r.sending(w)
	h.ServeHTTP(out, r.Request)
	return r.status
}

// responseWriter allows the write timeout for each piece of an answer. Streams and large files may take long, but a client that
// reads nothing is disconnected.
type responseWriter struct {
	http.ResponseWriter
	control      *http.ResponseController
	request      *Request
	writeTimeout time.Duration
}

func (w *responseWriter) extend() { w.control.SetWriteDeadline(time.Now().Add(w.writeTimeout)) }

func (w *responseWriter) WriteHeader(status int) {
	w.request.status, w.request.started = status, true
	w.ResponseWriter.WriteHeader(status)
}

func (w *responseWriter) Write(p []byte) (int, error) {
	w.request.started = true
	w.extend()
	return w.ResponseWriter.Write(p)
}

// FlushError sends the written bytes.
func (w *responseWriter) FlushError() error {
	w.request.started, w.request.streamed = true, true
	w.extend()
	return w.control.Flush()
}

// Flush is FlushError without the error.
func (w *responseWriter) Flush() { w.FlushError() }

// Hijack hands over the connection, without deadlines.
func (w *responseWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.request.started = true
	return w.control.Hijack()
}

// Unwrap is for http.ResponseController.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// SetWriteTimeout changes how long a client may take for each piece of the answer. w is the writer of a handler's ServeHTTP.
func SetWriteTimeout(w http.ResponseWriter, d time.Duration) {
	if rw, ok := w.(*responseWriter); ok {
		rw.writeTimeout = d
	}
}

// Redirect is a redirect to a URL, which is sent as it is, because it may be that of an app.
type Redirect string

func (to Redirect) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header()["Location"] = []string{string(to)}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusFound)
}

// WantsHTML returns true if a request comes from a browser that shows pages.
func WantsHTML(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
}
