package store

import (
	"context"
	"time"
)

// RemoteStatus is what only a post from elsewhere has.
type RemoteStatus struct {
	StatusID   StatusID
	ParentURI  string // what it replies to, as long as that is not known here
	QuoteURI   string // what it quotes, likewise
	RepliesURI string // the collection of its replies
	RepliesAt  Time   // when that was read last
	FetchedAt  Time   // when the post was read from its origin last; 0: it was delivered only

	Authorization string // id of that by which the author of what it quotes allows that
}

// RemoteStatus returns what is known of where a post came from, nil if it is of here.
func (r reader) RemoteStatus(ctx context.Context, id StatusID) (*RemoteStatus, error) {
	return one[RemoteStatus](ctx, r, "origin", `SELECT * FROM remote_statuses WHERE status_id = ?`, id)
}

// SaveRemoteStatus inserts or replaces that.
func (tx *Tx) SaveRemoteStatus(ctx context.Context, o *RemoteStatus) error {
	_, err := tx.exec(ctx, "save origin", `
		INSERT OR REPLACE INTO remote_statuses (status_id, parent_uri, quote_uri, replies_uri, replies_at, fetched_at, authorization)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, o.StatusID, o.ParentURI, o.QuoteURI, o.RepliesURI, o.RepliesAt, o.FetchedAt, o.Authorization)
	return err
}

// StatusByURI returns the status, or boost, of an ActivityPub id, nil if there is none.
func (r reader) StatusByURI(ctx context.Context, uri string) (*Status, error) {
	return one[Status](ctx, r, "status by uri", `SELECT * FROM statuses WHERE uri = ?`, uri)
}

// StatusIDByURI returns the id of the status, or boost, of an ActivityPub id, 0 if there is none.
func (r reader) StatusIDByURI(ctx context.Context, uri string) (StatusID, error) {
	found, err := ids[StatusID](ctx, r, "status by uri", `SELECT id FROM statuses WHERE uri = ?`, uri)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}

// Tombstone is what is left of what was deleted here.
type Tombstone struct {
	URI       string
	DeletedAt Time
	Kind      string
}

// The kinds of what tombstones stand for.
const (
	TombstoneStatus  = "status" // also a boost
	TombstonePoll    = "poll"
	TombstoneMessage = "message"
)

// Tombstone returns what is left of what had an id, nil if nothing was deleted here.
func (r reader) Tombstone(ctx context.Context, uri string) (*Tombstone, error) {
	return one[Tombstone](ctx, r, "tombstone", `SELECT * FROM tombstones WHERE uri = ?`, uri)
}

// NewStatusIDAt returns an id for a status that has been fetched: its place is that of the time when it was published (design 5).
func (tx *Tx) NewStatusIDAt(ctx context.Context, published time.Time) (StatusID, error) {
	const attempts = 20
	for attempt := range attempts {
		id := StatusID(tx.db.ids.idAt(published, attempt))
		taken, err := tx.exists(ctx, `SELECT 1 FROM statuses WHERE id = ?`, id)
		if !taken || err != nil {
			return id, err
		}
	}
	return tx.NewStatusID(), nil
}

// StatusURIState is what there is of a post from elsewhere before it comes.
type StatusURIState struct {
	Known      bool // it is here
	Deleted    bool // it was here, or its author has had it deleted before it came
	Referenced bool // there are replies to it, or quotes of it
}

// StatusURIState looks for traces of a post of an id by an author.
func (r reader) StatusURIState(ctx context.Context, uri, author string) (StatusURIState, error) {
	key := NewSeenKey(deletionID(uri, author))
	s, err := one[StatusURIState](ctx, r, "state of a status URI", `
		SELECT
			EXISTS (SELECT 1 FROM statuses WHERE uri = ?1) AS known,
			EXISTS (SELECT 1 FROM tombstones WHERE uri = ?1) OR EXISTS (SELECT 1 FROM seen_activities WHERE hash = ?2) AS deleted,
			EXISTS (SELECT 1 FROM remote_statuses INDEXED BY remote_statuses_parent WHERE parent_uri = ?1 AND parent_uri <> '')
				OR EXISTS (SELECT 1 FROM remote_statuses INDEXED BY remote_statuses_quote WHERE quote_uri = ?1 AND quote_uri <> '') AS referenced`,
		uri, key[:])
	if err != nil {
		return StatusURIState{}, err
	}
	return *s, nil
}

// ReblogURIState looks for traces of a boost of an id: whether there is one, also if it was deleted, and the one that an account has made of
// the status already, 0 if none.
func (r reader) ReblogURIState(ctx context.Context, uri string, actor *Account, of StatusID) (is bool, made StatusID, err error) {
	key := NewSeenKey(deletionID(uri, actor.URI))
	found, err := ids[StatusID](ctx, r, "trace of a boost", `
		SELECT id FROM statuses WHERE reblog_of_id = ?3 AND account_id = ?4
		UNION ALL
		SELECT 0
		WHERE EXISTS (SELECT 1 FROM statuses WHERE uri = ?1) OR EXISTS (SELECT 1 FROM tombstones WHERE uri = ?1)
			OR EXISTS (SELECT 1 FROM seen_activities WHERE hash = ?2)`, uri, key[:], of, actor.ID)
	for _, id := range found {
		is, made = true, max(made, id)
	}
	return is, made, err
}

// deletionID is what is remembered of the deletion of a post that had not come: only its author can have it deleted.
func deletionID(uri, author string) string { return author + " deleted " + uri }

// MarkDeletionSeen notes that an author has had a post deleted that is not here.
func (tx *Tx) MarkDeletionSeen(ctx context.Context, uri, author string) error {
	_, err := tx.MarkSeen(ctx, deletionID(uri, author))
	return err
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

// HasLocalFollower tells whether somebody here follows an account elsewhere.
func (r reader) HasLocalFollower(ctx context.Context, id AccountID) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM follows INDEXED BY follows_local WHERE target_id = ? AND pending = 0 AND follower_local = 1 LIMIT 1`, id)
}

