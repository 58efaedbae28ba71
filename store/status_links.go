package store

import "context"

// StatusURIState is the state of the URI of a remote status in the database.
type StatusURIState struct {
	Known      bool // the status is stored
	Deleted    bool // it was deleted, or its author deleted it before it came
	Referenced bool // a status replies to it or quotes it
}

// StatusURIState returns the state of the URI of a status by an author.
func (r reader) StatusURIState(ctx context.Context, uri, author string) (StatusURIState, error) {
	key := NewSeenKey(deletionID(uri, author))
	return value[StatusURIState](ctx, r, "state of a status URI", `
		SELECT
			EXISTS (SELECT 1 FROM statuses WHERE uri = ?1) AS known,
			EXISTS (SELECT 1 FROM tombstones WHERE uri = ?1) OR EXISTS (SELECT 1 FROM seen_activities WHERE hash = ?2) AS deleted,
			EXISTS (SELECT 1 FROM remote_statuses INDEXED BY remote_statuses_parent WHERE parent_uri = ?1 AND parent_uri <> '')
				OR EXISTS (SELECT 1 FROM remote_statuses INDEXED BY remote_statuses_quote WHERE quote_uri = ?1 AND quote_uri <> '') AS referenced`,
		uri, key[:])
}

// ReblogURIState returns whether the URI of a boost is known or was deleted, and the boost of the status that the account has already, 0 if
// none.
func (r reader) ReblogURIState(ctx context.Context, uri string, actor *Account, of StatusID) (is bool, made StatusID, err error) {
	key := NewSeenKey(deletionID(uri, actor.URI))
	found, err := ids[StatusID](ctx, r, "state of a boost URI", `
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

// RepliesToUnknown returns replies to a status that was unknown when they came.
func (r reader) RepliesToUnknown(ctx context.Context, uri string, limit int) ([]StatusID, error) {
	return ids[StatusID](ctx, r, "replies to unknown status", `
		SELECT status_id
		FROM remote_statuses INDEXED BY remote_statuses_parent
		WHERE parent_uri = ? AND parent_uri <> ''
		LIMIT ?`, uri, limit)
}

// QuotesOfUnknown returns quotes of a status that was unknown when they came.
func (r reader) QuotesOfUnknown(ctx context.Context, uri string, limit int) ([]StatusID, error) {
	return ids[StatusID](ctx, r, "quotes of unknown status", `
		SELECT status_id
		FROM remote_statuses INDEXED BY remote_statuses_quote
		WHERE quote_uri = ? AND quote_uri <> ''
		LIMIT ?`, uri, limit)
}

// AuthorizedQuotes returns the quotes with an authorization.
func (r reader) AuthorizedQuotes(ctx context.Context, authorization string, limit int) ([]StatusID, error) {
	return ids[StatusID](ctx, r, "authorized quotes", `
		SELECT status_id
		FROM remote_statuses INDEXED BY remote_statuses_authorization
		WHERE authorization = ? AND authorization <> ''
		LIMIT ?`, authorization, limit)
}

// LinkReply makes reply a reply to parent, which came later.
func (tx *Tx) LinkReply(ctx context.Context, reply, parent *Status) error {
	if err := tx.exec(ctx, "link reply", `
		UPDATE statuses
		SET in_reply_to_id = ?, in_reply_to_account_id = ?
		WHERE id = ?`, parent.ID, parent.AccountID, reply.ID); err != nil {
		return err
	}
	if err := tx.exec(ctx, "clear parent URI", `UPDATE remote_statuses SET parent_uri = '' WHERE status_id = ?`, reply.ID); err != nil {
		return err
	}
	tx.invalidateStatus(reply.ID)
	if !reply.Visibility.Counted() {
		return nil
	}
	return tx.addToCounter(ctx, "replies_count", &parent.ID, 1)
}

// LinkQuote makes quote a quote of quoted, which came later, and replaces its content.
func (tx *Tx) LinkQuote(ctx context.Context, quote, quoted *Status, content string) error {
	if err := tx.exec(ctx, "link quote", `
		UPDATE statuses
		SET quote_of_id = ?, quote_state = ?, content = ?
		WHERE id = ?`, quoted.ID, QuoteStateAccepted, content, quote.ID); err != nil {
		return err
	}
	if err := tx.exec(ctx, "clear quote URI", `UPDATE remote_statuses SET quote_uri = '' WHERE status_id = ?`, quote.ID); err != nil {
		return err
	}
	tx.invalidateStatus(quote.ID)
	if !quote.Visibility.Counted() {
		return nil
	}
	return tx.addToCounter(ctx, "quotes_count", &quoted.ID, 1)
}

// UnlinkQuote makes a status a quote that is revoked or rejected, and stores its content.
func (tx *Tx) UnlinkQuote(ctx context.Context, quote *Status, state QuoteState) error {
	if err := tx.exec(ctx, "unlink quote", `
		UPDATE statuses
		SET quote_of_id = NULL, quote_state = ?, content = ?
		WHERE id = ?`, state, quote.Content, quote.ID); err != nil {
		return err
	}
	tx.invalidateStatus(quote.ID)
	if !quote.Visibility.Counted() {
		return nil
	}
	return tx.addToCounter(ctx, "quotes_count", quote.QuoteOfID, -1)
}
