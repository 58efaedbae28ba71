package store

import (
	"context"
	"fmt"
)

var quoteTimeline = newTimeline(`statuses s INDEXED BY statuses_quotes`, `s.id`, `s.quote_of_id = ?9`)

// Quotes returns the ids of the statuses that quote a status and are visible to the viewer.
func (r reader) Quotes(ctx context.Context, viewer AccountID, id StatusID, p Page) (Part[StatusID], error) {
	return quoteTimeline.read(ctx, r, viewer, Filter{}, p, id)
}

// Reasons for which a viewer does not see a quoted status, by the client API's names.
const (
	QuoteShown          = "accepted" // there is none
	QuoteUnauthorized   = "unauthorized"
	QuoteBlockedAccount = "blocked_account"
	QuoteBlockedDomain  = "blocked_domain"
	QuoteMutedAccount   = "muted_account"
)

var quotesShown = `
	SELECT s.id, CASE
		WHEN NOT ` + visible("s") + ` THEN '` + QuoteUnauthorized + `'
		WHEN NOT ` + notBlocked("s.account_id") + ` THEN '` + QuoteBlockedAccount + `'
		WHEN NOT (` + unset("?2", lookupDomainBlocks) + ` OR ` + notFromBlockedDomain("s") + `) THEN '` + QuoteBlockedDomain + `'
		WHEN NOT ` + notMuted("s.account_id") + ` THEN '` + QuoteMutedAccount + `'
		ELSE '` + QuoteShown + `'
	END AS state
	FROM json_each(?3) j
	CROSS JOIN statuses s ON s.id = j.value`

// QuotesShown returns, for quoted statuses, whether viewer sees them in the statuses that quote them: QuoteShown, or the reason why not.
// Deleted ones are left out.
func (r reader) QuotesShown(ctx context.Context, viewer AccountID, of []StatusID) (map[StatusID]string, error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	rows, err := r.query(ctx, "quotes shown", quotesShown, viewer, l, jsonArray(of))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	shown := make(map[StatusID]string, len(of))
	for rows.Next() {
		var id int64
		var state string
		if err := rows.Scan(&id, &state); err != nil {
			return nil, fmt.Errorf("quotes shown: %w", err)
		}
		shown[StatusID(id)] = state
	}
	return shown, rows.Err()
}

// LocalQuote is a local account's newest quote of a status.
type LocalQuote struct {
	AccountID AccountID
	StatusID  StatusID // the quote
}

// LocalQuotes returns the newest quotes of a status by local accounts, one an account, up to limit.
func (r reader) LocalQuotes(ctx context.Context, id StatusID, limit int) ([]LocalQuote, error) {
	return list[LocalQuote](ctx, r, "local quotes", `
		SELECT account_id, max(id) AS status_id
		FROM statuses INDEXED BY statuses_local_quotes
		WHERE quote_of_id = ? AND domain = ''
		GROUP BY account_id
		LIMIT ?`, id, limit)
}

// SetQuotePolicy sets who may quote a status. Existing quotes stay.
func (tx *Tx) SetQuotePolicy(ctx context.Context, id StatusID, p QuotePolicy) error {
	err := tx.exec(ctx, "set quote policy", `UPDATE statuses SET quote_policy = ? WHERE id = ?`, p, id)
	tx.invalidateStatus(id)
	return err
}

// QuoteConsent is the consent of the quoted author to a quote: the id of a remote authorization, or of a row.
type QuoteConsent struct {
	StatusID      StatusID // the quote
	Authorization string
	RowID         QuoteAuthorizationID
}

// QuoteConsents returns the consents to quotes, which few have.
func (r reader) QuoteConsents(ctx context.Context, quotes []StatusID) ([]QuoteConsent, error) {
	return list[QuoteConsent](ctx, r, "quote consents", `
		SELECT s.id AS status_id, ifnull(o.authorization, '') AS authorization, ifnull(q.id, 0) AS row_id
		FROM json_each(?) j
		CROSS JOIN statuses s ON s.id = j.value
		LEFT JOIN remote_statuses o ON o.status_id = s.id
		LEFT JOIN quote_authorizations q ON q.quote_uri = s.uri AND q.status_id = s.quote_of_id`, jsonArray(quotes))
}

// QuoteAuthorization allows a status to quote a local one.
type QuoteAuthorization struct {
	ID         QuoteAuthorizationID
	StatusID   StatusID  // the quoted status
	AccountID  AccountID // the quoting account
	QuoteURI   string    // of the quoting status
	RequestURI string    // of the QuoteRequest
}

// QuoteAuthorization returns an authorization, and errs.ErrRecordNotFound if there is none.
func (r reader) QuoteAuthorization(ctx context.Context, id QuoteAuthorizationID) (*QuoteAuthorization, error) {
	return get[QuoteAuthorization](ctx, r, "quote authorization", `SELECT * FROM quote_authorizations WHERE id = ?`, id)
}

// QuoteAuthorizationOf returns the authorization of a remote status to quote a status, nil if there is none.
func (r reader) QuoteAuthorizationOf(ctx context.Context, quoteURI string, id StatusID) (*QuoteAuthorization, error) {
	return one[QuoteAuthorization](ctx, r, "quote authorization", `
		SELECT *
		FROM quote_authorizations
		WHERE quote_uri = ? AND status_id = ?`, quoteURI, id)
}

// QuoteAuthorizationsBetween returns the authorizations of an account to quote statuses of author.
func (r reader) QuoteAuthorizationsBetween(ctx context.Context, account, author AccountID, limit int) ([]*QuoteAuthorization, error) {
	return list[*QuoteAuthorization](ctx, r, "quote authorizations", `
		SELECT q.*
		FROM quote_authorizations q INDEXED BY quote_authorizations_account
		CROSS JOIN statuses s ON s.id = q.status_id
		WHERE q.account_id = ? AND s.account_id = ?
		LIMIT ?`, account, author, limit)
}

// CountQuoteAuthorizations counts the authorizations of an account for a status, up to limit.
func (r reader) CountQuoteAuthorizations(ctx context.Context, account AccountID, id StatusID, limit int) (int, error) {
	return value[int](ctx, r, "count quote authorizations", `
		SELECT count(*)
		FROM (
			SELECT 1
			FROM quote_authorizations INDEXED BY quote_authorizations_account
			WHERE account_id = ? AND status_id = ?
			LIMIT ?)`, account, id, limit)
}

// AddQuoteAuthorization inserts an authorization with a new id. There must be none for the same two statuses.
func (tx *Tx) AddQuoteAuthorization(ctx context.Context, a *QuoteAuthorization) error {
	a.ID = QuoteAuthorizationID(tx.newID())
	return tx.exec(ctx, "add quote authorization", insertQuoteAuthorization.text, insertQuoteAuthorization.args(a)...)
}

// SetQuoteRequest stores the id of a repeated QuoteRequest.
func (tx *Tx) SetQuoteRequest(ctx context.Context, a *QuoteAuthorization) error {
	return tx.exec(ctx, "set quote request", `UPDATE quote_authorizations SET request_uri = ? WHERE id = ?`, a.RequestURI, a.ID)
}

// RemoveQuoteAuthorization deletes an authorization, which revokes it.
func (tx *Tx) RemoveQuoteAuthorization(ctx context.Context, id QuoteAuthorizationID) error {
	return tx.exec(ctx, "remove quote authorization", `DELETE FROM quote_authorizations WHERE id = ?`, id)
}
