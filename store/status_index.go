package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"svc/internal/text"
)

// SearchDocument is what a status is found by, beside its row.
type SearchDocument struct {
	Texts       []string // separate: a phrase does not span two
	Attachments []string // their types
	HasLink     bool
}

// IndexStatus adds a status to the full-text index, or replaces it there. Boosts are not indexed.
func (tx *Tx) IndexStatus(s *Status, what *SearchDocument) {
	if s.ReblogOfID == nil {
		tx.indexed = append(tx.indexed, indexEntry{id: s.ID, body: what.body(), facets: what.facets(s)})
	}
}

func (tx *Tx) unindexStatus(id StatusID) {
	tx.indexed = append(tx.indexed, indexEntry{id: id, deleted: true})
}

// indexEntry is a change of the full-text index. FTS5 flushes its changes at each savepoint, also those of other statements, so that all
// changes are made at the end of a group commit.
type indexEntry struct {
	id           StatusID
	body, facets string
	deleted      bool
}

// index writes the changes of a group to the full-text index.
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

// textSeparator separates the texts of a status. No text contains it (text.Searchable).
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

// Facets of a status: author, origin, properties, language. They must not change without an edit, and must not decide about visibility.
const (
	facetAuthor   = "by"   // with the account's id
	facetLanguage = "lang" // with the code of the language, and of its variant
	facetLocal    = "here"
	facetRemote   = "away"
	facetReply    = "reply"
	facetMedia    = "media"
	facetPoll     = "poll"
	facetLink     = "link"
	facetSlice    = "at" // with the number of the time slice of the id
)

// sliceBits is the number of bits of ids in one time slice: three days.
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
