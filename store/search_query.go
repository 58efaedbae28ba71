package store

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"svc/internal/text"
)

// A search query has words, "phrases", -excluded ones, and operators such as from:alice or has:media. An unknown operator is text. No query
// is an error.

const (
	maxQuery       = 2000 // bytes; the rest is ignored
	maxQueryTokens = 60   // words, each of which opens a list in the index; a character of a script without spaces counts as one
	maxQueryFrom   = 10   // authors
)

// statusQuery is a parsed query.
type statusQuery struct {
	phrases     []string // in searchable form; a status must have all
	facets      []string // the same
	from        []string // handles; a status must be by one of them
	notPhrases  []string // a status must have none of these
	notFacets   []string
	notFrom     []string
	only        statusBits
	after, upto int64 // ids are above the first and below the second; 0: no bound
	tokens      int
}

// statusBits are conditions on the row of a status.
type statusBits int

const (
	onlySensitive    statusBits = 1 << iota
	notSensitive                // not marked as sensitive
	onlyDiscoverable            // discoverable authors only, unless the viewer is a recipient or interacted with the status
	onlyLibrary                 // the viewer's own, and those that the viewer interacted with
)

var quotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`)

// readStatusQuery parses a query. hosts are the domains in handles of local accounts.
func readStatusQuery(typed string, hosts ...string) *statusQuery {
	q := new(statusQuery)
	typed = quotes.Replace(strings.ToValidUTF8(typed[:min(len(typed), maxQuery)], " "))
	for {
		typed = strings.TrimLeftFunc(typed, unicode.IsSpace)
		if typed == "" {
			return q
		}
		not := false
		if rest, ok := strings.CutPrefix(typed, "-"); ok {
			typed, not = rest, true
		}
		var word string
		if rest, ok := strings.CutPrefix(typed, `"`); ok {
			word, typed, _ = strings.Cut(rest, `"`)
			q.addText(word, not)
			continue
		}
		end := strings.IndexFunc(typed, unicode.IsSpace)
		if end < 0 {
			end = len(typed)
		}
		word, typed = typed[:end], typed[end:]
		if !q.addOperator(word, not) {
			q.addText(mentioned(word, hosts), not)
		}
	}
}

// mentioned returns the text of a mention: the whole handle of a remote account, the nickname of a local one.
func mentioned(word string, hosts []string) string {
	if nick, domain, ok := strings.Cut(strings.TrimPrefix(word, "@"), "@"); ok && slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(domain, h) }) {
		return nick
	}
	return word
}

// addText adds a word or phrase, up to the limit of tokens.
func (q *statusQuery) addText(typed string, not bool) {
	words := text.Searchable(typed)
	if words == "" {
		return
	}
	n := strings.Count(words, " ") + 1
	if q.tokens+n > maxQueryTokens {
		n = maxQueryTokens - q.tokens
		words = strings.Join(strings.SplitN(words, " ", n+1)[:n], " ")
	}
	if n == 0 {
		return
	}
	q.tokens += n
	if not {
		q.notPhrases = append(q.notPhrases, words)
	} else {
		q.phrases = append(q.phrases, words)
	}
}

// addOperator adds an operator NAME:VALUE, and returns false if the word is none.
func (q *statusQuery) addOperator(word string, not bool) bool {
	name, value, ok := strings.Cut(word, ":")
	if !ok || value == "" || q.tokens == maxQueryTokens {
		return false
	}
	switch strings.ToLower(name) {
	case "from":
		return q.addFrom(value, not)
	case "has":
		return q.addHas(strings.ToLower(value), not)
	case "is":
		return q.addIs(strings.ToLower(value), not)
	case "language":
		code := text.Language(value)
		return code != "" && q.addFacet(languageFacet(code), not)
	case "in":
		if not || !strings.EqualFold(value, "library") {
			return false
		}
		q.only |= onlyLibrary
		return true
	case "before", "after", "during":
		return !not && q.addDate(strings.ToLower(name), value)
	}
	return false
}

