package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"svc/internal/text"
)

// SearchDocument is what a post is found by, beside what its row says.
type SearchDocument struct {
	Texts       []string // each on its own: a phrase does not reach from one to the next
	Attachments []string // their types
	HasLink     bool
}

// IndexStatus makes a post found by its words, in place of those it was found by. Boosts are not found.
func (tx *Tx) IndexStatus(s *Status, what *SearchDocument) {
	if s.ReblogOfID == nil {
		tx.indexed = append(tx.indexed, indexEntry{id: s.ID, body: what.body(), facets: what.facets(s)})
	}
}

func (tx *Tx) unindexStatus(id StatusID) {
	tx.indexed = append(tx.indexed, indexEntry{id: id, deleted: true})
}

// indexEntry is what a transaction has changed in the index. The index writes out what it has gathered whenever a savepoint is set,
// and other statements set some, too; so it is told of everything at once, at the end of a group commit.
type indexEntry struct {
	id           StatusID
	body, facets string
	deleted      bool
}

// index brings the index up to date with the transactions of a group.
func (w *writer) index(group []*request) error {
	for _, r := range group {
		if r.err != nil {
			continue
		}
		for _, e := range r.tx.indexed {
			query, args := `INSERT OR REPLACE INTO statuses_fts (rowid, body, facets) VALUES (?, ?, ?)`, []any{e.id, e.body, e.facets}
			if e.deleted {
				query, args = `DELETE FROM statuses_fts WHERE rowid = ?`, []any{e.id}
			}
			if _, err := w.q.ExecContext(context.Background(), query, args...); err != nil {
				return fmt.Errorf("index status: %w", err)
			}
		}
	}
	return nil
}

// textSeparator stands between the texts of a post. It is no word that a text can have (text.Searchable).
const textSeparator = " ¶ "

func (x *SearchDocument) body() string {
	words := make([]string, 0, len(x.Texts))
	for _, t := range x.Texts {
		if w := text.Searchable(t); w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, textSeparator)
}

// The facets of a post: who wrote it and where, what it is and has, in which language. What can change without the post being
// edited is none, and neither is anything that decides who may see it.
const (
	facetAuthor   = "by"   // with the account's id
	facetLanguage = "lang" // with a code, of the language and of its variant
	facetLocal    = "here"
	facetRemote   = "away"
	facetReply    = "reply"
	facetMedia    = "media"
	facetPoll     = "poll"
	facetLink     = "link"
	facetSlice    = "at" // with the number of the slice of time that the post's id lies in
)

// sliceBits is how many of an id's bits tell apart the posts of one slice of time: three days.
const sliceBits = sequenceBits + 28

func sliceOf(id int64) int64 { return id >> sliceBits }

func sliceFacet(slice int64) string { return facetSlice + strconv.FormatInt(slice, 10) }

func authorFacet(id AccountID) string { return facetAuthor + strconv.FormatInt(int64(id), 10) }

// languageFacet expects a code in canonical form.
func languageFacet(code string) string {
	return facetLanguage + strings.ReplaceAll(strings.ToLower(code), "-", "")
}

func (x *SearchDocument) facets(s *Status) string {
	list := []string{authorFacet(s.AccountID), sliceFacet(sliceOf(int64(s.ID))), facetLocal}
	if !s.Local() {
		list[2] = facetRemote
	}
	for _, f := range []struct {
		is    bool
		facet string
	}{
		{s.InReplyToAccountID != nil, facetReply}, {len(x.Attachments) > 0, facetMedia}, {s.HasPoll, facetPoll}, {x.HasLink, facetLink},
	} {
		if f.is {
			list = append(list, f.facet)
		}
	}
	list = append(list, x.Attachments...) // image, video, audio, unknown
	if s.Language != "" {
		list = append(list, languageFacet(s.Language))
		if base, _, variant := strings.Cut(s.Language, "-"); variant {
			list = append(list, languageFacet(base))
		}
	}
	return strings.Join(list, " ")
}
