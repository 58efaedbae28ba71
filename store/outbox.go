package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// OutboxType is what an outbox entry is about.
type OutboxType string

// Types of outbox entries, with the fields of OutboxEntry that are set beside ActorID.
const (
	StatusCreated OutboxType = "status_created" // StatusID
	StatusUpdated OutboxType = "status_updated" // StatusID; also for new counts of its poll
	StatusDeleted OutboxType = "status_deleted" // StatusID, URI, Visibility, Recipients, Inboxes
	ReblogCreated OutboxType = "reblog_created" // StatusID: the boost
	ReblogDeleted OutboxType = "reblog_deleted" // StatusID of the original; RowID and URI of the boost, Visibility

	FavouriteCreated OutboxType = "favourite_created" // StatusID, TargetID of the author, RowID of the favourite
	FavouriteDeleted OutboxType = "favourite_deleted" // the same
	ReactionCreated  OutboxType = "reaction_created"  // StatusID, TargetID of the author, RowID of the reaction, Emoji, EmojiURL
	ReactionDeleted  OutboxType = "reaction_deleted"  // the same
	VoteCreated      OutboxType = "vote_created"      // StatusID of the poll, TargetID of the author, Choices

	FollowCreated  OutboxType = "follow_created"  // TargetID, RowID of the follow
	FollowDeleted  OutboxType = "follow_deleted"  // TargetID, RowID of the follow, URI
	FollowAccepted OutboxType = "follow_accepted" // TargetID of the follower, RowID, URI
	FollowRejected OutboxType = "follow_rejected" // TargetID of the follower, RowID, URI; also for the removal of a follower
	BlockCreated   OutboxType = "block_created"   // TargetID, URI of the Block
	BlockDeleted   OutboxType = "block_deleted"   // the same
	ReportCreated  OutboxType = "report_created"  // TargetID, RowID of the report

	PinCreated OutboxType = "pin_created" // StatusID
	PinDeleted OutboxType = "pin_deleted" // StatusID

	QuoteRequested OutboxType = "quote_requested" // StatusID of the quote, TargetID of the quoted author
	QuoteAccepted  OutboxType = "quote_accepted"  // TargetID of the quoting account, RowID of the authorization
	QuoteRejected  OutboxType = "quote_rejected"  // TargetID, StatusID, URI of the request, Object: the quoting status
	QuoteRevoked   OutboxType = "quote_revoked"   // TargetID, RowID of the deleted authorization

	InteractionAccepted OutboxType = "interaction_accepted" // TargetID of the interacting account, RowID of the interaction request
	InteractionRejected OutboxType = "interaction_rejected" // TargetID, StatusID, RowID: Interaction, Object: the interaction, URI of the request or ""
	InteractionRevoked  OutboxType = "interaction_revoked"  // TargetID, RowID of the deleted interaction request

	FeatureAccepted OutboxType = "feature_accepted" // TargetID of the owner of the collection, RowID of the collection item
	FeatureRejected OutboxType = "feature_rejected" // TargetID, URI of the request, Object: the collection
	FeatureRevoked  OutboxType = "feature_revoked"  // TargetID, RowID of the collection item

	FeatureRequested      OutboxType = "feature_requested"       // TargetID of the account to add, RowID of the collection item
	CollectionCreated     OutboxType = "collection_created"      // RowID of the collection
	CollectionUpdated     OutboxType = "collection_updated"      // RowID, Recipients: the accounts in it
	CollectionDeleted     OutboxType = "collection_deleted"      // RowID, URI, Recipients
	CollectionItemAdded   OutboxType = "collection_item_added"   // RowID of the item, Recipients: its account
	CollectionItemRemoved OutboxType = "collection_item_removed" // RowID of the item, Object: id of the collection, Recipients: its account

	ScrobbleCreated OutboxType = "scrobble_created" // RowID of the scrobble

	ChatMessageCreated OutboxType = "chat_message_created" // TargetID, RowID of the message
	ChatMessageDeleted OutboxType = "chat_message_deleted" // TargetID, RowID of the message, URI

	ProfileUpdated OutboxType = "profile_updated"
	KeyRotated     OutboxType = "key_rotated"     // URI of the new key
	AccountMoved   OutboxType = "account_moved"   // TargetID of the new account
	AccountDeleted OutboxType = "account_deleted" // Inboxes of its followers
)

