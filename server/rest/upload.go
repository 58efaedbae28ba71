package rest

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"svc/internal/disk"
	"svc/internal/errs"
)

// maxFiles bounds the files of one request.
const maxFiles = 8

var errFileTooLarge = errs.TooLarge("File is too large")

// Upload is a file of a request. It is deleted when the request has been answered.
type Upload struct {
	Filename    string // base name that the client claims; untrusted
	ContentType string // that the client claims; untrusted
	Size        int64
	Empty       bool // an empty value instead of a file: the present file is to be removed

	content *os.File
}

// Open returns the content from its beginning. It may be called several times.
func (u *Upload) Open() *io.SectionReader { return io.NewSectionReader(u.content, 0, u.Size) }

// spool copies a part into a temporary file. An empty part gets none.
func spool(part io.Reader, dir string, limit int64) (*Upload, error) {
	content := bufio.NewReader(part)
	if _, err := content.Peek(1); err == io.EOF {
		return &Upload{}, nil
	}
	file, err := disk.Unnamed(dir)
	if err != nil {
		return nil, fmt.Errorf("upload: %w", err)
	}
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

// close removes the temporary files.
func (p *params) close() {
	for _, f := range p.files {
		f.close()
	}
	p.files = nil
}
