package rest

import (
	"net/url"
	"strconv"
	"strings"

	"svc/store"
)

// Page is the part of a list that a client asks for.
type Page struct {
	store.Page
	Offset int // in lists that are paged by number

	// PrevBySinceID makes the link to the previous page use since_id instead of min_id, as in lists of accounts.
	PrevBySinceID bool
}

const (
	beforeFirstID = -1      // a MaxID that no id is below
	maxOffset     = 100_000 // because the rows before an offset are read
)

// Page returns the page that the request asks for. The limit is standard by default, and at most maximum, twice the standard
// by default. An invalid limit is ignored. A cursor that is not an id gives an empty page.
func (r *Request) Page(standard int, maximum ...int) Page {
	p := Page{Page: store.Page{Limit: standard}}
	limit := 2 * standard
	if len(maximum) > 0 {
		limit = maximum[0]
	}
	r.observe(Observation{Standard: standard, Maximum: limit})
	if n, err := strconv.Atoi(r.textParam("limit")); err == nil && n > 0 {
		p.Limit = min(n, limit)
	}
	if n, err := strconv.Atoi(r.textParam("offset")); err == nil && n > 0 {
		p.Offset = min(n, maxOffset)
	}
	p.cursor(&p.SinceID, r.cursorParam("since_id"))
	p.cursor(&p.MinID, r.cursorParam("min_id"))
	if text := r.cursorParam("max_id"); text != "" {
		if p.cursor(&p.MaxID, text); p.MaxID == 0 {
			p.MaxID = beforeFirstID
		}
	}
	return p
}

// cursorParam returns the text of a cursor, "" if it is absent or the "undefined" of a JavaScript client.
func (r *Request) cursorParam(name string) string {
	text := r.textParam(name)
	if text == "undefined" {
		return ""
	}
	return text
}

func (p *Page) cursor(at *int64, text string) {
	if text == "" {
		return
	}
	position, ok := store.ParsePosition(text)
	if !ok {
		p.MaxID = beforeFirstID
		return
	}
	*at = position
}

// LinkPage sets the Link header of a list of n entries; cursor returns the cursor of the i-th. The links keep all parameters of the
// query except cursors and the token. A page that is not full has no next one, and an empty page has no links.
func (r *Request) LinkPage(p Page, n int, cursor func(i int) string) { r.LinkPart(p, n, cursor, "") }

// LinkPart is LinkPage for a list that goes on after a position although the page is not full, because its scan budget was spent
// (store.Part). next is the cursor of that position, "" if there is none. Then even an empty page has a link, to the older or, with min_id,
// to the newer entries.
func (r *Request) LinkPart(p Page, n int, cursor func(i int) string, next string) {
	if n == 0 && next == "" {
		return
	}
	kept, _ := url.ParseQuery(r.URL.RawQuery) // ignores malformed pairs
	for _, name := range []string{"max_id", "since_id", "min_id", tokenParam} {
		delete(kept, name)
	}
	target := r.server.settings.BaseURL + linkEscape.Replace(r.URL.EscapedPath()) + "?"
	if len(kept) > 0 {
		target += kept.Encode() + "&"
	}
	prev := "min_id="
	if p.PrevBySinceID {
		prev = "since_id="
	}
	var newest, oldest string // cursors
	if n > 0 {
		newest = cursor(0)
	}
	if n >= p.Limit {
		oldest = cursor(n - 1)
	}
	switch {
	case next == "":
	case p.MinID != 0:
		newest = next
	default:
		oldest = next
	}
	var links []string
	if oldest != "" {
		links = append(links, "<"+target+"max_id="+url.QueryEscape(oldest)+`>; rel="next"`)
	}
	if newest != "" {
		links = append(links, "<"+target+prev+url.QueryEscape(newest)+`>; rel="prev"`)
	}
	r.header.Set("Link", strings.Join(links, ", "))
}

// linkEscape encodes the characters that clients take for the end of a link.
var linkEscape = strings.NewReplacer(",", "%2C", ";", "%3B")
