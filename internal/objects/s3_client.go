package objects

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"
)

// s3Client sends signed requests about one bucket. It has the ten operations that the package needs, where a whole library of S3 has hundreds.
type s3Client struct {
	http                    *http.Client
	bucket                  *url.URL // its path ends with a slash
	region                  string
	access, secret, session string
	options                 Options
}

func newS3Client(l Location, o Options) (*s3Client, error) {
	c := &s3Client{region: l.Region, options: o}
	var err error
	if c.access, c.secret, c.session, err = o.s3Keys(); err != nil {
		return nil, err
	}
	if c.bucket, err = bucketAddress(l); err != nil {
		return nil, err
	}
	c.http = &http.Client{
		Transport: s3Transport(o),
		// The signature is for one host, and nothing of an object goes to another.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// bucketAddress returns the address of a bucket.
func bucketAddress(l Location) (*url.URL, error) {
	u, err := url.Parse(l.Endpoint)
	if err != nil {
		return nil, err
	}
	if l.Endpoint == defaultEndpoint { // it redirects to the endpoint of the region
		u.Host = "s3.dualstack." + l.Region + ".amazonaws.com"
		if strings.HasPrefix(l.Region, "cn-") {
			u.Host += ".cn"
		}
	}
	// Browsers leave out the default port, and the host is signed.
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; u.Port() != "" && ":"+u.Port() == port {
		u.Host = strings.TrimSuffix(u.Host, port)
	}
	u.Path = "/"
	if l.PathStyle {
		u.Path += l.Bucket + "/"
	} else {
		u.Host = l.Bucket + "." + u.Host
	}
	return u, nil
}

// Origin returns scheme and host of the addresses of a bucket, "" if the location is no bucket.
func (l Location) Origin() string {
	if l.Kind != S3 {
		return ""
	}
	u, err := bucketAddress(l)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// s3Transport returns a transport that connects to private addresses, too, because an administrator named them. Like the server's other requests, it
// uses no proxy of the environment.
func s3Transport(o Options) *http.Transport {
	dialer := &net.Dialer{Timeout: min(o.Stall, o.Timeout)}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    o.Stall,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    32, // media are many small requests at a time
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true,
	}
}

// s3Request is a request.
type s3Request struct {
	method string
	key    string // of the object; empty: the bucket
	query  url.Values
	header http.Header
	body   []byte
	size   int64 // in bytes; the request has the time to transfer so much, or its body if that is larger
	once   bool  // a repetition would do harm
}

// address returns the address of an object, or of the bucket, encoded in the way that is signed.
func (c *s3Client) address(key string, query url.Values) *url.URL {
	u := *c.bucket
	u.Path += key
	u.RawPath = s3utils.EncodePath(u.Path)
	u.RawQuery = query.Encode()
	return &u
}

// signed returns a request that is signed now. The hash of its body is signed, too, except for objects over TLS, which protects them on the way. Servers
// compare the MD5 of objects, and S3 demands it for buckets with Object Lock.
func (c *s3Client) signed(ctx context.Context, r s3Request) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, r.method, c.address(r.key, r.query).String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	maps.Copy(request.Header, r.header)
	hash := "UNSIGNED-PAYLOAD"
	if r.method != http.MethodPut || c.bucket.Scheme != "https" {
		sum := sha256.Sum256(r.body)
		hash = hex.EncodeToString(sum[:])
	}
	request.Header.Set("X-Amz-Content-Sha256", hash)
	if r.method == http.MethodPut {
		sum := md5.Sum(r.body)
		request.Header.Set("Content-Md5", base64.StdEncoding.EncodeToString(sum[:]))
	}
	return signer.SignV4(*request, c.access, c.secret, c.session, c.region), nil
}

// presigned returns an address that is signed now.
func (c *s3Client) presigned(ctx context.Context, key string, query url.Values, valid time.Duration) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.address(key, query).String(), nil)
	if err != nil {
		return "", err
	}
	return signer.PreSignV4(*request, c.access, c.secret, c.session, c.region, int64(valid/time.Second)).URL.String(), nil
}

// send makes a request once. A status that is not 2xx is an error. The caller closes the body.
func (c *s3Client) send(ctx context.Context, w *watch, r s3Request) (*http.Response, error) {
	request, err := c.signed(ctx, r)
	if err != nil {
		return nil, err
	}
	if request.ContentLength > 0 {
		request.Body = &watchedBody{request.Body, w}
	}
	response, err := c.http.Do(request)
	if err == nil {
		w.progress()
		response.Body = &watchedBody{response.Body, w}
		if response.StatusCode/100 == 2 {
			return response, nil
		}
		defer response.Body.Close()
		err = refusal(r, response)
	} else {
		err = transportError(err)
	}
	if e := ended(ctx); e != nil {
		err = e
	}
	return nil, err
}

// watchedBody reports progress to a watch.
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

// call makes a request within its time, and again if that is safe and the server does not answer. It decodes the XML of the response into answer,
// unless that is nil. The body of the response is closed.
func (c *s3Client) call(ctx context.Context, r s3Request, answer any) (response *http.Response, err error) {
	attempt := func() error {
		ctx, w := newWatch(ctx, c.options.Stall, c.options.limit(max(r.size, int64(len(r.body)))))
		defer w.stop()
		var err error
		if response, err = c.send(ctx, w, r); err != nil {
			return err
		}
		defer response.Body.Close()
		if answer == nil {
			io.CopyN(io.Discard, response.Body, maxAnswer) // so that the connection can be used again
			return nil
		}
		err = readAnswer(r, response, answer)
		if e := ended(ctx); err != nil && e != nil {
			err = e
		}
		return err
	}
	if r.once {
		err = attempt()
	} else {
		err = repeat(ctx, attempt)
	}
	return response, err
}
