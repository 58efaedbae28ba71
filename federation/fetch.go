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
	errOwn    = errors.New("it is of this server")                                // which is asked in the database only
	errAbsent = errors.New("it could not be had a moment ago")                    // and is not asked for again so soon
	errLater  = errors.New("other servers have to be asked")                      // by who has time for it
	errForged = errors.New("it is not what its address says, or not its owner's") // federation 5.1
)

const documentTime = 15 * time.Second

// document reads what is at an address, as its origin has it: its id is that address, or another one of the same host that then
// was asked (federation 5.1 R7, 5.2). Whoever asks for the same address meanwhile gets the same answer.
func (s *Service) document(ctx context.Context, uri string) (activity.Object, error) {
	uri = activity.WithoutFragment(uri)
	doc, err := s.original(ctx, uri)
	if errors.Is(err, errForged) && !errors.Is(err, errAbsent) {
		s.absent.note(uri, err, s.now())
	}
	return doc, err
}

func (s *Service) original(ctx context.Context, uri string) (activity.Object, error) {
	doc, at, err := s.sharedGet(ctx, uri)
	if err != nil {
		return nil, err
	}
	id := doc.ID()
	switch {
	case isAt(id, at):
		return doc, nil
	case !activity.SameHost(id, at, s.Trial):
		return nil, fmt.Errorf("%w: %s says it is %q", errForged, at, cut(id, 200))
	}
	doc, at, err = s.sharedGet(ctx, activity.WithoutFragment(id))
	switch {
	case isGone(err): // which says nothing of what was asked for
		return nil, fmt.Errorf("%w: it says it is %q, where there is nothing", errForged, cut(id, 200))
	case err != nil:
		return nil, err
	}
	if !isAt(doc.ID(), at) || !isAt(id, at) {
		return nil, fmt.Errorf("%w: %s says it is %q", errForged, at, cut(doc.ID(), 200))
	}
	return doc, nil
}

// isAt tells whether an id is that of what is at an address. Both may have a fragment, and characters written out or escaped.
func isAt(id, address string) bool {
	u, err := url.Parse(activity.WithoutFragment(id))
	return err == nil && (activity.WithoutFragment(id) == address || u.String() == address)
}

// got is what is at an address.
type got struct {
	doc activity.Object
	at  string // where it came from in the end
}

// sharedGet is get for all who ask for the same at the same time.
func (s *Service) sharedGet(ctx context.Context, uri string) (activity.Object, string, error) {
	if err := mayAsk(ctx); err != nil {
		return nil, "", err
	}
	if err := s.absent.of(uri, s.now()); err != nil {
		return nil, "", err
	}
	g, err := s.flights.do(ctx, uri, 2*documentTime, func(ctx context.Context) (got, error) {
		doc, at, err := s.get(ctx, uri)
		if err != nil && !errors.Is(err, errAbsent) {
			s.absent.note(uri, err, s.now())
		}
		return got{doc, at}, err
	})
	return g.doc, g.at, err
}

// get asks for a document, in the name of this server.
func (s *Service) get(ctx context.Context, uri string) (activity.Object, string, error) {
	host, err := s.hostToAsk(uri)
	if err != nil {
		return nil, "", err
	}
	if s.absent.silent(host, s.now()) {
		return nil, "", fmt.Errorf("%w: %s does not answer", errAbsent, host)
	}
	known, err := s.db.Host(ctx, host)
	if err != nil {
		return nil, "", err
	}
	var resp *fetch.Response
	last := host // of the hops
	ways := waysToSign(known, strings.Contains(uri, "?"), s.now())
	for i, o := range ways {
		resp, err = s.client.Get(ctx, uri, fetch.Limits{
			Accept: activity.Accept, Types: []string{activity.MediaType, activity.LinkedType}, Time: documentTime,
			Prepare: func(r *http.Request) (err error) {
				last, err = s.signGet(ctx, r, o)
				return err
			},
		})
		if !unauthorized(statusOf(err)) {
			if err == nil && i > 0 {
				s.noteSignature(ctx, host, o)
			}
			break
		}
		if i > 0 && i == len(ways)-1 && last == host && (known.Signature == "" || known.Signature == neither) {
			s.noteNeither(ctx, host)
		}
	}
	if noAnswer := err != nil && passing(err) && statusOf(err) == 0; !noAnswer {
		s.absent.noteHost(host, true, s.now())
	} else if !errors.Is(err, fetch.ErrBusy) && !errors.Is(err, context.Canceled) {
		s.absent.noteHost(host, false, s.now())
	}
	switch {
	case isGone(err) && last != host:
		return nil, "", fmt.Errorf("%w: it is for %s to say that it is gone, not for %s", errForged, host, last)
	case err != nil:
		return nil, "", err
	}
	if !isDocument(resp.Header.Get("Content-Type")) {
		return nil, "", fmt.Errorf("%w: %q", fetch.ErrType, resp.Header.Get("Content-Type"))
	}
	doc, err := activity.Parse(resp.Body)
	return doc, activity.WithoutFragment(resp.URL.String()), err
}

// hostToAsk returns the host of an address, if it is one to be asked.
func (s *Service) hostToAsk(uri string) (string, error) {
	host, err := activity.Host(uri, s.Trial)
	if err != nil {
		return "", err
	}
	if host == s.Host {
		return "", errOwn
	}
	return host, s.allowed(host)
}

// signGet signs a request in the name of this server, and returns its host. Each hop passes the rules for hosts anew.
func (s *Service) signGet(ctx context.Context, r *http.Request, o httpsig.Options) (host string, err error) {
	if host, err = s.hostToAsk(r.URL.String()); err != nil {
		return "", err
	}
	signer, err := s.serviceSigner(ctx)
	if err != nil {
		return "", err
	}
	o.Now = s.now()
	return host, signer.Sign(r, nil, o)
}

// isDocument tells whether a Content-Type is one of ActivityPub (federation 1.6).
func isDocument(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter):
		return false
	case media == activity.MediaType:
		return true
	}
	return media == activity.LinkedType && slices.Contains(strings.Fields(strings.Trim(params["profile"], `"`)), activity.LinkedProfile)
}

func statusOf(err error) int {
	var status *fetch.StatusError
	if errors.As(err, &status) {
		return status.Status
	}
	return 0
}

// isGone tells whether an error says that what was asked for is not there (any more).
func isGone(err error) bool {
	status := statusOf(err)
	return status == http.StatusNotFound || status == http.StatusGone
}

// passing tells whether asking again some time later may go better.
func passing(err error) bool {
	for _, lasting := range []error{
		fetch.ErrRefused, fetch.ErrType, fetch.ErrTooLarge, fetch.ErrRedirects, activity.ErrMalformed, errOwn, errForged,
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
	status := statusOf(err)
	return status == 0 || status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status == http.StatusTooEarly
}
