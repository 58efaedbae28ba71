package rest

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"svc/internal/errs"
)

// Limits of bodies. A body with files may take longer, but must arrive at a minimum rate.
const (
	maxMultipartOverhead = 65_536 // multipart headers and boundaries
	bodyTimeout          = 30 * time.Second
	minUploadRate        = 8192 // bytes per second
)

var ErrBodyTooLarge = errs.TooLarge("The request body is too large")

// body is a request body, bounded in length and time. Its errors are meant for the client.
type body struct {
	io.ReadCloser
	control     *http.ResponseController
	remaining   int64 // bytes
	limit       int64
	start       time.Time
	maxDuration time.Duration // of bodies with files; 0: the deadline set at the beginning applies
	err         error         // sticky
	arrived     func()        // ends the transit of the body
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if int64(len(p)) > b.remaining+1 { // one more byte, to detect a longer body
		p = p[:b.remaining+1]
	}
	n, err := b.ReadCloser.Read(p)
	switch {
	case int64(n) > b.remaining:
		n, err = int(b.remaining), ErrBodyTooLarge
	case err == io.EOF:
		b.control.SetReadDeadline(time.Time{}) // net/http reads on, to detect that the client disconnects
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = &errs.Error{Status: http.StatusRequestTimeout, Message: "The request body came too slowly", Err: err}
	case err != nil:
		err = &errs.Error{Status: http.StatusBadRequest, Message: "The request body is incomplete", Err: err}
	case b.maxDuration > 0:
		received := time.Duration(b.limit-b.remaining+int64(n)) * time.Second / minUploadRate
		b.control.SetReadDeadline(b.start.Add(min(bodyTimeout+received, b.maxDuration)))
	}
	if err != nil {
		b.arrived()
	}
	b.remaining -= int64(n)
	b.err = err
	return n, err
}

// drain reads the rest of the body, within the limit, because clients read the answer only after sending all. A client that waits
// for 100 Continue does not send it.
func (b *body) drain(r *http.Request) {
	if b == nil || b.err == io.EOF {
		return
	}
	if b.remaining == b.limit && r.Header.Get("Expect") != "" {
		r.Body = b.ReadCloser // net/http does not ask for a body that is its own
		return
	}
	io.CopyN(io.Discard, b.ReadCloser, b.limit)
}

// limitBody bounds the body of the request. net/http keeps its own request, because it reads the body again in the end.
func (r *Request) limitBody(w http.ResponseWriter) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	b := &body{ReadCloser: r.Body, control: http.NewResponseController(w), limit: maxText + maxMultipartOverhead, start: r.start}
	if r.endpoint.Access.files {
		b.limit += 2 * r.server.settings.Load().Media.UploadLimit // a file and its thumbnail, or an avatar and a header
		b.maxDuration = r.server.settings.Load().Server.ReadTimeout
	}
	if b.remaining = b.limit; r.ContentLength > b.limit {
		b.err = ErrBodyTooLarge // before anything is sent
	}
	limited := *r.Request
	limited.Body = b
	b.arrived = r.beginBody()
	r.Request, r.body = &limited, b
}