// SetThreadURI notes that others call a new conversation so. If one of that name is there already, it is that one.
func (tx *Tx) SetThreadURI(ctx context.Context, id ConversationID, uri string) (ConversationID, error) {
	n, err := tx.exec(ctx, "name conversation", `INSERT OR IGNORE INTO threads (conversation_id, uri) VALUES (?, ?)`, id, uri)
	if n > 0 || err != nil {
		return id, err
	}
	known, err := one[ConversationID](ctx, tx.reader, "conversation of a context", `SELECT conversation_id FROM threads WHERE uri = ?`, uri)
	if known == nil || err != nil {
		return id, err
	}
	return *known, nil
}

// RepliesToUnknown returns replies here to a post that came later than they.
func (r reader) RepliesToUnknown(ctx context.Context, uri string, limit int) ([]StatusID, error) {
	return ids[StatusID](ctx, r, "replies that wait", `
		SELECT status_id
		FROM remote_statuses INDEXED BY remote_statuses_parent
		WHERE parent_uri = ? AND parent_uri <> ''
		LIMIT ?`, uri, limit)
}

// QuotesOfUnknown returns quotes here of a post that came later than they.
func (r reader) QuotesOfUnknown(ctx context.Context, uri string, limit int) ([]StatusID, error) {
	return ids[StatusID](ctx, r, "quotes that wait", `
		SELECT status_id
		FROM remote_statuses INDEXED BY remote_statuses_quote
		WHERE quote_uri = ? AND quote_uri <> ''
		LIMIT ?`, uri, limit)
}

// AuthorizedQuotes returns the quotes here that an authorization allows.
func (r reader) AuthorizedQuotes(ctx context.Context, authorization string, limit int) ([]StatusID, error) {
	return ids[StatusID](ctx, r, "authorized quotes", `
		SELECT status_id
		FROM remote_statuses INDEXED BY remote_statuses_authorization
		WHERE authorization = ? AND authorization <> ''
		LIMIT ?`, authorization, limit)
}

// IsAncestor tells whether a status is among those that another replies to, directly or by others; deeper than a thread is shown nobody
// looks.
func (r reader) IsAncestor(ctx context.Context, above, below StatusID) (bool, error) {
	return r.exists(ctx, `
		WITH RECURSIVE up (id) AS (
			SELECT ?2
			UNION
			SELECT s.in_reply_to_id
			FROM up
			CROSS JOIN statuses s ON s.id = up.id
			WHERE s.in_reply_to_id IS NOT NULL
			LIMIT 4096)
		SELECT 1
		FROM up
		WHERE id = ?1`, above, below)
}

// LinkReply makes reply, which came before it, an answer to parent.
func (tx *Tx) LinkReply(ctx context.Context, reply, parent *Status) error {
	if _, err := tx.exec(ctx, "link reply", `
		UPDATE statuses
		SET in_reply_to_id = ?, in_reply_to_account_id = ?
		WHERE id = ?`, parent.ID, parent.AccountID, reply.ID); err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "parent is here", `UPDATE remote_statuses SET parent_uri = '' WHERE status_id = ?`, reply.ID); err != nil {
		return err
	}
	tx.invalidateStatus(reply.ID)
	if !reply.Visibility.Unrestricted() {
		return nil
	}
	_, err := tx.exec(ctx, "count reply", `UPDATE statuses SET replies_count = replies_count + 1 WHERE id = ?`, parent.ID)
	tx.invalidateStatus(parent.ID)
	return err
}

