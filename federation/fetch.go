package federation

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

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
// was asked (federation 5.2). Whoever asks for the same address meanwhile gets the same answer.
func (s *Service) document(ctx context.Context, uri string) (activity.Object, error) {
	uri = activity.WithoutFragment(uri)
	doc, at, err := s.sharedGet(ctx, uri)
	if err != nil {
		return nil, err
	}
	id := activity.WithoutFragment(doc.ID())
	switch {
	case id == at:
		return doc, nil
	case !activity.SameHost(id, at, s.Trial):
		return nil, fmt.Errorf("%w: %s says it is %q", errForged, at, id)
	}
	doc, at, err = s.sharedGet(ctx, id)
	if err == nil && activity.WithoutFragment(doc.ID()) != id || err == nil && at != id {
		err = fmt.Errorf("%w: %s says it is %q", errForged, at, doc.ID())
	}
	return doc, err
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
		if err != nil {
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
	known, err := s.db.Host(ctx, host)
	if err != nil {
		return nil, "", err
	}
	var resp *fetch.Response
	for i, o := range waysToSign(known, strings.Contains(uri, "?")) {
		resp, err = s.client.Get(ctx, uri, fetch.Limits{
			Accept: activity.Accept, Types: []string{activity.MediaType, activity.LinkedType}, Time: documentTime,
			Prepare: func(r *http.Request) error { return s.signGet(ctx, r, o) },
		})
		if status := statusOf(err); status != http.StatusUnauthorized && status != http.StatusBadRequest {
			if err == nil && i > 0 {
				s.noteSignature(ctx, host, o)
			}
			break
		}
	}
	if err != nil {
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

// signGet signs a request in the name of this server. Each hop passes the rules for hosts anew.
func (s *Service) signGet(ctx context.Context, r *http.Request, o httpsig.Options) error {
	if _, err := s.hostToAsk(r.URL.String()); err != nil {
		return err
	}
	signer, err := s.serviceSigner(ctx)
	if err != nil {
		return err
	}
	o.Now = s.now()
	return signer.Sign(r, nil, o)
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
	if errors.As(err, &refused) {
		return false
	}
	status := statusOf(err)
	return status == 0 || status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

// mayAskKey marks contexts in which nobody has time to wait for other servers.
type mayAskKey struct{}

// withoutAsking returns a context in which asking another server is errLater.
func withoutAsking(ctx context.Context) context.Context {
	return context.WithValue(ctx, mayAskKey{}, errLater)
}

func mayAsk(ctx context.Context) error {
	err, _ := ctx.Value(mayAskKey{}).(error)
	return err
}

// absences remembers for a while what could not be had.
type absences struct {
	mu      sync.Mutex
	entries map[string]absence
}

type absence struct {
	until time.Time
	err   error
}

const maxAbsences = 5000

func newAbsences() *absences { return &absences{entries: make(map[string]absence)} }

// of returns why an address is not to be asked now, nil if it may.
func (a *absences) of(uri string, now time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	found, ok := a.entries[uri]
	if !ok {
		return nil
	}
	if now.After(found.until) {
		delete(a.entries, uri)
		return nil
	}
	return fmt.Errorf("%w: %w", errAbsent, found.err)
}

// note remembers a failure, as long as it is likely to last (federation 3.9).
func (a *absences) note(uri string, err error, now time.Time) {
	var lasts time.Duration
	switch status := statusOf(err); {
	case errors.Is(err, context.Canceled), errors.Is(err, errLater):
		return
	case status == http.StatusNotFound || status == http.StatusGone:
		lasts = 24 * time.Hour
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		lasts = time.Hour
	case passing(err):
		lasts = time.Minute
	default:
		lasts = 10 * time.Minute
	}
	a.noteFor(uri, err, now, lasts)
}

func (a *absences) noteFor(uri string, err error, now time.Time, lasts time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for old := range a.entries {
		if len(a.entries) < maxAbsences {
			break
		}
		delete(a.entries, old)
	}
	a.entries[uri] = absence{now.Add(lasts), err}
}

// forget has an address asked again.
func (a *absences) forget(uri string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.entries, uri)
}

// flights are requests under way, by address or another key.
type flights[T any] struct {
	mu    sync.Mutex
	going map[string]*flight[T]
}

type flight[T any] struct {
	done chan struct{}
	got  T
	err  error
}

// do calls fn, or waits for the call of another who asks for the same. The call outlives who gives up waiting, but not the time.
func (f *flights[T]) do(ctx context.Context, key string, most time.Duration, fn func(context.Context) (T, error)) (T, error) {
	f.mu.Lock()
	going, under := f.going[key]
	if !under {
		going = &flight[T]{done: make(chan struct{})}
		if f.going == nil {
			f.going = make(map[string]*flight[T])
		}
		f.going[key] = going
		go func() {
			defer func() {
				if p := recover(); p != nil {
					going.err = fmt.Errorf("panic: %v", p)
				}
				f.mu.Lock()
				delete(f.going, key)
				f.mu.Unlock()
				close(going.done)
			}()
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
			defer cancel()
			going.got, going.err = fn(ctx)
		}()
	}
	f.mu.Unlock()
	select {
	case <-going.done:
		return going.got, going.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
