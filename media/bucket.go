package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/limit"
	"svc/internal/objects"
)

// Prefixes of the names of objects.
const (
	mediaObjects   = "media/" // behind it the name in Files
	archiveObjects = "archives/"
)

// Bounds of requests to a bucket.
const (
	maxBucketReads    = 256 // objects that are being read, of which most wait for their client
	readsPerClient    = 32
	waitingReads      = 128
	readPatience      = 5 * time.Second // how long a request waits for one of these
	firstByteTimeout  = 10 * time.Second
	bucketPutMemory   = 32 << 20 // bytes; a Put holds its object, or a part of it
	maxPutMemory      = 13 << 20
	putOverhead       = 256 << 10
	putPatience       = 30 * time.Second // how long a Put waits for memory
	bucketPage        = 1000             // objects of a listing
	bucketBackoff     = time.Second      // after a failure, all requests fail at once for this time, doubled with each failure
	maxBucketBackoff  = 15 * time.Second
	bucketSweepAge    = 48 * time.Hour // of parts of interrupted uploads; longer than any Put
	bucketRetryAfter  = 15 * time.Second
	uncertainRemoval  = time.Minute // a removal that got no answer may still be carried out for this time
	maxUncertainNames = 10_000
	signedTime        = objects.MaxSigned
	redirectCacheTime = signedTime / 2 // of browsers, so that an address that they kept is still valid
	rangedReadBytes   = 4 << 20        // of one request to the bucket for a part of a file
)

// ErrBucket is what errors of a bucket wrap, other than fs.ErrNotExist.
var ErrBucket = errors.New("media bucket")

// Bucket keeps files in a bucket of S3. Reads and writes at the same time are bounded; while it does not answer, requests fail at once. It is safe
// for concurrent use.
type Bucket struct {
	store    objects.Store
	where    string // its location, for messages
	redirect bool
	log      *slog.Logger

	reads   *limit.Slots[struct{}]
	clients *limit.Slots[netip.Addr]
	memory  *limit.Bytes
	backoff *limit.Backoff[struct{}]

	mu      sync.Mutex
	problem string // that was logged; "": it works
}

// OpenBucket returns the bucket of media.bucket, nil if there is none. It makes no request, so that a server starts while the bucket does not answer.
func OpenBucket(ctx context.Context, c *config.Config, log *slog.Logger) (*Bucket, error) {
	if c.Media.Bucket == "" {
		return nil, nil
	}
	location, err := objects.ParseLocation(c.Media.Bucket)
	if err != nil {
		return nil, fmt.Errorf("media.bucket: %w", err)
	}
	o := c.PlaceOptions()
	o.Unchecked, o.Stall = true, firstByteTimeout
	store, err := objects.Open(ctx, location, o)
	if err != nil {
		return nil, fmt.Errorf("media.bucket: %w (the credentials are the settings of s3)", err)
	}
	return newBucket(store, location.String(), c.Media.Redirect, log), nil
}

func newBucket(store objects.Store, where string, redirect bool, log *slog.Logger) *Bucket {
	return &Bucket{
		store: store, where: where, redirect: redirect, log: log,
		reads:   limit.NewSlots[struct{}](maxBucketReads, maxBucketReads, waitingReads),
		clients: limit.NewSlots[netip.Addr](maxClients, readsPerClient, waitingReads),
		memory:  limit.NewBytes(bucketPutMemory),
		backoff: limit.NewBackoff[struct{}](1, bucketBackoff, maxBucketBackoff),
	}
}

// Close ends connections.
func (b *Bucket) Close() error {
	if b == nil {
		return nil
	}
	return b.store.Close()
}

// String returns the location, without credentials.
func (b *Bucket) String() string { return b.where }

// Check returns an error if the bucket cannot be listed.
func (b *Bucket) Check(ctx context.Context) error {
	_, err := b.store.List(ctx, mediaObjects, "", 1)
	return err
}

// do makes a request, unless the bucket has not answered shortly before.
func (b *Bucket) do(ctx context.Context, request func() error) error {
	now := time.Now()
	if at := b.backoff.Reserve(struct{}{}, firstByteTimeout, now); !at.IsZero() {
		return unavailable(at.Sub(now), errors.New("it has not answered shortly before"))
	}
	return b.judge(ctx, request())
}

