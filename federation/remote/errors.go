package remote

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"svc/internal/errs"
)

// Refused is a final error: an activity or a document is not accepted.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return "refused: " + r.Reason }

// Refuse returns a Refused.
func Refuse(format string, args ...any) error { return &Refused{fmt.Sprintf(format, args...)} }

// Answers to requests whose signature cannot be verified.
var (
	ErrUnsigned       = &errs.Error{Status: http.StatusUnauthorized, Message: "The signature could not be verified"}
	ErrKeyUnavailable = unavailable(time.Minute, "The key of the signature could not be fetched")
	errRetryKeyLater  = unavailable(keyFailuresPerSource.Window, "Too many keys could not be fetched")
	ErrHostBlocked    = errs.Forbidden("This instance is blocked")
)

// unavailable returns a 503 with a Retry-After.
func unavailable(after time.Duration, message string) *errs.Error {
	return &errs.Error{Status: http.StatusServiceUnavailable, Message: message, RetryAfter: after}
}

// IsFinal returns true if another attempt would fail with the same error. Unexpected errors, such as those of the database, are not final,
// because another attempt costs little.
func IsFinal(err error) bool {
	if !IsTemporary(err) {
		return true
	}
	var e *errs.Error
	return errors.As(err, &e) && e.Status < 500 && e.Status != http.StatusTooManyRequests
}

// NeedsFetch returns true if err is or wraps ErrFetchNeeded.
func NeedsFetch(err error) bool { return errors.Is(err, ErrFetchNeeded) }
