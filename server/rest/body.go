package rest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"os"
	"time"

	"svc/internal/errs"
)

// Limits of bodies. A body with files may take longer, but must arrive at a minimum rate.
const (
	maxAnonymousBody     = 65_536 // bytes, of a client that is not known before its body is read
	maxMultipartOverhead = 65_536 // multipart headers and boundaries
	bodyTimeout          = 30 * time.Second
	minUploadRate        = 8192 // bytes per second
)

// What a body takes of the budget.
const (
	bodyBase    = 4096     // bytes, for the request and its headers
	textFactor  = 3        // bytes for each byte of text: what arrived, the decoded text, and a copy of that
	nodeBytes   = 400      // for each parameter of a form, and each level of its name
	valueBytes  = 96       // for each value of JSON
	uploadBytes = 64 << 10 // for the buffers and headers of a form with files, which are on disk
	firstBuffer = 4096     // bytes
	freeNodes   = 32       // bodyBase is enough for them
	freeValues  = 32
)

var (
	ErrBodyTooLarge      = errs.TooLarge("The request body is too large")
	errAnonymousTooLarge = errs.TooLarge("The request body is too large. Without a token in the Authorization header it may have %d bytes", maxAnonymousBody)
)

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

	declared int64 // length, -1 if it is not known
	tooLarge error // for a body above the limit
	drained  int64 // bytes that are read and forgotten after an error
	hold     bodyHold
}

func (b *body) Read(p []byte) (int, error) {
	if b.err == nil && b.declared > b.limit { // before anything is sent
		b.err = b.tooLarge
	}
	if b.err != nil {
		return 0, b.err
	}
	if int64(len(p)) > b.remaining+1 { // one more byte, to detect a longer body
		p = p[:b.remaining+1]
	}
	n, err := b.ReadCloser.Read(p)
	var deadline time.Time
	if b.maxDuration > 0 {
		received := time.Duration(b.limit-b.remaining+int64(n)) * time.Second / minUploadRate
		deadline = b.start.Add(min(bodyTimeout+received, b.maxDuration))
	}
	switch {
	case int64(n) > b.remaining:
		n, err = int(b.remaining), b.tooLarge
	case err == io.EOF:
		if !b.hold.finish() {
			err = errBodyDropped
			break
		}
		b.control.SetReadDeadline(time.Time{}) // net/http reads on, to detect that the client disconnects
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = &errs.Error{Status: http.StatusRequestTimeout, Message: "The request body came too slowly", Err: err}
		if !b.hold.finish() {
			err = errBodyDropped
		}
	case err != nil:
		err = &errs.Error{Status: http.StatusBadRequest, Message: "The request body is incomplete", Err: err}
	default:
		b.hold.read(n, b.control.SetReadDeadline, deadline)
	}
	if err != nil {
		b.arrived()
	}
	b.remaining -= int64(n)
	b.err = err
	return n, err
}

// drain reads the rest of the body, within a limit, because clients read the answer only after sending all. A client that waits for 100 Continue
// does not send it.
func (b *body) drain(r *http.Request) {
	if b == nil || b.err == io.EOF || b.err == errBodyDropped {
		return
	}
	if b.remaining == b.limit && r.Header.Get("Expect") != "" {
		r.Body = b.ReadCloser // net/http does not ask for a body that is its own
		return
	}
	io.CopyN(io.Discard, b.ReadCloser, b.drained)
}

// limitBody bounds the body of the request. net/http keeps its own request, because it reads the body again in the end.
func (r *Request) limitBody(w http.ResponseWriter) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	b := &body{ReadCloser: r.Body, control: http.NewResponseController(w), start: r.start, declared: r.ContentLength}
	limited := *r.Request
	limited.Body = b
	b.arrived = r.beginBody()
	r.Request, r.body = &limited, b
	b.drained = maxText + maxMultipartOverhead
	r.admitBody()
}

// admitBody sets what the body of the request may be and take, by who the client is now known to be. Nothing of it is read yet.
func (r *Request) admitBody() {
	b := r.body
	if b == nil {
		return
	}
	b.limit, b.tooLarge, b.maxDuration = maxAnonymousBody, errAnonymousTooLarge, 0
	class := r.bodyClass()
	if class != anonymousBodies {
		b.limit, b.tooLarge = maxText+maxMultipartOverhead, ErrBodyTooLarge
	}
	if class == memberBodies && r.endpoint.Access.files {
		b.limit += 2 * r.server.settings.Load().Media.UploadLimit // a file and its thumbnail, or an avatar and a header
		b.drained = b.limit
		b.maxDuration = r.server.settings.Load().Server.ReadTimeout
	}
	b.remaining = b.limit
	r.server.bodies.begin(&b.hold, class, r.bodySender(), b.cut)
}