// OutboxEntry is the job from which federation builds an activity and its deliveries. It is written in the transaction of the change
// (transactional outbox).
type OutboxEntry struct {
	ID         ActivityID  `json:"id"` // of the activity
	Type       OutboxType  `json:"type"`
	ActorID    AccountID   `json:"actor_id"`
	StatusID   StatusID    `json:"status_id,omitempty"`
	TargetID   AccountID   `json:"target_id,omitempty"`
	RowID      int64       `json:"row_id,omitempty"`
	URI        string      `json:"uri,omitempty"` // of the undone, accepted, rejected or deleted object
	Visibility Visibility  `json:"visibility,omitempty"`
	Recipients []AccountID `json:"recipients,omitempty"` // of a deleted status; accounts that a change of a collection concerns
	Inboxes    []string    `json:"inboxes,omitempty"`    // of servers that fetched a deleted status
	Choices    []int       `json:"choices,omitempty"`
	Emoji      string      `json:"emoji,omitempty"`
	EmojiURL   string      `json:"emoji_url,omitempty"`
	Object     string      `json:"object,omitempty"` // ActivityPub id
}

func (OutboxEntry) Kind() JobKind { return JobKind{Name: "outbox"} }

// AddToOutbox adds an entry if its actor is local and it has remote recipients, and nothing about a status that never leaves this server: the target, if there is one; otherwise followers,
// recipients of the status, authors of the status that it replies to, boosts or quotes, relays, and for an edit all who interacted with the
// status. It does nothing without federation.
func (tx *Tx) AddToOutbox(ctx context.Context, e OutboxEntry) error {
	_, err := tx.TryAddToOutbox(ctx, e)
	return err
}

// TryAddToOutbox is AddToOutbox, and returns whether it added the entry.
func (tx *Tx) TryAddToOutbox(ctx context.Context, e OutboxEntry) (added bool, err error) {
	if has, err := tx.hasRemoteRecipients(ctx, &e); !has || err != nil {
		return false, err
	}
	e.ID = ActivityID(tx.newID())
	return true, tx.Enqueue(ctx, e)
}

