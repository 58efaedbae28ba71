package policy

import (
	"context"
	"log/slog"
	"time"

	"svc/internal/cache"
	"svc/internal/config"
	"svc/store"
)

// Deps is what policies read beside the message. A nil function has a default, or the policies that need it do nothing.
type Deps struct {
	Log      *slog.Logger
	Now      func() time.Time
	Accounts AccountReader               // the *store.DB
	HasEmoji func(shortcode string) bool // for StealEmojiPolicy; nil: it copies nothing

	DNSListed func(ctx context.Context, name string) (listed bool, err error)    // nil: a query to the DNS block list
	Score     func(ctx context.Context, image string) (score float64, err error) // nil: a request to the configured service

	// CheckNetwork returns an error if ctx does not allow waiting for the network. Rules return this error. nil: it always allows.
	CheckNetwork func(context.Context) error

	scores *resultCache[float64] // of Score
}

// AccountReader reads accounts. Each method is one query by an index.
type AccountReader interface {
	HasStatusesAndFollowers(ctx context.Context, id store.AccountID) (posted, followed bool, err error)
	Follows(ctx context.Context, follower, target store.AccountID) (bool, error)
	FollowOf(ctx context.Context, follower, target store.AccountID) (*store.Follow, error)
	AccountByName(ctx context.Context, nickname, domain string) (*store.Account, error)
	AccountsByURI(ctx context.Context, ids []string) (map[string]*store.Account, error)
}

const (
	dnsTimeout       = 3 * time.Second
	scoreTimeout     = 8 * time.Second
	postScoreTimeout = 20 * time.Second // all images of a post
	resultTTL        = 10 * time.Minute
	maxCachedResults = 2000
)

func (d Deps) withDefaults(c *config.Config) Deps {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.DNSListed == nil && c.MRFDNSRBL.Zone != "" {
		d.DNSListed = newResultCache(d, dnsLookup(c.MRFDNSRBL)).get
	}
	if d.Score == nil {
		d.Score = newScorer(c.MRFNSFWAPI.URL)
	}
	d.scores = newResultCache(d, d.Score)
	return d
}

// resultCache remembers the answers of a service.
type resultCache[V any] struct {
	query        func(context.Context, string) (V, error)
	checkNetwork func(context.Context) error
	now          func() time.Time
	results      *cache.Expiring[string, V]
}

func newResultCache[V any](d Deps, query func(context.Context, string) (V, error)) *resultCache[V] {
	return &resultCache[V]{query, d.CheckNetwork, d.Now, cache.NewExpiring[string, V](maxCachedResults)}
}

// lookup returns an answer that is remembered.
func (c *resultCache[V]) lookup(key string) (V, bool) { return c.results.Get(key, c.now()) }

// get returns an answer, or a networkError if it is unknown and ctx does not allow to wait for it.
func (c *resultCache[V]) get(ctx context.Context, key string) (V, error) {
	v, ok := c.lookup(key)
	if ok {
		return v, nil
	}
	if c.checkNetwork != nil {
		if err := c.checkNetwork(ctx); err != nil {
			return v, networkError{err}
		}
	}
	v, err := c.query(ctx, key)
	if err == nil {
		c.results.Put(key, v, resultTTL, c.now())
	}
	return v, err
}

// networkError is an error of Deps.CheckNetwork.
type networkError struct{ error }

func (e networkError) Unwrap() error { return e.error }