// cut makes the next read of the body fail.
func (b *body) cut() { b.control.SetReadDeadline(time.Unix(1, 0)) }

func (r *Request) bodyClass() bodyClass {
	switch {
	case r.endpoint.Access.inbox:
		return inboxBodies
	case r.Viewer != nil:
		return memberBodies
	}
	return anonymousBodies
}

// bodySender returns who counts as the sender of the body.
func (r *Request) bodySender() senderKey {
	key := r.server.senderOf(r.address)
	if key == (senderKey{}) && r.Viewer != nil {
		key.account = r.Viewer.ID
	}
	return key
}

// senderOf returns who counts as the sender of bodies from an address. Many clients may share a private one, because it may be that of a proxy that
// is not configured, as that of this machine.
func (s *Server) senderOf(a netip.Addr) senderKey {
	if !a.IsValid() || a.IsLoopback() || a.IsPrivate() || s.trusts(a) {
		return senderKey{}
	}
	return senderKey{network: network(a)}
}

// ReadJSON reads the whole body, a JSON document, within the budget of bodies.
func (r *Request) ReadJSON(limit int64) ([]byte, error) {
	if r.body == nil {
		return nil, nil
	}
	text, err := r.body.readAll(limit)
	if err == nil {
		err = r.body.takeValues(text)
	}
	return text, err
}

// readAll reads the body into memory, within the budget. It takes at most twice what has arrived.
func (b *body) readAll(limit int64) ([]byte, error) {
	if b.declared > limit {
		return nil, b.tooLarge
	}
	size := int64(firstBuffer)
	if b.declared >= 0 {
		size = min(size, b.declared)
	}
	expected := bodyBase + textFactor*max(size, min(b.declared, maxAnonymousBody))
	if err := b.take(bodyBase+textFactor*size, expected); err != nil {
		return nil, err
	}
	text := make([]byte, 0, size)
	for {
		if int64(len(text)) > limit {
			return nil, b.tooLarge
		}
		room := text[len(text):cap(text)]
		switch {
		case len(room) > 0:
		case b.declared == int64(len(text)):
			room = make([]byte, 1) // for the EOF
		default:
			larger := min(2*size, limit+1)
			if b.declared > 0 {
				larger = min(larger, b.declared)
			}
			if err := b.take(textFactor*(larger-size), 0); err != nil {
				return nil, err
			}
			text = append(make([]byte, 0, larger), text...)
			room, size = text[len(text):cap(text)], larger
		}
		n, err := b.Read(room)
		text = text[:len(text)+n]
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// take takes n bytes of the budget. A body for which there is no room is not read any more.
func (b *body) take(n, expected int64) error {
	err := b.hold.take(n, expected)
	if err != nil && b.err != io.EOF {
		b.err = err
		b.arrived()
	}
	return err
}

// takeValues takes what the values of a JSON document are going to need.
func (b *body) takeValues(doc []byte) error {
	n := bytes.Count(doc, []byte{','}) + bytes.Count(doc, []byte{'{'}) + bytes.Count(doc, []byte{'['})
	if n <= freeValues {
		return nil
	}
	return b.take(int64(min(n, maxValues))*valueBytes, 0)
}

// takeNodes takes what the tree of the parameters needs.
func (r *Request) takeNodes(n int) error {
	if n <= freeNodes {
		return nil
	}
	if r.body != nil {
		return r.body.take(int64(n)*nodeBytes, 0)
	}
	if r.queryHold == nil {
		r.queryHold = new(bodyHold)
		r.server.bodies.begin(r.queryHold, r.bodyClass(), r.bodySender(), nil)
	}
	return r.queryHold.take(int64(n)*nodeBytes, 0)
}

// releaseBody gives back what the request took of the budget.
func (r *Request) releaseBody() {
	if r.body != nil {
		r.body.arrived()
		r.body.hold.release()
	}
	if r.queryHold != nil {
		r.queryHold.release()
	}
}
