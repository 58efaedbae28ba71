package server

import (
	"errors"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// searchRoutes look for accounts, hashtags and posts at once.
func (s *Server) searchRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v2/search": {rest.Content("read:search").Limit("search"), s.search},
		"GET /api/v1/search": {rest.Content("read:search").Limit("search"), s.searchV1},
	}
}

// searchResults is what a search finds. All three lists are always there.
type searchResults struct {
	accounts  entity.List[entity.Account]
	statuses  entity.List[*entity.Status]
	hashtags  entity.List[entity.Tag]
	namesOnly bool // hashtags are mere names
}

// AppendJSON renders what was found.
func (f *searchResults) AppendJSON(dst []byte) []byte {
	dst = f.accounts.AppendJSON(append(dst, `{"accounts":`...))
	dst = f.statuses.AppendJSON(append(dst, `,"statuses":`...))
	dst = append(dst, `,"hashtags":[`...)
	for i, t := range f.hashtags {
		if i > 0 {
			dst = append(dst, ',')
		}
		if f.namesOnly {
			dst = rest.AppendString(dst, t.Name)
		} else {
			dst = t.AppendJSON(dst)
		}
	}
	return append(dst, ']', '}')
}

// searchQuery is what is looked for.
type searchQuery struct {
	text      string
	accounts  bool
	statuses  bool
	hashtags  bool
	following bool // accounts that the viewer follows only
	resolve   bool // ask other servers, too
	author    string
	page      rest.Page
}

// search finds accounts by handle and name, hashtags by their beginning, posts by their words and, of any kind, the one thing that an
// address names.
func (s *Server) search(r *rest.Request) (any, error) {
	q, err := bindSearch(r)
	if err != nil {
		return nil, err
	}
	return s.runSearch(r, q), nil
}

// searchV1 is search with hashtags as mere names.
func (s *Server) searchV1(r *rest.Request) (any, error) {
	q, err := bindSearch(r)
	if err != nil {
		return nil, err
	}
	found := s.runSearch(r, q)
	found.namesOnly = true
	return found, nil
}

func bindSearch(r *rest.Request) (*searchQuery, error) {
	var p struct {
		Q         string `param:"q,required"`
		Type      string `param:"type"`
		Following bool   `param:"following"`
		Resolve   bool   `param:"resolve"`
		AccountID string `param:"account_id"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	q := &searchQuery{
		text: strings.TrimSpace(p.Q), following: p.Following, resolve: p.Resolve && r.Viewer != nil, author: p.AccountID, page: r.Page(20, 40),
	}
	q.accounts, q.statuses, q.hashtags = p.Type == "accounts", p.Type == "statuses", p.Type == "hashtags"
	if !q.accounts && !q.statuses && !q.hashtags {
		q.accounts, q.statuses, q.hashtags = true, true, true
	}
	return q, nil
}

// isAddress tells whether nothing but an address is looked for: it names one thing.
func (q *searchQuery) isAddress() bool {
	return (strings.HasPrefix(q.text, "https://") || strings.HasPrefix(q.text, "http://")) && strings.IndexFunc(q.text, unicode.IsSpace) < 0
}

// runSearch does a search. A part that fails is empty, whatever the others find (extension API 22). The anonymous do not turn pages.
func (s *Server) runSearch(r *rest.Request, q *searchQuery) *searchResults {
	found := new(searchResults)
	turned := q.page.Offset > 0 || q.page.MaxID != 0 || q.page.MinID != 0 || q.page.SinceID != 0
	if q.text == "" || r.Viewer == nil && turned {
		return found
	}
	if q.isAddress() {
		if q.page.Offset == 0 {
			s.succeeded(r, s.searchAddress(r, q, found))
		}
		return found
	}
	if q.accounts && !strings.HasPrefix(q.text, "#") {
		accounts, err := s.findAccounts(r, q.text, q.following, q.page)
		if s.succeeded(r, err) {
			found.accounts = accounts
		}
	}
	if q.statuses {
		statuses, err := s.findStatuses(r, q)
		if s.succeeded(r, err) {
			found.statuses = statuses
		}
	}
	if q.hashtags {
		tags, err := s.findTags(r, q)
		if s.succeeded(r, err) {
			found.hashtags = tags
		}
	}
	return found
}

// succeeded tells whether a part of a search has come to its end, and notes why if it has not and that is the server's fault.
func (s *Server) succeeded(r *rest.Request, err error) bool {
	var refusal *errs.Error
	if err != nil && (!errors.As(err, &refusal) || refusal.Status >= http.StatusInternalServerError) && r.Context().Err() == nil {
		r.LogError(err)
	}
	return err == nil
}

// findStatuses returns the posts that a text describes.
func (s *Server) findStatuses(r *rest.Request, q *searchQuery) (entity.List[*entity.Status], error) {
	search := store.StatusSearch{
		Text: q.text, Viewer: viewerID(r), Host: s.settings.Host(), Offset: q.page.Offset, Page: q.page.Page,
		LocalOnly: s.onlyLocal(r), Discoverable: s.settings.Search.DiscoverableOnly,
	}
	if q.author != "" {
		search.Author.UnmarshalText([]byte(q.author))
		if search.Author == 0 {
			return nil, nil
		}
	}
	ids, err := s.db.SearchStatuses(r.Context(), search)
	if err != nil {
		return nil, err
	}
	return s.entities.Statuses(r.Context(), r.Viewer, ids)
}

// onlyLocal tells whether a search is for what is of this server only.
func (s *Server) onlyLocal(r *rest.Request) bool {
	return r.Viewer == nil && !s.settings.Search.AnonymousRemote
}

// The most words of which each may be a hashtag, and all of them together one.
const maxTagWords = 10

// findTags returns the hashtags that a text may mean. One word is a hashtag, whether or not it was ever used, and the beginning of
// others; of several those count that were used or are written with the sign, and all of them joined to one.
func (s *Server) findTags(r *rest.Request, q *searchQuery) (entity.List[entity.Tag], error) {
	words := strings.Fields(q.text)
	if len(words) > maxTagWords {
		return nil, nil
	}
	var names []string
	var err error
	depth := q.page.Offset + q.page.Limit
	if len(words) == 1 {
		name := text.TagName(words[0])
		if name == "" {
			return nil, nil
		}
		names, err = s.db.SearchTags(r.Context(), viewerID(r), name, depth-1)
		names = append([]string{name}, names...)
	} else {
		names, err = s.tagsInWords(r, words)
	}
	if err != nil {
		return nil, err
	}
	return s.entities.Tags(r.Context(), r.Viewer, names[min(q.page.Offset, len(names)):min(depth, len(names))])
}

// tagsInWords returns the hashtags among several words, and the one that all of them make.
func (s *Server) tagsInWords(r *rest.Request, words []string) ([]string, error) {
	var names, asked []string
	var joined strings.Builder
	all := true
	for _, w := range words {
		name := text.TagName(w)
		if name == "" {
			all = false
			continue
		}
		asked = append(asked, name)
		first, size := utf8.DecodeRuneInString(name)
		joined.WriteRune(unicode.ToTitle(first))
		joined.WriteString(name[size:])
	}
	used, err := s.db.UsedTags(r.Context(), viewerID(r), asked)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(words))
	for _, name := range used {
		known[name] = true
	}
	for _, w := range words {
		if strings.HasPrefix(w, "#") {
			known[text.TagName(w)] = true
		}
	}
	for _, name := range asked {
		if known[name] {
			names = append(names, name)
			known[name] = false
		}
	}
	if all && text.TagName(joined.String()) != "" {
		names = append(names, joined.String())
	}
	return names, nil
}
