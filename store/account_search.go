package store

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"svc/internal/text"
)

// AccountSearch is a search for accounts.
type AccountSearch struct {
	Text      string
	Viewer    AccountID // 0: anonymous
	Following bool      // only accounts that the viewer follows
	LocalOnly bool      // only local accounts
	Host      string    // the domain in handles of local accounts
	WebHost   string    // another one that they may be named by; "": none
	Offset    int
	Limit     int
}

// Bounds of a search.
const (
	maxSearchDepth  = 1000 // results that can be paged through
	maxSearchWords  = 10
	maxSearchTokens = 40 // words, each of which opens a list in the index; a character of a script without spaces counts as one
)

// SearchAccounts returns the accounts that a text identifies by handle or URL, and those whose nickname and display name have words that
// begin with all of its words. The order is: an exact handle, followed accounts, local accounts, others. Unavailable accounts and accounts
// that block the viewer are left out. Accounts that the viewer blocks are found by handle or URL only.
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
	q.Text = text.NormalizeAddress(q.Text)
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

// Conditions on the account a, for the viewer ?1.
const (
	followedByViewer = `EXISTS (SELECT 1 FROM follows x WHERE x.follower_id = ?1 AND x.target_id = a.id AND x.pending = 0)`
	isLocalAccount   = `EXISTS (SELECT 1 FROM accounts x INDEXED BY accounts_domain WHERE x.domain = '' AND x.id = a.id)`
)

// An account that blocks the viewer is not found. One that the viewer blocks is found by its handle only, so that the block can be lifted.
var (
	searchableByName = `
			AND ` + accountAvailable("a.id") + `
			AND NOT EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = a.id AND x.target_id = ?1)`
	searchableByWord = searchableByName + `
			AND NOT EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = ?1 AND x.target_id = a.id)`
)

// searchStage returns a search by words among the accounts that meet a condition, oldest first.
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

// choose returns the query for the accounts that the search is limited to.
func (q *AccountSearch) choose(followed, local, all string) string {
	switch {
	case q.Following:
		return followed
	case q.LocalOnly:
		return local
	}
	return all
}

// stages returns the searches by words, in the order in which they are run until there are enough results.
func (q *AccountSearch) stages() []string {
	switch {
	case q.Following:
		return []string{searchFollowed}
	case q.LocalOnly:
		return []string{searchLocal}
	}
	return []string{searchFollowed, searchLocal, searchAll}
}

// handleStage returns a search for the nickname ?2 with a domain from ?3 to below ?4. ?6 is the domain of the exact handle, by which accounts
// are found that the viewer blocks.
func handleStage(condition string) string {
	return `
		SELECT a.id
		FROM accounts a
		WHERE a.nickname_key = ?2 AND a.domain >= ?3 AND a.domain < ?4 AND ` + condition + searchableByName + `
			AND (a.domain = ?6 OR NOT EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = ?1 AND x.target_id = a.id))
		ORDER BY a.domain
		LIMIT ?5`
}

var (
	handleFollowed = handleStage(followedByViewer)
	handleLocal    = handleStage(`a.domain = ''`)
	handleAll      = handleStage(`1`)
)

// addressStage returns a search for the account with the URI or profile URL ?2.
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

// accountsByHandle returns the accounts that a handle matches. The domain may be incomplete. Local accounts come first.
func (r reader) accountsByHandle(ctx context.Context, q AccountSearch) ([]AccountID, error) {
	nick, domain, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(q.Text), "@"), "@")
	if nick == "" || len(nick)+len(domain) > 1000 {
		return nil, nil
	}
	exact := strings.ToLower(domain)
	if exact == q.Host || exact == q.WebHost {
		exact = ""
	}
	named := func(from, below string) ([]AccountID, error) {
		query := q.choose(handleFollowed, handleLocal, handleAll)
		return ids[AccountID](ctx, r, "accounts named", query, q.Viewer, text.NickKey(nick), from, below, q.Offset+q.Limit, exact)
	}
	var here []AccountID
	from := strings.ToLower(domain)
	if from != "" && (strings.HasPrefix(q.Host, from) || strings.HasPrefix(q.WebHost, from)) { // local accounts are stored without a domain
		var err error
		if here, err = named("", "\x00"); err != nil {
			return nil, err
		}
	}
	there, err := named(from, from+"\U0010ffff")
	return append(here, there...), err
}

// matchPrefixes returns a full-text query for words that begin with the typed words, "" if there are none. In scripts without spaces between
// words, a run of characters is found anywhere. Searchable leaves out everything that could be an operator.
func matchPrefixes(typed string) string {
	var b strings.Builder
	words, tokens := 0, 0
	for word := range strings.FieldsFuncSeq(strings.ToValidUTF8(typed, " "), separatesNames) {
		phrase := text.Searchable(word)
		if phrase == "" {
			continue
		}
		words, tokens = words+1, tokens+1+strings.Count(phrase, " ")
		if words > maxSearchWords || tokens > maxSearchTokens {
			break
		}
		b.WriteString(`"` + phrase + `"* `)
	}
	return strings.TrimSuffix(b.String(), " ")
}

// separatesNames returns whether a character separates the words of a search for accounts.
func separatesNames(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && !unicode.Is(unicode.So, r) && r != '\u00ad'
}
