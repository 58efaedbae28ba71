package store

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"svc/internal/text"
)

// Subscribers returns the local accounts that are subscribed to the author of s, may see s, and are not mentioned in it.
func (r reader) Subscribers(ctx context.Context, s *Status) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "subscribers", `
		SELECT x.account_id
		FROM subscriptions x INDEXED BY subscriptions_target
		CROSS JOIN users u ON u.account_id = x.account_id
		LEFT JOIN recipients r ON r.status_id = ?2 AND r.account_id = x.account_id
		WHERE x.target_id = ?1 AND ifnull(r.mentioned, 0) = 0
			AND (?3 OR r.account_id IS NOT NULL OR ?4 AND EXISTS (
				SELECT 1 FROM follows f WHERE f.follower_id = x.account_id AND f.target_id = ?1 AND f.pending = 0))`,
		s.AccountID, s.ID, s.Visibility.Unrestricted(), s.Visibility == Private)
}

// Audience is the set of timelines that have a status. VisibleTo says to which viewers the status is visible there.
type Audience struct {
	Homes      []AccountID // whose home timelines have it
	Lists      []ListID    // whose list timelines have it
	Tags       []string    // their keys; none for a boost
	Recipients []Recipient // for a boost also those of the original
}

// Audience returns the timelines that have a status.
func (r reader) Audience(ctx context.Context, st *Status) (*Audience, error) {
	a := new(Audience)
	var err error
	if a.Homes, err = ids[AccountID](ctx, r, "homes", `SELECT account_id FROM home WHERE status_id = ?`, st.ID); err != nil {
		return nil, err
	}
	if a.Lists, err = ids[ListID](ctx, r, "lists", `SELECT list_id FROM list_timeline WHERE status_id = ?`, st.ID); err != nil {
		return nil, err
	}
	addressed := []StatusID{st.ID}
	if st.ReblogOfID != nil {
		addressed = append(addressed, *st.ReblogOfID)
	}
	if a.Recipients, err = r.Recipients(ctx, addressed); err != nil || st.ReblogOfID != nil {
		return a, err
	}
	tags, err := r.StatusTags(ctx, addressed)
	for _, t := range tags {
		a.Tags = append(a.Tags, text.TagKey(t.Name))
	}
	return a, err
}

// KeepDeletedAudiences sets whether StatusRemoved events have the audience of the status.
func (db *DB) KeepDeletedAudiences(on bool) { db.keepAudiences.Store(on) }

// statusRemoved returns the event of the deletion of a status, before it is deleted. original is nil if it is no boost.
func (tx *Tx) statusRemoved(ctx context.Context, st, original *Status) (StatusRemoved, error) {
	e := StatusRemoved{Status: st, Original: original}
	if !tx.db.keepAudiences.Load() {
		return e, nil
	}
	var err error
	if st.ReblogOfID != nil && original == nil {
		if e.Original, err = tx.Status(ctx, *st.ReblogOfID); err != nil {
			return e, err
		}
	}
	e.Audience, err = tx.Audience(ctx, st)
	return e, err
}

// timelineLookups are those that may find a reason to hide an unrestricted status.
const timelineLookups = lookupBlocks | lookupBlockedBy | lookupMutes | lookupThreadMutes | lookupDomainBlocks | lookupHiddenReblogs | lookupUnavailable

// visibleToViewers is the condition that the status ?2 is visible in timelines to a viewer of the JSON object ?1, which has the lookups of
// the viewers by id.
var visibleToViewers = strings.NewReplacer("?1", "j.viewer", "?2", "j.lookups", "?3", "0").Replace(`
		WHERE `+visibleWithOriginal+`
			AND `+notBlockedOrMuted) + ` AND s.id = ?2`

var (
	visibleToQuery = `
		WITH j AS MATERIALIZED (SELECT CAST(key AS INTEGER) AS viewer, value AS lookups FROM json_each(?1))
		SELECT j.viewer
		FROM j
		CROSS JOIN statuses s
		LEFT JOIN statuses o ON o.id = s.reblog_of_id` + visibleToViewers

	// sawRemovedQuery is the same for a deleted status: ?3 has the rows of the status and its original, ?4 the recipients.
	sawRemovedQuery = `
		WITH j AS MATERIALIZED (SELECT CAST(key AS INTEGER) AS viewer, value AS lookups FROM json_each(?1)),
		statuses AS MATERIALIZED (
			SELECT value ->> 0 AS id, value ->> 1 AS account_id, value ->> 2 AS visibility, value ->> 3 AS reblog_of_id,
				value ->> 4 AS conversation_id, value ->> 5 AS domain
			FROM json_each(?3)),
		recipients AS MATERIALIZED (SELECT value ->> 0 AS status_id, value ->> 1 AS account_id, value ->> 2 AS mentioned FROM json_each(?4))
		SELECT j.viewer
		FROM j
		CROSS JOIN statuses s
		LEFT JOIN statuses o ON o.id = s.reblog_of_id` + visibleToViewers
)

