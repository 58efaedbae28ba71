package store

import (
	"context"
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
// nothing: of words that many posts have, but hardly one together, or of words in posts that the viewer may not see.
const (
	maxStatusDepth  = 1000                   // posts that can be paged through by offset
	partLength      = 2000                   // posts of the first part
	partGrowth      = 8                      // how much longer, in time, a part is than one that took no time
	partQuick       = 5 * time.Millisecond   // that is
	partSlow        = 40 * time.Millisecond  // parts that take longer become shorter
	maxStatusSearch = 400 * time.Millisecond // after that no further part is begun
)

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
	h, err := r.hints(ctx, s.Viewer)
	if err != nil {
		return nil, err
	}
	withMuted := s.Author != 0 || len(by) > 0
	find := func(below, above int64, ascending bool, limit int) ([]StatusID, error) {
		query := searchStatuses
		if ascending {
			query = searchStatusesUp
		}
		return ids[StatusID](ctx, r, "search statuses", query, s.Viewer, h, withMuted, q.match(by, notBy), below, above, q.only, limit)
	}
	found, err := r.inParts(ctx, s, q, depth, find)
	if err != nil {
		return nil, err
	}
	return newestFirst(found[min(s.Offset, len(found)):], s.MinID != 0), nil
}

// involved is the condition that the viewer did something with the status s.
const involved = `
		EXISTS (SELECT 1 FROM favourites x WHERE x.account_id = ?1 AND x.status_id = s.id)
		OR EXISTS (SELECT 1 FROM bookmarks x WHERE x.account_id = ?1 AND x.status_id = s.id)
		OR s.reblogs_count > 0 AND EXISTS (SELECT 1 FROM statuses x WHERE x.reblog_of_id = s.id AND x.account_id = ?1)`

// ?1 is the viewer, ?2 the hints, ?3 with_muted, ?4 what the index looks for, between the ids ?5 and ?6, ?7 the statusBits. The
// index knows no boosts; o is there because wanted speaks of it.
var searchStatuses = `
		SELECT s.id
		FROM statuses_fts m
		CROSS JOIN statuses s ON s.id = m.rowid
		LEFT JOIN statuses o ON o.id = s.reblog_of_id
		WHERE m.statuses_fts MATCH ?4 AND m.rowid < ?5 AND m.rowid > ?6
			AND (?7 & 1 = 0 OR s.sensitive = 1)
			AND (?7 & 2 = 0 OR s.sensitive = 0)
			AND (s.account_id = ?1
				OR s.visibility < 3 AND ?7 & 8 = 0 AND (?7 & 4 = 0 OR EXISTS (SELECT 1 FROM accounts x WHERE x.id = s.account_id AND x.discoverable = 1))
				OR ?1 > 0 AND (` + involved + `
					OR ?7 & 8 = 0 AND EXISTS (SELECT 1 FROM recipients x WHERE x.status_id = s.id AND x.account_id = ?1)))
			AND ` + visible("s") + `
			AND ` + wanted + `
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

// inParts calls find for one stretch of ids after the other until there is enough, nothing is left, or it has taken too long.
func (r reader) inParts(ctx context.Context, s StatusSearch, q *statusQuery, limit int, find func(below, above int64, ascending bool, limit int) ([]StatusID, error)) ([]StatusID, error) {
	below, above, ascending := s.bounds()
	above = max(above, q.after)
	if q.upto != 0 {
		below = min(below, q.upto)
	}
	size, err := r.firstPart(ctx, &below, &above, ascending)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	var found []StatusID
	for below-above > 1 {
		from, to, before := below, max(above, below-size), time.Now()
		if ascending {
			from, to = min(below, above+size), above
		}
		some, err := find(from, to, ascending, limit-len(found))
		found = append(found, some...)
		if err != nil || len(found) == limit {
			return found, err
		}
		if ascending {
			above = from - 1
		} else {
			below = to + 1
		}
		took := time.Since(before)
		switch {
		case time.Since(began) > maxStatusSearch:
			return found, nil
		case took < partQuick:
			size = min(size*partGrowth, maxID)
		case took > partSlow:
			size = size/2 + 2
		}
	}
	return found, nil
}

// maxID is more than any id is, and far from what an int64 holds.
const maxID = 1 << 54

// firstPart narrows the bounds of a search to where there are posts at its beginning, and returns how far the first part reaches from
// there.
func (r reader) firstPart(ctx context.Context, below, above *int64, ascending bool) (size int64, err error) {
	query := firstPartDown
	if ascending {
		query = firstPartUp
	}
	type edges struct{ First, Last *int64 }
	e, err := one[edges](ctx, r, "first part", query, *below, *above, partLength)
	if err != nil {
		return 0, err
	}
	*below = min(*below, maxID)
	if e.First == nil { // there is nothing at all
		*below = *above
		return 0, nil
	}
	if ascending {
		*above = *e.First - 1
	} else {
		*below = *e.First + 1
	}
	if e.Last == nil { // no more than one part
		return maxID, nil
	}
	return max(*e.Last-*e.First, *e.First-*e.Last) + 2, nil
}

var (
	firstPartDown = `
		SELECT
			(SELECT id FROM statuses_fts_docsize WHERE id < ?1 AND id > ?2 ORDER BY id DESC LIMIT 1) AS first,
			(SELECT id FROM statuses_fts_docsize WHERE id < ?1 AND id > ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3) AS last`
	firstPartUp = strings.ReplaceAll(firstPartDown, "DESC", "ASC")
)

// StatusByAddress returns the status that has an address as its ActivityPub id, or that lives elsewhere and has its page there; nil if there
// is none.
func (r reader) StatusByAddress(ctx context.Context, address string) (*Status, error) {
	s, err := one[Status](ctx, r, "status by URI", `SELECT * FROM statuses WHERE uri = ?`, address)
	if s != nil || err != nil {
		return s, err
	}
	return one[Status](ctx, r, "status by URL", `
		SELECT *
		FROM statuses INDEXED BY statuses_url
		WHERE url = ? AND domain <> '' AND url <> ''
		LIMIT 1`, address)
}
