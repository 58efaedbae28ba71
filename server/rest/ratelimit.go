package rest

import (
	"fmt"
	"hash/maphash"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/limit"
	"svc/store"
)

// routeLimit names a bucket of the settings. Requests are counted separately for each account or client and each value of the keys.
type routeLimit struct {
	bucket string
	keys   []string
}

// bucket is a rate limit of the settings, for clients without and with an account.
type bucket struct {
	anonymous, signedIn limit.Rate
}

// ApiBucket counts all requests of the API.
const ApiBucket = "all"

// FileBucket counts requests for files. Their answers have no headers of the limit, because shared caches keep them.
const FileBucket = "files"

// maxWindows bounds the clients that are counted at the same time, over all buckets.
const maxWindows = 50_000

// Limits counts requests in the buckets of the settings.
type Limits struct {
	buckets map[string]*bucket
	windows *limit.Window[windowKey]
	seed    maphash.Seed
}

// windowKey identifies a separate count.
type windowKey struct {
	bucket  *bucket
	account store.AccountID
	network netip.Addr
	subject uint64 // hash of the values of the route limit's keys
}

// NewLimits returns the limits of the settings. If rate limits are disabled, it counts nothing.
func NewLimits(c config.RateLimit) *Limits {
	l := &Limits{windows: limit.NewWindow[windowKey](maxWindows), seed: maphash.MakeSeed(), buckets: map[string]*bucket{
		ApiBucket:              rates(c.AllAnonymous, c.All),
		"authentication":       rates(c.Authentication, c.Authentication),
		"password_reset":       rates(c.PasswordReset, c.PasswordReset),
		"registration":         rates(c.Registration, c.Registration),
		"app_registration":     rates(c.AppRegistration, c.AppRegistration),
		"timeline":             rates(c.Timeline, c.Timeline),
		"search":               rates(c.SearchAnonymous, c.Search),
		"follows":              rates(c.Follows, c.Follows),
		"follows_same_account": rates(c.FollowsSameAccount, c.FollowsSameAccount),
		"status_actions":       rates(c.StatusActions, c.StatusActions),
		"reports":              rates(c.Reports, c.Reports),
		"translations":         rates(c.Translations, c.Translations),
		"same_status_action":   rates(c.SameStatusAction, c.SameStatusAction),
		"media_upload":         rates(c.MediaUpload, c.MediaUpload),
		FileBucket:             rates(c.Files, c.Files),
		"federation":           rates(c.Federation, c.Federation),
		"inbox":                rates(c.Inbox, c.Inbox),
	}}
	if !c.Enabled {
		for _, b := range l.buckets {
			*b = bucket{}
		}
	}
	return l
}

func rates(anonymous, signedIn config.Rate) *bucket {
	return &bucket{limit.Rate(anonymous), limit.Rate(signedIn)}
}

// check panics if an endpoint names a bucket that does not exist: a mistake in the tables.
func (l *Limits) check(list []*endpoint) {
	for _, e := range list {
		for _, rl := range e.Access.limits {
			if l.buckets[rl.bucket] == nil {
				panic(fmt.Sprintf("route %s %s: there is no rate limit %q", e.method, e.path, rl.bucket))
			}
		}
	}
}

// count counts the request in the buckets of its endpoint. The headers describe the bucket with the least requests left.
func (l *Limits) count(r *Request, now time.Time) error {
	least := limit.Quota{Remaining: math.MaxInt}
	if r.endpoint.isAPI {
		q, err := l.take(r, routeLimit{bucket: ApiBucket}, now)
		if err != nil {
			return err
		}
		least = q
	}
	q, err := l.countRoute(r, now)
	if err != nil {
		return err
	}
	if q.Limit > 0 && q.Remaining < least.Remaining {
		least = q
	}
	if least.Limit > 0 {
		setQuotaHeaders(r.header, least)
	}
	return nil
}

