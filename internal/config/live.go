package config

import (
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
)

// Live is the settings of a running server. Administrators can change most of them while it runs: parts that follow such changes call
// Load for each use, or derive values with a View.
//
// Settings that need a restart (Setting.Restart) have the same values in all snapshots of one run.
type Live struct {
	Site
	current atomic.Pointer[Config]
}

// Site is the settings that are the same for as long as a server runs, in the form in which most code needs them.
type Site struct {
	BaseURL       string // https://example.org, without a slash at the end
	Host          string // of handles, with port unless it is the default
	WebHost       string // of ids and other URLs, likewise; mostly the same
	AllowLoopback bool   // federation.allow_loopback: http and loopback addresses
}

// IsOwnHost returns whether a host is one of this server: that of handles, or that of ids. Other servers name local accounts by both.
func (s *Site) IsOwnHost(host string) bool {
	return strings.EqualFold(host, s.Host) || strings.EqualFold(host, s.WebHost)
}

// NewLive returns a Live with its first settings.
func NewLive(c *Config) *Live {
	l := &Live{Site: Site{c.URL().String(), c.Host(), c.WebHost(), c.Federation.AllowLoopback}}
	l.Store(c)
	return l
}

// Load returns the settings as they are now. Nobody may change them.
func (l *Live) Load() *Config { return l.current.Load() }

// Store replaces the settings. c must not be changed later.
func (l *Live) Store(c *Config) { l.current.Store(c) }

// View is a value that is derived from settings. It is derived again when it is needed after they have changed.
type View[T any] struct {
	live   *Live
	derive func(*Config) T
	mu     sync.Mutex // held while deriving
	last   atomic.Pointer[derived[T]]
}

type derived[T any] struct {
	from  *Config
	value T
}

// NewView returns a View of settings and derives its first value.
func NewView[T any](live *Live, derive func(*Config) T) *View[T] {
	v := &View[T]{live: live, derive: derive}
	v.Load()
	return v
}

// Load returns the value that belongs to the current settings.
func (v *View[T]) Load() *T {
	c := v.live.Load()
	if d := v.last.Load(); d != nil && d.from == c {
		return &d.value
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	c = v.live.Load()
	if d := v.last.Load(); d != nil && d.from == c {
		return &d.value
	}
	d := &derived[T]{c, v.derive(c)}
	v.last.Store(d)
	return &d.value
}

// Differences returns the names of the settings that differ.
func Differences(a, b *Config) (names []string) {
	others := b.settings()
	for i, s := range a.settings() {
		if !reflect.DeepEqual(s.field.get(), others[i].field.get()) {
			names = append(names, s.Name())
		}
	}
	return names
}

// Reload returns a copy of c that has those settings of next that take effect at once, and the names of the settings that differ and
// need a restart. Both must be valid.
func (c *Config) Reload(next *Config) (now *Config, restart []string) {
	copied := *c
	now = &copied
	wanted := next.settings()
	for i, s := range now.settings() {
		value := wanted[i].field.get()
		switch {
		case reflect.DeepEqual(s.field.get(), value):
		case s.Restart:
			restart = append(restart, s.Name())
		default:
			s.field.set(value) // cannot fail: next is valid
		}
	}
	return now, restart
}
