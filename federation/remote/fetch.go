package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"svc/internal/activity"
	"svc/internal/cache"
	"svc/internal/errs"
	"svc/internal/fetch"
	"svc/internal/httpsig"
	"svc/internal/text"
	"svc/policy"
	"svc/store"
)

// Errors of fetching.
var (
	ErrLocal         = errors.New("object is of this server")          // the object is in the database
	ErrCachedFailure = errors.New("cached failure")                    // not fetched again yet
	ErrFetchNeeded   = errors.New("fetch needed")                      // the caller must not wait for other servers
	ErrIDMismatch    = errors.New("id of the document does not match") // federation 5.1
)

// Fetcher fetches documents, and posts activities, as the instance actor.
type Fetcher struct {
	Config
	reader   *Reader
	signers  *Signers
	db       *store.DB
	client   *fetch.Client
	log      *slog.Logger
	failures *failureCache
	fetches  singleFlight[fetchedDocument]
	hosts    *cache.Cache[string, *store.Host] // only for the signatures that they accept
}

const maxCachedHosts = 4096

const documentTimeout = 15 * time.Second

// Document fetches the document of a URL from its origin: its id is that URL, or another one of the same host, which is fetched then
// (federation 5.1 R7, 5.2). Concurrent calls for one URL share a fetch.
func (f *Fetcher) Document(ctx context.Context, uri string) (activity.Object, error) {
	uri = activity.WithoutFragment(uri)
	doc, err := f.fetchOriginal(ctx, uri)
	if errors.Is(err, ErrIDMismatch) && !errors.Is(err, ErrCachedFailure) {
		f.failures.add(uri, err, f.db.Now())
	}
	return doc, err
}

// DocumentAs is Document, signed by a local account instead of the instance actor.
func (f *Fetcher) DocumentAs(ctx context.Context, uri string, signer store.AccountID) (activity.Object, error) {
	return f.Document(signedAs(ctx, signer), uri)
}

func (f *Fetcher) fetchOriginal(ctx context.Context, uri string) (activity.Object, error) {
	doc, at, err := f.fetchShared(ctx, uri)
	if err != nil {
		return nil, err
	}
	id := doc.ID()
	switch {
	case isURLOf(id, at):
		return doc, nil
	case !activity.SameHost(id, at, f.Settings.AllowLoopback):
		return nil, fmt.Errorf("%w: %s has the id %q", ErrIDMismatch, at, truncateBytes(id, 200))
	}
	doc, at, err = f.fetchShared(ctx, activity.WithoutFragment(id))
	switch {
	case IsNotFoundOrGone(err): // says nothing about the requested URL
		return nil, fmt.Errorf("%w: there is no document at its id %q", ErrIDMismatch, truncateBytes(id, 200))
	case err != nil:
		return nil, err
	}
	if !isURLOf(doc.ID(), at) || !isURLOf(id, at) {
		return nil, fmt.Errorf("%w: %s has the id %q", ErrIDMismatch, at, truncateBytes(doc.ID(), 200))
	}
	return doc, nil
}

// isURLOf returns whether an id belongs to a URL. Both may have a fragment, and characters escaped or not.
func isURLOf(id, address string) bool {
	u, err := url.Parse(activity.WithoutFragment(id))
	return err == nil && (activity.WithoutFragment(id) == address || u.String() == address)
}

type fetchedDocument struct {
	doc activity.Object
	url string // after redirects
}

// fetchShared is fetchSigned for concurrent callers.
func (f *Fetcher) fetchShared(ctx context.Context, uri string) (activity.Object, string, error) {
	if err := MayFetch(ctx); err != nil {
		return nil, "", err
	}
	name := flightName(ctx, uri)
	if err := f.failures.get(name, f.db.Now()); err != nil {
		return nil, "", err
	}
	g, err := f.fetches.do(ctx, name, 2*documentTimeout, func(ctx context.Context) (fetchedDocument, error) {
		doc, at, err := f.fetchSigned(ctx, uri)
		if err != nil && !errors.Is(err, ErrCachedFailure) {
			f.failures.add(name, err, f.db.Now())
		}
		return fetchedDocument{doc, at}, err
	})
	return g.doc, g.url, err
}

