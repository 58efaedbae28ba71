//go:build !nos3

package objects

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// s3Store keeps an object as one of a bucket.
type s3Store struct {
	core      *minio.Core // repeats requests
	once      *minio.Core // does not
	transport *http.Transport
	bucket    string
	prefix    string // empty or with a slash at its end
	options   Options

	probing  sync.Mutex
	honoured bool // conditions were probed
}

// s3Attempts is how often a request is made that is safe to repeat.
const s3Attempts = 3

func openS3(ctx context.Context, l Location, o Options) (Store, error) {
	access, secret, session, err := o.s3Keys()
	if err != nil {
		return nil, err
	}
	s := &s3Store{bucket: l.Bucket, options: o, transport: s3Transport(o)}
	if l.Path != "" {
		s.prefix = l.Path + "/"
	}
	settings := minio.Options{
		Creds:        credentials.NewStaticV4(access, secret, session),
		Transport:    watched{s.transport},
		Region:       l.Region,
		BucketLookup: minio.BucketLookupDNS,
		MaxRetries:   s3Attempts,
	}
	host, secure := strings.CutPrefix(l.Endpoint, "https://")
	settings.Secure = secure
	host = strings.TrimPrefix(host, "http://")
	if l.PathStyle {
		settings.BucketLookup = minio.BucketLookupPath
	}
	if s.core, err = minio.NewCore(host, &settings); err != nil {
		return nil, err
	}
	settings.MaxRetries = 1
	if s.once, err = minio.NewCore(host, &settings); err != nil {
		return nil, err
	}
	// A listing needs no more rights than the store itself, unlike a question about the bucket.
	if _, err := s.List(ctx, "", "", 1); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// s3Transport returns a transport that connects to private addresses, too, because an administrator named them. Like the server's other requests, it
// uses no proxy of the environment.
func s3Transport(o Options) *http.Transport {
	dialer := &net.Dialer{Timeout: min(o.Stall, o.Timeout)}
	return &http.Transport{
		DialContext:           dialer.DialContext,
		TLSHandshakeTimeout:   o.Stall,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       time.Minute,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
	}
}

// Close closes idle connections.
func (s *s3Store) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}

// watchKey is the key of the watch in the context of a request.
type watchKey struct{}

// watched reports progress of requests and responses to their watch.
type watched struct{ next http.RoundTripper }

func (t watched) RoundTrip(r *http.Request) (*http.Response, error) {
	w, ok := r.Context().Value(watchKey{}).(*watch)
	if !ok {
		return t.next.RoundTrip(r)
	}
	w.progress()
	if r.Body != nil && r.Body != http.NoBody {
		r = r.Clone(r.Context())
		r.Body = &watchedBody{r.Body, w}
	}
	response, err := t.next.RoundTrip(r)
	if err == nil {
		w.progress()
		response.Body = &watchedBody{response.Body, w}
	}
	return response, err
}

type watchedBody struct {
	io.ReadCloser
	watch *watch
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.watch.progress()
	}
	return n, err
}

// call runs a request that transfers size bytes, within its time.
func (s *s3Store) call(ctx context.Context, size int64, request func(context.Context) error) error {
	ctx, w := newWatch(ctx, s.options.Stall, s.options.limit(size))
	defer w.stop()
	err := request(context.WithValue(ctx, watchKey{}, w))
	if err == nil {
		return nil
	}
	if e := ended(ctx); e != nil {
		return e
	}
	return s3Error(err)
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
	var g minio.GetObjectOptions
	if offset > 0 || length > 0 {
		g.Set("Range", rangeOf(offset, length))
	}
	watching, w := newWatch(ctx, s.options.Stall, s.options.Timeout) // lives as long as the body
	body, info, header, err := s.core.GetObject(context.WithValue(watching, watchKey{}, w), s.bucket, s.prefix+name, g)
	w.pause()
	if err != nil {
		if e := ended(watching); e != nil {
			err = e
		}
		w.stop()
		if minio.ToErrorResponse(unwrapS3(err)).StatusCode == http.StatusRequestedRangeNotSatisfiable {
			return s.noBytes(ctx, name)
		}
		return nil, Object{}, failed("get", name, s3Error(err))
	}
	object := s.object(info)
	if object.Size, err = wholeSize(header, info.Size); err == nil && g.Header().Get("Range") != "" && header.Get("Content-Range") == "" && object.Size > 0 {
		err = errors.New("the server ignores the range")
	}
	if err != nil {
		body.Close()
		w.stop()
		return nil, Object{}, failed("get", name, err)
	}
	return &s3Body{body: body, ctx: watching, options: s.options, watch: w, name: name}, object, nil
}