// LinkQuote makes quote, which came before it, one of quoted. content is what it says from now on.
func (tx *Tx) LinkQuote(ctx context.Context, quote, quoted *Status, content string) error {
	if _, err := tx.exec(ctx, "link quote", `
		UPDATE statuses
		SET quote_of_id = ?, content = ?
		WHERE id = ?`, quoted.ID, content, quote.ID); err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "quoted is here", `UPDATE remote_statuses SET quote_uri = '' WHERE status_id = ?`, quote.ID); err != nil {
		return err
	}
	tx.invalidateStatus(quote.ID)
	if !quote.Visibility.Unrestricted() {
		return nil
	}
	_, err := tx.exec(ctx, "count quote", `UPDATE statuses SET quotes_count = quotes_count + 1 WHERE id = ?`, quoted.ID)
	tx.invalidateStatus(quoted.ID)
	return err
}

// UnlinkQuote has a status quote nothing any more.
func (tx *Tx) UnlinkQuote(ctx context.Context, quote *Status) error {
	if _, err := tx.exec(ctx, "unlink quote", `UPDATE statuses SET quote_of_id = NULL WHERE id = ?`, quote.ID); err != nil {
		return err
	}
	tx.invalidateStatus(quote.ID)
	if quote.QuoteOfID == nil || !quote.Visibility.Unrestricted() {
		return nil
	}
	_, err := tx.exec(ctx, "count quote", `UPDATE statuses SET quotes_count = quotes_count - 1 WHERE id = ?`, *quote.QuoteOfID)
	tx.invalidateStatus(*quote.QuoteOfID)
	return err
}

// MergeThreads has a conversation go on as another: what it began with turned out to answer a post of that. One with very many
// posts stays what it is.
func (tx *Tx) MergeThreads(ctx context.Context, from, to ConversationID) error {
	const most = 1000
	if from == to {
		return nil
	}
	moved, err := ids[StatusID](ctx, tx.reader, "posts of a conversation", `
		SELECT id
		FROM statuses INDEXED BY statuses_conversation
		WHERE conversation_id = ?
		ORDER BY id
		LIMIT ?`, from, most+1)
	if err != nil || len(moved) > most {
		return err
	}
	muters, err := ids[AccountID](ctx, tx.reader, "who mutes a conversation", `SELECT account_id FROM thread_mutes WHERE conversation_id = ?`, from)
	if err != nil {
		return err
	}
	tx.invalidateRelations(muters...)
	for _, query := range []string{
		`UPDATE statuses SET conversation_id = ?2 WHERE conversation_id = ?1`,
		`UPDATE OR IGNORE thread_mutes SET conversation_id = ?2 WHERE conversation_id = ?1`,
		`DELETE FROM thread_mutes WHERE conversation_id = ?1 AND ?2 > 0`,
		`UPDATE direct_conversations
		SET last_status_id = max(last_status_id, (
			SELECT x.last_status_id
			FROM direct_conversations x INDEXED BY direct_conversations_thread
			WHERE x.conversation_id = ?1 AND x.account_id = direct_conversations.account_id))
		WHERE conversation_id = ?2 AND account_id IN (SELECT y.account_id FROM direct_conversations y WHERE y.conversation_id = ?1)`,
		`UPDATE OR IGNORE direct_conversations SET conversation_id = ?2 WHERE conversation_id = ?1`,
		`DELETE FROM direct_conversations WHERE conversation_id = ?1 AND ?2 > 0`,
		`UPDATE OR IGNORE threads SET conversation_id = ?2 WHERE conversation_id = ?1`,
		`DELETE FROM threads WHERE conversation_id = ?1 AND ?2 > 0`,
	} {
		if _, err := tx.exec(ctx, "join conversation", query, from, to); err != nil {
			return err
		}
	}
	for _, id := range moved {
		tx.invalidateStatus(id)
	}
	return nil
}

// AddMentions has a status mention more people, after those whom it mentions already.
func (tx *Tx) AddMentions(ctx context.Context, s *Status, people []AccountID) error {
	const after = 1000 // more than a post can mention
	var added []Recipient
	for i, id := range people {
		added = append(added, Recipient{StatusID: s.ID, AccountID: id, Position: after + i, Mentioned: true, Direct: s.Visibility == Direct})
	}
	tx.invalidateStatus(s.ID)
	return tx.AddRecipients(ctx, added)
}
