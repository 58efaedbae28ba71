package federation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"svc/internal/fetch"
)

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
	case status >= 500:
		lasts = 10 * time.Minute
	case errors.Is(err, fetch.ErrBusy): // it was us who were busy
		lasts = time.Second
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
