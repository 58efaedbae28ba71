package web

import "strings"

// Empty says that a list has nothing, and what to do about it.
type Empty struct {
	Text string // key of the messages
	Link string // key of the messages; "": none
	URL  string
}

// emptyLists are what lists of posts say while they are empty, by their titles.
var emptyLists = map[string]Empty{
	"home.title":     {"empty.home", "nav.local", "/web/local"},
	"local.title":    {"empty.local", "nav.compose", "/web/compose"},
	"known.title":    {"empty.known", "nav.search", "/web/search"},
	"nav.bookmarks":  {"empty.bookmarks", "nav.home", "/web"},
	"nav.favourites": {"empty.favourites", "nav.home", "/web"},
	"lists.posts":    {"empty.list", "nav.lists", "/web/lists"},
}

// Empty returns what the list says while it is empty.
func (t Timeline) Empty() Empty {
	if strings.HasPrefix(t.Stream, "list") {
		return emptyLists["lists.posts"]
	}
	if e, ok := emptyLists[t.Title]; ok && t.Newest == "" {
		return e
	}
	return Empty{Text: "post.none"}
}
