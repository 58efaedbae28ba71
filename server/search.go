package server

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"svc/internal/text"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// search serves searches for accounts, hashtags and statuses.
type search struct{ *parts }

func (h *search) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v2/search":          {rest.Content("read:search").Limit("search").Answers("Results"), h.search(false)},
		"GET /api/v1/accounts/search": {rest.Content("read:accounts").Limit("search").Answers("[]Account"), h.searchAccounts},
		"GET /api/v1/search":          {rest.Content("read:search").Limit("search").Answers("ResultsV1"), h.search(true)},
	}
}

// searchResults are the results of a search. All three lists are always present.
type searchResults struct {
	accounts  entity.List[entity.Account]
	statuses  entity.List[*entity.Status]
	hashtags  entity.List[entity.Tag]
	namesOnly bool // hashtags as texts
}

// Statuses returns the statuses, for pages.
func (f *searchResults) Statuses() entity.List[*entity.Status] { return f.statuses }

// AppendJSON renders the results.
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

type searchQuery struct {
	text      string
	accounts  bool
	statuses  bool
	hashtags  bool
	following bool // only accounts that the viewer follows
	resolve   bool // on other servers, too
	author    string
	page      rest.Page
}

// search returns a handler that finds accounts by handle and name, hashtags by prefix, statuses by words, and the one thing that a URL
// names. With namesOnly, hashtags are texts.
func (h *search) search(namesOnly bool) rest.Handler {
	return func(r *rest.Request) (any, error) {
		q, err := bindSearch(r)
		if err != nil {
			return nil, err
		}
		found := h.runSearch(r, q)
		found.namesOnly = namesOnly
		return found, nil
	}
}

