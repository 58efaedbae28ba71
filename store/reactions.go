package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// Reaction is an emoji reaction to a status.
type Reaction struct {
	ID        ReactionID
	AccountID AccountID
	StatusID  StatusID
	Emoji     string  // unicode in its fully qualified form, the shortcode of a local custom emoji, or shortcode@host of a remote one
	URL       string  // of the picture of a custom emoji; "" for a unicode one
	URI       *string // of the activity of a remote account
}

// ReactionCount is the number of reactions to a status with one emoji.
type ReactionCount struct {
	StatusID StatusID
	Emoji    string
	URL      string
	Count    int
	FirstID  ReactionID // of the first reaction, which orders them
}

// ReactionText returns the emoji of a reaction in text: a custom one is :shortcode:.
func ReactionText(emoji string) string {
	if !CustomEmoji(emoji) {
		return emoji
	}
	code, _, _ := strings.Cut(emoji, "@")
	return ":" + code + ":"
}

// CustomEmoji returns true if the emoji of a reaction is a custom one.
func CustomEmoji(emoji string) bool {
	return !strings.ContainsFunc(emoji, func(r rune) bool { return r >= utf8.RuneSelf })
}

// Reaction returns an account's reaction with an emoji, nil if there is none.
func (r reader) Reaction(ctx context.Context, account AccountID, status StatusID, emoji string) (*Reaction, error) {
	return one[Reaction](ctx, r, "reaction", `
		SELECT *
		FROM reactions
		WHERE account_id = ? AND status_id = ? AND emoji = ?`, account, status, emoji)
}

// ReactionByURI returns the reaction of an activity, nil if there is none.
func (r reader) ReactionByURI(ctx context.Context, uri string) (*Reaction, error) {
	return one[Reaction](ctx, r, "reaction", `SELECT * FROM reactions WHERE uri = ?`, uri)
}

// ReactionsTo returns an account's reactions to the statuses, in no order.
func (r reader) ReactionsTo(ctx context.Context, account AccountID, ids []StatusID) ([]Reaction, error) {
	return list[Reaction](ctx, r, "reactions", `
		SELECT r.*
		FROM json_each(?2) j
		CROSS JOIN reactions r ON r.account_id = ?1 AND r.status_id = j.value`, account, jsonArray(ids))
}

// ReactionCounts returns the counts of all reactions to statuses, in order of status and first reaction.
func (r reader) ReactionCounts(ctx context.Context, ids []StatusID) ([]ReactionCount, error) {
	return list[ReactionCount](ctx, r, "reaction counts", `
		SELECT c.*
		FROM json_each(?) j
		CROSS JOIN reaction_counts c ON c.status_id = j.value
		ORDER BY j.key, c.first_id`, jsonArray(ids))
}

// reactorVisible is the condition that the account of reaction r is visible to the viewer: available, no block between them, and unless ?3
// is set not muted.
var reactorVisible = `(r.account_id = ?1
	OR (` + unset("?2", lookupUnavailable) + ` OR ` + accountAvailable("r.account_id") + `)
	AND ` + notBlocked("r.account_id") + `
	AND ` + notBlockedBy("r.account_id") + `
	AND (?3 OR ` + notMuted("r.account_id") + `))`

// HiddenReactions returns the counts of reactions whose accounts are not visible to the viewer, in no order. Only StatusID, Emoji and Count
// are set. It reads all reactions to the statuses, unless the viewer has no such accounts.
func (r reader) HiddenReactions(ctx context.Context, viewer AccountID, ids []StatusID, withMuted bool) ([]ReactionCount, error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil || l&(lookupBlocks|lookupBlockedBy|lookupMutes|lookupUnavailable) == 0 {
		return nil, err
	}
	return list[ReactionCount](ctx, r, "hidden reactions", `
		SELECT r.status_id, r.emoji, count(*) AS count
		FROM json_each(?4) j
		CROSS JOIN reactions r INDEXED BY reactions_status ON r.status_id = j.value
		WHERE NOT `+reactorVisible+`
		GROUP BY r.status_id, r.emoji`, viewer, l, withMuted, jsonArray(ids))
}

// reactorsLooked is how many reactions a query reads for each account that it may return, because many may be of a suspended domain.
const reactorsLooked = 10

// Reactor is an account that reacted with an emoji.
type Reactor struct {
	ID        ReactionID
	Emoji     string
	AccountID AccountID
}

