package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// OutboxType is what kind of thing somebody did.
type OutboxType string

// The verbs of deeds. What stands beside them says which members of the Deed are set beside ActorID.
const (
	StatusCreated OutboxType = "status_created" // StatusID
	StatusUpdated OutboxType = "status_updated" // StatusID; also that the counts of its poll have changed
	StatusDeleted OutboxType = "status_deleted" // StatusID, URI, Visibility, People, Inboxes
	ReblogCreated OutboxType = "reblog_created" // StatusID: the boost
	ReblogDeleted OutboxType = "reblog_deleted" // StatusID: what was boosted; RowID and URI of the boost, Visibility

	FavouriteCreated OutboxType = "favourite_created" // StatusID, TargetID: its author, RowID of the favourite
	FavouriteDeleted OutboxType = "favourite_deleted" // likewise
	ReactionCreated  OutboxType = "reaction_created"  // StatusID, TargetID: its author, RowID of the reaction, Emoji, EmojiURL
	ReactionDeleted  OutboxType = "reaction_deleted"  // likewise
	VoteCreated      OutboxType = "vote_created"      // StatusID of the poll, TargetID: its author, Choices

	FollowCreated  OutboxType = "follow_created"  // TargetID, RowID of the follow
	FollowDeleted  OutboxType = "follow_deleted"  // TargetID, RowID of the follow, URI
	FollowAccepted OutboxType = "follow_accepted" // TargetID: the follower, RowID, URI
	FollowRejected OutboxType = "follow_rejected" // TargetID: the follower, RowID, URI; also an end put to a follow
	BlockCreated   OutboxType = "block_created"   // TargetID
	BlockDeleted   OutboxType = "block_deleted"   // TargetID
	ReportCreated  OutboxType = "report_created"  // TargetID, RowID of the report

	PinCreated OutboxType = "pin_created" // StatusID
	PinDeleted OutboxType = "pin_deleted" // StatusID

	QuoteAccepted OutboxType = "quote_accepted" // TargetID: who asked to quote, RowID of the authorization
	QuoteRejected OutboxType = "quote_rejected" // TargetID, StatusID, URI of the request, Object: the post that was to quote
	QuoteRevoked  OutboxType = "quote_revoked"  // TargetID, RowID of the authorization, which is gone

	ScrobbleCreated OutboxType = "scrobble_created" // RowID of the scrobble

	ChatMessageCreated OutboxType = "chat_message_created" // TargetID, RowID of the message
	ChatMessageDeleted OutboxType = "chat_message_deleted" // TargetID, RowID of the message, URI

	ProfileUpdated OutboxType = "profile_updated" // also other keys
	AccountMoved   OutboxType = "account_moved"   // TargetID: the new account
	AccountDeleted OutboxType = "account_deleted" // the account was deleted; Inboxes: of its followers
)

// OutboxEntry is the job that tells other servers what somebody here has done: federation makes an activity of it.
type OutboxEntry struct {
	ID         ActivityID  `json:"id"` // of the activity to be
	Type       OutboxType  `json:"type"`
	ActorID    AccountID   `json:"actor_id"`
	StatusID   StatusID    `json:"status_id,omitempty"`
	TargetID   AccountID   `json:"target_id,omitempty"`
	RowID      int64       `json:"row_id,omitempty"`
	URI        string      `json:"uri,omitempty"` // of what is undone, answered or deleted
	Visibility Visibility  `json:"visibility,omitempty"`
	Recipients []AccountID `json:"recipients,omitempty"` // to whom what is deleted was addressed
	Inboxes    []string    `json:"inboxes,omitempty"`    // of others that have it
	Choices    []int       `json:"choices,omitempty"`
	Emoji      string      `json:"emoji,omitempty"`
	EmojiURL   string      `json:"emoji_url,omitempty"`
	Object     string      `json:"object,omitempty"` // what it is about, by its ActivityPub id
}

// Kind names the job.
func (OutboxEntry) Kind() string { return "outbox" }

// AddToOutbox has other servers told of a deed, if the actor lives here and there is anybody elsewhere to tell: the target, if there
// is one; else followers, those addressed, those whose post it answers or boosts, of an edit those who had to do with the post, relays. With
// federation off nobody is told.
func (tx *Tx) AddToOutbox(ctx context.Context, d OutboxEntry) error {
	if !tx.db.options.Federated {
		return nil
	}
	wanted, err := tx.hasRemoteRecipients(ctx, &d)
	if err != nil || !wanted {
		return err
	}
	d.ID = ActivityID(tx.newID())
	return tx.Enqueue(ctx, d)
}