// VisibleTo returns those of the viewers (0: anonymous) that see a status in timelines, in no order.
func (r reader) VisibleTo(ctx context.Context, st *Status, viewers []AccountID) ([]AccountID, error) {
	open := st.Visibility == Public || st.Visibility == Unlisted
	if open && st.ReblogOfID != nil {
		original, err := r.Status(ctx, *st.ReblogOfID)
		if err != nil {
			return nil, err
		}
		open = original.Visibility == Public || original.Visibility == Unlisted
	}
	shown, ask, err := r.splitViewers(ctx, viewers, open, allLookups)
	if err != nil || len(ask) == 0 {
		return shown, err
	}
	more, err := ids[AccountID](ctx, r, "viewers", visibleToQuery, encodeViewers(ask), st.ID)
	return append(shown, more...), err
}

// SawRemoved returns the viewers that could see a deleted status, in no order. An unavailable author does not matter, because clients
// that show the status must remove it.
func (r reader) SawRemoved(ctx context.Context, e StatusRemoved, viewers []AccountID) ([]AccountID, error) {
	st, o := e.Status, e.Original
	if e.Audience == nil {
		return nil, nil
	}
	open := st.Visibility <= Unlisted && (o == nil || o.Visibility <= Unlisted)
	shown, ask, err := r.splitViewers(ctx, viewers, open, allLookups&^lookupUnavailable)
	if err != nil || len(ask) == 0 {
		return shown, err
	}
	rows := [][6]any{visibilityColumns(st)}
	if o != nil {
		rows = append(rows, visibilityColumns(o))
	}
	recipients := make([][3]int64, 0, len(e.Audience.Recipients))
	for _, to := range e.Audience.Recipients {
		mentioned := int64(0)
		if to.Mentioned {
			mentioned = 1
		}
		recipients = append(recipients, [3]int64{int64(to.StatusID), int64(to.AccountID), mentioned})
	}
	more, err := ids[AccountID](ctx, r, "former viewers", sawRemovedQuery, encodeViewers(ask), st.ID, JSON[[][6]any]{rows}, JSON[[][3]int64]{recipients})
	return append(shown, more...), err
}

// visibilityColumns returns the columns of a status that decide about its visibility.
func visibilityColumns(st *Status) [6]any {
	row := [6]any{int64(st.ID), int64(st.AccountID), int(st.Visibility), nil, int64(st.ConversationID), st.Domain}
	if st.ReblogOfID != nil {
		row[3] = int64(*st.ReblogOfID)
	}
	return row
}

// splitViewers separates viewers that certainly see an unrestricted status from viewers that need a query.
func (r reader) splitViewers(ctx context.Context, viewers []AccountID, open bool, mask Lookups) (shown []AccountID, ask map[AccountID]Lookups, err error) {
	ask = make(map[AccountID]Lookups)
	for _, v := range viewers {
		l, err := r.lookups(ctx, v)
		if err != nil {
			return nil, nil, err
		}
		if l &= mask; open && l&timelineLookups == 0 {
			shown = append(shown, v)
		} else {
			ask[v] = l
		}
	}
	return shown, ask, nil
}

// encodeViewers encodes the lookups of viewers as a JSON object.
func encodeViewers(viewers map[AccountID]Lookups) string {
	numbers := make(map[string]Lookups, len(viewers))
	for v, h := range viewers {
		numbers[strconv.FormatInt(int64(v), 10)] = h
	}
	text, _ := json.Marshal(numbers) // a map of numbers cannot fail
	return string(text)
}

// StatusHasLocalAudience returns true if a local account follows or is subscribed to the author of an unrestricted remote status, or
// follows one of its hashtags (federation 3.7).
func (r reader) StatusHasLocalAudience(ctx context.Context, author AccountID, tags []string) (bool, error) {
	if is, err := r.AccountHasLocalAudience(ctx, author); is || err != nil || len(tags) == 0 {
		return is, err
	}
	return r.exists(ctx, `
		SELECT 1
		FROM json_each(?) j
		CROSS JOIN tags t ON t.key = j.value
		CROSS JOIN tag_follows f ON f.tag_id = t.id
		LIMIT 1`, jsonTexts(tagKeys(tags)))
}

// AccountHasLocalAudience returns true if a local account follows a remote account, is subscribed to it, or has it in a list.
func (r reader) AccountHasLocalAudience(ctx context.Context, author AccountID) (bool, error) {
	return r.exists(ctx, `
		SELECT 1
		WHERE EXISTS (SELECT 1 FROM follows INDEXED BY follows_local WHERE target_id = ?1 AND pending = 0 AND follower_local = 1)
			OR EXISTS (SELECT 1 FROM subscriptions WHERE target_id = ?1)
			OR EXISTS (SELECT 1 FROM list_members WHERE account_id = ?1)`, author)
}