// noBytes returns an object without its content.
func (s *s3Store) noBytes(ctx context.Context, name string) (io.ReadCloser, Object, error) {
	o, err := s.Stat(ctx, name)
	if err != nil {
		return nil, Object{}, err
	}
	return http.NoBody, o, nil
}

func rangeOf(offset, length int64) string {
	if length < 0 {
		return fmt.Sprintf("bytes=%d-", offset)
	}
	return fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)
}

// wholeSize returns the size of an object of which a part was sent.
func wholeSize(header http.Header, size int64) (int64, error) {
	contentRange := header.Get("Content-Range")
	if contentRange == "" {
		return size, nil
	}
	_, all, _ := strings.Cut(contentRange, "/")
	n, err := strconv.ParseInt(all, 10, 64)
	if err != nil || n < 0 {
		return 0, errors.New("the server sent an invalid Content-Range")
	}
	return n, nil
}

func (s *s3Store) Stat(ctx context.Context, name string) (o Object, err error) {
	if err := checkName(name); err != nil {
		return Object{}, failed("stat", name, err)
	}
	err = s.call(ctx, 0, func(ctx context.Context) error {
		info, err := s.core.StatObject(ctx, s.bucket, s.prefix+name, minio.StatObjectOptions{})
		o = s.object(info)
		return err
	})
	return o, failed("stat", name, err)
}

func (s *s3Store) object(i minio.ObjectInfo) Object {
	return Object{Name: strings.TrimPrefix(i.Key, s.prefix), Size: i.Size, Modified: i.LastModified, ETag: i.ETag}
}

// s3Page is how many objects a server lists in one response.
const s3Page = 1000

func (s *s3Store) List(ctx context.Context, prefix, after string, limit int) ([]Object, error) {
	if err := checkList(prefix, after, limit); err != nil {
		return nil, failed("list", prefix, err)
	}
	var page []Object
	for len(page) < limit {
		var list []Object
		n := min(limit-len(page), s3Page)
		err := s.call(ctx, 0, func(ctx context.Context) (err error) {
			list, err = s.listPage(ctx, prefix, after, n)
			return err
		})
		if err != nil {
			return nil, failed("list", prefix, err)
		}
		for _, o := range list {
			if after != "" && o.Name <= after {
				return nil, failed("list", prefix, errors.New("the server does not list in the order of names"))
			}
			after = o.Name
			if checkName(o.Name) == nil { // others may have their objects there, too
				page = append(page, o)
			}
		}
		if len(list) < n {
			break
		}
	}
	return page, nil
}

func (s *s3Store) listPage(ctx context.Context, prefix, after string, n int) ([]Object, error) {
	l := minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true, MaxKeys: n, FetchOwner: new(bool)}
	if after != "" {
		l.StartAfter = s.prefix + after
	}
	var list []Object
	for info := range s.core.ListObjectsIter(ctx, s.bucket, l) {
		if info.Err != nil {
			return nil, info.Err
		}
		list = append(list, s.object(info))
		if len(list) == n {
			break
		}
	}
	return list, ctx.Err() // the library ends silently then
}

func (s *s3Store) Delete(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return failed("delete", name, err)
	}
	return failed("delete", name, s.remove(ctx, name))
}

func (s *s3Store) remove(ctx context.Context, name string) error {
	err := s.call(ctx, 0, func(ctx context.Context) error {
		return s.core.RemoveObject(ctx, s.bucket, s.prefix+name, minio.RemoveObjectOptions{})
	})
	if minio.ToErrorResponse(unwrapS3(err)).Code == minio.NoSuchKey {
		return nil
	}
	return err
}

func (s *s3Store) Sweep(ctx context.Context, age time.Duration) (int, error) {
	var old []minio.ObjectMultipartInfo
	err := s.call(ctx, 0, func(ctx context.Context) (err error) {
		for u := range s.core.ListIncompleteUploads(ctx, s.bucket, s.prefix, true) { // to the end, which ends its goroutine
			if u.Err != nil {
				err = u.Err
			} else if time.Since(u.Initiated) >= age {
				old = append(old, u)
			}
		}
		return err
	})
	for i, u := range old {
		if err != nil {
			return i, failed("sweep", u.Key, err)
		}
		err = s.call(ctx, 0, func(ctx context.Context) error { return s.core.AbortMultipartUpload(ctx, s.bucket, u.Key, u.UploadID) })
	}
	return len(old), failed("sweep", s.prefix, err)
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
	u, err := s.core.PresignedGetObject(ctx, s.bucket, s.prefix+name, o.Valid, query)
	if err != nil {
		return "", failed("sign", name, err)
	}
	return u.String(), nil
}