// Reactors returns the latest accounts that reacted to a status and are visible to the viewer, at most each of every emoji; if emoji is not
// "", only of that one. It looks at reactorsLooked times as many.
func (r reader) Reactors(ctx context.Context, viewer AccountID, id StatusID, emoji string, withMuted bool, each int) ([]Reactor, error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	list, err := list[Reactor](ctx, r, "reactors", `
		SELECT a.id, a.emoji, a.account_id
		FROM reaction_counts c
		CROSS JOIN reactions a
		WHERE c.status_id = ?4 AND (?5 = '' OR c.emoji = ?5)
			AND a.id IN (
				SELECT r.id
				FROM (
					SELECT x.id, x.account_id
					FROM reactions x INDEXED BY reactions_status
					WHERE x.status_id = c.status_id AND x.emoji = c.emoji
					ORDER BY x.id DESC
					LIMIT ?7) r
				WHERE `+reactorVisible+`
				LIMIT ?6)`, viewer, l, withMuted, id, emoji, each, each*reactorsLooked)
	slices.SortFunc(list, func(a, b Reactor) int { return cmp.Compare(b.ID, a.ID) })
	return list, err
}

// AddReaction inserts a reaction with a new id. It returns false if the account has reacted with the emoji already, or the activity is
// known.
func (tx *Tx) AddReaction(ctx context.Context, r *Reaction) (added bool, err error) {
	r.ID = ReactionID(tx.newID())
	n, err := tx.execRows(ctx, "add reaction", insertReaction.text, insertReaction.args(r)...)
	if err != nil || n == 0 {
		return false, err
	}
	tx.invalidateStatus(r.StatusID)
	err = tx.exec(ctx, "count reaction", `
		INSERT INTO reaction_counts (status_id, emoji, url, count, first_id)
		VALUES (?, ?, ?, 1, ?)
		ON CONFLICT (status_id, emoji) DO UPDATE SET count = count + 1`, r.StatusID, r.Emoji, r.URL, r.ID)
	return true, err
}

// RemoveReaction deletes a reaction.
func (tx *Tx) RemoveReaction(ctx context.Context, r *Reaction) error {
	n, err := tx.execRows(ctx, "remove reaction", `DELETE FROM reactions WHERE id = ?`, r.ID)
	if err != nil || n == 0 {
		return err
	}
	tx.invalidateStatus(r.StatusID)
	for _, query := range []string{
		`UPDATE reaction_counts SET count = count - 1 WHERE status_id = ? AND emoji = ?`,
		`DELETE FROM reaction_counts WHERE status_id = ? AND emoji = ? AND count <= 0`,
	} {
		if err := tx.exec(ctx, "count reaction", query, r.StatusID, r.Emoji); err != nil {
			return err
		}
	}
	return nil
}

// RemoveReactionNotification deletes the notification of a reaction.
func (tx *Tx) RemoveReactionNotification(ctx context.Context, recipient AccountID, r *Reaction) error {
	return tx.exec(ctx, "remove reaction notification", `
		DELETE FROM notifications
		WHERE account_id = ? AND type = 'emoji_reaction' AND from_id = ? AND status_id = ? AND detail = ?`,
		recipient, r.AccountID, r.StatusID, r.Emoji)
}

// DeleteReactions deletes a batch of reactions to a status that will be deleted. The counts are not updated.
func (tx *Tx) DeleteReactions(ctx context.Context, id StatusID, limit int) (n int64, err error) {
	return tx.execRows(ctx, "delete reactions", `
		DELETE FROM reactions
		WHERE id IN (
			SELECT id
			FROM reactions INDEXED BY reactions_status
			WHERE status_id = ?
			LIMIT ?)`, id, limit)
}

// ReactionsBy returns reactions of an account.
func (r reader) ReactionsBy(ctx context.Context, id AccountID, limit int) ([]*Reaction, error) {
	return list[*Reaction](ctx, r, "reactions", `
		SELECT *
		FROM reactions
		WHERE account_id = ?
		LIMIT ?`, id, limit)
}

// ReactionByID returns a reaction, nil if there is none.
func (r reader) ReactionByID(ctx context.Context, id ReactionID) (*Reaction, error) {
	return one[Reaction](ctx, r, "reaction", `SELECT * FROM reactions WHERE id = ?`, id)
}
