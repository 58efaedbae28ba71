package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"time"

	"svc/internal/errs"
)

// Limits to bodies. A body with files may take longer than another, but has to come in at some speed.
const (
	maxFraming  = 65_536 // what multipart may cost beside its content
	maxFiles    = 8      // files in one request
	bodyTime    = 30 * time.Second
	slowestRate = 8192 // bytes per second
)

var (
	errBodyTooLarge = errs.TooLarge("The request body is too large")
	errFileTooLarge = errs.TooLarge("File is too large")
)

// body is the body of a request, bounded in length and time. Its errors are meant for the client.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	left    int64 // bytes that may still come
	limit   int64
	began   time.Time
	longest time.Duration // with files: how long it may take at most; 0: the deadline set at the beginning holds
	err     error         // sticky
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if int64(len(p)) > b.left+1 { // the one byte more that tells a full body from a longer one
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	switch {
	case int64(n) > b.left:
		n, err = int(b.left), errBodyTooLarge
	case err == io.EOF:
		b.control.SetReadDeadline(time.Time{}) // from now on net/http watches whether the client goes away
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = &errs.Error{Status: http.StatusRequestTimeout, Message: "The request body came too slowly", Err: err}
	case err != nil:
		err = &errs.Error{Status: http.StatusBadRequest, Message: "The request body is incomplete", Err: err}
	case b.longest > 0:
		received := time.Duration(b.limit-b.left+int64(n)) * time.Second / slowestRate
		b.control.SetReadDeadline(b.began.Add(min(bodyTime+received, b.longest)))
	}
	b.left -= int64(n)
	b.err = err
	return n, err
}

// drain reads what the client still has to say, within the limit, so that it will listen to the answer. A client that waits for
// leave to send is not given it.
func (b *body) drain(r *http.Request) {
	if b == nil || b.err == io.EOF {
		return
	}
	if b.left == b.limit && r.Header.Get("Expect") != "" {
		r.Body = b.ReadCloser // net/http leaves it alone if it sees that it is its own
		return
	}
	io.CopyN(io.Discard, b.ReadCloser, b.limit)
}

// limitBody bounds what can be read from the body of a request that goes to e.
func (s *Server) limitBody(w http.ResponseWriter, r *http.Request, e *endpoint) *body {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	b := &body{ReadCloser: r.Body, control: http.NewResponseController(w), limit: maxText + maxFraming, began: time.Now()}
	if e.access.files {
		b.limit += 2 * s.settings.Media.UploadLimit // a file and its thumbnail, or an avatar and a header
		b.longest = s.settings.Server.ReadTimeout
	}
	b.left = b.limit
	r.Body = b
	return b
}

// parameters reads the query and the body, once.
func (r *Request) parameters() (*params, error) {
	if r.params != nil || r.invalid != nil {
		return r.params, r.invalid
	}
	if r.URL.RawQuery == "" && r.body == nil {
		r.params = &params{}
		return r.params, nil
	}
	p := &params{alias: r.server.paramAlias}
	if r.invalid = p.addQuery(r.URL.RawQuery); r.invalid == nil {
		r.invalid = r.readBody(p)
	}
	if r.invalid != nil {
		p.close()
		return nil, r.invalid
	}
	r.params = p
	return p, nil
}

// readBody adds the parameters of the body to those of the query. Where both have one, the body's counts. A body of a type that
// is not known has none.
func (r *Request) readBody(query *params) error {
	if r.body == nil {
		return nil
	}
	mediaType, typeParams, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	p := &params{alias: query.alias, keys: query.keys}
	var err error
	switch mediaType {
	case "application/json":
		var text []byte
		if text, err = readText(r.body); err == nil {
			err = p.addJSON(text)
		}
	case "application/x-www-form-urlencoded":
		var text []byte
		if text, err = readText(r.body); err == nil {
			err = p.addQuery(string(text))
		}
	case "multipart/form-data":
		err = p.addMultipart(multipart.NewReader(r.body, typeParams["boundary"]), r.server.tempDir, r.server.settings.Media.UploadLimit)
		if err == nil {
			_, err = io.Copy(io.Discard, r.body) // what follows the last part
		}
	}
	query.keys, query.files = p.keys, p.files
	if query.fields == nil {
		query.fields = p.fields
	}
	for name, v := range p.fields {
		query.fields[name] = v
	}
	return err
}

