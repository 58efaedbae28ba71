package media

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"svc/internal/cache"
	"svc/internal/config"
	"svc/internal/disk"
	"svc/internal/fetch"
	"svc/internal/limit"
	"svc/store"
)

// ProxyConfig configures a Proxy. Timeouts that are 0 have a default.
type ProxyConfig struct {
	Settings     *config.Live
	Key          []byte        // signs addresses
	Fetch        *fetch.Client // for MaxTransfers requests at the same time
	Timeout      time.Duration // per file; default 60 s
	StallTimeout time.Duration // per minProgress bytes; default 10 s
	SlowAfter    time.Duration // how long a transfer may be slow in a common place; default 3 s
	AbandonAfter time.Duration // how long a transfer goes on without a client; default 3 s
}

const (
	defaultProxyTimeout = time.Minute // security 3 and 12
	defaultStallTimeout = 10 * time.Second
	defaultSlowAfter    = 3 * time.Second
	defaultAbandonAfter = 3 * time.Second
	minProgress         = 16 << 10 // bytes per stall timeout, so that a slow server does not hold a slot for the whole timeout
)

// Proxy serves media of other servers: it fetches them, passes them on while they arrive, and keeps copies on disk. Remote servers see this
// server's address, not the viewer's. The proxy fetches only addresses that the server has signed, serves only formats that uploads can
// have, and does not decode the files.
//
// The cache is bounded in bytes and evicts the least recently used copies. It can be deleted at any time. A Proxy is safe for concurrent use.
type Proxy struct {
	ProxyConfig
	db   *store.DB
	log  *slog.Logger
	root *disk.Root

	ctx     context.Context // of background work
	stop    context.CancelFunc
	running sync.WaitGroup

	sweeping sync.Mutex    // held during a sweep
	counted  chan struct{} // closed after the first sweep

	places   *places
	clients  *limit.Slots[netip.Addr]
	failures *cache.Expiring[proxyKey, *failure]
	budget   atomic.Pointer[Budget] // nil: no limit but media_proxy.cache_size

	mu               sync.Mutex
	downloads        map[proxyKey]*download
	perDomain        limit.Gauge[string] // downloads
	cachedBytes      int64               // of copies
	downloadingBytes int64               // of running downloads
	addedDuringSweep map[string]int64    // bytes of copies that were added since the running sweep began
}

// OpenProxy opens the cache directory, which it creates if necessary, and returns the proxy. Only one process may open a directory.
func OpenProxy(db *store.DB, c ProxyConfig, log *slog.Logger) (*Proxy, error) {
	c.Timeout = cmp.Or(c.Timeout, defaultProxyTimeout)
	c.StallTimeout = cmp.Or(c.StallTimeout, defaultStallTimeout)
	c.SlowAfter = cmp.Or(c.SlowAfter, defaultSlowAfter)
	c.AbandonAfter = cmp.Or(c.AbandonAfter, defaultAbandonAfter)
	root, err := openDir(filepath.Join(c.Settings.Load().Data.Dir, "cache"))
	if err != nil {
		return nil, fmt.Errorf("open media proxy: %w", err)
	}
	p := &Proxy{
		ProxyConfig: c, db: db, log: log, root: root,
		downloads: make(map[proxyKey]*download), perDomain: make(limit.Gauge[string]), counted: make(chan struct{}),
		places: newPlaces(c.SlowAfter), clients: newClients(),
		failures: cache.NewExpiring[proxyKey, *failure](maxFailures),
	}
	p.cachedBytes = p.cacheSize() // until the first sweep has counted
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.running.Go(func() { // counts the bytes
		defer close(p.counted)
		if err := p.Sweep(p.ctx); err != nil && p.ctx.Err() == nil {
			log.Error("media cache could not be swept", "err", err)
		}
	})
	return p, nil
}

// cacheSize returns what the cache may take at most. If the proxy is disabled, the sweep removes all copies.
func (p *Proxy) cacheSize() int64 {
	if c := p.Settings.Load().MediaProxy; c.Enabled {
		return c.CacheSize
	}
	return 0
}

// Close aborts downloads and closes the directory.
func (p *Proxy) Close() error {
	p.stop()
	p.running.Wait()
	return p.root.Close()
}

