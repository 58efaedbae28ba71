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
	Offset int // of lists that are paged by number

	// PrevBySinceID has the link to the previous page say since_id instead of min_id, as is usual in lists of accounts.
	PrevBySinceID bool
}

const (
	beforeFirstID = -1      // a MaxID that nothing is older than
	maxOffset     = 100_000 // a list that is counted through costs more and more
)

// Page returns the page that the request asks for. A limit above most is most, and most is twice the standard if it is not
// given; a limit that makes no sense is the standard. A cursor that is no id of any kind leads to a page with nothing on it.
func (r *Request) Page(standard int, most ...int) Page {
	p := Page{Page: store.Page{Limit: standard}}
	limit := 2 * standard
	if len(most) > 0 {
		limit = most[0]
	}
	if n, err := strconv.Atoi(r.textParam("limit")); err == nil && n > 0 {
		p.Limit = min(n, limit)
	}
	if n, err := strconv.Atoi(r.textParam("offset")); err == nil && n > 0 {
		p.Offset = min(n, maxOffset)
	}
	p.cursor(&p.SinceID, r.textParam("since_id"))
	p.cursor(&p.MinID, r.textParam("min_id"))
	if text := r.textParam("max_id"); text != "" {
		if p.cursor(&p.MaxID, text); p.MaxID == 0 {
			p.MaxID = beforeFirstID
		}
	}
	return p
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

// LinkPage sets the Link header of a list with n entries, of which cursor returns the cursor of the i-th. All parameters of the
// request are kept, apart from the cursors and the token. A page that is not full has no next one, and an empty page no links.
func (r *Request) LinkPage(p Page, n int, cursor func(i int) string) {
	if n == 0 {
		return
	}
	kept, _ := url.ParseQuery(r.URL.RawQuery) // pairs that are malformed did not count
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

// linkEscape encodes what clients take for the end of a link.
var linkEscape = strings.NewReplacer(",", "%2C", ";", "%3B")
