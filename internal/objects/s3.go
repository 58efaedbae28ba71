package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// s3Store keeps an object as one of a bucket.
type s3Store struct {
	*s3Client
	prefix string // empty or with a slash at its end

	probing  sync.Mutex
	honoured bool // conditions were probed
}

func openS3(ctx context.Context, l Location, o Options) (Store, error) {
	client, err := newS3Client(l, o)
	if err != nil {
		return nil, err
	}
	s := &s3Store{s3Client: client}
	if l.Path != "" {
		s.prefix = l.Path + "/"
	}
	if o.Unchecked {
		return s, nil
	}
	// A listing needs no more rights than the store itself, unlike a question about the bucket.
	if _, err := s.List(ctx, "", "", 1); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close closes idle connections.
func (s *s3Store) Close() error {
	s.http.CloseIdleConnections()
	return nil
}

func (s *s3Store) Get(ctx context.Context, name string, offset, length int64) (io.ReadCloser, Object, error) {
	if err := checkName(name); err != nil {
		return nil, Object{}, failed("get", name, err)
	}
	if err := checkOffset(ctx, offset); err != nil {
		return nil, Object{}, failed("get", name, err)
	}
	if length == 0 { // a range of no bytes cannot be written
		return s.noBytes(ctx, name)
	}
	body, err := s.openBody(ctx, name, rangeOf(offset, length))
	var refused *s3Error
	if errors.As(err, &refused) && refused.status == http.StatusRequestedRangeNotSatisfiable {
		return s.noBytes(ctx, name)
	}
	if err != nil {
		return nil, Object{}, failed("get", name, err)
	}
	o, err := rangedObject(name, body.response, offset, length)
	if err != nil {
		body.Close()
		return nil, Object{}, failed("get", name, err)
	}
	return body, o, nil
}

// noBytes returns an object without its content.
func (s *s3Store) noBytes(ctx context.Context, name string) (io.ReadCloser, Object, error) {
	o, err := s.Stat(ctx, name)
	if err != nil {
		return nil, Object{}, err
	}
	return http.NoBody, o, nil
}

// rangeOf returns the header of a range, or nothing for the whole object.
func rangeOf(offset, length int64) string {
	switch {
	case length > 0:
		return fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)
	case offset > 0:
		return fmt.Sprintf("bytes=%d-", offset)
	}
	return ""
}

// rangedObject describes an object of which a range was asked for. An empty one has no ranges, so that the server sends it as a whole.
func rangedObject(name string, response *http.Response, offset, length int64) (Object, error) {
	o, err := describedBy(name, response)
	if err != nil || rangeOf(offset, length) == "" {
		return o, err
	}
	header := response.Header.Get("Content-Range")
	if header == "" && o.Size > 0 {
		return Object{}, errors.New("the server ignores the range")
	}
	if header == "" {
		return o, nil
	}
	var first, last int64
	if _, err := fmt.Sscanf(header, "bytes %d-%d/%d", &first, &last, &o.Size); err != nil || first != offset || last < first || o.Size <= last {
		return Object{}, errors.New("the server sent an invalid Content-Range")
	}
	return o, nil
}

// describedBy returns what the header of a response says about an object.
func describedBy(name string, response *http.Response) (Object, error) {
	o := Object{Name: name, Size: response.ContentLength, ETag: etagIn(response)}
	if o.Size < 0 {
		return Object{}, errors.New("the server sent no Content-Length")
	}
	var err error
	o.Modified, err = time.Parse("Mon, _2 Jan 2006 15:04:05 GMT", response.Header.Get("Last-Modified")) // some write the day without a zero
	if err != nil {
		return Object{}, errors.New("the server sent no valid Last-Modified")
	}
	return o, nil
}

func etagIn(response *http.Response) string { return strings.Trim(response.Header.Get("ETag"), `"`) }

func (s *s3Store) Stat(ctx context.Context, name string) (o Object, err error) {
	if err := checkName(name); err != nil {
		return Object{}, failed("stat", name, err)
	}
	response, err := s.call(ctx, s3Request{method: http.MethodHead, key: s.prefix + name}, nil)
	if err == nil {
		o, err = describedBy(name, response)
	}
	return o, failed("stat", name, err)
}

func (s *s3Store) Delete(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return failed("delete", name, err)
	}
	return failed("delete", name, s.remove(ctx, name))
}

func (s *s3Store) remove(ctx context.Context, name string) error {
	_, err := s.call(ctx, s3Request{method: http.MethodDelete, key: s.prefix + name}, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// SignGet signs an address. The host in it is that of the endpoint.
func (s *s3Store) SignGet(ctx context.Context, name string, o SignOptions) (string, error) {
	if err := checkName(name); err != nil {
		return "", failed("sign", name, err)
	}
	if o.Valid < time.Second || o.Valid > MaxSigned {
		return "", failed("sign", name, fmt.Errorf("validity %s is not in 1s–%s", o.Valid, MaxSigned))
	}
	query := url.Values{}
	if o.ContentType != "" {
		query.Set("response-content-type", o.ContentType)
	}
	if o.Disposition != "" {
		query.Set("response-content-disposition", o.Disposition)
	}
	address, err := s.presigned(ctx, s.prefix+name, query, o.Valid)
	return address, failed("sign", name, err)
}
