package store

import "context"

// RemoteStatus has the columns of remote statuses only.
type RemoteStatus struct {
	StatusID   StatusID
	ParentURI  string // of an unknown status that it replies to
	QuoteURI   string // of an unknown status that it quotes
	RepliesURI string // the collection of its replies
	RepliesAt  Time   // when that was fetched
	FetchedAt  Time   // when the status was fetched; 0: it was only delivered

	Authorization string // id of the authorization to quote
	Approval      string // id of the authorization to reply or boost

	Quiet bool // it was stored without notifications, home timelines and streams, which its delivery makes up for
}

// RemoteStatus returns the row of a remote status, nil if it is local.
func (r reader) RemoteStatus(ctx context.Context, id StatusID) (*RemoteStatus, error) {
	return one[RemoteStatus](ctx, r, "remote status", `SELECT * FROM remote_statuses WHERE status_id = ?`, id)
}

// StatusApproval is the authorization of a reply or boost.
type StatusApproval struct {
	StatusID StatusID
	Approval string               // id of the remote authorization; "": none
	RowID    InteractionRequestID // of the local authorization; 0: none
}

// Approvals returns the authorizations of replies and boosts, which few have.
func (r reader) Approvals(ctx context.Context, ids []StatusID) ([]StatusApproval, error) {
	return list[StatusApproval](ctx, r, "approvals", `
		SELECT s.id AS status_id, ifnull(o.approval, '') AS approval, ifnull(q.id, 0) AS row_id
		FROM json_each(?) j
		CROSS JOIN statuses s ON s.id = j.value
		LEFT JOIN remote_statuses o ON o.status_id = s.id
		LEFT JOIN interaction_requests q ON q.interacting_id = s.id AND q.accepted_at IS NOT NULL`, jsonArray(ids))
}

// SaveRemoteStatus inserts or replaces a row.
func (tx *Tx) SaveRemoteStatus(ctx context.Context, o *RemoteStatus) error {
	tx.invalidateStatus(o.StatusID) // the document of a quote contains its authorization
	return tx.exec(ctx, "save remote status", saveRemoteStatus.text, saveRemoteStatus.args(o)...)
}

// RepliesRead stores that the collection of the replies to a remote status was fetched.
func (tx *Tx) RepliesRead(ctx context.Context, id StatusID) error {
	return tx.exec(ctx, "store that replies were read", `UPDATE remote_statuses SET replies_at = ? WHERE status_id = ?`, At(tx.db.now()), id)
}

// ReplyCollection is where the replies to a public remote status of a thread are listed.
type ReplyCollection struct {
	StatusID   StatusID
	URI        string // of the status
	CreatedAt  Time
	RepliesURI string
	RepliesAt  Time // when it was fetched
}

// ReplyCollections returns where the replies to the first limit statuses of a thread are listed, as far as they are remote and unrestricted.
func (r reader) ReplyCollections(ctx context.Context, id ConversationID, limit int) ([]ReplyCollection, error) {
	return list[ReplyCollection](ctx, r, "collections of replies", `
		SELECT s.id AS status_id, s.uri, s.created_at, o.replies_uri, o.replies_at
		FROM (
			SELECT x.id, x.uri, x.created_at, x.visibility
			FROM statuses x INDEXED BY statuses_conversation
			WHERE x.conversation_id = ? AND x.reblog_of_id IS NULL
			ORDER BY x.id
			LIMIT ?) s
		CROSS JOIN remote_statuses o ON o.status_id = s.id
		WHERE s.visibility IN (0, 1) AND o.replies_uri <> ''
		ORDER BY s.id`, id, limit)
}

// ThreadSize returns how many posts of a thread are known, most at most.
func (r reader) ThreadSize(ctx context.Context, id ConversationID, most int) (int, error) {
	return value[int](ctx, r, "size of a thread", `
		SELECT count(*)
		FROM (
			SELECT 1
			FROM statuses x INDEXED BY statuses_conversation
			WHERE x.conversation_id = ? AND x.reblog_of_id IS NULL
			LIMIT ?)`, id, most)
}

// Tombstone remains of a deleted object.
type Tombstone struct {
	URI       string
	DeletedAt Time
	Kind      string
}

// Kinds of deleted objects.
const (
	TombstoneStatus  = "status" // also a boost
	TombstonePoll    = "poll"
	TombstoneMessage = "message"
)

// Tombstone returns the tombstone of a URI, nil if there is none.
func (r reader) Tombstone(ctx context.Context, uri string) (*Tombstone, error) {
	return one[Tombstone](ctx, r, "tombstone", `SELECT * FROM tombstones WHERE uri = ?`, uri)
}

func (tx *Tx) addTombstone(ctx context.Context, uri, kind string) error {
	return tx.exec(ctx, "add tombstone", `
		INSERT OR IGNORE INTO tombstones (uri, deleted_at, kind)
		VALUES (?, ?, ?)`, uri, At(tx.db.now()), kind)
}

// LocalViewer returns an available local account that may read a remote status: a voter in its poll, a follower of its author, or a
// recipient; 0 if there is none.
func (r reader) LocalViewer(ctx context.Context, st *Status) (AccountID, error) {
	queries := []string{`
		SELECT v.account_id
		FROM polls p
		CROSS JOIN poll_votes v ON v.poll_id = p.id
		CROSS JOIN accounts a ON a.id = v.account_id
		WHERE p.status_id = ?1 AND ?2 <> 0 AND a.domain = '' AND a.unavailable = 0
		LIMIT 1`, `
		SELECT r.account_id
		FROM recipients r
		CROSS JOIN accounts a ON a.id = r.account_id
		WHERE r.status_id = ?1 AND ?2 <> 0 AND a.domain = '' AND a.unavailable = 0
		LIMIT 1`, `
		SELECT f.follower_id
		FROM follows f INDEXED BY follows_local
		CROSS JOIN accounts a ON a.id = f.follower_id
		WHERE ?1 <> 0 AND f.target_id = ?2 AND f.pending = 0 AND f.follower_local = 1 AND a.unavailable = 0
		LIMIT 1`}
	if st.Visibility != Private {
		queries = queries[:2]
	}
	for _, query := range queries {
		found, err := ids[AccountID](ctx, r, "local viewer", query, st.ID, st.AccountID)
		if err != nil {
			return 0, err
		}
		if len(found) > 0 {
			return found[0], nil
		}
	}
	return 0, nil
}
