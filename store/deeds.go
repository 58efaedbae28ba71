package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Verb is what kind of thing somebody did.
type Verb string

// The verbs of deeds. What stands beside them says which members of the Deed are set beside ActorID.
const (
	Posted    Verb = "posted"    // StatusID
	Edited    Verb = "edited"    // StatusID; also that the counts of its poll have changed
	Deleted   Verb = "deleted"   // StatusID, URI, Visibility, People, Inboxes
	Boosted   Verb = "boosted"   // StatusID: the boost
	Unboosted Verb = "unboosted" // StatusID: what was boosted; RowID and URI of the boost, Visibility

	Favourited   Verb = "favourited"   // StatusID, TargetID: its author, RowID of the favourite
	Unfavourited Verb = "unfavourited" // likewise
	Reacted      Verb = "reacted"      // StatusID, TargetID: its author, RowID of the reaction, Emoji, EmojiURL
	Unreacted    Verb = "unreacted"    // likewise
	Voted        Verb = "voted"        // StatusID of the poll, TargetID: its author, Choices

	Followed       Verb = "followed"        // TargetID, RowID of the follow
	Unfollowed     Verb = "unfollowed"      // TargetID, RowID of the follow, URI
	AcceptedFollow Verb = "accepted_follow" // TargetID: the follower, RowID, URI
	RejectedFollow Verb = "rejected_follow" // TargetID: the follower, RowID, URI; also an end put to a follow
	Blocked        Verb = "blocked"         // TargetID
	Unblocked      Verb = "unblocked"       // TargetID
	Reported       Verb = "reported"        // TargetID, RowID of the report

	Pinned   Verb = "pinned"   // StatusID
	Unpinned Verb = "unpinned" // StatusID

	AcceptedQuote Verb = "accepted_quote" // TargetID: who asked to quote, RowID of the authorization
	RejectedQuote Verb = "rejected_quote" // TargetID, StatusID, URI of the request, Object: the post that was to quote
	RevokedQuote  Verb = "revoked_quote"  // TargetID, RowID of the authorization, which is gone

	Listened Verb = "listened" // RowID of the scrobble

	Messaged         Verb = "messaged"          // TargetID, RowID of the message
	RetractedMessage Verb = "retracted_message" // TargetID, RowID of the message, URI

	ChangedProfile Verb = "changed_profile" // also other keys
	Moved          Verb = "moved"           // TargetID: the new account
	Left           Verb = "left"            // the account was deleted; Inboxes: of its followers
)

// Deed is the job that tells other servers what somebody here has done: federation makes an activity of it.
type Deed struct {
	ID         ActivityID  `json:"id"` // of the activity to be
	Verb       Verb        `json:"verb"`
	ActorID    AccountID   `json:"actor_id"`
	StatusID   StatusID    `json:"status_id,omitempty"`
	TargetID   AccountID   `json:"target_id,omitempty"`
	RowID      int64       `json:"row_id,omitempty"`
	URI        string      `json:"uri,omitempty"` // of what is undone, answered or deleted
	Visibility Visibility  `json:"visibility,omitempty"`
	People     []AccountID `json:"people,omitempty"`  // to whom what is deleted was addressed
	Inboxes    []string    `json:"inboxes,omitempty"` // of others that have it
	Choices    []int       `json:"choices,omitempty"`
	Emoji      string      `json:"emoji,omitempty"`
	EmojiURL   string      `json:"emoji_url,omitempty"`
	Object     string      `json:"object,omitempty"` // what it is about, by its ActivityPub id
}

// Kind names the job.
func (Deed) Kind() string { return "deed" }

// Tell has other servers told of a deed, if the actor lives here and there is anybody elsewhere to tell: the target, if there
// is one; else followers, those addressed, those whose post it answers or boosts, of an edit those who had to do with the post, relays. With
// federation off nobody is told.
func (tx *Tx) Tell(ctx context.Context, d Deed) error {
	if !tx.db.options.Federated {
		return nil
	}
	wanted, err := tx.hasListeners(ctx, &d)
	if err != nil || !wanted {
		return err
	}
	d.ID = ActivityID(tx.newID())
	return tx.Enqueue(ctx, d)
}

const (
	// the actor ?1 lives here, the target ?2 elsewhere
	targetElsewhere = `
		SELECT 1
		FROM accounts a CROSS JOIN accounts t ON t.id = ?2
		WHERE a.id = ?1 AND a.domain = '' AND t.domain <> ''`
	// the actor ?1 lives here and has a follower elsewhere
	followerElsewhere = `
		SELECT 1
		FROM accounts a
		WHERE a.id = ?1 AND a.domain = '' AND (EXISTS (
			SELECT 1 FROM follows f INDEXED BY follows_remote WHERE f.target_id = a.id AND f.pending = 0 AND f.follower_local = 0)`
	// the status ?2 is addressed to somebody elsewhere, or is about a post or is a boost of one from elsewhere
	addressedElsewhere = `
			OR EXISTS (
				SELECT 1 FROM recipients r CROSS JOIN accounts t ON t.id = r.account_id WHERE r.status_id = ?2 AND t.domain <> '')
			OR EXISTS (
				SELECT 1 FROM statuses s CROSS JOIN accounts t ON t.id = s.in_reply_to_account_id WHERE s.id = ?2 AND t.domain <> '')
			OR EXISTS (
				SELECT 1 FROM statuses s CROSS JOIN statuses o ON o.id = s.reblog_of_id WHERE s.id = ?2 AND o.domain <> '')
			OR EXISTS (
				SELECT 1 FROM statuses s CROSS JOIN statuses q ON q.id = s.quote_of_id WHERE s.id = ?2 AND q.domain <> '')
			OR EXISTS (
				SELECT 1 FROM readers r WHERE r.status_id = ?2)`
	relayOn = `
			OR EXISTS (SELECT 1 FROM relays INDEXED BY relays_accepted WHERE accepted = 1)
			OR EXISTS (
				SELECT 1
				FROM accounts a CROSS JOIN follows f INDEXED BY follows_remote ON f.target_id = a.id AND f.pending = 0 AND f.follower_local = 0
				WHERE a.nickname_key = 'relay' AND a.domain = '')`
)

