package store

import "context"

// Filter selects the posts of a timeline.
type Filter struct {
	WithMuted         bool // include muted accounts and threads
	OnlyMedia         bool
	Local             bool // only local posts
	Remote            bool // only remote posts
	ExcludeReplies    bool // to other accounts
	ExcludeReblogs    bool
	ExcludeVisibility []Visibility
	OnlyFederated     bool // only what may be served to other servers (Status.Federated), apart from local visibility
	ReplyVisibility   ReplyVisibility
}

// ReplyVisibility selects the replies in a timeline.
type ReplyVisibility int

const (
	AllReplies       ReplyVisibility = iota
	RepliesFollowing                 // to the viewer or followed accounts, or mentioning one
	RepliesSelf                      // to the viewer
)

// Bits of ?4 in the conditions below.
const (
	filterOnlyMedia = 1 << iota
	filterLocal
	filterRemote
	filterNoReplies
	filterNoReblogs
	filterRepliesFollowing
	filterRepliesSelf
	filterFederated
)

func (f Filter) bits() (bits int, visibilities int) {
	for _, set := range []struct {
		on  bool
		bit int
	}{
		{f.OnlyMedia, filterOnlyMedia}, {f.Local, filterLocal}, {f.Remote, filterRemote},
		{f.ExcludeReplies, filterNoReplies}, {f.ExcludeReblogs, filterNoReblogs},
		{f.ReplyVisibility == RepliesFollowing, filterRepliesFollowing}, {f.ReplyVisibility == RepliesSelf, filterRepliesSelf},
		{f.OnlyFederated, filterFederated},
	} {
		if set.on {
			bits |= set.bit
		}
	}
	for _, v := range f.ExcludeVisibility {
		visibilities |= 1 << v
	}
	return bits, visibilities
}

// filterCondition is the condition of a Filter with the bits ?4 and the excluded visibilities ?5.
var filterCondition = `
	(` + unset("?4", filterOnlyMedia) + ` OR ifnull(o.has_media, s.has_media))
	AND (` + unset("?4", filterLocal) + ` OR s.domain = '')
	AND (` + unset("?4", filterRemote) + ` OR s.domain <> '')
	AND (` + unset("?4", filterNoReplies) + ` OR s.in_reply_to_account_id IS NULL OR s.in_reply_to_account_id = s.account_id)
	AND (` + unset("?4", filterNoReblogs) + ` OR s.reblog_of_id IS NULL)
	AND (` + unset("?4", filterFederated) + ` OR s.unfederated = 0)
	AND (` + unset("?4", filterRepliesFollowing|filterRepliesSelf) + ` OR s.in_reply_to_account_id IS NULL OR s.account_id = ?1
		OR EXISTS (SELECT 1 FROM recipients x WHERE x.status_id = s.id AND x.account_id = ?1 AND x.mentioned = 1)
		OR s.in_reply_to_account_id = ?1
		OR ` + set("?4", filterRepliesFollowing) + ` AND (
			EXISTS (SELECT 1 FROM follows x WHERE x.follower_id = ?1 AND x.target_id = s.in_reply_to_account_id AND x.pending = 0)
			OR EXISTS (
				SELECT 1
				FROM recipients r CROSS JOIN follows x ON x.follower_id = ?1 AND x.target_id = r.account_id AND x.pending = 0
				WHERE r.status_id = s.id AND r.mentioned = 1 AND r.account_id <> s.account_id)))
	AND (?5 >> s.visibility & 1 = 0)`

// timeline are the queries of a timeline in both directions. from has the statuses as s; key is the column of their ids, by which it is
// ordered; where adds conditions that the index answers, shown those that decide whether a row is shown. Both may use parameters from ?9 on.
// The queries return the id of each row that they look at, negative for a hidden one, up to ?8 rows.
type timeline struct{ keyset }

func newTimeline(from, key, where string) timeline {
	return newTimelineOf(from, key, where, notBlockedOrMuted)
}

func newTimelineOf(from, key, where, shown string) timeline {
	return timeline{newKeyset(`
		SELECT CASE WHEN ` + visibleWithOriginal + `
			AND ` + shown + `
			AND ` + filterCondition + ` THEN ` + key + ` ELSE -` + key + ` END AS position
		FROM ` + from + `
		LEFT JOIN statuses o ON o.id = s.reblog_of_id
		WHERE ` + where + `
			AND ` + key + ` < ?6 AND ` + key + ` > ?7
		ORDER BY ` + key + ` DESC
		LIMIT ?8`)}
}

