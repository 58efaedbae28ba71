package store

import (
	"context"
	"time"
)

// Bounds of what trends are computed from.
const (
	maxTrendPosts = 5000
	maxTrendTags  = 50_000
)

// TrendPost is a public post of a local account.
type TrendPost struct {
	ID           StatusID
	AccountID    AccountID
	CardID       *CardID // that has something to show; nil: none
	Interactions int     // favourites and boosts
	Discoverable bool    // its author wants to be found
}

// TrendTag is a hashtag of a post.
type TrendTag struct {
	StatusID StatusID
	TagID    TagID
	Name     string
}

// TrendPosts returns the newest public posts of available local accounts since a time, newest first.
func (r reader) TrendPosts(ctx context.Context, since time.Time) ([]TrendPost, error) {
	return list[TrendPost](ctx, r, "posts for trends", `
		SELECT s.id, s.account_id, c.id AS card_id, s.favourites_count + s.reblogs_count AS interactions, a.discoverable
		FROM (
			SELECT id, account_id, card_id, favourites_count, reblogs_count
			FROM statuses INDEXED BY statuses_anyone_local
			WHERE visibility = 0 AND reblog_of_id IS NULL AND domain = '' AND id > ?1
			ORDER BY id DESC
			LIMIT ?2) s
		CROSS JOIN accounts a ON a.id = s.account_id
		LEFT JOIN cards c ON c.id = s.card_id AND c.card <> ''
		WHERE a.unavailable = 0`, max(since.UnixMilli()<<sequenceBits, 0), maxTrendPosts)
}

// TrendTags returns the hashtags of posts.
func (r reader) TrendTags(ctx context.Context, posts []StatusID) ([]TrendTag, error) {
	return list[TrendTag](ctx, r, "hashtags for trends", `
		SELECT st.status_id, st.tag_id, t.name
		FROM json_each(?1) j
		CROSS JOIN status_tags st ON st.status_id = j.value
		CROSS JOIN tags t ON t.id = st.tag_id
		LIMIT ?2`, jsonArray(posts), maxTrendTags)
}

// ListedIDs returns those of the statuses that the viewer may see and has not hidden by a block or mute, in no order.
func (r reader) ListedIDs(ctx context.Context, viewer AccountID, of []StatusID) ([]StatusID, error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	return ids[StatusID](ctx, r, "listed statuses", `
		SELECT s.id
		FROM json_each(?4) j
		CROSS JOIN statuses s ON s.id = j.value
		LEFT JOIN statuses o ON o.id = s.reblog_of_id
		WHERE `+visibleWithOriginal+` AND `+notBlockedOrMuted, viewer, l, false, jsonArray(of))
}
