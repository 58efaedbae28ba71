package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"time"

	"svc/internal/objects"
)

// Content is an open file, on disk or in a bucket. The caller closes it.
type Content struct {
	io.ReadSeekCloser
	Size    int64 // in bytes
	ModTime time.Time
}

// onDisk returns the content of an open file, which it closes after an error.
func onDisk(file *os.File) (*Content, error) {
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &Content{file, info.Size(), info.ModTime()}, nil
}

// object reads an object of a bucket. A request to the bucket is made when bytes are read, from where they are needed on.
type object struct {
	bucket  *Bucket
	ctx     context.Context
	name    string
	size    int64
	piece   int64 // bytes of one request; 0: all up to the end
	release func()

	position int64         // of the next Read
	body     io.ReadCloser // nil: none
	at       int64         // position of body
	left     int64         // bytes of body
}

// open opens an object for a client. whole says that all of it will be read, so that its first request already brings the content. The error is
// fs.ErrNotExist if there is none.
func (b *Bucket) open(ctx context.Context, client netip.Addr, name string, whole bool) (*Content, error) {
	release, err := b.takeRead(ctx, client)
	if err != nil {
		return nil, err
	}
	o := &object{bucket: b, ctx: ctx, name: name, release: release}
	var described objects.Object
	if whole {
		err = b.do(ctx, func() (err error) { o.body, described, err = b.store.Get(ctx, name, 0, -1); return err })
	} else {
		o.piece = rangedReadBytes
		described, err = b.stat(ctx, name)
	}
	if err != nil {
		release()
		return nil, err
	}
	o.size, o.left = described.Size, described.Size
	return &Content{o, described.Size, described.Modified}, nil
}

// wantsWhole returns whether an answer to a request will have the whole content.
func wantsWhole(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Range") == "" && r.Header.Get("If-None-Match") == ""
}

func (o *object) Read(p []byte) (int, error) {
	if o.position >= o.size || len(p) == 0 {
		return 0, eofAt(o.position, o.size)
	}
	if o.body != nil && o.at != o.position { // Seek
		o.endBody()
	}
	if o.body == nil {
		if err := o.request(); err != nil {
			return 0, err
		}
	}
	n, err := o.body.Read(p[:min(int64(len(p)), o.left)])
	o.position += int64(n)
	o.at, o.left = o.position, o.left-int64(n)
	switch {
	case o.left == 0:
		o.endBody()
		return n, eofAt(o.position, o.size)
	case err == io.EOF:
		err = fmt.Errorf("%w: %s ends %d bytes early", objects.ErrUnreachable, o.name, o.left)
	}
	if err != nil {
		err = o.bucket.judge(o.ctx, err)
	}
	return n, err
}

func eofAt(position, size int64) error {
	if position >= size {
		return io.EOF
	}
	return nil
}

// request asks the bucket for the bytes from the position on.
func (o *object) request() error {
	o.left = o.size - o.position
	length := int64(-1)
	if o.piece > 0 {
		o.left = min(o.left, o.piece)
		length = o.left
	}
	return o.bucket.do(o.ctx, func() error {
		body, described, err := o.bucket.store.Get(o.ctx, o.name, o.position, length)
		if err == nil && described.Size != o.size {
			body.Close()
			return fmt.Errorf("%s has %d bytes, and had %d when it was opened", o.name, described.Size, o.size)
		}
		o.body, o.at = body, o.position
		return err
	})
}

// Seek makes no request: callers seek to the end and back to know the size.
func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.position
	case io.SeekEnd:
		offset += o.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning of a file")
	}
	o.position = offset
	return offset, nil
}

func (o *object) endBody() {
	if o.body != nil {
		o.body.Close()
		o.body = nil
	}
}

// Close ends the request.
func (o *object) Close() error {
	o.endBody()
	o.release()
	return nil
}
