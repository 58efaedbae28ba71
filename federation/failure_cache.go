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

// failureCache remembers for a while what could not be had, and who does not answer.
type failureCache struct {
	mu      sync.Mutex
	entries map[string]cachedFailure
	hosts   map[string]*hostFailure
}

type cachedFailure struct {
	until time.Time
	err   error
}

// hostFailure is that of a host.
type hostFailure struct {
	until time.Time
	count int // in a row
}

const (
	maxCachedFailures = 5000
	minHostBackoff    = 5 * time.Second // until a host that did not answer is asked again: each time longer
	maxHostBackoff    = 5 * time.Minute
)

func newFailureCache() *failureCache {
	return &failureCache{entries: make(map[string]cachedFailure), hosts: make(map[string]*hostFailure)}
}

// get returns why an address is not to be asked now, nil if it may.
func (a *failureCache) get(uri string, now time.Time) error {
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
	return fmt.Errorf("%w: %w", ErrCachedFailure, found.err)
}

// add remembers a failure, as long as it is likely to last (federation 3.9).
func (a *failureCache) add(uri string, err error, now time.Time) {
	var lasts time.Duration
	switch status := HTTPStatus(err); {
	case errors.Is(err, context.Canceled), errors.Is(err, ErrFetchNeeded):
		return
	case status == http.StatusNotFound || status == http.StatusGone:
		lasts = 24 * time.Hour
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		lasts = time.Hour
	case status >= 500:
		lasts = 10 * time.Minute
	case errors.Is(err, fetch.ErrBusy): // it was us who were busy
		lasts = time.Second
	case IsTemporary(err):
		lasts = time.Minute
	default:
		lasts = 10 * time.Minute
	}
	a.addFor(uri, err, now, lasts)
}

func (a *failureCache) addFor(uri string, err error, now time.Time, lasts time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for old := range a.entries {
		if len(a.entries) < maxCachedFailures {
			break
		}
		delete(a.entries, old)
	}
	a.entries[uri] = cachedFailure{now.Add(lasts), err}
}

// backingOff tells whether a host is not to be asked now, because it did not answer.
func (a *failureCache) backingOff(host string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.hosts[host]
	return h != nil && now.Before(h.until)
}

// recordHost remembers whether a host has answered, whatever it was. Nobody else waits for one that does not, again and again.
func (a *failureCache) recordHost(host string, answered bool, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if answered {
		delete(a.hosts, host)
		return
	}
	h := a.hosts[host]
	if h == nil {
		for old := range a.hosts {
			if len(a.hosts) < maxCachedFailures {
				break
			}
			delete(a.hosts, old)
		}
		h = new(hostFailure)
		a.hosts[host] = h
	}
	if now.Before(h.until) { // it was asked by several at once
		return
	}
	h.until = now.Add(min(minHostBackoff<<min(h.count, 10), maxHostBackoff))
	h.count++
}

// remove has an address asked again.
func (a *failureCache) remove(uri string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.entries, uri)
}
