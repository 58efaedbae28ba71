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
	if r.endpoint.counted {
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
		least.tell(r.header)
	}
	return nil
}

// count counts the request in one bucket, and refuses it if that is full.
func (s *Server) count(r *Request, l limit) (quota, error) {
	b := s.buckets[l.bucket]
	k := counterKey{bucket: b}
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
		k.apart = s.counters.hash(r, l.keys)
	}
	q, ok := s.counters.take(k, rate, s.now())
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

func (q quota) tell(h http.Header) {
	h["X-Ratelimit-Limit"] = []string{strconv.Itoa(q.limit)}
	h["X-Ratelimit-Remaining"] = []string{strconv.Itoa(q.remaining)}
	h["X-Ratelimit-Reset"] = []string{q.reset.UTC().Format("2006-01-02T15:04:05.000Z")}
}

// throttled is the refusal of what is too much. Its answer has the headers of the quota that is used up.
type throttled struct{ quota }

var errThrottled = errs.New(http.StatusTooManyRequests, "Throttled")

func (*throttled) Error() string { return errThrottled.Message }

func (*throttled) Unwrap() error { return errThrottled }

func (e *throttled) tell(h http.Header, now time.Time) {
	e.quota.tell(h)
	wait := math.Ceil(e.reset.Sub(now).Seconds())
	h.Set("Retry-After", strconv.Itoa(max(1, int(wait))))
}

// counters count in fixed windows, each of which begins with its first request. Their number is bounded: where there are too
// many, those that have run out go first, then any.
type counters struct {
	seed   maphash.Seed
	shards [counterShards]counterShard
}

const (
	counterShards = 16
	maxCounters   = 50_000 / counterShards
)

type counterShard struct {
	mu    sync.Mutex
	byKey map[counterKey]counter
	swept time.Time
}

// counterKey is what is counted by itself.
type counterKey struct {
	bucket  *bucket
	account store.AccountID
	network netip.Addr
	apart   uint64
}

type counter struct {
	used  int
	reset time.Time
}

func newCounters() *counters {
	c := &counters{seed: maphash.MakeSeed()}
	for i := range c.shards {
		c.shards[i].byKey = make(map[counterKey]counter)
	}
	return c
}

// hash returns a number for the values of keys, which may be of any length.
func (c *counters) hash(r *Request, keys []string) uint64 {
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
func (c *counters) hashText(text string) uint64 { return maphash.String(c.seed, text) }

// take takes one from the quota of a key, if there is one left.
func (c *counters) take(k counterKey, rate config.Rate, now time.Time) (q quota, ok bool) {
	s := &c.shards[maphash.Comparable(c.seed, k)%counterShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	n, known := s.byKey[k]
	if !known && len(s.byKey) >= maxCounters {
		s.makeRoom(now)
	}
	if !n.reset.After(now) {
		n = counter{reset: now.Add(rate.Window)}
	}
	if ok = n.used < rate.Count; ok {
		n.used++
		s.byKey[k] = n
	}
	return quota{limit: rate.Count, remaining: rate.Count - n.used, reset: n.reset}, ok
}

// giveBack undoes one take, unless the quota is fresh since.
func (c *counters) giveBack(k counterKey, now time.Time) {
	s := &c.shards[maphash.Comparable(c.seed, k)%counterShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, known := s.byKey[k]; known && n.used > 0 && n.reset.After(now) {
		n.used--
		s.byKey[k] = n
	}
}

// spent returns the quota of a key, if nothing is left of it.
func (c *counters) spent(k counterKey, rate config.Rate, now time.Time) (q quota, ok bool) {
	s := &c.shards[maphash.Comparable(c.seed, k)%counterShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.byKey[k]
	return quota{limit: rate.Count, reset: n.reset}, n.reset.After(now) && n.used >= rate.Count
}

// makeRoom removes what has run out, at most once a second, and if there is nothing, one counter or another.
func (s *counterShard) makeRoom(now time.Time) {
	if now.Sub(s.swept) >= time.Second {
		s.swept = now
		for k, n := range s.byKey {
			if !n.reset.After(now) {
				delete(s.byKey, k)
			}
		}
	}
	for k := range s.byKey {
		if len(s.byKey) < maxCounters {
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
