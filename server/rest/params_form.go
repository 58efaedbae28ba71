package rest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
)

// Limits of multipart forms.
const (
	maxParts      = maxKeys + maxFiles
	maxPartHeader = 8 << 10  // bytes
	maxPartLines  = 100      // of a header
	maxFormEnd    = 64 << 10 // bytes after the last part
	formBuffer    = 16 << 10
	headerPiece   = 256  // bytes that one read of a header returns at most, so that few bytes after it are taken for a part of it
	contentPiece  = 1024 // likewise of content, so that few bytes of the next header are not counted
)

var (
	errPartHeader   = errs.BadRequest("The header of a part of the form is longer than %d bytes or %d lines", maxPartHeader, maxPartLines)
	errTooManyParts = errs.BadRequest("The form has more than %d parts", maxParts)
	errFormEnd      = errs.BadRequest("The form is followed by more than %d bytes", maxFormEnd)
)

// formReader reads the parts of a multipart form. It bounds what mime/multipart keeps in memory in search of a part: a boundary, a header, and the text
// before the first part.
type formReader struct {
	form  *multipart.Reader
	body  *bufio.Reader
	parts int

	inHeader bool
	size     int // bytes that may still be read in a header
	lines    int
}

func newFormReader(body io.Reader, boundary string) *formReader {
	f := &formReader{body: bufio.NewReaderSize(body, formBuffer)}
	f.form = multipart.NewReader(f, boundary)
	return f
}

func (f *formReader) Read(p []byte) (int, error) {
	if !f.inHeader {
		return f.body.Read(p[:min(len(p), contentPiece)])
	}
	n, err := f.body.Read(p[:min(len(p), headerPiece)])
	f.size -= n
	f.lines -= bytes.Count(p[:n], []byte{'\n'})
	if f.size < 0 || f.lines < 0 {
		return n, errPartHeader
	}
	return n, err
}

// next returns the next part, after reading what is left of the one before.
func (f *formReader) next(before *multipart.Part) (*multipart.Part, error) {
	if before != nil {
		before.Close()
	}
	if f.parts++; f.parts > maxParts {
		return nil, errTooManyParts
	}
	f.inHeader, f.size, f.lines = true, maxPartHeader+headerPiece, maxPartLines+headerPiece
	part, err := f.form.NextPart()
	f.inHeader = false
	if err != nil {
		return nil, err
	}
	size := 0
	for name, values := range part.Header {
		for _, v := range values {
			size += len(name) + len(v) + len(": \r\n")
		}
	}
	if size > maxPartHeader {
		return nil, errPartHeader
	}
	return part, nil
}

// end reads what follows the last part.
func (f *formReader) end() error {
	n, err := io.CopyN(io.Discard, f, maxFormEnd+1)
	if n > maxFormEnd {
		return errFormEnd
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// addForm adds the parts of a multipart form: values, and files as temporary files in dir. mime/multipart's own form cannot distinguish an empty
// file input (nothing chosen) from an empty text field (to be cleared).
func (p *params) addForm(b *body, boundary, dir string, fileLimit int64) error {
	if err := b.take(uploadBytes, 0); err != nil {
		return err
	}
	form := newFormReader(b, boundary)
	left := maxText
	var part *multipart.Part
	for {
		var err error
		if part, err = form.next(part); err == io.EOF {
			return form.end()
		}
		if err == nil {
			left, err = p.addPart(b, part, left, dir, fileLimit)
		}
		if err != nil {
			return formError(err)
		}
	}
}

// addPart adds a part of a form. left is how long the text of this and the following parts may be; it returns what is left after it.
func (p *params) addPart(b *body, part *multipart.Part, left int, dir string, fileLimit int64) (int, error) {
	_, disposition, err := text.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil || disposition["name"] == "" {
		return left, nil
	}
	_, isFile := disposition["filename"]
	contentType := part.Header.Get("Content-Type")
	if isFile || contentType != "" && !isTextType(contentType) {
		return left, p.addFile(part, disposition, dir, fileLimit)
	}
	content, err := b.readPart(part, left)
	if err != nil {
		return left, err
	}
	if len(content) == 0 && contentType != "" { // an empty file input
		return left, nil
	}
	return left - len(content), p.addText(disposition["name"], string(content))
}

func (p *params) addFile(part *multipart.Part, disposition map[string]string, dir string, limit int64) error {
	if len(p.files) == maxFiles {
		return errs.BadRequest("Too many files")
	}
	file, err := spool(part, dir, limit)
	if err != nil {
		return err
	}
	p.files = append(p.files, file)
	file.ContentType = part.Header.Get("Content-Type")
	if name := disposition["filename"]; name != "" {
		file.Filename = filepath.Base(name)
	}
	return p.add(disposition["name"], &value{kind: fileValue, file: file})
}

// readPart reads the text of a part within the budget.
func (b *body) readPart(part io.Reader, limit int) ([]byte, error) {
	content := make([]byte, 0, 512)
	for {
		if len(content) == cap(content) {
			if err := b.take(int64(textFactor*cap(content)), 0); err != nil {
				return nil, err
			}
			content = append(make([]byte, 0, 2*cap(content)), content...)
		}
		n, err := part.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		switch {
		case len(content) > limit:
			return nil, ErrBodyTooLarge
		case err == io.EOF:
			return content, nil
		case err != nil:
			return nil, err
		}
	}
}

// isTextType returns true if a part of that type without a file name is a value: some libraries name the type of every part.
func isTextType(contentType string) bool {
	return strings.HasPrefix(contentType, "text/") || strings.HasPrefix(contentType, "application/json")
}

// formError turns an error of the multipart reader into a 400. It keeps errors for clients and errors of our own files.
func formError(err error) error {
	var e *errs.Error
	var path *os.PathError
	if errors.As(err, &e) || errors.As(err, &path) {
		return err
	}
	return &errs.Error{Status: http.StatusBadRequest, Message: "The request body is not a valid form", Err: err}
}
