package store

import (
	"context"
	"time"
)

// Status is a post, or a boost: then ReblogOfID is set, and there is no content.
type Status struct {
	ID                 StatusID
	AccountID          AccountID
	Visibility         Visibility
	ReblogOfID         *StatusID
	ConversationID     ConversationID
	InReplyToID        *StatusID
	InReplyToAccountID *AccountID
	Domain             string // the author's
	HasMedia           bool
	HasPoll            bool
	Sensitive          bool
	RepliesCount       int
	ReblogsCount       int
	FavouritesCount    int
	QuotesCount        int
	QuoteOfID          *StatusID
	QuoteState         QuoteState
	QuotePolicy        QuotePolicy // who may quote it
	InteractionPolicy  InteractionPolicy
	PendingVisibility  *Visibility // of a reply or boost that waits for approval: until then it is direct
	CardID             *CardID     // preview of the first link
	ListID             *ListID
	Addressed          bool // its recipients were chosen apart from its text: mentions in the text add none
	AppID              *AppID
	CreatedAt          Time
	EditedAt           *Time
	ExpiresAt          *Time
	Language           string
	ContentType        string
	Emojis             JSON[[]RemoteEmoji] // of a remote post
	URI                string
	URL                string
	SpoilerText        string
	Text               string // as typed
	Content            string // HTML
	Unfederated        bool   // it never leaves this server, whatever its visibility: imported, or a boost of an imported post
}

// Local returns true if the status is local.
func (s *Status) Local() bool { return s.Domain == "" }

// Federated returns true if the status may leave this server. It is the one rule for all that is sent and served to other servers.
func (s *Status) Federated() bool { return !s.Unfederated && s.Visibility.Federated() }

// OriginalID returns the id of the boosted status, or of the status itself if it is no boost.
func (s *Status) OriginalID() StatusID {
	if s.ReblogOfID != nil {
		return *s.ReblogOfID
	}
	return s.ID
}

// Status returns a status without a check of visibility, and errs.ErrRecordNotFound if there is none.
func (r reader) Status(ctx context.Context, id StatusID) (*Status, error) {
	return get[Status](ctx, r, "status", `SELECT * FROM statuses WHERE id = ?`, id)
}

// Statuses returns the statuses that have one of the ids, in no order, without a check of visibility.
func (r reader) Statuses(ctx context.Context, ids []StatusID) ([]*Status, error) {
	return list[*Status](ctx, r, "statuses", `
		SELECT s.*
		FROM json_each(?) j
		CROSS JOIN statuses s ON s.id = j.value`, jsonArray(ids))
}

// NewStatusID returns a new id, for a status whose URI contains it.
func (tx *Tx) NewStatusID() StatusID { return StatusID(tx.newID()) }

// AddStatus inserts a status and updates the counters of its author, its parent, the quoted and the boosted status. CreatedAt is set if it
// is 0.
func (tx *Tx) AddStatus(ctx context.Context, s *Status) error {
	if s.CreatedAt == 0 {
		s.CreatedAt = At(tx.db.now())
	}
	orEmpty(&s.Emojis.V)
	if s.QuoteOfID != nil {
		s.QuoteState = QuoteStateAccepted
	}
	if err := tx.exec(ctx, "add status", insertStatus.text, insertStatus.args(s)...); err != nil {
		return err
	}
	if !s.Local() {
		tx.remotePosts++
	}
	tx.countVisibility(s, 1)
	return tx.countStatus(ctx, s, 1)
}

// DeleteStatus deletes a status with all rows that refer to it (boosts, notifications, timeline rows, favourites …), updates counters, and
// adds a tombstone. Its media become detached. It emits StatusRemoved for the status and its boosts, and returns the boosts.
func (tx *Tx) DeleteStatus(ctx context.Context, s *Status) ([]*Status, error) {
	if s.Unfederated && s.ReblogOfID == nil {
		if err := tx.keepRemovedOriginal(ctx, s.ID); err != nil {
			return nil, err
		}
	}
	boosts, err := tx.removeStatus(ctx, s)
	if err != nil {
		return nil, err
	}
	switch {
	case !s.Federated(): // a tombstone would reveal it to others
		return boosts, nil
	case s.ReblogOfID != nil && !s.Local(): // it may be boosted again, with the same id
		return boosts, nil
	}
	kind := TombstoneStatus
	if s.HasPoll {
		kind = TombstonePoll
	}
	return boosts, tx.addTombstone(ctx, s.URI, kind)
}

