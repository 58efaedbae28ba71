package pages

import (
	"net/url"

	"svc/server/rest"
)

// get calls an endpoint and decodes its answer into the value that dst points to.
func (p *page) get(path string, arguments url.Values, dst any) error {
	_, err := p.list(path, arguments, dst)
	return err
}

// list is get for a list. The answer has the cursors of the pages before and after it.
func (p *page) list(path string, arguments url.Values, dst any) (*rest.Answer, error) {
	a, err := p.fetch(path, arguments)
	if err != nil {
		return nil, err
	}
	return a, p.decode(a.Value, dst)
}

// observe is called with what decode decodes, in tests only.
var observe = func(*page, any, any) {}

// decode decodes what an endpoint returned, as clients do.
func (p *page) decode(value, dst any) error {
	observe(p, value, dst)
	return p.Pages.Decode(value, dst)
}

// cursorParams are the parameters by which lists are paged.
var cursorParams = []string{"max_id", "min_id", "since_id", "offset", "limit"}

// cursors returns the cursors in the query of the page, and a limit.
func (p *page) cursors(limit string) url.Values {
	values := url.Values{"limit": {limit}}
	query := p.URL.Query()
	for _, name := range cursorParams {
		if text := query.Get(name); text != "" && name != "limit" {
			values.Set(name, text)
		}
	}
	return values
}

// links returns the URLs of the pages before and after a list, "" if there is none.
func (p *page) links(a *rest.Answer) (newer, older string) {
	if paged := p.URL.Query(); paged.Has("max_id") || paged.Has("min_id") || paged.Has("since_id") {
		newer = p.link(a.Prev())
	}
	return newer, p.link(a.Next())
}

// link returns the URL of this page with other cursors.
func (p *page) link(cursors url.Values) string {
	if cursors == nil {
		return ""
	}
	query := make(url.Values)
	if p.seen == nil {
		query = p.URL.Query()
		query.Del(doneParam)
	}
	for _, name := range cursorParams {
		query.Del(name)
		if text := cursors.Get(name); text != "" && name != "limit" {
			query.Set(name, text)
		}
	}
	if len(query) == 0 {
		return p.URL.EscapedPath()
	}
	return p.URL.EscapedPath() + "?" + query.Encode()
}