// signedAsKey is the context key of the account that signs fetches.
type signedAsKey struct{}

// signedAs returns a context in which a local account signs fetches instead of the instance actor, to read what its server serves to that
// account only.
func signedAs(ctx context.Context, id store.AccountID) context.Context {
	return context.WithValue(ctx, signedAsKey{}, id)
}

// signingAccount returns the account of signedAs, 0 if the instance actor signs.
func signingAccount(ctx context.Context) store.AccountID {
	id, _ := ctx.Value(signedAsKey{}).(store.AccountID)
	return id
}

// flightName returns the name under which a fetch is shared and its failure cached. Another signer may get another answer.
func flightName(ctx context.Context, uri string) string {
	if signer := signingAccount(ctx); signer != 0 {
		return uri + " as " + signer.String()
	}
	return uri
}

// fetchSigned fetches a document, signed by the instance actor or the account of signedAs.
func (f *Fetcher) fetchSigned(ctx context.Context, uri string) (activity.Object, string, error) {
	host, err := f.FetchableHost(uri)
	if err != nil {
		return nil, "", err
	}
	if f.failures.backingOff(host, f.db.Now()) {
		return nil, "", fmt.Errorf("%w: %s does not respond", ErrCachedFailure, host)
	}
	known, err := f.hosts.Load(host, func() (*store.Host, error) { return f.db.Host(ctx, host) })
	if err != nil {
		return nil, "", err
	}
	var resp *fetch.Response
	last := host // after redirects
	options := signatureOptions(known, strings.Contains(uri, "?"), f.db.Now())
	for i, o := range options {
		resp, err = f.get(ctx, uri, fetch.Limits{
			Accept: activity.Accept, Accepts: fetch.OneOf(activity.MediaType, activity.LDMediaType), Timeout: documentTimeout,
			Prepare: func(r *http.Request) (err error) {
				last, err = f.signRequest(ctx, r, o)
				return err
			},
		})
		if !isSignatureRejected(HTTPStatus(err)) {
			if err == nil && i > 0 {
				f.saveSignatureScheme(ctx, host, o)
			}
			break
		}
		if i > 0 && i == len(options)-1 && last == host && (known.Signature == "" || known.Signature == noScheme) {
			f.saveNoScheme(ctx, host)
		}
	}
	if unreachable := err != nil && IsTemporary(err) && HTTPStatus(err) == 0; !unreachable {
		f.failures.recordHost(host, true, f.db.Now())
	} else if !errors.Is(err, fetch.ErrBusy) && !errors.Is(err, context.Canceled) {
		f.failures.recordHost(host, false, f.db.Now())
	}
	switch {
	case IsNotFoundOrGone(err) && last != host:
		return nil, "", fmt.Errorf("%w: only %s can say that it is gone, not %s", ErrIDMismatch, host, last)
	case err != nil:
		return nil, "", err
	}
	if !isActivityMediaType(resp.Header.Get("Content-Type")) {
		return nil, "", fmt.Errorf("%w: %q", fetch.ErrContentType, resp.Header.Get("Content-Type"))
	}
	doc, err := activity.Parse(resp.Body)
	return doc, activity.WithoutFragment(resp.URL.String()), err
}

// get makes a request. All of this package's go through it, because those of threads are paced.
func (f *Fetcher) get(ctx context.Context, address string, l fetch.Limits) (*fetch.Response, error) {
	end, err := pace(ctx, address)
	if err != nil {
		return nil, err
	}
	defer end()
	return f.client.Get(ctx, address, l)
}

// FetchableHost returns the host of a URL if it may be fetched.
func (f *Fetcher) FetchableHost(uri string) (string, error) {
	host, err := activity.Host(uri, f.Settings.AllowLoopback)
	if err != nil {
		return "", err
	}
	if f.Settings.IsOwnHost(host) {
		return "", ErrLocal
	}
	return host, f.CheckHostPolicy(host)
}