// removeStatus is DeleteStatus without a tombstone.
func (tx *Tx) removeStatus(ctx context.Context, s *Status) ([]*Status, error) {
	boosts, err := list[*Status](ctx, tx.reader, "boosts", `SELECT * FROM statuses WHERE reblog_of_id = ?`, s.ID)
	if err != nil {
		return nil, err
	}
	event, err := tx.statusRemoved(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	tx.Emit(event)
	for _, b := range boosts {
		if event, err = tx.statusRemoved(ctx, b, s); err != nil {
			return nil, err
		}
		tx.Emit(event)
		if err := tx.countStatus(ctx, b, -1); err != nil {
			return nil, err
		}
		tx.invalidateStatus(b.ID)
	}
	if err := tx.countStatus(ctx, s, -1); err != nil {
		return nil, err
	}
	if err := tx.uncountTags(ctx, s); err != nil {
		return nil, err
	}
	if err := tx.invalidateReplies(ctx, s.ID); err != nil {
		return nil, err
	}
	if err := tx.rewindConversations(ctx, s); err != nil {
		return nil, err
	}
	if err := tx.exec(ctx, "delete status", `DELETE FROM statuses WHERE id = ?`, s.ID); err != nil {
		return nil, err
	}
	for _, removed := range append(boosts, s) {
		if !removed.Local() {
			tx.remotePosts--
		}
		tx.countVisibility(removed, -1)
	}
	tx.unindexStatus(s.ID)
	tx.invalidateStatus(s.ID)
	return boosts, nil
}

// invalidateReplies invalidates replies to a status and its quotes, which show it; if there are very many, everything.
func (tx *Tx) invalidateReplies(ctx context.Context, id StatusID) error {
	const limit = 1000
	for _, query := range []string{
		`SELECT id FROM statuses WHERE in_reply_to_id = ? LIMIT ?`,
		`SELECT id FROM statuses WHERE quote_of_id = ? LIMIT ?`,
	} {
		found, err := ids[StatusID](ctx, tx.reader, "replies", query, id, limit+1)
		if err != nil {
			return err
		}
		if len(found) > limit {
			tx.invalidateAll()
			return nil
		}
		for _, id := range found {
			tx.invalidateStatus(id)
		}
	}
	return nil
}

// countStatus adds n to the counters that a status changes.
func (tx *Tx) countStatus(ctx context.Context, s *Status, n int) error {
	if s.Visibility.Counted() {
		if err := tx.updateCounters(ctx, "count status", `
			UPDATE accounts
			SET statuses_count = max(0, statuses_count + ?1), last_status_at = CASE WHEN ?1 > 0 THEN max(ifnull(last_status_at, 0), ?2) ELSE last_status_at END
			WHERE id = ?3`+returningCounters, n, s.CreatedAt, s.AccountID); err != nil {
			return err
		}
		if err := tx.addToCounter(ctx, "replies_count", s.InReplyToID, n); err != nil {
			return err
		}
		if err := tx.addToCounter(ctx, "quotes_count", s.QuoteOfID, n); err != nil {
			return err
		}
	}
	if s.ReblogOfID != nil {
		tx.invalidateFlags(s.AccountID)
	}
	return tx.addToCounter(ctx, "reblogs_count", s.ReblogOfID, n)
}

// addToCounter adds n to a counter of a status; nil: of none.
func (tx *Tx) addToCounter(ctx context.Context, counter string, id *StatusID, n int) error {
	if id == nil {
		return nil
	}
	tx.invalidateStatus(*id)
	return tx.exec(ctx, "count status", `UPDATE statuses SET `+counter+` = `+counter+` + ? WHERE id = ?`, n, *id)
}

// Recipient is an account to which a status is addressed.
type Recipient struct {
	StatusID  StatusID
	AccountID AccountID
	Position  int
	Mentioned bool
	Direct    bool
}

// Recipients returns the recipients of statuses, in order of status and position.
func (r reader) Recipients(ctx context.Context, ids []StatusID) ([]Recipient, error) {
	return list[Recipient](ctx, r, "recipients", `
		SELECT r.*
		FROM json_each(?) j
		CROSS JOIN recipients r ON r.status_id = j.value
		ORDER BY j.key, r.position`, jsonArray(ids))
}

// AddRecipients adds recipients to a status. Of an existing recipient, only Mentioned may become true.
func (tx *Tx) AddRecipients(ctx context.Context, recipients []Recipient) error {
	for _, r := range recipients {
		if err := tx.exec(ctx, "add recipient", insertRecipient.text, insertRecipient.args(&r)...); err != nil {
			return err
		}
	}
	return nil
}

// AddListRecipients adds the current members of its list to a list post's recipients.
func (tx *Tx) AddListRecipients(ctx context.Context, s *Status) error {
	return tx.exec(ctx, "add list recipients", `
		INSERT OR IGNORE INTO recipients (status_id, account_id, position, mentioned, direct)
		SELECT ?1, account_id, 1000, 0, 0
		FROM list_members
		WHERE list_id = ?2`, s.ID, s.ListID)
}

// OldestStatuses returns the oldest statuses and boosts of an account.
func (r reader) OldestStatuses(ctx context.Context, id AccountID, limit int) ([]*Status, error) {
	return list[*Status](ctx, r, "oldest statuses", `
		SELECT *
		FROM statuses
		WHERE account_id = ?
		ORDER BY id
		LIMIT ?`, id, limit)
}

// StatusExists returns true if a status exists.
func (r reader) StatusExists(ctx context.Context, id StatusID) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM statuses WHERE id = ?`, id)
}

// AvailableVisibility returns the visibility of a status, nil if it does not exist or its author is unavailable.
func (r reader) AvailableVisibility(ctx context.Context, id StatusID) (*Visibility, error) {
	return one[Visibility](ctx, r, "visibility of a status", `
		SELECT s.visibility
		FROM statuses s
		CROSS JOIN accounts a ON a.id = s.account_id
		WHERE s.id = ? AND a.unavailable = 0`, id)
}

// SaveStatus writes the columns that an edit may change.
func (tx *Tx) SaveStatus(ctx context.Context, s *Status) error {
	orEmpty(&s.Emojis.V)
	tx.invalidateStatus(s.ID)
	return tx.exec(ctx, "save status", updateStatus.text, updateStatus.args(s)...)
}

// SetMentions replaces the mentions of a status, in this order. Accounts that are no longer mentioned stay recipients.
func (tx *Tx) SetMentions(ctx context.Context, s *Status, accounts []AccountID) error {
	if err := tx.exec(ctx, "clear mentions", `UPDATE recipients SET mentioned = 0 WHERE status_id = ?`, s.ID); err != nil {
		return err
	}
	for i, id := range accounts {
		if err := tx.exec(ctx, "add mention", `
			INSERT INTO recipients (status_id, account_id, position, mentioned, direct)
			VALUES (?, ?, ?, 1, ?)
			ON CONFLICT (status_id, account_id) DO UPDATE SET mentioned = 1, position = excluded.position`,
			s.ID, id, i, s.Visibility == Direct); err != nil {
			return err
		}
	}
	tx.invalidateStatus(s.ID)
	return nil
}

// StatusByURI returns the status or boost with an ActivityPub id, nil if there is none.
func (r reader) StatusByURI(ctx context.Context, uri string) (*Status, error) {
	return one[Status](ctx, r, "status by uri", `SELECT * FROM statuses WHERE uri = ?`, uri)
}

// StatusIDByURI returns the id of the status or boost with an ActivityPub id, 0 if there is none.
func (r reader) StatusIDByURI(ctx context.Context, uri string) (StatusID, error) {
	found, err := ids[StatusID](ctx, r, "status by uri", `SELECT id FROM statuses WHERE uri = ?`, uri)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}

// KnownStatusURIs returns those of the URIs that statuses and boosts have.
func (r reader) KnownStatusURIs(ctx context.Context, uris []string) (map[string]bool, error) {
	found, err := list[string](ctx, r, "known status URIs", `
		SELECT s.uri
		FROM json_each(?) j
		CROSS JOIN statuses s ON s.uri = j.value`, JSON[[]string]{uris})
	known := make(map[string]bool, len(found))
	for _, uri := range found {
		known[uri] = true
	}
	return known, err
}

// NewStatusIDAt returns an id for a fetched status, at the time when it was published (design 5).
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

// AddMentions adds mentions to a status, after the present ones.
func (tx *Tx) AddMentions(ctx context.Context, s *Status, accounts []AccountID) error {
	const after = 1000 // more than a status can mention
	var added []Recipient
	for i, id := range accounts {
		added = append(added, Recipient{StatusID: s.ID, AccountID: id, Position: after + i, Mentioned: true, Direct: s.Visibility == Direct})
	}
	tx.invalidateStatus(s.ID)
	return tx.AddRecipients(ctx, added)
}

// StatusByAddress returns the status with an ActivityPub id, or the remote status with a URL, nil if there is none.
func (r reader) StatusByAddress(ctx context.Context, address string) (*Status, error) {
	s, err := one[Status](ctx, r, "status by URI", `SELECT * FROM statuses WHERE uri = ?`, address)
	if s != nil || err != nil {
		return s, err
	}
	return one[Status](ctx, r, "status by URL", `
		SELECT *
		FROM statuses INDEXED BY statuses_url
		WHERE url = ? AND domain <> '' AND url <> ''
		LIMIT 1`, address)
}