func bindSearch(r *rest.Request) (*searchQuery, error) {
	var p struct {
		Q         string `param:"q,required"`
		Type      string `param:"type,word"`
		Following bool   `param:"following"`
		Resolve   bool   `param:"resolve"`
		AccountID string `param:"account_id,word"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	q := &searchQuery{
		text: text.NormalizeAddress(strings.TrimSpace(p.Q)), following: p.Following, resolve: p.Resolve && r.Viewer != nil, author: p.AccountID, page: r.Page(20, 40),
	}
	q.accounts, q.statuses, q.hashtags = p.Type == "accounts", p.Type == "statuses", p.Type == "hashtags"
	if !q.accounts && !q.statuses && !q.hashtags {
		q.accounts, q.statuses, q.hashtags = true, true, true
	}
	return q, nil
}

// isAddress returns true if the text is a URL.
func (q *searchQuery) isAddress() bool {
	return (strings.HasPrefix(q.text, "https://") || strings.HasPrefix(q.text, "http://")) && strings.IndexFunc(q.text, unicode.IsSpace) < 0
}

// runSearch runs a search. If one part fails, it is empty and the others are returned (extension API 22). Anonymous clients get only
// the first page.
func (h *search) runSearch(r *rest.Request, q *searchQuery) *searchResults {
	found := new(searchResults)
	laterPage := q.page.Offset > 0 || q.page.MaxID != 0 || q.page.MinID != 0 || q.page.SinceID != 0
	if q.text == "" || r.Viewer == nil && laterPage {
		return found
	}
	if q.isAddress() {
		if q.page.Offset == 0 {
			h.lookup.succeeded(r, h.searchAddress(r, q, found))
		}
		return found
	}
	if q.accounts && !strings.HasPrefix(q.text, "#") && !strings.HasPrefix(q.text, "＃") {
		accounts, err := h.findAccounts(r, q.text, q.following, q.page)
		if h.lookup.succeeded(r, err) {
			found.accounts = accounts
		}
	}
	if q.statuses {
		statuses, err := h.findStatuses(r, q)
		if h.lookup.succeeded(r, err) {
			found.statuses = statuses
		}
	}
	if q.hashtags {
		tags, err := h.findTags(r, q)
		if h.lookup.succeeded(r, err) {
			found.hashtags = tags
		}
	}
	return found
}

// findStatuses returns the statuses that match a text.
func (h *search) findStatuses(r *rest.Request, q *searchQuery) (entity.List[*entity.Status], error) {
	search := store.StatusSearch{
		Text: q.text, Viewer: viewerID(r), Host: h.Settings.Host, WebHost: h.Settings.WebHost, Offset: q.page.Offset, Page: q.page.Page,
		LocalOnly: h.lookup.onlyLocal(r), Discoverable: h.Settings.Load().Search.DiscoverableOnly,
	}
	if q.author != "" {
		search.Author = store.ParseID[store.AccountID](q.author)
		if search.Author == 0 {
			return nil, nil
		}
	}
	ids, err := h.DB.SearchStatuses(r.Context(), search)
	if err != nil {
		return nil, err
	}
	list, _, err := rest.Fit(r, ids, false, func(ids []store.StatusID) (entity.List[*entity.Status], error) {
		return h.Entities.Statuses(r.Context(), r.Viewer, ids)
	})
	return list, err
}

// maxTagWords is the largest number of words in which hashtags are searched.
const maxTagWords = 10

// findTags returns the hashtags that match a text and are in statuses that the viewer can see. One word matches itself and the hashtags that
// begin with it. Several words match themselves, and all of them joined.
func (h *search) findTags(r *rest.Request, q *searchQuery) (entity.List[entity.Tag], error) {
	words := strings.Fields(q.text)
	if len(words) > maxTagWords {
		return nil, nil
	}
	var names []string
	var err error
	depth := q.page.Offset + q.page.Limit
	if len(words) == 1 {
		names, err = h.tagsWithPrefix(r, text.TagName(words[0]), depth)
	} else {
		names, err = h.tagsInWords(r, words)
	}
	if err != nil {
		return nil, err
	}
	return h.Entities.Tags(r.Context(), r.Viewer, names[min(q.page.Offset, len(names)):min(depth, len(names))])
}

// tagsWithPrefix returns the hashtag, if it exists, and those that begin with it.
func (h *search) tagsWithPrefix(r *rest.Request, name string, limit int) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	names, err := h.DB.UsedTags(r.Context(), viewerID(r), []string{name})
	if err != nil {
		return nil, err
	}
	longer, err := h.DB.SearchTags(r.Context(), viewerID(r), name, limit-len(names))
	return append(names, longer...), err
}

// tagsInWords returns the hashtags among several words, and the one that joins them all.
func (h *search) tagsInWords(r *rest.Request, words []string) ([]string, error) {
	var candidates []string // as they are shown
	var joined strings.Builder
	all := true
	for _, w := range words {
		name := text.TagName(w)
		if name == "" {
			all = false
			continue
		}
		candidates = append(candidates, name)
		first, size := utf8.DecodeRuneInString(name)
		joined.WriteRune(unicode.ToTitle(first))
		joined.WriteString(name[size:])
	}
	if all {
		candidates = append(candidates, joined.String())
	}
	used, err := h.DB.UsedTags(r.Context(), viewerID(r), entity.Map(candidates, text.TagName))
	if err != nil {
		return nil, err
	}
	keys := entity.Map(used, text.TagKey)
	var names []string
	for _, c := range candidates {
		key := text.TagKey(text.TagName(c))
		if !slices.Contains(keys, key) {
			continue
		}
		names = append(names, c)
		keys = slices.DeleteFunc(keys, func(k string) bool { return k == key }) // a repeated word is one result
	}
	return names, nil
}

// searchAccounts returns the accounts whose handle or name matches a text.
func (h *search) searchAccounts(r *rest.Request) (any, error) {
	var p struct {
		Q         string `param:"q,required"`
		Following bool   `param:"following"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	return h.findAccounts(r, p.Q, p.Following, r.Page(40, 80))
}

// findAccounts returns a page of accounts whose handle or name matches a text. An unknown handle is resolved if the viewer requests
// it.
func (h *search) findAccounts(r *rest.Request, text string, following bool, page rest.Page) (entity.List[entity.Account], error) {
	ids, err := h.DB.SearchAccounts(r.Context(), store.AccountSearch{
		Text: text, Viewer: viewerID(r), Following: following, LocalOnly: h.lookup.onlyLocal(r), Host: h.Settings.Host, WebHost: h.Settings.WebHost,
		Offset: page.Offset, Limit: page.Limit,
	})
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 && page.Offset == 0 && !following {
		if id := h.resolveHandle(r, text); id != 0 {
			ids = []store.AccountID{id}
		}
	}
	return h.render.firstAccounts(r, ids)
}

// searchAddress finds what a URL names: a status that the viewer may see, or an account.
func (h *search) searchAddress(r *rest.Request, q *searchQuery, found *searchResults) error {
	named, err := h.lookup.lookUpAddress(r, q.text)
	if err != nil {
		return err
	}
	if named == (Resolved{}) && q.resolve && h.Resolve != nil && !strings.HasPrefix(q.text, h.Settings.BaseURL+"/") {
		if named, err = h.Resolve(r.Context(), r.Viewer, q.text); err == nil && named.Account != 0 {
			named.Account, err = h.findable(r, named.Account)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case named.Status != 0 && q.statuses:
		rows, err := h.DB.VisibleStatuses(r.Context(), viewerID(r), []store.StatusID{named.Status})
		if err != nil || len(rows) == 0 {
			return err
		}
		st, err := h.Entities.Status(r.Context(), r.Viewer, named.Status)
		if err == nil {
			found.statuses = entity.List[*entity.Status]{st}
		}
		return err
	case named.Account != 0 && q.accounts:
		accounts, err := h.render.accounts(r, []store.AccountID{named.Account})
		if err == nil {
			found.accounts = accounts
		}
		return err
	}
	return nil
}

// resolveHandle resolves an unknown handle if the viewer requests it. It returns 0 if that fails, because the search goes on.
func (h *search) resolveHandle(r *rest.Request, handle string) store.AccountID {
	if h.Resolve == nil || r.Viewer == nil || !r.Flag("resolve") {
		return 0
	}
	nick, domain, ok := text.SplitHandle(handle)
	if !ok || domain == "" || h.Settings.IsOwnHost(domain) {
		return 0
	}
	found, err := h.Resolve(r.Context(), r.Viewer, nick+"@"+domain)
	if err == nil && found.Account != 0 {
		found.Account, err = h.findable(r, found.Account)
	}
	h.lookup.succeeded(r, err)
	return found.Account
}

// findable returns the id of a resolved account, 0 if the viewer may not find it, because it blocks the viewer.
func (h *search) findable(r *rest.Request, id store.AccountID) (store.AccountID, error) {
	a, err := h.DB.Account(r.Context(), id)
	if err != nil {
		return 0, err
	}
	found, err := h.lookup.accountByAddress(r, a.URI)
	return found.Account, err
}
