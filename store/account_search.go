package store

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"svc/internal/text"
)

// AccountSearch is what somebody looks for among the accounts.
type AccountSearch struct {
	Text      string
	Viewer    AccountID // 0: the anonymous
	Following bool      // only those whom the viewer follows
	LocalOnly bool      // only those who live here
	Host      string    // what the handles of those who live here end in
	Offset    int
	Limit     int
}

// Bounds of a search: whoever wants more has to say more precisely what.
const (
	maxSearchDepth     = 1000 // accounts that can be paged through
	maxSearchWords     = 10
	maxSearchWordBytes = 64 // bytes
)

// SearchAccounts returns the accounts that a text names, by handle or address, or that have words beginning with all of its words in
// their nickname or display name. An exact handle comes first, then who is followed by the viewer, then who lives here, then the
// rest. Accounts that are withheld or that block the viewer are not found, and those that the viewer blocks only by their handle
// or address.
func (r reader) SearchAccounts(ctx context.Context, q AccountSearch) ([]AccountID, error) {
	depth := q.Offset + q.Limit
	if depth > maxSearchDepth || q.Following && q.Viewer == 0 {
		return nil, nil
	}
	var found []AccountID
	add := func(some []AccountID, err error) (enough bool, _ error) {
		for _, id := range some {
			if !slices.Contains(found, id) {
				found = append(found, id)
			}
		}
		return len(found) >= depth, err
	}
	if strings.HasPrefix(q.Text, "https://") || strings.HasPrefix(q.Text, "http://") {
		_, err := add(ids[AccountID](ctx, r, "account of an address", q.choose(addressFollowed, addressLocal, addressAll), q.Viewer, q.Text))
		return found[min(q.Offset, len(found)):], err
	}
	enough, err := add(r.accountsByHandle(ctx, q))
	if match := matchPrefixes(q.Text); match != "" && !enough && err == nil {
		end, busy := r.db.searchLimiter.acquire(ctx, q.Viewer)
		if busy != nil {
			return nil, busy
		}
		defer end()
		for _, query := range q.stages() {
			if enough || err != nil {
				break
			}
			enough, err = add(ids[AccountID](ctx, r, "search accounts", query, q.Viewer, match, depth))
		}
	}
	if err != nil {
		return nil, err
	}
	return found[min(q.Offset, len(found)):min(depth, len(found))], nil
}

// Who is found, as conditions on the account a. ?1 is the viewer.
const (
	followedByViewer = `EXISTS (SELECT 1 FROM follows x WHERE x.follower_id = ?1 AND x.target_id = a.id AND x.pending = 0)`
	isLocalAccount   = `EXISTS (SELECT 1 FROM accounts x INDEXED BY accounts_domain WHERE x.domain = '' AND x.id = a.id)`
)

// Who blocks the viewer is not found; whom the viewer blocks only by their whole name, so that the block can be lifted.
var (
	searchableByName = `
			AND ` + accountAvailable("a.id") + `
			AND NOT EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = a.id AND x.target_id = ?1)`
	searchableByWord = searchableByName + `
			AND NOT EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = ?1 AND x.target_id = a.id)`
)

// searchStage is a search by words among those who meet a condition, in the order in which they came to be known.
func searchStage(condition string) string {
	return `
		SELECT a.id
		FROM (SELECT rowid AS id FROM accounts_fts WHERE accounts_fts MATCH ?2 ORDER BY rowid) a
		WHERE ` + condition + searchableByWord + `
		LIMIT ?3`
}

var (
	searchFollowed = searchStage(followedByViewer)
	searchLocal    = searchStage(isLocalAccount)
	searchAll      = searchStage(`1`)
)

// choose returns the query for who may be found.
func (q *AccountSearch) choose(followed, local, all string) string {
	switch {
	case q.Following:
		return followed
	case q.LocalOnly:
		return local
	}
	return all
}

// stages are the searches by words to be made until enough is found.
func (q *AccountSearch) stages() []string {
	switch {
	case q.Following:
		return []string{searchFollowed}
	case q.LocalOnly:
		return []string{searchLocal}
	}
	return []string{searchFollowed, searchLocal, searchAll}
}

// handleStage is a search for those of a nickname, ?2, whose domain begins with what is asked for: from ?3 to below ?4.
func handleStage(condition string) string {
	return `
		SELECT a.id
		FROM accounts a
		WHERE a.nickname_key = ?2 AND a.domain >= ?3 AND a.domain < ?4 AND ` + condition + searchableByName + `
		ORDER BY a.domain
		LIMIT ?5`
}

var (
	handleFollowed = handleStage(followedByViewer)
	handleLocal    = handleStage(`a.domain = ''`)
	handleAll      = handleStage(`1`)
)

// addressStage is a search for the account of an ActivityPub id or a profile's address: ?2.
func addressStage(condition string) string {
	return `
		SELECT a.id
		FROM (
			SELECT id FROM accounts WHERE uri = ?2
			UNION ALL
			SELECT id FROM accounts INDEXED BY accounts_url WHERE url = ?2
		) j
		CROSS JOIN accounts a ON a.id = j.id
		WHERE ` + condition + searchableByName + `
		LIMIT 1`
}

var (
	addressFollowed = addressStage(followedByViewer)
	addressLocal    = addressStage(`a.domain = ''`)
	addressAll      = addressStage(`1`)
)

// accountsByHandle returns the accounts that a handle, or the beginning of one after its nickname, means; those here first.
func (r reader) accountsByHandle(ctx context.Context, q AccountSearch) ([]AccountID, error) {
	nick, domain, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(q.Text), "@"), "@")
	if nick == "" || len(nick)+len(domain) > 1000 {
		return nil, nil
	}
	named := func(from, below string) ([]AccountID, error) {
		query := q.choose(handleFollowed, handleLocal, handleAll)
		return ids[AccountID](ctx, r, "accounts named", query, q.Viewer, text.FoldKey(nick), from, below, q.Offset+q.Limit)
	}
	var here []AccountID
	from := strings.ToLower(domain)
	if from != "" && strings.HasPrefix(q.Host, from) { // those here are stored without a domain
		var err error
		if here, err = named("", "\x00"); err != nil {
			return nil, err
		}
	}
	there, err := named(from, from+"\U0010ffff")
	return append(here, there...), err
}

// matchPrefixes turns what somebody typed into a full-text query for words that begin with its words; "" if there is none. Nothing
// of the text is left that could be an operator.
func matchPrefixes(typed string) string {
	typed = strings.ToValidUTF8(typed, " ")
	words := strings.FieldsFunc(typed, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
	var b strings.Builder
	for i, word := range words {
		if i == maxSearchWords {
			break
		}
		if len(word) > maxSearchWordBytes {
			return "" // no name has such a word
		}
		b.WriteString(`"` + word + `"* `)
	}
	return strings.TrimSuffix(b.String(), " ")
}
