package pages_test

import (
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"svc/app/apptest"
)

// maxWalked bounds a walk over the pages.
const maxWalked = 800

// walk is a walk over all pages that links lead to, each address without its query once for each set of names in that.
type walk struct {
	browser *apptest.Browser
	who     string
	seen    map[string]bool
	queue   []string
}

// TestGermanIsGerman opens every page that links lead to in German, as a visitor, a user and an admin, with rows of each kind on them, and looks
// for English words in what the server writes.
func TestGermanIsGerman(t *testing.T) {
	w := newGermanWorld(t)
	for who, browser := range map[string]*apptest.Browser{"a visitor": w.srv.Browser(), "a user": w.user.SignedIn(), "an admin": w.admin.SignedIn()} {
		t.Run(who, func(t *testing.T) {
			browser.T, browser.Language, browser.Accept = t, "de", "text/html"
			walk := &walk{browser: browser, who: who, seen: make(map[string]bool)}
			walk.add("/", "/web", "/about", "/terms", "/privacy", "/web/sign_in", "/auth/sign_up", "/auth/password", "/web/offline", "/frontends", "/web/shortcuts", "/no/such/page")
			walk.add(w.paths...)
			if who != "a visitor" { // it is the same for all, and long
				walk.seen["/about/api"] = true
			}
			texts := make(map[string]bool)
			for len(walk.queue) > 0 {
				path := walk.queue[0]
				walk.queue = walk.queue[1:]
				page := browser.Get(path)
				if !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") {
					continue
				}
				walk.addLinks(page)
				for _, text := range englishOn(page) {
					if !texts[text] {
						texts[text] = true
						t.Errorf("%s (%d): %s", path, page.Status, text)
					}
				}
			}
			t.Logf("%s: %d pages", who, len(walk.seen))
			if n := len(walk.seen); n < 15 || n >= maxWalked || who == "an admin" && n < 300 {
				t.Errorf("%d pages", n)
			}
		})
	}
}

// add adds paths that were not walked yet.
func (w *walk) add(paths ...string) {
	for _, path := range paths {
		u, err := url.Parse(path)
		if err != nil || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || len(w.seen) >= maxWalked {
			continue
		}
		key := u.Path
		for name, values := range u.Query() {
			if name == "max_id" || name == "min_id" || name == "since_id" { // a page of the same list
				return
			}
			key += " " + name
			if name == "show" || name == "view" || name == "status" || name == "resolved" || name == "done" {
				key += "=" + values[0]
			}
		}
		if !w.seen[key] {
			w.seen[key] = true
			w.queue = append(w.queue, path)
		}
	}
}

// addLinks adds the pages that a page links to.
func (w *walk) addLinks(page *apptest.Page) {
	doc, err := html.Parse(strings.NewReader(string(page.Body)))
	if err != nil {
		w.browser.T.Fatal(err)
	}
	if to := page.Header.Get("Location"); to != "" {
		w.add(strings.TrimPrefix(to, w.browser.BaseURL))
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Data != "a" {
			continue
		}
		for _, a := range n.Attr {
			if a.Key == "href" && !strings.HasPrefix(a.Val, "/web/exports/") && !strings.HasPrefix(a.Val, "/api/") {
				path, _, _ := strings.Cut(strings.TrimPrefix(a.Val, w.browser.BaseURL), "#")
				w.add(path)
			}
		}
	}
}