var (
	homeTimeline   = newTimeline(`home h CROSS JOIN statuses s ON s.id = h.status_id`, `h.status_id`, `h.account_id = ?1`)
	listTimeline   = newTimeline(`list_timeline h CROSS JOIN statuses s ON s.id = h.status_id`, `h.status_id`, `h.list_id = ?9`)
	directTimeline = newTimeline(`recipients r CROSS JOIN statuses s ON s.id = r.status_id`, `r.status_id`, `r.account_id = ?1 AND r.direct = 1`)
	tagTimeline    = newTimelineOf(`status_tags t INDEXED BY status_tags_listed CROSS JOIN statuses s ON s.id = t.status_id`, `t.status_id`,
		`t.tag_id = ?9 AND t.visibility IN (0, 2)`, `s.reblog_of_id IS NULL AND `+notBlockedOrMuted+`
			AND (?10 = '[]' OR s.id IN (SELECT x.status_id FROM status_tags x WHERE x.status_id = s.id AND x.tag_id IN (SELECT value FROM json_each(?10))))
			AND (?11 = 0 OR ?11 = (SELECT count(*) FROM status_tags x WHERE x.status_id = s.id AND x.tag_id IN (SELECT value FROM json_each(?12))))
			AND (?13 = '[]' OR NOT EXISTS (SELECT 1 FROM status_tags x WHERE x.status_id = s.id AND x.tag_id IN (SELECT value FROM json_each(?13))))`)
	publicTimeline      = newPublicTimeline("statuses_public", ``)
	publicMediaTimeline = newPublicTimeline("statuses_public_media", ` AND s.has_media = 1`)
	remoteTimeline      = newPublicTimeline("statuses_remote", ` AND s.domain <> ''`)
	domainTimeline      = newPublicTimeline("statuses_domain", ` AND s.domain = ?9`)
	domainMediaTimeline = newPublicTimeline("statuses_domain_media", ` AND s.domain = ?9 AND s.has_media = 1`)
	// What anyone may see, so that local posts do not fill the scan budget of anonymous clients.
	anyonesPublicTimeline  = newTimeline(`statuses s INDEXED BY statuses_anyone`, `s.id`, `s.visibility = 0 AND s.reblog_of_id IS NULL`)
	anyonesLocalTimeline   = newTimeline(`statuses s INDEXED BY statuses_anyone_local`, `s.id`, `s.visibility = 0 AND s.reblog_of_id IS NULL AND s.domain = ''`)
	anyonesAccountTimeline = newTimelineOf(`statuses s INDEXED BY statuses_anyone_account`, `s.id`, `s.account_id = ?9 AND s.visibility IN (0, 1)`, notBlockedOrMutedOnProfile)
	linkTimeline           = newTimeline(`statuses s INDEXED BY statuses_public_card`, `s.id`, `s.card_id = ?9 AND s.visibility = 0 AND s.reblog_of_id IS NULL`)
	accountTimeline        = newTimelineOf(`statuses s INDEXED BY statuses_account`, `s.id`, `s.account_id = ?9`, notBlockedOrMutedOnProfile)
	accountMedia           = newTimelineOf(`statuses s INDEXED BY statuses_account_media`, `s.id`, `s.account_id = ?9 AND s.has_media = 1`, notBlockedOrMutedOnProfile)
	accountTagged          = newTimelineOf(`statuses s INDEXED BY statuses_account`, `s.id`, `s.account_id = ?9`,
		`EXISTS (SELECT 1 FROM status_tags t WHERE t.tag_id = ?10 AND t.status_id = s.id) AND `+notBlockedOrMutedOnProfile)
	accountPinned = newTimelineOf(`pins p CROSS JOIN statuses s ON s.id = p.status_id`, `p.status_id`, `p.account_id = ?9`, notBlockedOrMutedOnProfile)
)

// newPublicTimeline returns a timeline of public and local posts that reads an index made for it.
func newPublicTimeline(index, where string) timeline {
	return newTimeline(`statuses s INDEXED BY `+index, `s.id`, `s.visibility IN (0, 2) AND s.reblog_of_id IS NULL`+where)
}

func (t timeline) read(ctx context.Context, r reader, viewer AccountID, f Filter, p Page, more ...any) (Part[StatusID], error) {
	return t.readWithin(ctx, r, viewer, f, p, scanBudget, more...)
}

// readWithin is read with a budget of its own.
func (t timeline) readWithin(ctx context.Context, r reader, viewer AccountID, f Filter, p Page, budget int, more ...any) (Part[StatusID], error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return Part[StatusID]{}, err
	}
	query, below, above, _ := t.query(p)
	bits, visibilities := f.bits()
	budget = max(budget, p.Limit)
	return scanPart(ctx, r, "timeline", query, p, budget, scanMarkedID[StatusID],
		append([]any{viewer, l, f.WithMuted, bits, visibilities, below, above, budget}, more...)...)
}

// HomeTimeline returns the ids of posts and boosts by followed accounts and the viewer, and of direct posts to the viewer.
func (r reader) HomeTimeline(ctx context.Context, viewer AccountID, f Filter, p Page) (Part[StatusID], error) {
	return homeTimeline.read(ctx, r, viewer, f, p)
}

// ListTimeline returns the ids of posts and boosts by the members of a list.
func (r reader) ListTimeline(ctx context.Context, viewer AccountID, id ListID, f Filter, p Page) (Part[StatusID], error) {
	return listTimeline.read(ctx, r, viewer, f, p, id)
}

