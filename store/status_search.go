package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
)

// StatusSearch is what somebody looks for among the posts.
type StatusSearch struct {
	Text         string
	Viewer       AccountID // 0: the anonymous
	Author       AccountID // only posts by this account; 0: by anybody
	Host         string    // what the handles of those who live here end in
	LocalOnly    bool      // only posts made here
	Discoverable bool      // of what is open to all, only that of authors who want to be found
	Offset       int
	Page
}

// A search looks through the posts from the newest on, part by part, so that there is an end to it even where there is an end to
// nothing: of words that many posts have, but hardly one together, or of words in posts that the viewer may not see. A part is some
// slices of time (status_index.go), by which the index itself knows where to stop; bounds of the ids only stop what it has found.
const (
	maxStatusDepth = 1000                   // posts that can be paged through by offset
	partGrowth     = 8                      // a part has so many slices more than the one before, if that took no time
	quickPart      = 5 * time.Millisecond   // what counts as no time
	maxPartPosts   = 1000                   // that the index finds in a part
	maxPartSlices  = 64                     // after a quick part of so many, the next is all the rest
	softSearchTime = 150 * time.Millisecond // after that no further part is begun
)

// maxSearchTime is how long a search may take, whatever the last part holds: what was quick so far may go on with years full of posts.
var maxSearchTime = 500 * time.Millisecond

// SearchStatuses returns ids of the posts that a text describes (search_query.go) and that the viewer may find: those open to all,
// whether public or unlisted, to people here also local ones, and of any other visibility, as long as the viewer can see them, the
// viewer's own, those addressed to the viewer, and those that the viewer has favourited, bookmarked or boosted. Posts by those whom
// the viewer blocks, mutes or has muted the thread of are left out, unless it is their author that is asked for in case of mutes.
func (r reader) SearchStatuses(ctx context.Context, s StatusSearch) ([]StatusID, error) {
	q := readStatusQuery(s.Text, s.Host)
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
	h, err := r.lookups(ctx, s.Viewer)
	if err != nil {
		return nil, err
	}
	end, err := r.db.searchLimiter.acquire(ctx, s.Viewer)
	if err != nil {
		return nil, err
	}
	defer end()
	search := &statusSearch{StatusSearch: s, query: q, by: by, notBy: notBy, hints: h, wanted: s.Offset + s.Limit}
	if err := r.inParts(ctx, search); err != nil {
		return nil, err
	}
	return newestFirst(search.found[min(s.Offset, len(search.found)):], s.MinID != 0), nil
}

// statusSearch is a search under way.
type statusSearch struct {
	StatusSearch
	query     *statusQuery
	by, notBy []AccountID
	hints     Lookups
	wanted    int // how many posts are enough
	found     []StatusID
}

// interacted is the condition that the viewer did something with the status s.
const interacted = `
		EXISTS (SELECT 1 FROM favourites x WHERE x.account_id = ?1 AND x.status_id = s.id)
		OR EXISTS (SELECT 1 FROM bookmarks x WHERE x.account_id = ?1 AND x.status_id = s.id)
		OR s.reblogs_count > 0 AND EXISTS (SELECT 1 FROM statuses x WHERE x.reblog_of_id = s.id AND x.account_id = ?1)`

// What the index finds, and whether the viewer may. ?1 is the viewer, ?2 the hints, ?3 with_muted, ?4 what the index looks for,
// between the ids ?5 and ?6, ?7 the statusBits. The index knows no boosts; o is there because wanted speaks of it.
var searchStatuses = `
		SELECT s.id, (` + unset("?7", onlySensitive) + ` OR s.sensitive = 1)
			AND (` + unset("?7", notSensitive) + ` OR s.sensitive = 0)
			AND (s.account_id = ?1
				OR s.visibility < 3 AND ` + unset("?7", onlyLibrary) + ` AND (` + unset("?7", onlyDiscoverable) + ` OR EXISTS (SELECT 1 FROM accounts x WHERE x.id = s.account_id AND x.discoverable = 1))
				OR ?1 > 0 AND (` + interacted + `
					OR ` + unset("?7", onlyLibrary) + ` AND EXISTS (SELECT 1 FROM recipients x WHERE x.status_id = s.id AND x.account_id = ?1)))
			AND ` + visible("s") + `
			AND ` + notBlockedOrMuted + `
		FROM statuses_fts m
		CROSS JOIN statuses s ON s.id = m.rowid
		LEFT JOIN statuses o ON o.id = s.reblog_of_id
		WHERE m.statuses_fts MATCH ?4 AND m.rowid < ?5 AND m.rowid > ?6
		ORDER BY m.rowid DESC
		LIMIT ?8`

var searchStatusesUp = strings.Replace(searchStatuses, " DESC\n", " ASC\n", 1)

// authors returns the accounts that handles mean, as far as they are known: me is the viewer.
func (r reader) authors(ctx context.Context, s StatusSearch, handles []string) ([]AccountID, error) {
	var ids []AccountID
	for _, handle := range handles {
		if strings.EqualFold(handle, "me") && s.Viewer != 0 {
			ids = append(ids, s.Viewer)
			continue
		}
		nick, domain, _ := text.SplitHandle(handle)
		if domain == s.Host {
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

// inParts searches one part after the other until there is enough, nothing is left, or it has taken too long. That a client goes away
// does not end a search: the connection that does it is worth more than the rest.
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

// searchPart adds to what was found what lies between two ids. It returns the id where it stopped, 0 if that was the end.
func (r reader) searchPart(ctx context.Context, s *statusSearch, below, above int64) (last int64, err error) {
	query := searchStatuses
	if s.MinID != 0 {
		query = searchStatusesUp
	}
	withMuted := s.Author != 0 || len(s.by) > 0 // who looks for somebody's posts wants to see them
	rows, err := r.q.queryWithin(ctx, query, s.Viewer, s.hints, withMuted, s.query.match(s.by, s.notBy, below, above), below, above,
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

// indexedWithin narrows bounds to where there are posts in the index.
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
