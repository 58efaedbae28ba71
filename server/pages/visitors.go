package pages

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc/internal/cache"
	"svc/internal/config"
	"svc/server/rest"
	"svc/server/web"
)

// maxVisitorBytes bounds the pages and feeds for visitors that are kept, each as it is and compressed.
const maxVisitorBytes = 16 << 20

// version identifies everything that a page for visitors is made of: 128 bits of a hash, whose seeds are those of the process.
type version [16]byte

// digest computes a version.
type digest struct {
	halves [2]maphash.Hash
	buffer []byte
}

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func newDigest() *digest {
	d := new(digest)
	for i := range d.halves {
		d.halves[i].SetSeed(seeds[i])
	}
	return d
}

// add adds a text with its length, so that texts in sequence cannot be confused with others.
func (d *digest) add(text []byte) {
	for i := range d.halves {
		maphash.WriteComparable(&d.halves[i], len(text))
		d.halves[i].Write(text)
	}
}

// value adds what an endpoint returned, as the JSON that clients are sent.
func (d *digest) value(value any) (err error) {
	if d.buffer, err = rest.AppendJSON(d.buffer[:0], value); err == nil {
		d.add(d.buffer)
	}
	return err
}

func (d *digest) version() (v version) {
	for i := range d.halves {
		binary.LittleEndian.PutUint64(v[8*i:], d.halves[i].Sum64())
	}
	return v
}

func newVisitorCache() *cache.Cache[version, web.VisitorPage] {
	return cache.NewWeighted[version](maxVisitorBytes, func(d web.VisitorPage) int { return len(d.Body) + len(d.Gzip) + cache.EntryBytes })
}

// visitorRoutes are the pages for visitors, and those of posts and accounts, below /web.
func (h *Handlers) visitorRoutes() rest.Routes {
	routes := make(rest.Routes)
	for path, page := range h.Public() {
		routes["GET /web"+path] = rest.Route{Access: rest.Browser.Limit(rest.ApiBucket), Handle: page}
	}
	return routes
}

// Public returns the pages that stand both at their own paths and below /web, by their path.
func (h *Handlers) Public() map[string]rest.Handler {
	return map[string]rest.Handler{
		"/about":                     h.page((*page).about),
		"/about/api":                 h.page((*page).api),
		"/terms":                     h.page((*page).terms),
		"/privacy":                   h.page((*page).privacy),
		"/public":                    h.page((*page).publicTimeline),
		"/tags/:name":                h.page((*page).tag),
		"/@:nickname":                h.page(profileTab(postsTab)),
		"/@:nickname/with_replies":   h.page(profileTab(repliesTab)),
		"/@:nickname/media":          h.page(profileTab(mediaTab)),
		"/@:nickname/followers":      h.page((*page).followers),
		"/@:nickname/following":      h.page((*page).following),
		"/@:nickname/:id":            h.page((*page).thread),
		"/@:nickname/:id/favourites": h.page((*page).favouriters),
		"/@:nickname/:id/boosts":     h.page((*page).boosters),
		"/@:nickname/:id/history":    h.page((*page).history),
		"/collections/:id":           h.page((*page).collection),
	}
}

// fetch calls an endpoint for what the page shows. The page of a visitor depends on nothing but these answers, its address, the language and
// the settings.
func (p *page) fetch(path string, arguments url.Values) (*rest.Answer, error) {
	a, err := p.Call("GET", path, arguments)
	if err == nil && p.seen != nil {
		p.seen.add([]byte(a.Header.Get("Link")))
		err = p.seen.value(a.Value)
	}
	return a, err
}

// keep shows a page. A visitor's is kept until something that was fetched for it changes; build makes it, and fetches nothing.
func (p *page) keep(build func() (web.Content, error)) (any, error) {
	if p.seen == nil {
		content, err := build()
		if err != nil {
			return nil, err
		}
		return p.show(http.StatusOK, content)
	}
	return p.kept(web.HTMLType, func() ([]byte, error) {
		content, err := build()
		if err != nil {
			return nil, err
		}
		return p.Pages.Render(p.frame, content)
	})
}

// kept answers a visitor with what build makes of the answers that were fetched.
func (p *page) kept(contentType string, build func() ([]byte, error)) (any, error) {
	v := p.visit()
	p.seen.add([]byte(strings.Join([]string{contentType, v.path, v.language, v.base, v.done}, "\x00")))
	c := p.Settings.Load()
	p.seen.add(fmt.Appendf(p.Pages.AppendVersion(nil), "%v %v %s %s", c.Web, c.Federation.Enabled, c.Instance.SourceURL, p.OAuth.SignUpURL("")))
	key := p.seen.version()
	d, err := p.visitors.Load(key, func() (web.VisitorPage, error) {
		body, err := build()
		return web.VisitorPage{Type: contentType, Tag: hex.EncodeToString(key[:]), Body: body, Gzip: rest.Gzip(nil, body)}, err
	})
	if err != nil {
		return nil, err
	}
	p.version = key
	return p.Pages.Serve(d), nil
}

// visit is everything of a request on which the page of a visitor depends.
type visit struct {
	path           string // with the cursors of its list
	language, base string
	done           string
}

// visit returns what the page of a visitor depends on. Other parameters of the query, which other sites add to links, do not change it.
func (p *page) visit() visit {
	v := visit{path: p.URL.EscapedPath(), language: p.frame.Messages.Language, base: p.frame.Base, done: p.frame.Done}
	if p.URL.RawQuery != "" {
		v.path = p.link(p.URL.Query())
	}
	return v
}

// moment is the state of the server at which a page was made.
type moment struct {
	commits  uint64
	settings *config.Config
	time     time.Time
}

// maxVisitAge is how long a page is current without a commit: polls end, and operators change files.
const maxVisitAge = 2 * time.Second

// shows returns true if a page that was made at m is current now.
func (m moment) shows(now moment) bool {
	age := now.time.Sub(m.time)
	return m.commits == now.commits && m.settings == now.settings && 0 <= age && age < maxVisitAge
}

// madePage is the version of a page that visitors were sent.
type madePage struct {
	version version
	at      moment
}

const (
	maxVisits    = 10_000
	maxVisitPath = 500 // bytes; pages with longer paths are made anew
)

// current answers a visitor with the page of an earlier request if nothing was stored since then, else with that of show.
func (p *page) current(show func() (any, error)) (any, error) {
	v := p.visit()
	if p.seen == nil || p.Method == http.MethodPost || len(v.path) > maxVisitPath {
		return show()
	}
	if made, ok := p.visits.Get(v); ok && made.at.shows(p.began) {
		if d, ok := p.visitors.Get(made.version); ok {
			return p.Pages.Serve(d), nil
		}
	}
	generation := p.visits.Generation()
	value, err := show()
	if p.version != (version{}) && err == nil {
		p.visits.Put(v, madePage{p.version, p.began}, generation)
	}
	return value, err
}