// DirectTimeline returns the ids of direct posts by or to the viewer.
func (r reader) DirectTimeline(ctx context.Context, viewer AccountID, f Filter, p Page) (Part[StatusID], error) {
	return directTimeline.read(ctx, r, viewer, f, p)
}

// PublicTimeline returns the ids of public posts, and of local ones for local viewers; of one instance only if it is not "".
func (r reader) PublicTimeline(ctx context.Context, viewer AccountID, instance string, f Filter, p Page) (Part[StatusID], error) {
	switch anyone := viewer == 0; {
	case f.Local && instance != "", f.Local && f.Remote:
		return Part[StatusID]{}, nil
	case f.Local && f.OnlyMedia:
		return domainMediaTimeline.read(ctx, r, viewer, f, p, "")
	case f.Local && anyone:
		return anyonesLocalTimeline.read(ctx, r, viewer, f, p)
	case f.Local:
		return domainTimeline.read(ctx, r, viewer, f, p, "")
	case instance != "" && f.OnlyMedia:
		return domainMediaTimeline.read(ctx, r, viewer, f, p, instance)
	case instance != "":
		return domainTimeline.read(ctx, r, viewer, f, p, instance)
	case f.OnlyMedia:
		return publicMediaTimeline.read(ctx, r, viewer, f, p)
	case f.Remote:
		return remoteTimeline.read(ctx, r, viewer, f, p)
	case anyone:
		return anyonesPublicTimeline.read(ctx, r, viewer, f, p)
	}
	return publicTimeline.read(ctx, r, viewer, f, p)
}

// TagQuery selects posts by hashtags: Tag or one of Any, all of All, none of None.
type TagQuery struct {
	Tag            string
	Any, All, None []string
}

// TagTimeline returns the ids of public posts with a hashtag. It merges the timelines of several alternatives.
func (r reader) TagTimeline(ctx context.Context, viewer AccountID, q TagQuery, f Filter, p Page) (Part[StatusID], error) {
	all, err := r.tagIDs(ctx, q.All)
	if err != nil || len(all) < len(tagKeys(q.All)) { // an unused tag: no post has all
		return Part[StatusID]{}, err
	}
	none, err := r.tagIDs(ctx, q.None)
	if err != nil {
		return Part[StatusID]{}, err
	}
	alternatives, err := r.tagIDs(ctx, append([]string{q.Tag}, q.Any...))
	if err != nil {
		return Part[StatusID]{}, err
	}
	var parts []Part[StatusID]
	for _, tag := range alternatives {
		part, err := tagTimeline.readWithin(ctx, r, viewer, f, p, scanBudget/len(alternatives), tag, "[]", len(all), jsonArray(all), jsonArray(none))
		if err != nil {
			return Part[StatusID]{}, err
		}
		parts = append(parts, part)
	}
	return mergeParts(parts, p), nil
}

// AccountTimeline returns the ids of an account's posts and boosts that are visible to the viewer; of one hashtag only if tagged is not "".
// Blocks and mutes of the author are ignored on the own profile.
func (r reader) AccountTimeline(ctx context.Context, viewer, author AccountID, tagged string, f Filter, p Page) (Part[StatusID], error) {
	if tagged != "" {
		tags, err := r.tagIDs(ctx, []string{tagged})
		if err != nil || len(tags) == 0 {
			return Part[StatusID]{}, err
		}
		return accountTagged.read(ctx, r, viewer, f, p, author, tags[0])
	}
	if f.OnlyMedia {
		return accountMedia.read(ctx, r, viewer, f, p, author)
	}
	if viewer == 0 {
		return anyonesAccountTimeline.read(ctx, r, viewer, f, p, author)
	}
	return accountTimeline.read(ctx, r, viewer, f, p, author)
}

// BubbleTimeline returns the ids of public posts of this server and of some hosts, and of local ones for local viewers.
func (r reader) BubbleTimeline(ctx context.Context, viewer AccountID, hosts []string, f Filter, p Page) (Part[StatusID], error) {
	t := domainTimeline
	if f.OnlyMedia {
		t = domainMediaTimeline
	}
	switch {
	case f.Local && f.Remote:
		return Part[StatusID]{}, nil
	case f.Local:
		hosts = []string{""}
	case !f.Remote:
		hosts = append([]string{""}, hosts...)
	}
	var parts []Part[StatusID]
	for _, host := range hosts {
		part, err := t.readWithin(ctx, r, viewer, f, p, scanBudget/len(hosts), host)
		if err != nil {
			return Part[StatusID]{}, err
		}
		parts = append(parts, part)
	}
	return mergeParts(parts, p), nil
}

// LinkTimeline returns the ids of public posts with a card.
func (r reader) LinkTimeline(ctx context.Context, viewer AccountID, card CardID, f Filter, p Page) (Part[StatusID], error) {
	return linkTimeline.read(ctx, r, viewer, f, p, card)
}
