package store

import "context"

// What the documents are made of that other servers read (federation 4.2).

// ThreadURIs returns what threads that began elsewhere are called by others. Those that began here are not among them.
func (r reader) ThreadURIs(ctx context.Context, ids []ConversationID) (map[ConversationID]string, error) {
	type row struct {
		ConversationID ConversationID
		URI            string
	}
	rows, err := list[row](ctx, r, "contexts", `
		SELECT c.*
		FROM json_each(?) j
		CROSS JOIN threads c ON c.conversation_id = j.value`, jsonArray(ids))
	uris := make(map[ConversationID]string, len(rows))
	for _, c := range rows {
		uris[c.ConversationID] = c.URI
	}
	return uris, err
}

// LatestEdits returns the earlier versions of the statuses, oldest first: of each the latest, at most so many.
func (r reader) LatestEdits(ctx context.Context, ids []StatusID, each int) ([]*StatusEdit, error) {
	return list[*StatusEdit](ctx, r, "latest edits", `
		SELECT e.*
		FROM json_each(?) j
		CROSS JOIN status_edits e
		WHERE e.id IN (
			SELECT x.id
			FROM status_edits x INDEXED BY status_edits_status
			WHERE x.status_id = j.value
			ORDER BY x.id DESC
			LIMIT ?)
		ORDER BY j.key, e.id`, jsonArray(ids), each)
}

// SelfReply is an answer, open to all, of an author to a status of theirs.
type SelfReply struct {
	StatusID StatusID // what it answers
	ID       StatusID
}

// selfReply is the condition of the index on them.
const selfReply = `s.in_reply_to_id IS NOT NULL AND s.in_reply_to_account_id = s.account_id AND s.visibility IN (0, 1)`

// SelfReplies returns the first own answers to each of the statuses, at most so many.
func (r reader) SelfReplies(ctx context.Context, ids []StatusID, each int) ([]SelfReply, error) {
	return list[SelfReply](ctx, r, "own replies", `
		SELECT j.value AS status_id, a.id
		FROM json_each(?) j
		CROSS JOIN statuses a
		WHERE a.id IN (
			SELECT s.id
			FROM statuses s INDEXED BY statuses_self_replies
			WHERE s.in_reply_to_id = j.value AND `+selfReply+`
			ORDER BY s.id
			LIMIT ?)
		ORDER BY j.key, a.id`, jsonArray(ids), each)
}

// SelfRepliesAfter returns own answers to a status, the oldest first, from after an id on.
func (r reader) SelfRepliesAfter(ctx context.Context, id, after StatusID, limit int) ([]StatusID, error) {
	return ids[StatusID](ctx, r, "own replies", `
		SELECT s.id
		FROM statuses s INDEXED BY statuses_self_replies
		WHERE s.in_reply_to_id = ? AND `+selfReply+` AND s.id > ?
		ORDER BY s.id
		LIMIT ?`, id, after, limit)
}

// ThreadStatusesAfter returns the ids by which others know the posts of a thread that viewer may see, but those that are only for this server, the
// oldest first, from after an id on.
func (r reader) ThreadStatusesAfter(ctx context.Context, viewer AccountID, id ConversationID, after StatusID, limit int) ([]*ThreadStatus, error) {
	h, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	return list[*ThreadStatus](ctx, r, "posts of a thread", `
		SELECT s.id, s.uri
		FROM statuses s INDEXED BY statuses_conversation
		WHERE s.conversation_id = ?3 AND s.id > ?4 AND s.reblog_of_id IS NULL AND s.visibility <> 2 AND `+visible("s")+`
		ORDER BY s.id
		LIMIT ?5`, viewer, h, id, after, limit)
}

// ThreadStatus is a post of a thread.
type ThreadStatus struct {
	ID  StatusID
	URI string
}

// ReactionByID returns a reaction, nil if there is none.
func (r reader) ReactionByID(ctx context.Context, id ReactionID) (*Reaction, error) {
	return one[Reaction](ctx, r, "reaction", `SELECT * FROM reactions WHERE id = ?`, id)
}

// FollowByID returns a follow, or a request, nil if there is none.
func (r reader) FollowByID(ctx context.Context, id FollowID) (*Follow, error) {
	return one[Follow](ctx, r, "follow", `SELECT * FROM follows WHERE id = ?`, id)
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
