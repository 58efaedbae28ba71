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
func (r *Request) LinkPage(p Page, n int, cursor func(i int) string) {
	if n == 0 {
		return
	}
	kept, _ := url.ParseQuery(r.URL.RawQuery) // ignores malformed pairs
	for _, name := range []string{"max_id", "since_id", "min_id", tokenParam} {
		delete(kept, name)
	}
	target := r.server.baseURL + linkEscape.Replace(r.URL.EscapedPath()) + "?"
	if len(kept) > 0 {
		target += kept.Encode() + "&"
	}
	prev := "min_id="
	if p.PrevBySinceID {
		prev = "since_id="
	}
	link := "<" + target + prev + url.QueryEscape(cursor(0)) + `>; rel="prev"`
	if n >= p.Limit {
		link = "<" + target + "max_id=" + url.QueryEscape(cursor(n-1)) + `>; rel="next", ` + link
	}
	r.header.Set("Link", link)
}

// linkEscape encodes the characters that clients take for the end of a link.
var linkEscape = strings.NewReplacer(",", "%2C", ";", "%3B")