// countRoute counts the request in the buckets that its route table names. It returns the one with the least requests left.
func (l *Limits) countRoute(r *Request, now time.Time) (limit.Quota, error) {
	least := limit.Quota{Remaining: math.MaxInt}
	for _, rl := range r.endpoint.Access.limits {
		q, err := l.take(r, rl, now)
		if err != nil {
			return q, err
		}
		if q.Limit > 0 && q.Remaining < least.Remaining && rl.bucket != FileBucket {
			least = q
		}
	}
	return least, nil
}

// recount counts a request for its user that was counted for its network.
func (l *Limits) recount(r *Request, now time.Time) error {
	buckets := r.endpoint.Access.limits
	if r.endpoint.isAPI {
		buckets = append(slices.Clip(buckets), routeLimit{bucket: ApiBucket})
	}
	for _, rl := range buckets {
		k, rate := l.key(rl.bucket, 0, r.address)
		if rate.Count == 0 {
			continue
		}
		if len(rl.keys) > 0 {
			k.subject = l.hash(r, rl.keys)
		}
		l.windows.Refund(k, now)
	}
	return l.count(r, now)
}

// take counts the request in one bucket, and fails if that is full.
func (l *Limits) take(r *Request, rl routeLimit, now time.Time) (limit.Quota, error) {
	var account store.AccountID
	if r.Viewer != nil {
		account = r.Viewer.ID
	}
	k, rate := l.key(rl.bucket, account, r.address)
	if rate.Count == 0 {
		return limit.Quota{Remaining: math.MaxInt}, nil
	}
	if len(rl.keys) > 0 {
		k.subject = l.hash(r, rl.keys)
	}
	q, ok := l.windows.Allow(k, rate, now)
	if !ok {
		return q, Throttled(q)
	}
	return q, nil
}

// key returns the key of the count of an account, or of the network of an anonymous client (account 0), and the rate.
func (l *Limits) key(bucketName string, account store.AccountID, client netip.Addr) (windowKey, limit.Rate) {
	b := l.buckets[bucketName]
	if account != 0 {
		return windowKey{bucket: b, account: account}, b.signedIn
	}
	return windowKey{bucket: b, network: network(client)}, b.anonymous
}

// hash returns a number for the values of keys, which may be of any length.
func (l *Limits) hash(r *Request, keys []string) uint64 {
	var h maphash.Hash
	h.SetSeed(l.seed)
	for _, key := range keys {
		if name, ok := strings.CutPrefix(key, ":"); ok {
			key = r.Param(name)
		}
		h.WriteString(key)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// AllowRequest counts one request of the API that did not come by a route, such as a command on a socket. It returns false if the
// account, or the client if account is 0, has used up its quota.
func (l *Limits) AllowRequest(account store.AccountID, client netip.Addr, now time.Time) bool {
	k, rate := l.key(ApiBucket, account, client)
	if rate.Count == 0 {
		return true
	}
	_, ok := l.windows.Allow(k, rate, now)
	return ok
}

func setQuotaHeaders(h http.Header, q limit.Quota) {
	h["X-Ratelimit-Limit"] = []string{strconv.Itoa(q.Limit)}
	h["X-Ratelimit-Remaining"] = []string{strconv.Itoa(q.Remaining)}
	h["X-Ratelimit-Reset"] = []string{q.Reset.UTC().Format("2006-01-02T15:04:05.000Z")}
}

var errThrottled = errs.New(http.StatusTooManyRequests, "Throttled")

// throttledError is a 429 whose answer has the headers of the quota that is used up.
type throttledError struct{ quota limit.Quota }

// Throttled returns the 429 for a quota that is used up. Its answer has the rate limit headers and Retry-After.
func Throttled(q limit.Quota) error { return &throttledError{q} }

func (*throttledError) Error() string { return errThrottled.Message }

func (*throttledError) Unwrap() error { return errThrottled }

func (e *throttledError) setHeaders(h http.Header, now time.Time) {
	setQuotaHeaders(h, e.quota)
	wait := math.Ceil(e.quota.Reset.Sub(now).Seconds())
	h.Set("Retry-After", strconv.Itoa(max(1, int(wait))))
}
