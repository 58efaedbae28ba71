package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"svc/internal/cache"
	"svc/internal/fetch"
	"svc/internal/limit"
)

// failureCache is a negative cache: it remembers documents that could not be fetched, and hosts that did not respond.
type failureCache struct {
	failures *cache.Expiring[string, error] // by URI
	hosts    *limit.Backoff[string]
}

const (
	maxCachedFailures = 5000
	minHostBackoff    = 5 * time.Second
	maxHostBackoff    = 5 * time.Minute
)

func newFailureCache() *failureCache {
	return &failureCache{
		failures: cache.NewExpiring[string, error](maxCachedFailures),
		hosts:    limit.NewBackoff[string](maxCachedFailures, minHostBackoff, maxHostBackoff),
	}
}

// get returns the cached failure of a URI, nil if it may be fetched.
func (c *failureCache) get(uri string, now time.Time) error {
	if err, ok := c.failures.Get(uri, now); ok {
		return fmt.Errorf("%w: %w", ErrCachedFailure, err)
	}
	return nil
}

// add caches a failure for a time that depends on its cause (federation 3.9).
func (c *failureCache) add(uri string, err error, now time.Time) {
	var ttl time.Duration
	switch status := HTTPStatus(err); {
	case errors.Is(err, context.Canceled), errors.Is(err, ErrFetchNeeded):
		return
	case status == http.StatusNotFound || status == http.StatusGone:
		ttl = 24 * time.Hour
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		ttl = time.Hour
	case status >= 500:
		ttl = 10 * time.Minute
	case errors.Is(err, fetch.ErrBusy): // a limit of this server
		ttl = time.Second
	case IsTemporary(err):
		ttl = time.Minute
	default:
		ttl = 10 * time.Minute
	}
	c.addFor(uri, err, now, ttl)
}

func (c *failureCache) addFor(uri string, err error, now time.Time, ttl time.Duration) {
	c.failures.Put(uri, err, ttl, now)
}

// remove permits fetching a URI again.
func (c *failureCache) remove(uri string) { c.failures.Delete(uri) }

// backingOff returns whether a host did not respond recently and may not be tried yet.
func (c *failureCache) backingOff(host string, now time.Time) bool {
	return !c.hosts.RetryAt(host, now).IsZero()
}

// recordHost records whether a host has responded, with any status. Concurrent requests that fail count as one failure.
func (c *failureCache) recordHost(host string, responded bool, now time.Time) {
	switch {
	case responded:
		c.hosts.Succeeded(host)
	case !c.backingOff(host, now):
		c.hosts.Failed(host, now)
	}
}
