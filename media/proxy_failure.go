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

// failure is the reason why a file could not be fetched. The proxy does not try again within ttl.
type failure struct {
	response  *errs.Error
	ttl       time.Duration
	permanent bool // an old copy is not served either
	internal  bool // an error of this server
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
	errBusy           = errs.New(http.StatusServiceUnavailable, "Too many files are being fetched")
)

// failureOf classifies an error. Failures of the file are remembered longer than those of the server or the network.
func failureOf(err error) *failure {
	f := &failure{ttl: shortFailureTTL}
	var status *fetch.StatusError
	var full *errs.Error
	var disk *fs.PathError
	switch {
	case errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone):
		f.response, f.permanent, f.ttl = errs.NotFound("The file does not exist any more"), true, longFailureTTL
	case errors.As(err, &status):
		f.response = errs.New(http.StatusBadGateway, fmt.Sprintf("The remote server responded with status %d", status.Status))
	case errors.Is(err, fetch.ErrContentType):
		f.response, f.permanent, f.ttl = errs.New(http.StatusBadGateway, "The file is not a picture, video or sound of a known format"), true, longFailureTTL
	case errors.Is(err, fetch.ErrTooLarge):
		f.response, f.permanent, f.ttl = errs.New(http.StatusBadGateway, "The file is too large"), true, longFailureTTL
	case errors.Is(err, fetch.ErrRefused), errors.Is(err, fetch.ErrRedirects):
		f.response, f.ttl = errRefusedAddress, longFailureTTL
	case errors.Is(err, fetch.ErrBusy), errors.Is(err, errNoRoom), errors.Is(err, errAbandoned):
		f.response, f.ttl = errBusy, 0
	case errors.Is(err, errStorageFull):
		f.response, f.ttl = errStorageFull, 0
	case errors.As(err, &full):
		f.response, f.internal = full, true
	case errors.As(err, &disk):
		f.response, f.internal = errs.New(http.StatusInternalServerError, "Something went wrong"), true
	case errors.Is(err, errTooSlow), errors.Is(err, context.DeadlineExceeded):
		f.response = errs.New(http.StatusGatewayTimeout, "The remote server is too slow")
	case errors.Is(err, context.Canceled):
		f.response, f.ttl = errBusy, 0 // the proxy is closing
	default:
		f.response = errs.New(http.StatusBadGateway, "The remote server cannot be reached")
	}
	return f
}
