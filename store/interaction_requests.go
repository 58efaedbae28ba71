package store

import (
	"context"
	"time"
)

// InteractionRequest is a favourite, reply or boost of a local status that waits for the approval of the author, or that the author
// authorized. Its URI is then the authorization.
type InteractionRequest struct {
	ID            InteractionRequestID
	AuthorID      AccountID // of the status
	StatusID      StatusID
	AccountID     AccountID // who interacts with it
	Domain        string    // of that account
	Interaction   Interaction
	FavouriteID   *FavouriteID
	InteractingID *StatusID // the reply or boost
	URI           string    // of the Like, the reply or the Announce
	RequestURI    string    // of the request for it; "": there was none
	AcceptedAt    *Time     // nil: it waits
}

// InteractionRequest returns a request, and errs.ErrRecordNotFound if there is none.
func (r reader) InteractionRequest(ctx context.Context, id InteractionRequestID) (*InteractionRequest, error) {
	return get[InteractionRequest](ctx, r, "interaction request", `SELECT * FROM interaction_requests WHERE id = ?`, id)
}

// InteractionRequestByURI returns the request of a Like, reply or Announce, nil if there is none.
func (r reader) InteractionRequestByURI(ctx context.Context, uri string) (*InteractionRequest, error) {
	return one[InteractionRequest](ctx, r, "interaction request", `SELECT * FROM interaction_requests WHERE uri = ?`, uri)
}

// InteractionFilter selects waiting requests.
type InteractionFilter struct {
	StatusID StatusID      // 0: of any status
	Kinds    []Interaction // nil: all
}

// pendingInteractions reads the requests of the author ?1. ?5 is the status, ?6 the bits of the kinds.
var pendingInteractions = newKeyset(`
		SELECT *
		FROM interaction_requests INDEXED BY interaction_requests_author
		WHERE author_id = ?1 AND accepted_at IS NULL AND id < ?2 AND id > ?3 AND (?5 = 0 OR status_id = ?5) AND (?6 >> interaction) & 1
		ORDER BY id DESC
		LIMIT ?4`)

// PendingInteractions returns the requests that wait for an author's approval.
func (r reader) PendingInteractions(ctx context.Context, author AccountID, f InteractionFilter, p Page) ([]*InteractionRequest, error) {
	kinds := 0
	for _, i := range f.Kinds {
		kinds |= 1 << i
	}
	if f.Kinds == nil {
		kinds = 1<<Favouriting | 1<<Replying | 1<<Reblogging
	}
	query, below, above, ascending := pendingInteractions.query(p)
	rows, err := list[*InteractionRequest](ctx, r, "interaction requests", query, author, below, above, p.Limit, f.StatusID, kinds)
	return newestFirst(rows, ascending), err
}

// PendingCounts are the numbers of waiting requests to an author, of an account, and of a domain.
type PendingCounts struct{ Author, Account, Domain int }

// PendingInteractionCounts counts waiting requests, each up to limit.
func (r reader) PendingInteractionCounts(ctx context.Context, q *InteractionRequest, limit int) (PendingCounts, error) {
	return value[PendingCounts](ctx, r, "count interaction requests", `
		SELECT
			(SELECT count(*) FROM (SELECT 1 FROM interaction_requests INDEXED BY interaction_requests_author
				WHERE author_id = ?1 AND accepted_at IS NULL LIMIT ?4)) AS author,
			(SELECT count(*) FROM (SELECT 1 FROM interaction_requests INDEXED BY interaction_requests_domain
				WHERE domain = ?3 AND account_id = ?2 AND accepted_at IS NULL LIMIT ?4)) AS account,
			(SELECT count(*) FROM (SELECT 1 FROM interaction_requests INDEXED BY interaction_requests_domain
				WHERE domain = ?3 AND accepted_at IS NULL LIMIT ?4)) AS domain`, q.AuthorID, q.AccountID, q.Domain, limit)
}

// ExpiredInteractions returns requests that wait since before a time, the oldest first.
func (r reader) ExpiredInteractions(ctx context.Context, before time.Time, limit int) ([]*InteractionRequest, error) {
	return list[*InteractionRequest](ctx, r, "expired interaction requests", `
		SELECT *
		FROM interaction_requests INDEXED BY interaction_requests_pending
		WHERE accepted_at IS NULL AND id < ?
		ORDER BY id
		LIMIT ?`, before.UnixMilli()<<sequenceBits, limit)
}

// InteractionsBetween returns the requests and authorizations of an account for statuses of author.
func (r reader) InteractionsBetween(ctx context.Context, account, author AccountID, limit int) ([]*InteractionRequest, error) {
	return list[*InteractionRequest](ctx, r, "interaction requests", `
		SELECT *
		FROM interaction_requests
		WHERE account_id = ? AND author_id = ?
		LIMIT ?`, account, author, limit)
}

// AddInteractionRequest inserts a request with a new id.
func (tx *Tx) AddInteractionRequest(ctx context.Context, q *InteractionRequest) error {
	q.ID = InteractionRequestID(tx.newID())
	return tx.exec(ctx, "add interaction request", insertInteractionRequest.text, insertInteractionRequest.args(q)...)
}

// SaveInteractionRequest stores the request's URI, and when it was accepted.
func (tx *Tx) SaveInteractionRequest(ctx context.Context, q *InteractionRequest) error {
	return tx.exec(ctx, "save interaction request", `
		UPDATE interaction_requests
		SET request_uri = ?, accepted_at = ?
		WHERE id = ?`, q.RequestURI, q.AcceptedAt, q.ID)
}

// RemoveInteractionRequest deletes a request.
func (tx *Tx) RemoveInteractionRequest(ctx context.Context, id InteractionRequestID) error {
	return tx.exec(ctx, "remove interaction request", `DELETE FROM interaction_requests WHERE id = ?`, id)
}

// ApprovedBy returns the favourites, and the local replies and boosts, that a remote authorization approves, up to limit of each.
func (r reader) ApprovedBy(ctx context.Context, authorization string, limit int) (favourites []*Favourite, statuses []StatusID, err error) {
	favourites, err = list[*Favourite](ctx, r, "approved favourites", `SELECT * FROM favourites WHERE approval = ? AND approval <> '' LIMIT ?`, authorization, limit)
	if err != nil {
		return nil, nil, err
	}
	statuses, err = ids[StatusID](ctx, r, "approved statuses", `
		SELECT status_id
		FROM remote_statuses
		WHERE approval = ? AND approval <> ''
		LIMIT ?`, authorization, limit)
	return favourites, statuses, err
}
