package store

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
)

// Who is to be told of what happens to a status, beside the mentioned.

// Subscribers returns the local accounts that want to be told of each post of the author of s, may see this one, and are not
// mentioned in it.
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

// What open streams need to know of a status: where it stands, and to whom of the listeners it is shown there.

// Audience is where a status stands. Who is shown it there is another question: VisibleTo.
type Audience struct {
	Homes      []AccountID // whose home timelines have it
	Lists      []ListID    // whose timelines have it
	Tags       []string    // lower case; of a boost none
	Recipients []Recipient // of a boost, also those of what it boosts
}

// Audience returns where a status stands.
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
		a.Tags = append(a.Tags, t.Name)
	}
	return a, err
}

// KeepDeletedAudiences says whether anybody wants to know where a status stood that is deleted: StatusRemoved tells it only then.
func (db *DB) KeepDeletedAudiences(on bool) { db.keepAudiences.Store(on) }

// statusRemoved makes the event of the deletion of a status that is still there. original is what it boosts, nil if it is no boost.
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

// timelineLookups are those that say that something may have to be left out of what is open to all.
const timelineLookups = lookupBlocks | lookupBlockedBy | lookupMutes | lookupThreadMutes | lookupDomainBlocks | lookupHiddenReblogs | lookupUnavailable

// visibleToViewers selects those of several viewers, who stand with their hints in the JSON object ?1, whom the status ?2 is shown to: by the
// conditions of the timelines, of which each holds for one viewer.
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

	// sawRemovedQuery is the same for what is no longer there: ?3 has the rows of the status and of what it boosts, ?4 its recipients.
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

// VisibleTo returns those of the viewers (0: the anonymous) who are shown a status in the timelines that have it, in no order.
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

// SawRemoved returns those of the viewers who were shown a status that has been deleted, in no order. That its author has left does
// not count: who has the post on the screen is to hear that it is gone.
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

// visibilityColumns has what decides who sees a status.
func visibilityColumns(st *Status) [6]any {
	row := [6]any{int64(st.ID), int64(st.AccountID), int(st.Visibility), nil, int64(st.ConversationID), st.Domain}
	if st.ReblogOfID != nil {
		row[3] = int64(*st.ReblogOfID)
	}
	return row
}

// splitViewers tells apart who is shown what is open to all for certain, if the status is open, and who has to be asked for.
func (r reader) splitViewers(ctx context.Context, viewers []AccountID, open bool, mask Lookups) (shown []AccountID, ask map[AccountID]Lookups, err error) {
	ask = make(map[AccountID]Lookups)
	for _, v := range viewers {
		h, err := r.lookups(ctx, v)
		if err != nil {
			return nil, nil, err
		}
		if h &= mask; open && h&timelineLookups == 0 {
			shown = append(shown, v)
		} else {
			ask[v] = h
		}
	}
	return shown, ask, nil
}

// encodeViewers encodes viewers with their hints as a JSON object.
func encodeViewers(viewers map[AccountID]Lookups) string {
	numbers := make(map[string]Lookups, len(viewers))
	for v, h := range viewers {
		numbers[strconv.FormatInt(int64(v), 10)] = h
	}
	text, _ := json.Marshal(numbers) // a map of numbers
	return string(text)
}

// StatusHasLocalAudience tells whether a post from elsewhere, which is open to all, concerns somebody here who is not addressed: somebody follows or
// wants to hear of its author, or follows one of its hashtags (federation 3.7).
func (r reader) StatusHasLocalAudience(ctx context.Context, author AccountID, tags []string) (bool, error) {
	if is, err := r.AccountHasLocalAudience(ctx, author); is || err != nil || len(tags) == 0 {
		return is, err
	}
	return r.exists(ctx, `
		SELECT 1
		FROM json_each(?) j
		CROSS JOIN tags t ON t.name = j.value
		CROSS JOIN tag_follows f ON f.tag_id = t.id
		LIMIT 1`, jsonTexts(tags))
}

// AccountHasLocalAudience tells whether somebody here follows an account elsewhere, has it in a list, or wants to hear of its posts.
func (r reader) AccountHasLocalAudience(ctx context.Context, author AccountID) (bool, error) {
	return r.exists(ctx, `
		SELECT 1
		WHERE EXISTS (SELECT 1 FROM follows INDEXED BY follows_local WHERE target_id = ?1 AND pending = 0 AND follower_local = 1)
			OR EXISTS (SELECT 1 FROM subscriptions WHERE target_id = ?1)
			OR EXISTS (SELECT 1 FROM list_members WHERE account_id = ?1)`, author)
}
