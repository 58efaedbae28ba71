package federation

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"svc/federation/policy"
	"svc/internal/activity"
	"svc/internal/fetch"
	"svc/internal/httpsig"
)

// Failures of asking other servers.
var (
	ErrLocal         = errors.New("it is of this server")                                // which is asked in the database only
	ErrCachedFailure = errors.New("it could not be had a moment ago")                    // and is not asked for again so soon
	ErrFetchNeeded   = errors.New("other servers have to be asked")                      // by who has time for it
	ErrIDMismatch    = errors.New("it is not what its address says, or not its owner's") // federation 5.1
)

const documentTimeout = 15 * time.Second

// Document reads what is at an address, as its origin has it: its id is that address, or another one of the same host that then
// was asked (federation 5.1 R7, 5.2). Whoever asks for the same address meanwhile gets the same answer.
func (s *Service) Document(ctx context.Context, uri string) (activity.Object, error) {
	uri = activity.WithoutFragment(uri)
	doc, err := s.fetchOriginal(ctx, uri)
	if errors.Is(err, ErrIDMismatch) && !errors.Is(err, ErrCachedFailure) {
		s.failures.add(uri, err, s.now())
	}
	return doc, err
}

func (s *Service) fetchOriginal(ctx context.Context, uri string) (activity.Object, error) {
	doc, at, err := s.fetchShared(ctx, uri)
	if err != nil {
		return nil, err
	}
	id := doc.ID()
	switch {
	case isURLOf(id, at):
		return doc, nil
	case !activity.SameHost(id, at, s.AllowLoopback):
		return nil, fmt.Errorf("%w: %s says it is %q", ErrIDMismatch, at, truncateBytes(id, 200))
	}
	doc, at, err = s.fetchShared(ctx, activity.WithoutFragment(id))
	switch {
	case IsNotFoundOrGone(err): // which says nothing of what was asked for
		return nil, fmt.Errorf("%w: it says it is %q, where there is nothing", ErrIDMismatch, truncateBytes(id, 200))
	case err != nil:
		return nil, err
	}
	if !isURLOf(doc.ID(), at) || !isURLOf(id, at) {
		return nil, fmt.Errorf("%w: %s says it is %q", ErrIDMismatch, at, truncateBytes(doc.ID(), 200))
	}
	return doc, nil
}

// isURLOf tells whether an id is that of what is at an address. Both may have a fragment, and characters written out or escaped.
func isURLOf(id, address string) bool {
	u, err := url.Parse(activity.WithoutFragment(id))
	return err == nil && (activity.WithoutFragment(id) == address || u.String() == address)
}

// fetchedDocument is what is at an address.
type fetchedDocument struct {
	doc activity.Object
	url string // where it came from in the end
}

// fetchShared is get for all who ask for the same at the same time.
func (s *Service) fetchShared(ctx context.Context, uri string) (activity.Object, string, error) {
	if err := MayFetch(ctx); err != nil {
		return nil, "", err
	}
	if err := s.failures.get(uri, s.now()); err != nil {
		return nil, "", err
	}
	g, err := s.fetches.do(ctx, uri, 2*documentTimeout, func(ctx context.Context) (fetchedDocument, error) {
		doc, at, err := s.fetchSigned(ctx, uri)
		if err != nil && !errors.Is(err, ErrCachedFailure) {
			s.failures.add(uri, err, s.now())
		}
		return fetchedDocument{doc, at}, err
	})
	return g.doc, g.url, err
}

// fetchSigned asks for a document, in the name of this server.
func (s *Service) fetchSigned(ctx context.Context, uri string) (activity.Object, string, error) {
	host, err := s.FetchableHost(uri)
	if err != nil {
		return nil, "", err
	}
	if s.failures.backingOff(host, s.now()) {
		return nil, "", fmt.Errorf("%w: %s does not answer", ErrCachedFailure, host)
	}
	known, err := s.db.Host(ctx, host)
	if err != nil {
		return nil, "", err
	}
	var resp *fetch.Response
	last := host // of the hops
	ways := signatureOptions(known, strings.Contains(uri, "?"), s.now())
	for i, o := range ways {
		resp, err = s.client.Get(ctx, uri, fetch.Limits{
			Accept: activity.Accept, ContentTypes: []string{activity.MediaType, activity.LDMediaType}, Timeout: documentTimeout,
			Prepare: func(r *http.Request) (err error) {
				last, err = s.signRequest(ctx, r, o)
				return err
			},
		})
		if !isSignatureRejected(HTTPStatus(err)) {
			if err == nil && i > 0 {
				s.saveSignatureScheme(ctx, host, o)
			}
			break
		}
		if i > 0 && i == len(ways)-1 && last == host && (known.Signature == "" || known.Signature == noScheme) {
			s.saveNoScheme(ctx, host)
		}
	}
	if noAnswer := err != nil && IsTemporary(err) && HTTPStatus(err) == 0; !noAnswer {
		s.failures.recordHost(host, true, s.now())
	} else if !errors.Is(err, fetch.ErrBusy) && !errors.Is(err, context.Canceled) {
		s.failures.recordHost(host, false, s.now())
	}
	switch {
	case IsNotFoundOrGone(err) && last != host:
		return nil, "", fmt.Errorf("%w: it is for %s to say that it is gone, not for %s", ErrIDMismatch, host, last)
	case err != nil:
		return nil, "", err
	}
	if !isActivityMediaType(resp.Header.Get("Content-Type")) {
		return nil, "", fmt.Errorf("%w: %q", fetch.ErrContentType, resp.Header.Get("Content-Type"))
	}
	doc, err := activity.Parse(resp.Body)
	return doc, activity.WithoutFragment(resp.URL.String()), err
}

// FetchableHost returns the host of an address, if it is one to be asked.
func (s *Service) FetchableHost(uri string) (string, error) {
	host, err := activity.Host(uri, s.AllowLoopback)
	if err != nil {
		return "", err
	}
	if host == s.Host {
		return "", ErrLocal
	}
	return host, s.checkHostPolicy(host)
}

// signRequest signs a request in the name of this server, and returns its host. Each hop passes the rules for hosts anew.
func (s *Service) signRequest(ctx context.Context, r *http.Request, o httpsig.Options) (host string, err error) {
	if host, err = s.FetchableHost(r.URL.String()); err != nil {
		return "", err
	}
	signer, err := s.serverSigner(ctx)
	if err != nil {
		return "", err
	}
	o.Now = s.now()
	return host, signer.Sign(r, nil, o)
}

// isActivityMediaType tells whether a Content-Type is one of ActivityPub (federation 1.6).
func isActivityMediaType(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
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

// IsNotFoundOrGone tells whether an error says that what was asked for is not there (any more).
func IsNotFoundOrGone(err error) bool {
	status := HTTPStatus(err)
	return status == http.StatusNotFound || status == http.StatusGone
}

// IsTemporary tells whether asking again some time later may go better.
func IsTemporary(err error) bool {
	for _, lasting := range []error{
		fetch.ErrRefused, fetch.ErrContentType, fetch.ErrTooLarge, fetch.ErrRedirects, activity.ErrMalformed, ErrLocal, ErrIDMismatch,
	} {
		if errors.Is(err, lasting) {
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
