package media

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"svc/internal/config"
	"svc/internal/fetch"
	"svc/store"
)

// ProxyConfig is what a Proxy goes by. What is 0 of times has a standard.
type ProxyConfig struct {
	Dir         string
	BaseURL     string // https://example.org, without a slash at the end
	Key         []byte // by which addresses are signed
	Enabled     bool
	CacheSize   int64
	MaxFile     int64
	DirectHosts []string // files there, and on hosts below them, are shown from where they are

	Fetch        *fetch.Client // by which files are fetched; how many at a time is up to it
	Timeout      time.Duration // for one file, 60 s
	StallTimeout time.Duration // for each further piece of it, 10 s
}

// The standard times (security 3 and 12), and the least that has to come within the patience: a server that
// trickles does not hold one of the few places for all of the time.
const (
	defaultProxyTimeout = time.Minute
	defaultStallTimeout = 10 * time.Second
	minProgress         = 16 << 10
)

// ProxyFromSettings returns what settings say of the proxy.
func ProxyFromSettings(c *config.Config) ProxyConfig {
	return ProxyConfig{
		Dir:         filepath.Join(c.Data.Dir, "cache"),
		BaseURL:     c.URL().String(),
		Enabled:     c.MediaProxy.Enabled,
		CacheSize:   c.MediaProxy.CacheSize,
		MaxFile:     c.MediaProxy.MaxFile,
		DirectHosts: c.MediaProxy.DirectHosts,
	}
}

// Proxy shows files of other servers: it fetches them, passes them on while they come, and keeps a copy on disk for the next who
// looks. Those servers see this one, never the person who looks, and nothing of theirs reaches people but files of the types that
// uploads can have. They are not decoded. Only addresses are fetched that the server has signed itself.
//
// What is kept is bounded in bytes, what has not been looked at for longest leaves first, and losing all of it does no harm. Its
// methods may be called from any goroutine.
type Proxy struct {
	ProxyConfig
	db   *store.DB
	log  *slog.Logger
	root *os.Root
	own  string // host of BaseURL

	ctx     context.Context // of what goes on in the background
	stop    context.CancelFunc
	running sync.WaitGroup

	sweeping sync.Mutex // held while the cache is gone through

	mu               sync.Mutex
	downloads        map[proxyKey]*download
	failures         map[proxyKey]*failure
	cachedBytes      int64            // bytes of the cache
	downloadingBytes int64            // bytes of files that are still being fetched
	addedDuringSweep map[string]int64 // copies that have joined the cache since a sweep began to count it, and their bytes
}

