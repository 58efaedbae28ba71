package web

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/microcosm-cc/bluemonday"
)

// VisitorPage is what visitors are sent: a page or a feed. Browsers and proxies ask by its tag whether it has changed.
type VisitorPage struct {
	Type string // the content type
	Tag  string // for the header ETag, without quotes
	Body []byte
}

// HTMLType is the content type of pages.
const HTMLType = "text/html; charset=utf-8"

// AppendVersion appends what all pages show of the server, so that a page that was rendered with other settings is told apart.
func (p *Pages) AppendVersion(dst []byte) []byte { return fmt.Appendf(dst, "%+v", p.site()) }

// Serve returns a handler that serves a page or a feed.
func (p *Pages) Serve(d VisitorPage) http.Handler { return servedPage{d, *p.policy.Load()} }

type servedPage struct {
	VisitorPage
	policy string
}

func (d servedPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", d.Type)
	h.Set("Content-Security-Policy", d.policy)
	h.Set("Cache-Control", "no-cache") // kept, but an edit and a deletion are seen by the next request
	h.Add("Vary", "Cookie, Accept-Language")
	h.Set("ETag", `"`+d.Tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(d.Body))
}

// documentPolicy admits what documents of the instance need. Unlike posts they have headings, tables and pictures.
var documentPolicy = newDocumentPolicy()

func newDocumentPolicy() *bluemonday.Policy {
	p := bluemonday.UGCPolicy()
	p.SkipElementsContent("title", "style", "script")
	p.RequireNoFollowOnLinks(false)
	return p
}

// demote makes headings of the first level, of which a page has one, those of the second.
var demote = strings.NewReplacer("<h1", "<h2", "</h1>", "</h2>")

// InstanceHTML prepares HTML that the staff of the server wrote.
func InstanceHTML(source string) template.HTML {
	return template.HTML(demote.Replace(documentPolicy.Sanitize(source)))
}