const (
	// the actor ?1 lives here, the target ?2 elsewhere
	targetIsRemote = `
		SELECT 1
		FROM accounts a CROSS JOIN accounts t ON t.id = ?2
		WHERE a.id = ?1 AND a.domain = '' AND t.domain <> ''`
	// the actor ?1 lives here and has a follower elsewhere
	hasRemoteFollower = `
		SELECT 1
		FROM accounts a
		WHERE a.id = ?1 AND a.domain = '' AND (EXISTS (
			SELECT 1 FROM follows f INDEXED BY follows_remote WHERE f.target_id = a.id AND f.pending = 0 AND f.follower_local = 0)`
	// the status ?2 is addressed to somebody elsewhere, or is about a post or is a boost of one from elsewhere
	isAddressedToRemote = `
			OR EXISTS (
				SELECT 1 FROM recipients r CROSS JOIN accounts t ON t.id = r.account_id WHERE r.status_id = ?2 AND t.domain <> '')
			OR EXISTS (
				SELECT 1 FROM statuses s CROSS JOIN accounts t ON t.id = s.in_reply_to_account_id WHERE s.id = ?2 AND t.domain <> '')
			OR EXISTS (
				SELECT 1 FROM statuses s CROSS JOIN statuses o ON o.id = s.reblog_of_id WHERE s.id = ?2 AND o.domain <> '')
			OR EXISTS (
				SELECT 1 FROM statuses s CROSS JOIN statuses q ON q.id = s.quote_of_id WHERE s.id = ?2 AND q.domain <> '')
			OR EXISTS (
				SELECT 1 FROM status_fetchers r WHERE r.status_id = ?2)`
	hasRelay = `
			OR EXISTS (SELECT 1 FROM relays INDEXED BY relays_accepted WHERE accepted = 1)
			OR EXISTS (
				SELECT 1
				FROM accounts a CROSS JOIN follows f INDEXED BY follows_remote ON f.target_id = a.id AND f.pending = 0 AND f.follower_local = 0
				WHERE a.nickname_key = 'relay' AND a.domain = '')`
)

// hasRemoteRecipients tells whether anybody elsewhere is to hear of a deed.
func (tx *Tx) hasRemoteRecipients(ctx context.Context, d *OutboxEntry) (bool, error) {
	switch d.Type {
	case StatusCreated, StatusUpdated, ReblogCreated, PinCreated, PinDeleted:
		wanted, err := tx.exists(ctx, hasRemoteFollower+isAddressedToRemote+hasRelay+`)`, d.ActorID, d.StatusID)
		if wanted || err != nil || d.Type != StatusUpdated {
			return wanted, err
		}
		local, err := tx.exists(ctx, `SELECT 1 FROM accounts WHERE id = ? AND domain = ''`, d.ActorID)
		if !local || err != nil {
			return false, err
		}
		about, err := tx.RemoteInteractors(ctx, d.StatusID, 1)
		return len(about) > 0, err
	case StatusDeleted, ReblogDeleted:
		if len(d.Inboxes) > 0 {
			return tx.exists(ctx, `SELECT 1 FROM accounts WHERE id = ? AND domain = ''`, d.ActorID)
		}
		id := d.StatusID
		if d.Type == ReblogDeleted {
			id = StatusID(d.RowID) // which is there yet
		}
		return tx.exists(ctx, hasRemoteFollower+isAddressedToRemote+hasRelay+`)`, d.ActorID, id)
	case ProfileUpdated, AccountMoved, ScrobbleCreated:
		return tx.exists(ctx, hasRemoteFollower+`)`, d.ActorID)
	case AccountDeleted:
		return tx.exists(ctx, `
			SELECT 1
			FROM accounts
			WHERE id = ? AND domain = '' AND EXISTS (SELECT 1 FROM actors)`, d.ActorID)
	}
	return tx.exists(ctx, targetIsRemote, d.ActorID, d.TargetID)
}

