package server

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
	"sync"
	"time"

	"svc/internal/errs"
)

// jsonAppender is a value that writes its own JSON, as the entities do that make up most answers.
type jsonAppender interface {
	AppendJSON(dst []byte) []byte
}

// noContent is the answer of endpoints that say nothing but that it is done.
var noContent http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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

// maxPooledBuffer is the size above which a buffer is not kept for the next answer.
const maxPooledBuffer = 1 << 20

// respond writes what a handler returned, and returns the status.
func (s *Server) respond(w http.ResponseWriter, r *Request, value any, err error) int {
	if err != nil {
		return s.respondError(w, r, err)
	}
	if h, ok := value.(http.Handler); ok {
		return s.serveHandler(w, r, h)
	}
	b := jsonBuffers.Get().(*jsonBuffer)
	defer b.release()
	if err := b.encode(value); err != nil {
		return s.respondError(w, r, fmt.Errorf("encode answer: %w", err))
	}
	s.writeJSON(w, r, r.status, b.bytes)
	return r.status
}

// encode writes a value. What is nothing is an empty object, and a list of nothing an empty list.
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

func (b *jsonBuffer) release() {
	if cap(b.bytes) <= maxPooledBuffer {
		b.bytes = b.bytes[:0]
		jsonBuffers.Put(b)
	}
}

var (
	jsonType       = []string{"application/json; charset=utf-8"}
	privateNoStore = []string{"private, no-store"}
)

func (s *Server) writeJSON(w http.ResponseWriter, r *Request, status int, text []byte) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(text))}
	if h["Cache-Control"] == nil {
		h["Cache-Control"] = privateNoStore
	}
	// net/http gives an answer its time from when the headers of the request were there. A long upload may have used it up.
	if patience := s.settings.Server.WriteTimeout; time.Since(r.start) > patience/4 {
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience))
	}
	w.WriteHeader(status)
	w.Write(text) // if that fails, nobody is there to be told
}

// respondError answers with an error that is meant for clients, or with a 500 that does not tell its cause to them, but to the
// log.
func (s *Server) respondError(w http.ResponseWriter, r *Request, err error) int {
	r.body.drain(r.Request)
	var e *errs.Error
	if !errors.As(err, &e) {
		e = errs.New(http.StatusInternalServerError, "Something went wrong")
	}
	asksPatience := e.Status == http.StatusServiceUnavailable && e.RetryAfter > 0 // which strangers can bring about
	switch {
	case e.Status >= http.StatusInternalServerError && !asksPatience && r.Context().Err() == nil: // else the client has gone, and that may be why
		s.logError(r, slog.LevelError, err)
	case e.Err != nil:
		s.logError(r, slog.LevelDebug, err)
	}
	h := w.Header()
	delete(h, "Link")
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(e.RetryAfter.Seconds())))
	}
	var t *throttled
	if errors.As(err, &t) {
		t.setHeaders(h, s.now())
	}
	if r.endpoint.access.html {
		return s.serveHandler(w, r, s.errorPage(e))
	}
	if e.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer error="invalid_token"`)
	}
	s.writeJSON(w, r, e.Status, appendError(nil, e))
	return e.Status
}

func (s *Server) logError(r *Request, level slog.Level, err error) {
	s.log.LogAttrs(r.Context(), level, "request failed", slog.String("request", r.ID),
		slog.String("method", r.Method), slog.String("route", r.endpoint.path), slog.Any("error", err))
}

// appendError writes {"error": message} with the details beside it.
func appendError(dst []byte, e *errs.Error) []byte {
	dst = appendJSONString(append(dst, `{"error":`...), e.Message)
	for _, k := range slices.Sorted(maps.Keys(e.Details)) {
		detail, err := json.Marshal(e.Details[k])
		if err != nil {
			continue
		}
		dst = append(appendJSONString(append(dst, ','), k), ':')
		dst = append(dst, detail...)
	}
	return append(dst, '}')
}

// appendJSONString writes a string as JSON.
func appendJSONString(dst []byte, text string) []byte {
	b := jsonBuffer{bytes: dst}
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.Encode(text) // writing to memory does not fail
	return b.bytes[:len(b.bytes)-1]
}

// serveHandler lets a handler write the answer.
func (s *Server) serveHandler(w http.ResponseWriter, r *Request, h http.Handler) int {
	if out := w.Header(); r.endpoint.isAPI && out["Cache-Control"] == nil {
		out["Cache-Control"] = privateNoStore // the handler may think otherwise
	}
	out := &responseWriter{ResponseWriter: w, control: http.NewResponseController(w), request: r, writeTimeout: s.settings.Server.WriteTimeout}
	h.ServeHTTP(out, r.Request)
	return r.status
}

// responseWriter gives the client as much time for each piece of an answer as it has for a whole one in JSON. So streams and
// large files may last, and a client that takes nothing is cut off.
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

// FlushError sends what has been written.
func (w *responseWriter) FlushError() error {
	w.request.started = true
	w.extend()
	return w.control.Flush()
}

// Flush is FlushError for those who do not want to know.
func (w *responseWriter) Flush() { w.FlushError() }

// Hijack hands over the connection. It has no deadlines then.
func (w *responseWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.request.started = true
	return w.control.Hijack()
}

// Unwrap is for http.ResponseController.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
