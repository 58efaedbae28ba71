package media

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"svc/internal/errs"
	"svc/internal/fetch"
)

// failure is why there is nothing to show, for as long as it is not tried again.
type failure struct {
	response  *errs.Error
	until     time.Time
	permanent bool // for good: an old copy is not to be shown either
	internal  bool // it is this server's trouble
}

func (f *failure) Error() string { return f.response.Message }

func (f *failure) Unwrap() error { return f.response }

const (
	shortFailureTTL = time.Minute
	longFailureTTL  = time.Hour
	maxFailures     = 10_000
)

var (
	errRefusedAddress = errs.Forbidden("This address is not fetched")
	errBusy           = errs.New(http.StatusServiceUnavailable, "Too much is being fetched already")
	errTooManyBans    = errs.Invalid("There are too many bans already")
)

// failureOf tells what follows from an error. What is about the file lasts longer than what is about the moment.
func failureOf(err error) *failure {
	f := new(failure)
	rest := shortFailureTTL
	var status *fetch.StatusError
	var full *errs.Error
	var disk *fs.PathError
	switch {
	case errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone):
		f.response, f.permanent, rest = errs.NotFound("It is not there any more"), true, longFailureTTL
	case errors.As(err, &status):
		f.response = errs.New(http.StatusBadGateway, fmt.Sprintf("The server that has it answered with status %d", status.Status))
	case errors.Is(err, fetch.ErrContentType):
		f.response, f.permanent, rest = errs.New(http.StatusBadGateway, "It is no picture, video or sound that can be shown"), true, longFailureTTL
	case errors.Is(err, fetch.ErrTooLarge):
		f.response, f.permanent, rest = errs.New(http.StatusBadGateway, "It is too large"), true, longFailureTTL
	case errors.Is(err, fetch.ErrRefused), errors.Is(err, fetch.ErrRedirects):
		f.response, rest = errRefusedAddress, longFailureTTL
	case errors.Is(err, fetch.ErrBusy), errors.Is(err, errNoRoom):
		f.response, rest = errBusy, 0
	case errors.As(err, &full):
		f.response, f.internal = full, true
	case errors.As(err, &disk):
		f.response, f.internal = errs.New(http.StatusInternalServerError, "Something went wrong"), true
	case errors.Is(err, errTooSlow), errors.Is(err, context.DeadlineExceeded):
		f.response = errs.New(http.StatusGatewayTimeout, "The server that has it takes too long")
	case errors.Is(err, context.Canceled):
		f.response, rest = errBusy, 0 // we are stopping
	default:
		f.response = errs.New(http.StatusBadGateway, "The server that has it cannot be reached")
	}
	f.until = time.Now().Add(rest)
	return f
}

// remember has a failure hold for its time. p.mu is held.
func (p *Proxy) remember(key proxyKey, f *failure) {
	if len(p.failures) >= maxFailures {
		now := time.Now()
		for k, old := range p.failures {
			if !old.until.After(now) {
				delete(p.failures, k)
			}
		}
	}
	for k := range p.failures {
		if len(p.failures) < maxFailures {
			break
		}
		delete(p.failures, k)
	}
	p.failures[key] = f
}