// AddToOutboxCoalesced is Tell for a deed of which only the latest state counts, such as the counts of a poll: those of one key that
// come within a pause are one.
func (tx *Tx) AddToOutboxCoalesced(ctx context.Context, key string, pause time.Duration, d OutboxEntry) error {
	if !tx.db.options.Federated {
		return nil
	}
	wanted, err := tx.hasRemoteRecipients(ctx, &d)
	if err != nil || !wanted {
		return err
	}
	d.ID = ActivityID(tx.newID())
	return tx.enqueueUnlessQueued(ctx, tx.db.now().Add(pause), key, d)
}

// RemoteInteractors returns accounts elsewhere that have boosted, favourited or answered a status, reacted to it, voted in its poll, or quote
// it: of each kind at most so many.
func (r reader) RemoteInteractors(ctx context.Context, id StatusID, limit int) ([]AccountID, error) {
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

// FetcherInboxes returns inboxes of those who have fetched a status.
func (r reader) FetcherInboxes(ctx context.Context, id StatusID, limit int) ([]string, error) {
	return list[string](ctx, r, "readers", `SELECT inbox FROM status_fetchers WHERE status_id = ? LIMIT ?`, id, limit)
}

func (d OutboxEntry) String() string {
	b, _ := json.Marshal(d)
	return fmt.Sprintf("%s %s", d.Type, b)
}

// FollowerInboxes returns where an account's followers elsewhere take what goes to many, each inbox once.
func (r reader) FollowerInboxes(ctx context.Context, id AccountID) ([]string, error) {
	all, err := list[string](ctx, r, "inboxes of followers", `
		SELECT iif(x.shared_inbox <> '', x.shared_inbox, x.inbox)
		FROM follows f INDEXED BY follows_remote
		CROSS JOIN actors x ON x.account_id = f.follower_id
		WHERE f.target_id = ? AND f.pending = 0 AND f.follower_local = 0`, id)
	slices.Sort(all)
	return slices.Compact(all), err
}

// KnownInboxes returns where all servers that accounts are known of take what is for everybody: where there is no inbox for that, in those
// of the accounts.
func (r reader) KnownInboxes(ctx context.Context, limit int) ([]string, error) {
	return list[string](ctx, r, "known inboxes", `
		SELECT *
		FROM (SELECT DISTINCT shared_inbox FROM actors INDEXED BY actors_shared WHERE shared_inbox <> '' LIMIT ?1)
		UNION ALL
		SELECT *
		FROM (SELECT inbox FROM actors INDEXED BY actors_shared WHERE shared_inbox = '' LIMIT ?1)
		LIMIT ?1`, limit)
}

// HasFetcher tells whether it is remembered that who takes deliveries in an inbox has fetched a status.
func (r reader) HasFetcher(ctx context.Context, id StatusID, inbox string) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM status_fetchers WHERE status_id = ? AND inbox = ?`, id, inbox)
}

// maxFetchers bounds who is remembered of those who fetch a status.
const maxFetchers = 1000

// AddFetcher remembers that who takes deliveries in an inbox has fetched a status, unless there are too many already.
func (tx *Tx) AddFetcher(ctx context.Context, id StatusID, inbox string) error {
	_, err := tx.exec(ctx, "add reader", `
		INSERT OR IGNORE INTO status_fetchers (status_id, inbox)
		SELECT id, ?2
		FROM statuses
		WHERE id = ?1 AND (SELECT count(*) FROM status_fetchers WHERE status_id = ?1) < ?3`, id, inbox, maxFetchers)
	return err
}

// InboxInAudience tells whether what becomes of a status is told in an inbox anyway: because a follower of the author takes deliveries
// there, or somebody whom the status is addressed to.
func (r reader) InboxInAudience(ctx context.Context, s *Status, inbox string) (bool, error) {
	return r.exists(ctx, `
		SELECT 1
		WHERE EXISTS (
				SELECT 1
				FROM follows f INDEXED BY follows_remote
				CROSS JOIN actors x ON x.account_id = f.follower_id
				WHERE f.target_id = ?1 AND f.pending = 0 AND f.follower_local = 0 AND ?3 IN (x.shared_inbox, x.inbox))
			OR EXISTS (
				SELECT 1
				FROM recipients r
				CROSS JOIN actors x ON x.account_id = r.account_id
				WHERE r.status_id = ?2 AND ?3 IN (x.shared_inbox, x.inbox))`, s.AccountID, s.ID, inbox)
}
