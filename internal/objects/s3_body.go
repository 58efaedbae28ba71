package objects

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// s3Body is the body of a response. Time counts only while it is read, because a caller may take as long as it likes in between.
type s3Body struct {
	response *http.Response
	ctx      context.Context
	options  Options
	watch    *watch
	name     string
	spent    time.Duration
	read     int64 // bytes
}

// openBody requests an object or a range of it.
func (s *s3Store) openBody(ctx context.Context, name, ranged string) (*s3Body, error) {
	r := s3Request{method: http.MethodGet, key: s.prefix + name, header: http.Header{}}
	if ranged != "" {
		r.header.Set("Range", ranged)
	}
	b := &s3Body{options: s.options, name: name}
	err := repeat(ctx, func() (err error) {
		b.ctx, b.watch = newWatch(ctx, s.options.Stall, s.options.Timeout) // they live as long as the body
		b.response, err = s.send(b.ctx, b.watch, r)
		if err != nil {
			b.watch.stop()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	b.watch.pause()
	return b, nil
}

func (b *s3Body) Read(p []byte) (int, error) {
	if err := ended(b.ctx); err != nil { // the transport notices it later
		return 0, failed("get", b.name, err)
	}
	begin := time.Now()
	left := max(b.options.limit(b.read)-b.spent, 0)
	timer := time.AfterFunc(min(b.options.Stall, left), func() { b.watch.cancel(errStalled) })
	n, err := b.response.Body.Read(p)
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
	err := b.response.Body.Close()
	b.watch.stop()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
