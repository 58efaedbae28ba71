//go:build !nos3

package objects

import (
	"context"
	"errors"
	"io"
	"time"
)

// s3Body is the body of a response. Time counts only while it is read, because a caller may take as long as it likes in between.
type s3Body struct {
	body    io.ReadCloser
	ctx     context.Context
	options Options
	watch   *watch
	name    string
	spent   time.Duration
	read    int64 // bytes
}

func (b *s3Body) Read(p []byte) (int, error) {
	begin := time.Now()
	left := max(b.options.limit(b.read)-b.spent, 0)
	timer := time.AfterFunc(min(b.options.Stall, left), func() { b.watch.cancel(errStalled) })
	n, err := b.body.Read(p)
	timer.Stop()
	b.spent += time.Since(begin)
	b.read += int64(n)
	if err == nil || err == io.EOF {
		return n, err
	}
	if e := ended(b.ctx); e != nil {
		err = e
	} else {
		err = as(ErrUnreachable, err) // also io.ErrUnexpectedEOF: the connection was closed in the middle
	}
	return n, failed("get", b.name, err)
}

func (b *s3Body) Close() error {
	err := b.body.Close()
	b.watch.stop()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
