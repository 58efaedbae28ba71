// Package entity builds the JSON entities of the client API from rows, for one viewer. Builders take whole pages and load what
// a page needs in a fixed number of queries. They write nothing, and do not decide who may see a row: callers have done that.
//
// An account, status or poll is the same for most viewers. It is rendered once and cached as a document, in a cache bounded by its bytes;
// AppendJSON fills in the members that depend on the viewer (slot). A commit that changes a row drops its documents before the change is
// answered.
//
// The name of the service is part of some keys and values ("svc" by default). The members of the reference API and those under the
// name are two structs, joined by renderer.extended.
package entity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"svc/emoji"
	"svc/internal/cache"
	"svc/internal/config"
	"svc/policy"
	"svc/store"
)

// Config is what a Builder needs to know about the server.
type Config struct {
	Settings *config.Live

	HasDocument func(name string) bool // of the instance; nil: none

	// ProxyURL returns the URL of a remote file at the media proxy; nil: the remote URL.
	ProxyURL func(address string) string

	// The content of the instance entities.
	Version        string                // of this program, as in 1.2.3; "": 0.0.0
	VAPIDPublicKey string                // for push subscriptions; "" if there are none
	Federation     func() map[string]any // returns public facts about federation; nil: only whether it is enabled

	// Restrictions returns what the policies do with the account of a handle's domain and an ActivityPub id; nil: nothing.
	Restrictions func(domain, id string) policy.Restrictions
}

// renderer renders single rows. It needs neither the database nor the caches.
type renderer struct {
	Config
	emojis *emoji.Packs
}

// Builder builds entities. Its methods may be called from any goroutine.
type Builder struct {
	renderer
	db       *store.DB
	accounts *cache.Cache[store.AccountID, Account]
	statuses *cache.Cache[store.StatusID, *cachedStatus]
	apps     *cache.Cache[store.AppID, *Application]
}

// appCacheBytes bounds the cache of the apps of statuses to some hundred.
const appCacheBytes = 128 << 10

// New makes a builder that follows the changes of db and of the emoji packs. Call it before they are used.
func New(db *store.DB, emojis *emoji.Packs, c Config) *Builder {
	if c.Version == "" {
		c.Version = "0.0.0"
	}
	size := int(c.Settings.Load().Cache.RenderedBytes)
	b := &Builder{
		renderer: renderer{c, emojis},
		db:       db,
		accounts: cache.NewWeighted[store.AccountID](size/4, Account.size),
		statuses: cache.NewWeighted[store.StatusID](size/4*3, (*cachedStatus).size),
		apps:     cache.NewWeighted[store.AppID](appCacheBytes, (*Application).size),
	}
	db.Subscribe(b.invalidate)
	emojis.Subscribe(b.InvalidateAll)
	return b
}

// invalidate drops cached renderings of changed rows.
func (b *Builder) invalidate(events []store.Event) {
	for _, e := range events {
		c, ok := e.(store.RowsChanged)
		if !ok {
			continue
		}
		if c.All {
			b.InvalidateAll()
			continue
		}
		b.accounts.Drop(c.Accounts...)
		b.statuses.Drop(c.Statuses...)
		for id, counters := range c.Counters {
			b.accounts.Replace(id, func(a Account) Account { return a.withCounters(counters) })
		}
	}
}

// InvalidateAll drops all rendered entities.
func (b *Builder) InvalidateAll() {
	b.accounts.Clear()
	b.statuses.Clear()
	b.apps.Clear()
}

// Appender is an entity that renders itself.
type Appender interface {
	AppendJSON(dst []byte) []byte
}

// List is a page of entities.
type List[E Appender] []E

// AppendJSON renders the list as a JSON array.
func (l List[E]) AppendJSON(dst []byte) []byte {
	dst = append(dst, '[')
	for i, e := range l {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.AppendJSON(dst)
	}
	return append(dst, ']')
}

