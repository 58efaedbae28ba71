package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
)

// StatusSearch is a search for statuses.
type StatusSearch struct {
	Text         string
	Viewer       AccountID // 0: anonymous
	Author       AccountID // 0: any account
	Host         string    // the domain in handles of local accounts
	WebHost      string    // another one that they may be named by; "": none
	LocalOnly    bool      // only local statuses
	Discoverable bool      // unrestricted statuses of discoverable authors only
	Offset       int
	Page
}

// A search reads statuses from the newest on in parts, so that it ends even if many statuses have the words, but not together or not
// visible to the viewer. A part is a number of time slices (status_index.go), which are in the full-text index itself; bounds of ids only
// apply to what the index has found.
const (
	maxStatusDepth = 1000                   // results that can be paged through by offset
	partGrowth     = 8                      // a part has this many times the slices of the part before, if that was quick
	quickPart      = 5 * time.Millisecond   // what counts as no time
	maxPartPosts   = 1000                   // that the index finds in a part
	maxPartSlices  = 64                     // after a quick part with more slices, the next has all the rest
	fewPosts       = 3000                   // with a word that fewer posts have, the second part has all the rest
	softSearchTime = 150 * time.Millisecond // after that no further part begins
)

// maxSearchTime is how long a search may take, in whatever part.
var maxSearchTime = 500 * time.Millisecond

// SearchStatuses returns the ids of statuses that match a query (search_query.go): unrestricted ones, local ones for local viewers, and of
// any other visibility or of authors who do not consent to the search, the viewer's own, those addressed to the viewer, and those that the
// viewer favourited, bookmarked or boosted.
// Statuses hidden by blocks or mutes are left out, except muted ones if the query names their author.
func (r reader) SearchStatuses(ctx context.Context, s StatusSearch) ([]StatusID, error) {
	q := readStatusQuery(s.Text, s.Host, s.WebHost)
	depth := s.Offset + s.Limit
	if q.empty() || depth > maxStatusDepth || s.Viewer == 0 && q.only&onlyLibrary != 0 {
		return nil, nil
	}
	by, err := r.authors(ctx, s, q.from)
	if err != nil || len(q.from) > 0 && len(by) == 0 {
		return nil, err
	}
	notBy, err := r.authors(ctx, s, q.notFrom)
	if err != nil {
		return nil, err
	}
	if s.Author != 0 {
		q.facets = append(q.facets, authorFacet(s.Author))
	}
	if s.LocalOnly {
		q.facets = append(q.facets, facetLocal)
	}
	if s.Discoverable {
		q.only |= onlyDiscoverable
	}
	l, err := r.lookups(ctx, s.Viewer)
	if err != nil {
		return nil, err
	}
	end, err := r.db.searchLimiter.acquire(ctx, s.Viewer)
	if err != nil {
		return nil, err
	}
	defer end()
	search := &statusSearch{StatusSearch: s, query: q, by: by, notBy: notBy, lookups: l, wanted: s.Offset + s.Limit}
	if err := r.inParts(ctx, search); err != nil {
		return nil, err
	}
	return newestFirst(search.found[min(s.Offset, len(search.found)):], s.MinID != 0), nil
}

// statusSearch is a running search.
type statusSearch struct {
	StatusSearch
	query     *statusQuery
	by, notBy []AccountID
	lookups   Lookups
	wanted    int // results to find
	found     []StatusID
}

// interacted is the condition that the viewer interacted with the status s.
const interacted = `
		EXISTS (SELECT 1 FROM favourites x WHERE x.account_id = ?1 AND x.status_id = s.id)
		OR EXISTS (SELECT 1 FROM bookmarks x WHERE x.account_id = ?1 AND x.status_id = s.id)
		OR s.reblogs_count > 0 AND EXISTS (SELECT 1 FROM statuses x WHERE x.reblog_of_id = s.id AND x.account_id = ?1)`

// searchStatuses returns what the index finds and whether it is a result. ?1 is the viewer, ?2 the lookups, ?3 with_muted, ?4 the full-text
// query, ?5 and ?6 the bounds of ids, ?7 the statusBits. Boosts are not indexed; o is there for notBlockedOrMuted.
var searchStatuses = newKeyset(`
		SELECT s.id, (` + unset("?7", onlySensitive) + ` OR s.sensitive = 1)
			AND (` + unset("?7", notSensitive) + ` OR s.sensitive = 0)
			AND (s.account_id = ?1
				OR s.visibility < 3 AND ` + unset("?7", onlyLibrary) + ` AND (` + unset("?7", onlyDiscoverable) + ` OR EXISTS (SELECT 1 FROM accounts x WHERE x.id = s.account_id AND x.discoverable = 1))
					AND NOT EXISTS (SELECT 1 FROM accounts x INDEXED BY accounts_unindexable WHERE x.id = s.account_id AND x.indexable = 0)
				OR ?1 > 0 AND (` + interacted + `
					OR ` + unset("?7", onlyLibrary) + ` AND EXISTS (SELECT 1 FROM recipients x WHERE x.status_id = s.id AND x.account_id = ?1)))
			AND ` + visible("s") + `
			AND ` + notBlockedOrMuted + ` AS shown
		FROM statuses_fts m
		CROSS JOIN statuses s ON s.id = m.rowid
		LEFT JOIN statuses o ON o.id = s.reblog_of_id
		WHERE m.statuses_fts MATCH ?4 AND m.rowid < ?5 AND m.rowid > ?6
		ORDER BY m.rowid DESC
		LIMIT ?8`)

