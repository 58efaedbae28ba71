package server

import (
	"fmt"
	"hash/maphash"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/store"
)

// limit names a bucket of the settings, and what it is counted apart for beside the caller.
type limit struct {
	bucket string
	keys   []string
}

// bucket is how often something may be done: by one address, and by one account.
type bucket struct {
	anonymous, signedIn config.Rate
}

// apiBucket counts all requests of the API.
const apiBucket = "all"

// buckets returns the buckets of the settings by name.
func buckets(c config.RateLimit) map[string]*bucket {
	list := map[string]*bucket{
		apiBucket:              {c.AllAnonymous, c.All},
		"authentication":       {c.Authentication, c.Authentication},
		"failed_logins":        {c.FailedLogins, c.FailedLogins},
		"password_reset":       {c.PasswordReset, c.PasswordReset},
		"registration":         {c.Registration, c.Registration},
		"app_registration":     {c.AppRegistration, c.AppRegistration},
		"timeline":             {c.Timeline, c.Timeline},
		"search":               {c.SearchAnonymous, c.Search},
		"follows":              {c.Follows, c.Follows},
		"follows_same_account": {c.FollowsSameAccount, c.FollowsSameAccount},
		"status_actions":       {c.StatusActions, c.StatusActions},
		"reports":              {c.Reports, c.Reports},
		"same_status_action":   {c.SameStatusAction, c.SameStatusAction},
		"media_upload":         {c.MediaUpload, c.MediaUpload},
		"federation":           {c.Federation, c.Federation},
		"inbox":                {c.Inbox, c.Inbox},
	}
	if !c.Enabled {
		for _, b := range list {
			*b = bucket{}
		}
	}
	return list
}

// throttle counts the request in the buckets of its endpoint. The headers tell of the one that has the least left.
func (s *Server) throttle(r *Request) error {
	least := quota{remaining: math.MaxInt}
	if r.endpoint.isAPI {
		q, err := s.count(r, limit{bucket: apiBucket})
		if err != nil {
			return err
		}
		least = q
	}
	for _, l := range r.endpoint.limits {
		q, err := s.count(r, l)
		if err != nil {
			return err
		}
		if q.limit > 0 && q.remaining < least.remaining {
			least = q
		}
	}
	if least.limit > 0 {
		least.setHeaders(r.header)
	}
	return nil
}

// count counts the request in one bucket, and refuses it if that is full.
func (s *Server) count(r *Request, l limit) (quota, error) {
	b := s.buckets[l.bucket]
	k := windowKey{bucket: b}
	rate := b.anonymous
	if r.Viewer != nil {
		rate, k.account = b.signedIn, r.Viewer.ID
	} else {
		k.network = network(r.address)
	}
	if rate.Count == 0 {
		return quota{remaining: math.MaxInt}, nil
	}
	if len(l.keys) > 0 {
		k.subject = s.windows.hash(r, l.keys)
	}
	q, ok := s.windows.take(k, rate, s.now())
	if !ok {
		return q, &throttled{q}
	}
	return q, nil
}

// quota is what is left in a bucket.
type quota struct {
	limit, remaining int
	reset            time.Time // when the bucket is fresh again
}

func (q quota) setHeaders(h http.Header) {
	h["X-Ratelimit-Limit"] = []string{strconv.Itoa(q.limit)}
	h["X-Ratelimit-Remaining"] = []string{strconv.Itoa(q.remaining)}
	h["X-Ratelimit-Reset"] = []string{q.reset.UTC().Format("2006-01-02T15:04:05.000Z")}
}

// throttled is the refusal of what is too much. Its answer has the headers of the quota that is used up.
type throttled struct{ quota }

var errThrottled = errs.New(http.StatusTooManyRequests, "Throttled")

func (*throttled) Error() string { return errThrottled.Message }

func (*throttled) Unwrap() error { return errThrottled }

func (e *throttled) setHeaders(h http.Header, now time.Time) {
	e.quota.setHeaders(h)
	wait := math.Ceil(e.reset.Sub(now).Seconds())
	h.Set("Retry-After", strconv.Itoa(max(1, int(wait))))
}

// windows count in fixed windows, each of which begins with its first request. Their number is bounded: where there are too
// many, those that have run out go first, then any.
type windows struct {
	seed   maphash.Seed
	shards [windowShards]windowShard
}

const (
	windowShards       = 16
	maxWindowsPerShard = 50_000 / windowShards
)

type windowShard struct {
	mu        sync.Mutex
	byKey     map[windowKey]window
	lastSweep time.Time
}

// windowKey is what is counted by itself.
type windowKey struct {
	bucket  *bucket
	account store.AccountID
	network netip.Addr
	subject uint64
}

type window struct {
	used  int
	reset time.Time
}

func newWindows() *windows {
	c := &windows{seed: maphash.MakeSeed()}
	for i := range c.shards {
		c.shards[i].byKey = make(map[windowKey]window)
	}
	return c
}

// hash returns a number for the values of keys, which may be of any length.
func (c *windows) hash(r *Request, keys []string) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, key := range keys {
		if name, ok := strings.CutPrefix(key, ":"); ok {
			key = r.Param(name)
		}
		h.WriteString(key)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// hashText returns a number for a text of any length.
func (c *windows) hashText(text string) uint64 { return maphash.String(c.seed, text) }

// take takes one from the quota of a key, if there is one left.
func (c *windows) take(k windowKey, rate config.Rate, now time.Time) (q quota, ok bool) {
	s := &c.shards[maphash.Comparable(c.seed, k)%windowShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	n, known := s.byKey[k]
	if !known && len(s.byKey) >= maxWindowsPerShard {
		s.evict(now)
	}
	if !n.reset.After(now) {
		n = window{reset: now.Add(rate.Window)}
	}
	if ok = n.used < rate.Count; ok {
		n.used++
		s.byKey[k] = n
	}
	return quota{limit: rate.Count, remaining: rate.Count - n.used, reset: n.reset}, ok
}

// refund undoes one take, unless the quota is fresh since.
func (c *windows) refund(k windowKey, now time.Time) {
	s := &c.shards[maphash.Comparable(c.seed, k)%windowShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, known := s.byKey[k]; known && n.used > 0 && n.reset.After(now) {
		n.used--
		s.byKey[k] = n
	}
}

// exhausted returns the quota of a key, if nothing is left of it.
func (c *windows) exhausted(k windowKey, rate config.Rate, now time.Time) (q quota, ok bool) {
	s := &c.shards[maphash.Comparable(c.seed, k)%windowShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.byKey[k]
	return quota{limit: rate.Count, reset: n.reset}, n.reset.After(now) && n.used >= rate.Count
}

// evict removes what has run out, at most once a second, and if there is nothing, one counter or another.
func (s *windowShard) evict(now time.Time) {
	if now.Sub(s.lastSweep) >= time.Second {
		s.lastSweep = now
		for k, n := range s.byKey {
			if !n.reset.After(now) {
				delete(s.byKey, k)
			}
		}
	}
	for k := range s.byKey {
		if len(s.byKey) < maxWindowsPerShard {
			return
		}
		delete(s.byKey, k)
	}
}

// checkLimits panics if an endpoint names a bucket that does not exist: a mistake in the tables.
func checkLimits(list []*endpoint, buckets map[string]*bucket) {
	for _, e := range list {
		for _, l := range e.limits {
			if buckets[l.bucket] == nil {
				panic(fmt.Sprintf("route %s %s: there is no rate limit %q", e.method, e.path, l.bucket))
			}
		}
	}
}