// JSONSize returns about how many bytes of JSON the list has, without entities that do not know theirs.
func (l List[E]) JSONSize() int {
	n := len("[]") + len(l)
	for _, e := range l {
		if s, ok := any(e).(interface{ JSONSize() int }); ok {
			n += s.JSONSize()
		}
	}
	return n
}

// MarshalJSON is AppendJSON for lists inside of other entities.
func (l List[E]) MarshalJSON() ([]byte, error) { return l.AppendJSON(nil), nil }

// object is JSON that is rendered already.
type object json.RawMessage

// AppendJSON copies the object.
func (o object) AppendJSON(dst []byte) []byte { return append(dst, o...) }

// JSONSize returns the length of the object.
func (o object) JSONSize() int { return len(o) }

// MarshalJSON returns the object.
func (o object) MarshalJSON() ([]byte, error) { return o, nil }

// extended returns the object of base with one more member: the extension, under the name of the service.
func (r *renderer) extended(base, extension any) (object, error) {
	members, err := marshalMembers(base)
	if err != nil {
		return nil, err
	}
	more, err := marshal(extension)
	if err != nil {
		return nil, err
	}
	dst := append([]byte{'{'}, members...)
	dst = r.appendName(append(dst, ','))
	dst = append(dst, more...)
	return append(dst, '}'), nil
}

// appendName appends the name of the service as a key.
func (r *renderer) appendName(dst []byte) []byte {
	dst = append(dst, '"')
	dst = append(dst, r.Settings.Load().API.Name...)
	return append(dst, `":`...)
}

// marshal encodes without escaping <, > and &.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("render %T: %w", v, err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), nil
}

// marshalMembers encodes a struct without its braces.
func marshalMembers(v any) ([]byte, error) {
	b, err := marshal(v)
	if err != nil {
		return nil, err
	}
	return b[1 : len(b)-1], nil
}

// appendValue appends a value of this package, which cannot fail to encode.
func appendValue(dst []byte, v any) []byte {
	b, err := marshal(v)
	if err != nil {
		b = []byte("null")
	}
	return append(dst, b...)
}

// appendQuoted appends a text that needs no escapes.
func appendQuoted(dst []byte, text string) []byte {
	return append(append(append(dst, '"'), text...), '"')
}

func appendBool(dst []byte, key string, v bool) []byte {
	return strconv.AppendBool(append(dst, key...), v)
}

// byID indexes rows.
func byID[K comparable, T any](rows []T, id func(T) K) map[K]T {
	m := make(map[K]T, len(rows))
	for _, r := range rows {
		m[id(r)] = r
	}
	return m
}

// idOf returns the viewer's id, 0 if it is anonymous.
func idOf(viewer *store.Account) store.AccountID {
	if viewer == nil {
		return 0
	}
	return viewer.ID
}

// Map renders rows.
func Map[R, E any](rows []R, render func(R) E) []E {
	list := make([]E, 0, len(rows))
	for _, row := range rows {
		list = append(list, render(row))
	}
	return list
}

// orEmpty returns an empty list for nil, so that its JSON is [].
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// unique returns the elements without repetitions, in order of first appearance.
func unique[T comparable](list []T) []T {
	seen := make(map[T]bool, len(list))
	out := list[:0:0]
	for _, v := range list {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// CacheStats returns the state of the caches by name.
func (b *Builder) CacheStats() map[string]cache.Stats {
	return map[string]cache.Stats{"rendered_accounts": b.accounts.Stats(), "rendered_statuses": b.statuses.Stats(), "rendered_apps": b.apps.Stats()}
}

// restrictionsOf returns what the policies do with a remote account or status, which they may not have done when it was stored.
func (r *renderer) restrictionsOf(domain, id string) policy.Restrictions {
	if domain == "" || r.Restrictions == nil {
		return policy.Restrictions{}
	}
	return r.Restrictions(domain, id)
}