// authors returns the accounts of handles, as far as they are known; me is the viewer.
func (r reader) authors(ctx context.Context, s StatusSearch, handles []string) ([]AccountID, error) {
	var ids []AccountID
	for _, handle := range handles {
		if strings.EqualFold(handle, "me") && s.Viewer != 0 {
			ids = append(ids, s.Viewer)
			continue
		}
		nick, domain, _ := text.SplitHandle(handle)
		if domain == s.Host || domain == s.WebHost {
			domain = ""
		}
		a, err := r.AccountByName(ctx, nick, domain)
		if errs.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, a.ID)
	}
	return ids, nil
}

// inParts searches part after part until there are enough results, nothing is left, or time is up. A client that disconnects does not end
// it, because the connection to the database is worth more than the rest of the search.
func (r reader) inParts(ctx context.Context, s *statusSearch) error {
	below, above, ascending := s.bounds()
	above = max(above, s.query.after)
	if s.query.upto != 0 {
		below = min(below, s.query.upto)
	}
	below, above, err := r.indexedWithin(ctx, below, above)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxSearchTime)
	defer cancel()
	began := time.Now()
	for slices := int64(1); below-above > 1; {
		from, to := below, above
		switch {
		case slices > maxPartSlices:
		case ascending:
			from = min(below, (sliceOf(above+1)+slices)<<sliceBits)
		default:
			to = max(above, (sliceOf(below-1)+1-slices)<<sliceBits-1)
		}
		before := time.Now()
		last, err := r.searchPart(ctx, s, from, to)
		if ctx.Err() != nil {
			return nil
		}
		if slices == 1 && last == 0 && len(s.found) == 0 && err == nil {
			n, err := r.rarestWord(ctx, s.query)
			if ctx.Err() != nil {
				return nil
			}
			if n == 0 || err != nil {
				return err
			}
			if n < fewPosts {
				slices = maxPartSlices + 1
			}
		}
		if err != nil || len(s.found) == s.wanted || time.Since(began) > softSearchTime {
			return err
		}
		switch {
		case ascending && last != 0:
			above = last
		case ascending:
			above = from - 1
		case last != 0:
			below = last
		default:
			below = to + 1
		}
		if slices <= maxPartSlices && time.Since(before) < quickPart {
			slices *= partGrowth
		}
	}
	return nil
}

// rarestWord returns how many statuses have the rarest word of the query, up to fewPosts. That is quick to see, while parts open the lists of
// many time slices in all segments of the index.
func (r reader) rarestWord(ctx context.Context, q *statusQuery) (least int, err error) {
	least = fewPosts
	for _, phrase := range q.phrases {
		for word := range strings.FieldsSeq(phrase) {
			n, err := value[int](ctx, r, "search statuses", `
				SELECT count(*)
				FROM (SELECT 1 FROM statuses_fts WHERE statuses_fts MATCH ? LIMIT ?)`, `body : "`+word+`"`, least)
			if least = n; n == 0 || err != nil {
				return 0, err
			}
		}
	}
	return least, nil
}

// searchPart adds the results between two ids. It returns the id where it stopped, 0 at the end.
func (r reader) searchPart(ctx context.Context, s *statusSearch, below, above int64) (last int64, err error) {
	query := searchStatuses.descending
	if s.MinID != 0 {
		query = searchStatuses.ascending
	}
	release, err := r.hold(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	withMuted := s.Author != 0 || len(s.by) > 0 // a search for an author's statuses includes muted ones
	rows, err := r.q.queryWithin(ctx, query, s.Viewer, s.lookups, withMuted, s.query.match(s.by, s.notBy, below, above), below, above,
		s.query.only, maxPartPosts)
	if err != nil {
		return 0, fmt.Errorf("search statuses: %w", err)
	}
	defer rows.Close()
	n := 0
	for ; len(s.found) < s.wanted && rows.Next(); n++ {
		var may bool
		if err := rows.Scan(&last, &may); err != nil {
			return 0, fmt.Errorf("search statuses: %w", err)
		}
		if may {
			s.found = append(s.found, StatusID(last))
		}
	}
	if n < maxPartPosts {
		last = 0
	}
	return last, rows.Err()
}

// indexedWithin narrows bounds to the ids in the index.
func (r reader) indexedWithin(ctx context.Context, below, above int64) (int64, int64, error) {
	type edges struct{ First, Last *int64 }
	e, err := one[edges](ctx, r, "edges of the index", `
		SELECT
			(SELECT id FROM statuses_fts_docsize WHERE id < ?1 AND id > ?2 ORDER BY id LIMIT 1) AS first,
			(SELECT id FROM statuses_fts_docsize WHERE id < ?1 AND id > ?2 ORDER BY id DESC LIMIT 1) AS last`, below, above)
	if err != nil || e.First == nil {
		return 0, 0, err
	}
	return *e.Last + 1, *e.First - 1, nil
}