// hasListeners tells whether anybody elsewhere is to hear of a deed.
func (tx *Tx) hasListeners(ctx context.Context, d *Deed) (bool, error) {
	switch d.Verb {
	case Posted, Edited, Boosted, Pinned, Unpinned:
		wanted, err := tx.exists(ctx, followerElsewhere+addressedElsewhere+relayOn+`)`, d.ActorID, d.StatusID)
		if wanted || err != nil || d.Verb != Edited {
			return wanted, err
		}
		local, err := tx.exists(ctx, `SELECT 1 FROM accounts WHERE id = ? AND domain = ''`, d.ActorID)
		if !local || err != nil {
			return false, err
		}
		about, err := tx.AccountsAbout(ctx, d.StatusID, 1)
		return len(about) > 0, err
	case Deleted, Unboosted:
		if len(d.Inboxes) > 0 {
			return tx.exists(ctx, `SELECT 1 FROM accounts WHERE id = ? AND domain = ''`, d.ActorID)
		}
		id := d.StatusID
		if d.Verb == Unboosted {
			id = StatusID(d.RowID) // which is there yet
		}
		return tx.exists(ctx, followerElsewhere+addressedElsewhere+relayOn+`)`, d.ActorID, id)
	case ChangedProfile, Moved, Listened:
		return tx.exists(ctx, followerElsewhere+`)`, d.ActorID)
	case Left:
		return tx.exists(ctx, `
			SELECT 1
			FROM accounts
			WHERE id = ? AND domain = '' AND EXISTS (SELECT 1 FROM actors)`, d.ActorID)
	}
	return tx.exists(ctx, targetElsewhere, d.ActorID, d.TargetID)
}

// TellSoon is Tell for a deed of which only the latest state counts, such as the counts of a poll: those of one key that
// come within a pause are one.
func (tx *Tx) TellSoon(ctx context.Context, key string, pause time.Duration, d Deed) error {
	if !tx.db.options.Federated {
		return nil
	}
	wanted, err := tx.hasListeners(ctx, &d)
	if err != nil || !wanted {
		return err
	}
	d.ID = ActivityID(tx.newID())
	return tx.enqueueFirst(ctx, tx.db.now().Add(pause), key, d)
}

// AccountsAbout returns accounts elsewhere that have boosted, favourited or answered a status, reacted to it, voted in its poll, or quote
// it: of each kind at most so many.
func (r reader) AccountsAbout(ctx context.Context, id StatusID, limit int) ([]AccountID, error) {
	var all []AccountID
	for _, query := range []string{`
		SELECT account_id
		FROM statuses INDEXED BY statuses_reblogged_by
		WHERE reblog_of_id = ? AND domain <> ''
		ORDER BY id DESC
		LIMIT ?`, `
		SELECT account_id
		FROM statuses INDEXED BY statuses_replies
		WHERE in_reply_to_id = ? AND domain <> ''
		LIMIT ?`, `
		SELECT account_id
		FROM statuses INDEXED BY statuses_quotes
		WHERE quote_of_id = ? AND domain <> ''
		ORDER BY id DESC
		LIMIT ?`, `
		SELECT f.account_id
		FROM favourites f INDEXED BY favourites_status
		CROSS JOIN actors a ON a.account_id = f.account_id
		WHERE f.status_id = ?
		ORDER BY f.id DESC
		LIMIT ?`, `
		SELECT r.account_id
		FROM reactions r INDEXED BY reactions_status
		CROSS JOIN actors a ON a.account_id = r.account_id
		WHERE r.status_id = ?
		LIMIT ?`, `
		SELECT v.account_id
		FROM polls p
		CROSS JOIN poll_votes v ON v.poll_id = p.id
		CROSS JOIN actors a ON a.account_id = v.account_id
		WHERE p.status_id = ?
		LIMIT ?`,
	} {
		some, err := ids[AccountID](ctx, r, "accounts about a status", query, id, limit)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Readers returns inboxes of those who have fetched a status.
func (r reader) Readers(ctx context.Context, id StatusID, limit int) ([]string, error) {
	return list[string](ctx, r, "readers", `SELECT inbox FROM readers WHERE status_id = ? LIMIT ?`, id, limit)
}

func (d Deed) String() string {
	b, _ := json.Marshal(d)
	return fmt.Sprintf("%s %s", d.Verb, b)
}