// mayHoldToken tells whether the body may be read before it is known who sends it, to look for a token in it. A large upload is
// only read for those who have shown one elsewhere.
func (r *Request) mayHoldToken() bool {
	return r.body != nil && (!r.endpoint.access.files || r.ContentLength >= 0 && r.ContentLength <= maxText)
}

// readText reads a whole body of parameters.
func readText(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxText+1))
	if err == nil && len(text) > maxText {
		err = errBodyTooLarge
	}
	return text, err
}

// addMultipart adds the parts of a form: values, and files in temporary files under dir. It looks at the parts itself, because
// mime/multipart's own form cannot tell an empty file input (nothing chosen) from an empty text field (to be cleared).
func (p *params) addMultipart(form *multipart.Reader, dir string, fileLimit int64) error {
	text := int64(maxText)
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return formError(err)
		}
		_, disposition, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if err != nil || disposition["name"] == "" {
			continue
		}
		_, isFile := disposition["filename"]
		contentType := part.Header.Get("Content-Type")
		if isFile || contentType != "" && !isTextType(contentType) {
			if len(p.files) == maxFiles {
				return errs.BadRequest("Too many files")
			}
			file, err := spool(part, dir, fileLimit)
			if err != nil {
				return formError(err)
			}
			p.files = append(p.files, file)
			file.Filename, file.ContentType = part.FileName(), contentType
			if err := p.add(disposition["name"], &value{kind: fileValue, file: file}); err != nil {
				return err
			}
			continue
		}
		content, err := io.ReadAll(io.LimitReader(part, text+1))
		if err != nil {
			return formError(err)
		}
		if text -= int64(len(content)); text < 0 {
			return errBodyTooLarge
		}
		if len(content) == 0 && contentType != "" { // a file input too, by the look of it
			continue
		}
		if err := p.addText(disposition["name"], string(content)); err != nil {
			return err
		}
	}
}

// isTextType tells whether a part of that type without a file name is a value: some libraries name the type of every part.
func isTextType(contentType string) bool {
	return strings.HasPrefix(contentType, "text/") || strings.HasPrefix(contentType, "application/json")
}

// formError makes what the multipart reader says an error for the client, and leaves alone what is one, or our own fault.
func formError(err error) error {
	var e *errs.Error
	var path *os.PathError
	if errors.As(err, &e) || errors.As(err, &path) {
		return err
	}
	return &errs.Error{Status: http.StatusBadRequest, Message: "The request body is not a valid form", Err: err}
}

// close removes the temporary files.
func (p *params) close() {
	for _, f := range p.files {
		f.close()
	}
	p.files = nil
}

// Upload is a file that came with a request. It is gone when the request has been answered.
type Upload struct {
	Filename    string // the last element of the name that the client gives; not to be trusted
	ContentType string // what the client says; not to be trusted
	Size        int64
	Empty       bool // no file, but an empty value in its place: what is there is to be removed

	content *os.File
}

// Open returns the content, from its beginning. It may be called several times.
func (u *Upload) Open() *io.SectionReader { return io.NewSectionReader(u.content, 0, u.Size) }

// spool copies a part into a temporary file. An empty part gets none.
func spool(part io.Reader, dir string, limit int64) (*Upload, error) {
	content := bufio.NewReader(part)
	if _, err := content.Peek(1); err == io.EOF {
		return &Upload{}, nil
	}
	file, err := os.CreateTemp(dir, "upload-*")
	if err != nil {
		return nil, fmt.Errorf("upload: %w", err)
	}
	os.Remove(file.Name()) // it lives as long as it is open, and no crash leaves it behind
	u := &Upload{content: file}
	u.Size, err = io.Copy(file, io.LimitReader(content, limit+1))
	if err == nil && u.Size > limit {
		err = errFileTooLarge
	}
	if err != nil {
		u.close()
		return nil, err
	}
	return u, nil
}

func (u *Upload) close() {
	if u.content != nil {
		u.content.Close()
	}
}