// OpenProxy returns the proxy that keeps its copies in a directory, which is created if need be. Only one process may have it open.
func OpenProxy(db *store.DB, c ProxyConfig, log *slog.Logger) (*Proxy, error) {
	if c.Timeout == 0 {
		c.Timeout = defaultProxyTimeout
	}
	if c.StallTimeout == 0 {
		c.StallTimeout = defaultStallTimeout
	}
	if !c.Enabled {
		c.CacheSize = 0 // what it kept when it was goes
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("open media proxy: %w", err)
	}
	root, err := openProxyDir(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("open media proxy: %w", err)
	}
	p := &Proxy{
		ProxyConfig: c, db: db, log: log, root: root, own: strings.ToLower(base.Host),
		downloads: make(map[proxyKey]*download), failures: make(map[proxyKey]*failure),
		cachedBytes: c.CacheSize, // until it is counted
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.running.Go(func() { // to know how much there is
		if err := p.Sweep(p.ctx); err != nil && p.ctx.Err() == nil {
			log.Error("cannot go through the media cache", "err", err)
		}
	})
	return p, nil
}

// openProxyDir opens the directory and removes what an interrupted process left half-written.
func openProxyDir(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err = root.RemoveAll(tempDir); err == nil {
		err = root.Mkdir(tempDir, 0o700)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// Close ends what is being fetched and releases the directory.
func (p *Proxy) Close() error {
	p.stop()
	p.running.Wait()
	return p.root.Close()
}

// Register tells the worker which jobs the proxy does.
func (p *Proxy) Register(w *store.Worker) {
	store.HandleRecurring(w, 24*time.Hour, func(ctx context.Context, _ store.SweepProxy) error { return p.Sweep(ctx) })
	store.Handle(w, func(ctx context.Context, w store.FetchProxied) error {
		for _, url := range w.URLs {
			p.Warm(ctx, url)
		}
		return nil
	})
}

const (
	proxyPath    = "/proxy/"
	signatureLen = 16 // bytes of an HMAC of 32, more than can be guessed
)

// URL returns the address under which people are shown what is at an address: one of ours. Addresses that are ours already, and
// those of hosts that are shown directly, stay as they are, and all do if the proxy is off.
func (p *Proxy) URL(address string) string {
	if !p.Enabled {
		return address
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || p.direct(u) {
		return address
	}
	encoded := base64.RawURLEncoding.EncodeToString([]byte(address))
	shown := p.BaseURL + proxyPath + p.sign(encoded) + "/" + encoded
	if name := fileNameHint(u); name != "" {
		shown += "/" + name
	}
	return shown
}

func (p *Proxy) direct(u *url.URL) bool {
	if strings.EqualFold(u.Host, p.own) {
		return true
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	for _, d := range p.DirectHosts {
		d = strings.ToLower(d)
		if host == d || strings.HasSuffix(host, "."+d) {
			return true
		}
	}
	return false
}

// Original returns the address of which URL made this one; one that it did not make, as it is.
func (p *Proxy) Original(address string) string {
	if rest, ok := strings.CutPrefix(address, p.BaseURL+proxyPath); ok {
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

// verify returns the address in SIGNATURE/ADDRESS, if it is one that was signed here. What follows is a name for people.
func (p *Proxy) verify(rest string) (address string, ok bool) {
	signature, rest, _ := strings.Cut(rest, "/")
	encoded, _, _ := strings.Cut(rest, "/")
	if !hmac.Equal([]byte(signature), []byte(p.sign(encoded))) {
		return "", false
	}
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	return string(text), err == nil
}

// fileNameHint returns the last part of an address's path in a form that needs no escaping, for apps that go by names. It means
// nothing here.
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

// Ban has the proxy never show what is at these addresses, and removes its copies. They may be written as they are, or as URL
// shows them.
func (p *Proxy) Ban(ctx context.Context, addresses []string) error {
	err := p.db.Update(ctx, func(tx *store.Tx) error {
		for _, a := range addresses {
			if err := tx.AddMediaBan(ctx, p.Original(a)); err != nil {
				return err
			}
		}
		n, err := tx.CountMediaBans(ctx)
		if err == nil && n > store.MaxMediaBans {
			err = errTooManyBans
		}
		return err
	})
	if err != nil {
		return err
	}
	return p.Purge(addresses)
}

// Unban ends the bans of these addresses. Those that are not banned are no error.
func (p *Proxy) Unban(ctx context.Context, addresses []string) error {
	return p.db.Update(ctx, func(tx *store.Tx) error {
		for _, a := range addresses {
			if err := tx.RemoveMediaBan(ctx, p.Original(a)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Banned returns the addresses that are banned, the latest first: those that contain query, whatever its case.
func (p *Proxy) Banned(ctx context.Context, query string) ([]string, error) {
	bans, err := p.db.MediaBans(ctx)
	if err != nil {
		return nil, err
	}
	query = strings.ToLower(p.Original(query))
	addresses := []string{}
	for _, b := range bans {
		if strings.Contains(strings.ToLower(b.Address), query) {
			addresses = append(addresses, b.Address)
		}
	}
	return addresses, nil
}

// Purge removes the copies of what is at these addresses, so that the next who looks has them fetched again.
func (p *Proxy) Purge(addresses []string) error {
	var all error
	for _, a := range addresses {
		key := keyOf(p.Original(a))
		p.mu.Lock()
		delete(p.failures, key)
		p.mu.Unlock()
		if err := p.remove(key); err != nil {
			all = errors.Join(all, fmt.Errorf("purge media cache: %w", err))
		}
	}
	return all
}

// Warm has what is at an address fetched before anybody looks, without waiting for it. What cannot be fetched now is left to who does.
func (p *Proxy) Warm(ctx context.Context, address string) {
	u, err := url.Parse(address)
	if !p.Enabled || err != nil || p.direct(u) {
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
	f, fresh, err := p.startOrJoin(key, address, now)
	switch {
	case fresh != nil:
		fresh.Close()
	case err == nil:
		p.release(f)
	}
}
