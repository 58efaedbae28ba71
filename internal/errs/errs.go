// Package errs has the error type that is meant for clients. Any other error is internal: it is logged where the request ends, and the
// client gets a 500 without its cause.
package errs

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"
)

// Error is an error response. Err is the cause, if any, and is only logged.
type Error struct {
	Status  int
	Message string
	Details map[string]any // further members of the JSON body
	Err     error

	RetryAfter time.Duration // value of the Retry-After header; 0: none
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Message, e.Err)
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// With returns a copy of the error with one more member in its JSON body.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Details = make(map[string]any, len(e.Details)+1)
	for k, v := range e.Details {
		c.Details[k] = v
	}
	c.Details[key] = value
	return &c
}

// New returns an error with a status.
func New(status int, format string, args ...any) *Error {
	return &Error{Status: status, Message: message(format, args)}
}

// BadRequest is 400: malformed request.
func BadRequest(format string, args ...any) *Error {
	return New(http.StatusBadRequest, format, args...)
}

// Unauthorized is 401: a valid token is required.
func Unauthorized(format string, args ...any) *Error {
	return New(http.StatusUnauthorized, format, args...)
}

// Forbidden is 403: the caller is known and not allowed.
func Forbidden(format string, args ...any) *Error {
	return New(http.StatusForbidden, format, args...)
}

// NotFound is 404, also for what exists but is not visible to the viewer.
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

// Invalid is 422: well-formed, but violates a rule.
func Invalid(format string, args ...any) *Error {
	return New(http.StatusUnprocessableEntity, format, args...)
}

// ErrRecordNotFound is the error for missing and for invisible records, so that a client cannot tell them apart.
var ErrRecordNotFound = NotFound("Record not found")

// IsNotFound returns whether err is or wraps a 404.
func IsNotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusNotFound
}

// IgnoreNotFound returns nil for a 404, else err.
func IgnoreNotFound(err error) error {
	if IsNotFound(err) {
		return nil
	}
	return err
}

// CatchPanic calls fn and returns a panic as an error.
func CatchPanic(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}

func message(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}