// checkRequest applies the host policy to a request.
func (f *Fetcher) checkRequest(r *http.Request) error {
	_, err := f.FetchableHost(r.URL.String())
	return err
}

// signRequest signs a request by the instance actor or the account of signedAs, and returns its host. The host policy applies to each redirect.
func (f *Fetcher) signRequest(ctx context.Context, r *http.Request, o httpsig.Options) (host string, err error) {
	if host, err = f.FetchableHost(r.URL.String()); err != nil {
		return "", err
	}
	actor := signingAccount(ctx)
	if actor == 0 {
		if actor, err = f.signers.fetchActor(ctx); err != nil {
			return "", err
		}
	}
	signers, err := f.signers.SignersFor(ctx, actor, host)
	if err != nil {
		return "", err
	}
	o.Now = f.db.Now()
	return host, signers.RSA.Sign(r, nil, o)
}

// isActivityMediaType returns whether a Content-Type is one of ActivityPub (federation 1.6).
func isActivityMediaType(contentType string) bool {
	media, params, err := text.ParseMediaType(contentType)
	switch {
	case err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter):
		return false
	case media == activity.MediaType:
		return true
	}
	return media == activity.LDMediaType && slices.Contains(strings.Fields(strings.Trim(params["profile"], `"`)), activity.LDProfile)
}

func HTTPStatus(err error) int {
	var status *fetch.StatusError
	if errors.As(err, &status) {
		return status.Status
	}
	return 0
}

// IsNotFoundOrGone returns whether an error says that the document does not exist (any more).
func IsNotFoundOrGone(err error) bool {
	status := HTTPStatus(err)
	return status == http.StatusNotFound || status == http.StatusGone
}

// IsTemporary returns whether another attempt may succeed.
func IsTemporary(err error) bool {
	for _, final := range []error{
		fetch.ErrRefused, fetch.ErrContentType, fetch.ErrTooLarge, fetch.ErrRedirects, activity.ErrMalformed, ErrLocal, ErrIDMismatch,
	} {
		if errors.Is(err, final) {
			return false
		}
	}
	var refused *Refused
	var rejected *policy.Rejected
	if errors.As(err, &refused) || errors.As(err, &rejected) && rejected.Err == nil {
		return false
	}
	status := HTTPStatus(err)
	return status == 0 || status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status == http.StatusTooEarly
}

// refetchDocument fetches a document even if that failed a moment ago.
func (f *Fetcher) refetchDocument(ctx context.Context, uri string) (activity.Object, error) {
	f.failures.remove(flightName(ctx, activity.WithoutFragment(uri)))
	return f.Document(ctx, uri)
}

// ForgetFailure removes a URL from the failure cache, so that it is fetched even if that failed a moment ago.
func (f *Fetcher) ForgetFailure(uri string) { f.failures.remove(uri) }

// noFetchKey is the context key of ErrFetchNeeded.
type noFetchKey struct{}

// WithoutFetching returns a context in which fetching fails with ErrFetchNeeded, for callers that cannot wait for other servers.
func WithoutFetching(ctx context.Context) context.Context {
	return context.WithValue(ctx, noFetchKey{}, ErrFetchNeeded)
}

// MayFetch returns ErrFetchNeeded for contexts of WithoutFetching.
func MayFetch(ctx context.Context) error {
	err, _ := ctx.Value(noFetchKey{}).(error)
	return err
}

// singleFlight calls a function once for concurrent callers with the same key.
type singleFlight[T any] struct{ group singleflight.Group }

// do calls fn, or waits for the running call for key. The call continues if its callers are cancelled, but not longer than timeout.
func (f *singleFlight[T]) do(ctx context.Context, key string, timeout time.Duration, fn func(context.Context) (T, error)) (T, error) {
	results := f.group.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		var value T
		err := errs.CatchPanic(func() (err error) { // singleflight would end the process
			value, err = fn(ctx)
			return err
		})
		return value, err
	})
	select {
	case r := <-results:
		return r.Val.(T), r.Err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}

// CheckHostPolicy returns an error if a host is blocked.
func (f *Fetcher) CheckHostPolicy(host string) error { return f.Policies.Host(host) }