const (
	// The actor ?1 is local, the target ?2 remote.
	targetIsRemote = `
		SELECT 1
		FROM accounts a CROSS JOIN accounts t ON t.id = ?2
		WHERE a.id = ?1 AND a.domain = '' AND t.domain <> ''`
	// The actor ?1 is local and has a remote follower.
	hasRemoteFollower = `
		SELECT 1
		FROM accounts a
		WHERE a.id = ?1 AND a.domain = '' AND (EXISTS (
			SELECT 1 FROM follows f INDEXED BY follows_remote WHERE f.target_id = a.id AND f.pending = 0 AND f.follower_local = 0)`
	// The status ?2 has a remote recipient, refers to a remote status, or was fetched.
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

// hasRemoteRecipients returns true if an entry has remote recipients and there is federation.
func (tx *Tx) hasRemoteRecipients(ctx context.Context, e *OutboxEntry) (bool, error) {
	if federated := tx.db.options.Federated; federated == nil || !federated() {
		return false, nil
	}
	if e.StatusID != 0 {
		stays, err := tx.exists(ctx, `SELECT 1 FROM statuses WHERE id = ? AND unfederated = 1`, e.StatusID)
		if stays || err != nil {
			return false, err
		}
	}
	switch e.Type {
	case StatusCreated, StatusUpdated, ReblogCreated, PinCreated, PinDeleted:
		wanted, err := tx.exists(ctx, hasRemoteFollower+isAddressedToRemote+hasRelay+`)`, e.ActorID, e.StatusID)
		if wanted || err != nil || e.Type != StatusUpdated {
			return wanted, err
		}
		local, err := tx.exists(ctx, `SELECT 1 FROM accounts WHERE id = ? AND domain = ''`, e.ActorID)
		if !local || err != nil {
			return false, err
		}
		about, err := tx.RemoteInteractors(ctx, e.StatusID, 1)
		return len(about) > 0, err
	case StatusDeleted, ReblogDeleted:
		if len(e.Inboxes) > 0 {
			return tx.exists(ctx, `SELECT 1 FROM accounts WHERE id = ? AND domain = ''`, e.ActorID)
		}
		id := e.StatusID
		if e.Type == ReblogDeleted {
			id = StatusID(e.RowID) // it is not deleted yet
		}
		return tx.exists(ctx, hasRemoteFollower+isAddressedToRemote+hasRelay+`)`, e.ActorID, id)
	case CollectionCreated, CollectionUpdated, CollectionDeleted, CollectionItemAdded, CollectionItemRemoved:
		return tx.exists(ctx, hasRemoteFollower+`
			OR EXISTS (SELECT 1 FROM json_each(?2) j CROSS JOIN accounts t ON t.id = j.value WHERE t.domain <> ''))`, e.ActorID, jsonArray(e.Recipients))
	case ProfileUpdated, AccountMoved, ScrobbleCreated:
		return tx.exists(ctx, hasRemoteFollower+`)`, e.ActorID)
	case AccountDeleted, KeyRotated:
		return tx.exists(ctx, `
			SELECT 1
			FROM accounts
			WHERE id = ? AND domain = '' AND EXISTS (SELECT 1 FROM actors)`, e.ActorID)
	}
	return tx.exists(ctx, targetIsRemote, e.ActorID, e.TargetID)
}

// AddToOutboxCoalesced is AddToOutbox for changes of which only the latest state matters, such as the counts of a poll: entries with one
// key within delay become one.
func (tx *Tx) AddToOutboxCoalesced(ctx context.Context, key string, delay time.Duration, e OutboxEntry) error {
	if has, err := tx.hasRemoteRecipients(ctx, &e); !has || err != nil {
		return err
	}
	e.ID = ActivityID(tx.newID())
	return tx.EnqueueUnlessQueued(ctx, tx.db.now().Add(delay), key, e)
}

// RemoteInteractors returns remote accounts that boosted, favourited, replied to, quoted or reacted to a status, or voted in its poll: at
// most limit of each kind.
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
		some, err := ids[AccountID](ctx, r, "remote interactors", query, id, limit)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// FetcherInboxes returns inboxes of accounts that fetched a status beyond its audience. They also receive its Delete.
func (r reader) FetcherInboxes(ctx context.Context, id StatusID, limit int) ([]string, error) {
	return list[string](ctx, r, "fetcher inboxes", `SELECT inbox FROM status_fetchers WHERE status_id = ? LIMIT ?`, id, limit)
}

func (e OutboxEntry) String() string {
	b, _ := json.Marshal(e)
	return fmt.Sprintf("%s %s", e.Type, b)
}

// FollowerInboxes returns the inboxes of an account's remote followers, shared inboxes where there are some, without duplicates.
func (r reader) FollowerInboxes(ctx context.Context, id AccountID) ([]string, error) {
	all, err := list[string](ctx, r, "inboxes of followers", `
		SELECT iif(x.shared_inbox <> '', x.shared_inbox, x.inbox)
		FROM follows f INDEXED BY follows_remote
		CROSS JOIN actors x ON x.account_id = f.follower_id
		WHERE f.target_id = ? AND f.pending = 0 AND f.follower_local = 0`, id)
	slices.Sort(all)
	return slices.Compact(all), err
}

// FollowerInboxesBefore is FollowerInboxes for the accounts that asked to follow before a status was created.
func (r reader) FollowerInboxesBefore(ctx context.Context, id AccountID, st StatusID) ([]string, error) {
	all, err := list[string](ctx, r, "inboxes of earlier followers", `
		SELECT iif(x.shared_inbox <> '', x.shared_inbox, x.inbox)
		FROM follows f INDEXED BY follows_remote
		CROSS JOIN actors x ON x.account_id = f.follower_id
		WHERE f.target_id = ? AND f.pending = 0 AND f.follower_local = 0 AND f.id < ?`, id, st)
	slices.Sort(all)
	return slices.Compact(all), err
}

// IsPublishing returns true if a status is not queued for its recipients yet. Parked entries count.
func (r reader) IsPublishing(ctx context.Context, id StatusID) (bool, error) {
	return r.exists(ctx, `
		SELECT 1
		FROM jobs
		WHERE kind = 'outbox' AND payload ->> 'status_id' = ? AND payload ->> 'type' IN (?, ?)`, id.String(), StatusCreated, ReblogCreated)
}

// KnownInboxes returns the shared inboxes of all known instances, and the inboxes of remote accounts without a shared inbox.
func (r reader) KnownInboxes(ctx context.Context, limit int) ([]string, error) {
	return list[string](ctx, r, "known inboxes", `
		SELECT *
		FROM (SELECT DISTINCT shared_inbox FROM actors INDEXED BY actors_shared WHERE shared_inbox <> '' LIMIT ?1)
		UNION ALL
		SELECT *
		FROM (SELECT inbox FROM actors INDEXED BY actors_shared WHERE shared_inbox = '' LIMIT ?1)
		LIMIT ?1`, limit)
}

// HasFetcher returns true if an account with this inbox is known to have fetched a status.
func (r reader) HasFetcher(ctx context.Context, id StatusID, inbox string) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM status_fetchers WHERE status_id = ? AND inbox = ?`, id, inbox)
}

// maxFetchers is how many inboxes are stored for a status.
const maxFetchers = 1000

// AddFetcher stores that an account with this inbox fetched a status, unless there are too many.
func (tx *Tx) AddFetcher(ctx context.Context, id StatusID, inbox string) error {
	return tx.exec(ctx, "add fetcher", `
		INSERT OR IGNORE INTO status_fetchers (status_id, inbox)
		SELECT id, ?2
		FROM statuses
		WHERE id = ?1 AND (SELECT count(*) FROM status_fetchers WHERE status_id = ?1) < ?3`, id, inbox, maxFetchers)
}

// InboxInAudience returns true if an inbox is that of a remote follower of the author or of a recipient of a status.
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