// judge returns the error for clients of a request's error, and remembers whether the bucket answers.
func (b *Bucket) judge(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		b.backoff.Succeeded(struct{}{})
		b.report("", nil)
		return err
	case ctx.Err() != nil: // says nothing about the bucket
		return ctx.Err()
	case errors.Is(err, objects.ErrUnreachable):
		b.backoff.Failed(struct{}{}, time.Now())
		b.report("the media bucket does not answer: uploads and files in it are refused until it does", err)
		return unavailable(bucketRetryAfter, err)
	}
	b.backoff.Succeeded(struct{}{})
	if errors.Is(err, objects.ErrFull) {
		b.report("the media bucket is full: uploads are refused", err)
		return &errs.Error{Status: 507, Message: "The server has no space left for files: its bucket is full", Err: bucketError(err)}
	}
	b.report("the media bucket refuses requests: check media.bucket and the credentials of s3", err)
	return unavailable(bucketRetryAfter, err)
}

// report logs a problem once, and its end.
func (b *Bucket) report(problem string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if problem == b.problem || b.log == nil {
		return
	}
	if b.problem = problem; problem == "" {
		b.log.Info("the media bucket works again", "bucket", b.where)
	} else {
		b.log.Error(problem, "bucket", b.where, "err", err)
	}
}

func bucketError(err error) error { return fmt.Errorf("%w: %w", ErrBucket, err) }

// unavailable is the error for clients of a bucket that cannot be used at the moment.
func unavailable(retryAfter time.Duration, err error) error {
	return &errs.Error{Status: 503, Message: "The storage of files cannot be reached at the moment. Try again later", Err: bucketError(err), RetryAfter: max(retryAfter, time.Second)}
}

// takeRead waits for a place among the reads. client is the network that receives the file, the zero Addr if it is not known or is the server itself.
func (b *Bucket) takeRead(ctx context.Context, client netip.Addr) (release func(), err error) {
	waiting, cancel := context.WithTimeoutCause(ctx, readPatience, limit.ErrBusy)
	defer cancel()
	releaseClient := func() {}
	if client.IsValid() {
		if releaseClient, err = b.clients.Take(waiting, client); err != nil {
			return nil, busy(ctx, err)
		}
	}
	releaseRead, err := b.reads.Take(waiting, struct{}{})
	if err != nil {
		releaseClient()
		return nil, busy(ctx, err)
	}
	return func() { releaseRead(); releaseClient() }, nil
}

// busy is the error of a request that found no place in time.
func busy(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return unavailable(readPatience, err)
}

// put stores an object, and returns when it is durable. After an error it may be there, but nothing refers to it.
func (b *Bucket) put(ctx context.Context, name string, body io.Reader, size int64, contentType string) error {
	hold := b.memory.NewHold(limit.Holder{})
	defer hold.Release()
	if err := hold.Grow(ctx, min(size, maxPutMemory)+putOverhead, putPatience); err != nil {
		return busy(ctx, err)
	}
	return b.do(ctx, func() error {
		_, err := b.store.Put(ctx, name, body, size, objects.PutOptions{ContentType: contentType})
		return err
	})
}

// stat describes an object. The error is fs.ErrNotExist if there is none. It reads a byte, because the answer to HEAD does not say whether the object or
// the whole bucket is missing.
func (b *Bucket) stat(ctx context.Context, name string) (o objects.Object, err error) {
	err = b.do(ctx, func() error {
		body, described, err := b.store.Get(ctx, name, 0, 1)
		if err == nil {
			body.Close()
		}
		o = described
		return err
	})
	return o, err
}

// remove removes an object. That there is none is no error.
func (b *Bucket) remove(ctx context.Context, name string) error {
	return b.do(ctx, func() error { return b.store.Delete(ctx, name) })
}

// each calls fn for the objects whose names begin with prefix, in the order of their names, without the prefix. They may change meanwhile.
func (b *Bucket) each(ctx context.Context, prefix, more string, fn func(name string, o objects.Object) error) error {
	for after := ""; ; {
		var page []objects.Object
		err := b.do(ctx, func() (err error) { page, err = b.store.List(ctx, prefix+more, after, bucketPage); return err })
		if err != nil {
			return err
		}
		for _, o := range page {
			if err := fn(o.Name[len(prefix):], o); err != nil {
				return err
			}
		}
		if len(page) < bucketPage {
			return nil
		}
		after = page[len(page)-1].Name
	}
}

// sweep removes parts of uploads that were interrupted.
func (b *Bucket) sweep(ctx context.Context) error {
	return b.do(ctx, func() error { _, err := b.store.Sweep(ctx, bucketSweepAge); return err })
}

// sign returns an address from which anybody can GET an object for signedTime.
func (b *Bucket) sign(ctx context.Context, name, contentType, disposition string) (*url.URL, error) {
	signer, ok := b.store.(objects.Signer)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	address, err := signer.SignGet(ctx, name, objects.SignOptions{Valid: signedTime, ContentType: contentType, Disposition: disposition})
	if err != nil {
		return nil, err
	}
	return url.Parse(address)
}
