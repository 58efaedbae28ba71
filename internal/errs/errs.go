// Package errs holds the one kind of error that is meant for clients. Every other error is a bug or a fault of the
// machine: it is logged at the edge and answered with a plain 500 that does not tell its cause.
package errs

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Error is an answer to a client: a status and a message. Err, if any, is the cause and goes to the log only.
type Error struct {
	Status  int
	Message string
	Details map[string]any // further members of the JSON answer beside "error"
	Err     error

	RetryAfter time.Duration // when it may go better, which the answer says; 0: it does not
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Message, e.Err)
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// With returns a copy of the error that has one more member in its JSON answer.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Details = make(map[string]any, len(e.Details)+1)
	for k, v := range e.Details {
		c.Details[k] = v
	}
	c.Details[key] = value
	return &c
}

// New returns an error with any status.
func New(status int, format string, args ...any) *Error {
	return &Error{Status: status, Message: message(format, args)}
}

// BadRequest is 400: the request itself is malformed.
func BadRequest(format string, args ...any) *Error {
	return New(http.StatusBadRequest, format, args...)
}

// Unauthorized is 401: a valid token is needed.
func Unauthorized(format string, args ...any) *Error {
	return New(http.StatusUnauthorized, format, args...)
}

// Forbidden is 403: known who asks, and not allowed.
func Forbidden(format string, args ...any) *Error {
	return New(http.StatusForbidden, format, args...)
}

// NotFound is 404, for what is not there and for what the viewer may not know to be there alike.
func NotFound(format string, args ...any) *Error {
	return New(http.StatusNotFound, format, args...)
}

// Conflict is 409.
func Conflict(format string, args ...any) *Error {
	return New(http.StatusConflict, format, args...)
}

// TooLarge is 413.
func TooLarge(format string, args ...any) *Error {
	return New(http.StatusRequestEntityTooLarge, format, args...)
}

// Invalid is 422: well-formed, but against a rule.
func Invalid(format string, args ...any) *Error {
	return New(http.StatusUnprocessableEntity, format, args...)
}

// ErrRecordNotFound is what a missing or invisible record answers everywhere, so that the two look alike.
var ErrRecordNotFound = NotFound("Record not found")

// IsNotFound tells whether err is, or wraps, a 404.
func IsNotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusNotFound
}

func message(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}