// Register registers the jobs of the proxy.
func (p *Proxy) Register(w *store.Worker) {
	store.Handle(w, func(ctx context.Context, _ store.SweepProxy) error { return p.Sweep(ctx) })
	store.Handle(w, func(ctx context.Context, w store.FetchProxied) error {
		for _, url := range w.URLs {
			p.Warm(ctx, url)
		}
		return nil
	})
	store.Handle(w, p.sumBanned)
}

const (
	proxyPath    = "/proxy/"
	signatureLen = 16 // bytes of the 32 of the HMAC
)

// URL returns the proxied URL of an address. Addresses of this server and of direct hosts are returned unchanged, as are all if the proxy is
// disabled.
func (p *Proxy) URL(address string) string {
	if !p.Settings.Load().MediaProxy.Enabled {
		return address
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || p.direct(u) {
		return address
	}
	encoded := base64.RawURLEncoding.EncodeToString([]byte(address))
	proxied := p.Settings.BaseURL + proxyPath + p.sign(encoded) + "/" + encoded
	if name := fileNameHint(u); name != "" {
		proxied += "/" + name
	}
	return proxied
}

// direct returns true for addresses that are not proxied.
func (p *Proxy) direct(u *url.URL) bool {
	if strings.EqualFold(u.Host, p.Settings.WebHost) {
		return true
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	return slices.ContainsFunc(p.Settings.Load().MediaProxy.DirectHosts, func(d string) bool {
		d = strings.ToLower(d)
		return host == d || strings.HasSuffix(host, "."+d)
	})
}

// Original returns the address of a proxied URL, and any other address unchanged.
func (p *Proxy) Original(address string) string {
	if rest, ok := strings.CutPrefix(address, p.Settings.BaseURL+proxyPath); ok {
		if original, ok := p.verify(rest); ok {
			return original
		}
	}
	return address
}

func (p *Proxy) sign(encoded string) string {
	mac := hmac.New(sha256.New, p.Key)
	mac.Write([]byte(encoded))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:signatureLen])
}

// verify returns the address in SIGNATURE/ADDRESS[/NAME] if the signature is valid. It ignores the name.
func (p *Proxy) verify(rest string) (address string, ok bool) {
	signature, rest, _ := strings.Cut(rest, "/")
	encoded, _, _ := strings.Cut(rest, "/")
	if !hmac.Equal([]byte(signature), []byte(p.sign(encoded))) {
		return "", false
	}
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	return string(text), err == nil
}

// fileNameHint returns the last segment of a URL's path in characters that need no escaping, for clients that look at file extensions.
func fileNameHint(u *url.URL) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-', c == '_':
			return c
		}
		return '_'
	}, path.Base(u.Path))
	if len(name) > maxFileName {
		name = name[len(name)-maxFileName:]
	}
	return strings.Trim(name, "._")
}

// Purge removes the copies and failures of addresses, so that the next request fetches them again.
func (p *Proxy) Purge(addresses []string) error {
	var all error
	for _, a := range addresses {
		key := keyOf(p.Original(a))
		p.failures.Delete(key)
		if err := p.remove(key); err != nil {
			all = errors.Join(all, fmt.Errorf("purge media cache: %w", err))
		}
	}
	return all
}

// CachedBytes returns what the copies of addresses take on disk.
func (p *Proxy) CachedBytes(addresses ...string) (n int64) {
	for _, a := range addresses {
		if a == "" {
			continue
		}
		if info, err := p.root.Stat(keyOf(p.Original(a)).file()); err == nil {
			n += diskUsage(info.Size())
		}
	}
	return n
}

// Warm starts to fetch an address in the background, ahead of the first request. It does not report failures.
func (p *Proxy) Warm(ctx context.Context, address string) {
	u, err := url.Parse(address)
	if !p.Settings.Load().MediaProxy.Enabled || err != nil || p.direct(u) {
		return
	}
	if banned, err := p.db.MediaBanned(ctx, address); banned || err != nil {
		return
	}
	key, now := keyOf(address), time.Now()
	if old, err := p.openCopy(key, now); old != nil || err != nil {
		if old != nil {
			old.Close()
		}
		return
	}
	d, fresh, err := p.startOrJoin(key, address, now)
	switch {
	case fresh != nil:
		fresh.Close()
	case err == nil:
		p.mu.Lock()
		d.background = true
		p.mu.Unlock()
		p.release(d)
	}
}