func (q *statusQuery) addFrom(handle string, not bool) bool {
	if _, _, ok := text.SplitHandle(handle); !ok || len(q.from)+len(q.notFrom) == maxQueryFrom {
		return false
	}
	if not {
		q.notFrom = append(q.notFrom, handle)
	} else {
		q.from = append(q.from, handle)
	}
	return true
}

func (q *statusQuery) addHas(what string, not bool) bool {
	switch what {
	case facetMedia, facetPoll, facetLink, "image", "video", "audio":
		return q.addFacet(what, not)
	}
	return false
}

func (q *statusQuery) addIs(what string, not bool) bool {
	switch {
	case what == facetReply:
		return q.addFacet(facetReply, not)
	case what != "sensitive":
		return false
	case not:
		q.only |= notSensitive
	default:
		q.only |= onlySensitive
	}
	return true
}

func (q *statusQuery) addFacet(facet string, not bool) bool {
	q.tokens++
	if not {
		q.notFacets = append(q.notFacets, facet)
	} else {
		q.facets = append(q.facets, facet)
	}
	return true
}

// addDate limits the time at which statuses were received. A date is a day, month or year in UTC, and stands for the whole of it.
func (q *statusQuery) addDate(name, value string) bool {
	var from, to time.Time
	if day, err := time.Parse(time.DateOnly, value); err == nil {
		from, to = day, day.AddDate(0, 0, 1)
	} else if month, err := time.Parse("2006-01", value); err == nil {
		from, to = month, month.AddDate(0, 1, 0)
	} else if year, err := time.Parse("2006", value); err == nil {
		from, to = year, year.AddDate(1, 0, 0)
	} else {
		return false
	}
	switch name {
	case "before":
		q.below(from)
	case "after":
		q.above(to)
	default:
		q.above(from)
		q.below(to)
	}
	return true
}

func (q *statusQuery) below(t time.Time) {
	if id := firstID(t); q.upto == 0 || id < q.upto {
		q.upto = id
	}
}

func (q *statusQuery) above(t time.Time) { q.after = max(q.after, firstID(t)-1) }

// firstID is the first id of a millisecond, at least 1.
func firstID(t time.Time) int64 { return max(1, t.UnixMilli()<<sequenceBits) }

// empty returns true if the query has no condition.
func (q *statusQuery) empty() bool {
	return q.tokens == 0 && len(q.from)+len(q.notFrom) == 0 && q.only == 0 && q.after == 0 && q.upto == 0
}

// match returns the full-text query for statuses between two ids. by and notBy are the accounts of the handles in the query.
func (q *statusQuery) match(by, notBy []AccountID, below, above int64) string {
	var all, none []string
	if first, last := sliceOf(above+1), sliceOf(below-1); last-first < maxPartSlices {
		all = append(all, anySlice(first, last))
	}
	for _, p := range q.phrases {
		all = append(all, `body : "`+p+`"`)
	}
	for _, f := range q.facets {
		all = append(all, `facets : "`+f+`"`)
	}
	if len(by) > 0 {
		all = append(all, anyAuthor(by))
	}
	if len(all) == 0 {
		all = append(all, `facets : ("`+facetLocal+`" OR "`+facetRemote+`")`) // any status
	}
	for _, p := range q.notPhrases {
		none = append(none, `body : "`+p+`"`)
	}
	for _, f := range q.notFacets {
		none = append(none, `facets : "`+f+`"`)
	}
	if len(notBy) > 0 {
		none = append(none, anyAuthor(notBy))
	}
	match := strings.Join(all, " AND ")
	if len(none) > 0 {
		match = "(" + match + ") NOT (" + strings.Join(none, " OR ") + ")"
	}
	return match
}

func anySlice(first, last int64) string {
	var names []string
	for n := first; n <= last; n++ {
		names = append(names, `"`+sliceFacet(n)+`"`)
	}
	return `facets : (` + strings.Join(names, " OR ") + `)`
}

func anyAuthor(ids []AccountID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = `"` + authorFacet(id) + `"`
	}
	return `facets : (` + strings.Join(names, " OR ") + `)`
}
