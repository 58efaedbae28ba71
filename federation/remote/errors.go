package remote

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/fetch"
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

// unreadableOwner is the error if the document with the key of a signature was fetched and cannot be used. It is not a wrong signature: the
// sender has to repair its document, not its keys.
type unreadableOwner struct {
	key string
	err error
}

func (u *unreadableOwner) Error() string {
	return fmt.Sprintf("owner of the key %s: %v", truncateBytes(u.key, 300), u.err)
}

func (u *unreadableOwner) Unwrap() error { return u.err }

// answer returns the answer to the sender.
func (u *unreadableOwner) answer() error {
	reason := u.err.Error()
	if refused := (*Refused)(nil); errors.As(u.err, &refused) {
		reason = refused.Reason
	}
	return &errs.Error{
		Status: http.StatusBadRequest, Err: u,
		Message: fmt.Sprintf("The actor with the key %s cannot be read: %s", truncateBytes(u.key, 300), truncateBytes(reason, 500)),
	}
}

// isTooManyHosts returns whether an error is the limit of new hosts of a domain.
func isTooManyHosts(err error) bool {
	var e *errs.Error
	return errors.As(err, &e) && e.Status == http.StatusTooManyRequests
}

// isUnreadable returns whether an error of fetchKeyOwner is one of the content of a document.
func isUnreadable(err error) bool {
	refused := (*Refused)(nil)
	return !errors.Is(err, errWrongSignature) && (errors.As(err, &refused) || errors.Is(err, activity.ErrMalformed) ||
		errors.Is(err, fetch.ErrContentType) || errors.Is(err, fetch.ErrTooLarge) || errors.Is(err, ErrIDMismatch))
}
