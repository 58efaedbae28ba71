package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"svc/internal/config"
	"svc/store"
)

// Deps is what rules need beside the messages. What is nil has a standard, where there is one; without it, the rules that need it do
// nothing.
type Deps struct {
	Log      *slog.Logger
	Now      func() time.Time
	Accounts AccountReader // usually the *store.DB
	Emoji    EmojiCopier   // for StealEmojiPolicy

	WarmProxy func(ctx context.Context, address string)                            // has the media proxy fetch something, without waiting for it: MediaProxyWarmingPolicy
	Follow    func(ctx context.Context, nickname string, whom *store.Account)      // for FollowBotPolicy, without waiting
	DNSListed func(ctx context.Context, name string) (listed bool, err error)      // whether a DNS block list has a name; nil: by DNS
	Score     func(ctx context.Context, picture string) (score float64, err error) // of a picture; nil: of the service that the settings name

	CheckNetwork func(context.Context) error // why others cannot be waited for now, which is the answer then; nil: they always can

	scores *resultCache[float64] // of Score
}

// deferredError says that others have to be asked who cannot be waited for.
type deferredError struct{ error }

func (n deferredError) Unwrap() error { return n.error }

// unlessOffline has others asked only where they can be waited for.
func unlessOffline[V any](may func(context.Context) error, ask func(context.Context, string) (V, error)) func(context.Context, string) (V, error) {
	if may == nil {
		return ask
	}
	return func(ctx context.Context, about string) (V, error) {
		if err := may(ctx); err != nil {
			var none V
			return none, deferredError{err}
		}
		return ask(ctx, about)
	}
}

// AccountReader is what is known of accounts. All of it is one query by an index.
type AccountReader interface {
	HasStatusesAndFollowers(ctx context.Context, id store.AccountID) (posted, followed bool, err error)
	Follows(ctx context.Context, follower, target store.AccountID) (bool, error)
	AccountsByURI(ctx context.Context, ids []string) (map[string]*store.Account, error)
}

// EmojiCopier is where custom emoji are kept.
type EmojiCopier interface {
	Has(shortcode string) bool
	Copy(ctx context.Context, pack string, e Emoji, most int64) // puts a picture of at most so many bytes there, without waiting
}

// How long others may take, and for how long what they say is good.
const (
	dnsTimeout       = 3 * time.Second
	scoreTimeout     = 8 * time.Second
	postScoreTimeout = 20 * time.Second // of one post
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
		d.DNSListed = newResultCache(d.Now, unlessOffline(d.CheckNetwork, dnsLookup(c.MRFDNSRBL))).get
	}
	if d.Score == nil {
		d.Score = newScorer(c.MRFNSFWAPI.URL)
	}
	d.scores = newResultCache(d.Now, unlessOffline(d.CheckNetwork, d.Score))
	return d
}

// resultCache remembers what others have said, for a while.
type resultCache[V any] struct {
	query   func(context.Context, string) (V, error)
	now     func() time.Time
	mu      sync.Mutex
	entries map[string]cachedResult[V]
}

type cachedResult[V any] struct {
	value     V
	expiresAt time.Time
}

func newResultCache[V any](now func() time.Time, ask func(context.Context, string) (V, error)) *resultCache[V] {
	return &resultCache[V]{query: ask, now: now, entries: make(map[string]cachedResult[V])}
}

func (m *resultCache[V]) lookup(key string) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.entries[key]
	return k.value, ok && m.now().Before(k.expiresAt)
}

func (m *resultCache[V]) get(ctx context.Context, key string) (V, error) {
	if v, ok := m.lookup(key); ok {
		return v, nil
	}
	v, err := m.query(ctx, key)
	if err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.entries) >= maxCachedResults {
		clear(m.entries)
	}
	m.entries[key] = cachedResult[V]{v, m.now().Add(resultTTL)}
	return v, nil
}

// dnsLookup asks a DNS block list (RFC 5782).
func dnsLookup(s config.MRFDNSRBL) func(context.Context, string) (bool, error) {
	server := net.JoinHostPort(s.Nameserver, strconv.Itoa(s.Port))
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server)
	}}
	return func(ctx context.Context, name string) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, dnsTimeout)
		defer cancel()
		found, err := resolver.LookupNetIP(ctx, "ip4", name+"."+strings.TrimSuffix(s.Zone, ".")+".")
		if e, ok := err.(*net.DNSError); ok && e.IsNotFound {
			return false, nil
		}
		for _, a := range found {
			// Lists answer with addresses of 127/8; the last of them say that it was the question that is not welcome.
			if dnsblListed.Contains(a.Unmap()) && !dnsblErrors.Contains(a.Unmap()) {
				return true, nil
			}
		}
		return false, err
	}
}

var (
	dnsblListed = netip.MustParsePrefix("127.0.0.0/8")
	dnsblErrors = netip.MustParsePrefix("127.255.255.0/24")
)

// newScorer asks a service what it thinks of pictures. It is the operator's own, usually on this machine, so it is asked directly.
func newScorer(service string) func(context.Context, string) (float64, error) {
	client := &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 16 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, picture string) (float64, error) {
		ctx, cancel := context.WithTimeout(ctx, scoreTimeout)
		defer cancel()
		u, err := url.Parse(service)
		if err != nil {
			return 0, err
		}
		query := u.Query()
		query.Set("url", picture)
		u.RawQuery = query.Encode()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return 0, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		var answer struct {
			Score *float64 `json:"score"`
		}
		if err := json.NewDecoder(io.LimitReader(resp.Body, 16<<10)).Decode(&answer); err != nil {
			return 0, err
		}
		if resp.StatusCode != http.StatusOK || answer.Score == nil {
			return 0, fmt.Errorf("answered with status %d and no score", resp.StatusCode)
		}
		return *answer.Score, nil
	}
}
