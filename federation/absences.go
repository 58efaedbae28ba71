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

// absences remembers for a while what could not be had, and who does not answer.
type absences struct {
	mu      sync.Mutex
	entries map[string]absence
	hosts   map[string]*silence
}

type absence struct {
	until time.Time
	err   error
}

// silence is that of a host.
type silence struct {
	until time.Time
	times int // in a row
}

const (
	maxAbsences  = 5000
	firstSilence = 5 * time.Second // until a host that did not answer is asked again: each time longer
	mostSilence  = 5 * time.Minute
)

func newAbsences() *absences {
	return &absences{entries: make(map[string]absence), hosts: make(map[string]*silence)}
}

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

// silent tells whether a host is not to be asked now, because it did not answer.
func (a *absences) silent(host string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.hosts[host]
	return h != nil && now.Before(h.until)
}

// noteHost remembers whether a host has answered, whatever it was. Nobody else waits for one that does not, again and again.
func (a *absences) noteHost(host string, answered bool, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if answered {
		delete(a.hosts, host)
		return
	}
	h := a.hosts[host]
	if h == nil {
		for old := range a.hosts {
			if len(a.hosts) < maxAbsences {
				break
			}
			delete(a.hosts, old)
		}
		h = new(silence)
		a.hosts[host] = h
	}
	if now.Before(h.until) { // it was asked by several at once
		return
	}
	h.until = now.Add(min(firstSilence<<min(h.times, 10), mostSilence))
	h.times++
}

// forget has an address asked again.
func (a *absences) forget(uri string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.entries, uri)
}
