package web

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/microcosm-cc/bluemonday"

	"svc/server/rest"
)

// VisitorPage is what visitors are sent: a page or a feed. Browsers and proxies ask by its tag whether it has changed.
type VisitorPage struct {
	Type string // the content type
	Tag  string // for the header ETag, without quotes
	Body []byte
	Gzip []byte // the body, compressed; nil if that is not worth it
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
	h.Add("Vary", "Cookie, Accept-Language, Accept-Encoding")
	body, tag := d.Body, `"`+d.Tag+`"`
	if d.Gzip != nil && r.Header["Range"] == nil && rest.AcceptsGzip(r.Header) {
		body, tag = d.Gzip, "W/"+tag // the same page, but not the same bytes (RFC 9110, 8.8.3.3)
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	h.Set("ETag", tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
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
