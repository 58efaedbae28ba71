package store

import "context"

// Scrobble is a track that an account listened to. Its id says when it was received.
type Scrobble struct {
	ID           ScrobbleID
	AccountID    AccountID
	Visibility   Visibility // a direct one is visible to its account only
	Title        string
	Artist       string
	Album        string
	Length       int // milliseconds; 0: unknown
	ExternalLink string
	CreatedAt    Time    // according to the account
	URI          *string // of the Listen activity of a remote account
}

// MaxScrobbles is how many scrobbles of an account are kept.
const MaxScrobbles = 5000

var accountScrobbles = newKeyset(`
		SELECT p.*
		FROM scrobbles p INDEXED BY scrobbles_account
		WHERE p.account_id = ?1 AND p.id < ?2 AND p.id > ?3
			AND (p.account_id = ?5
				OR (` + unset("?6", lookupBlockedBy) + ` OR NOT ` + blocks("p.account_id", "?5") + `)
				AND CASE p.visibility
					WHEN 0 THEN 1
					WHEN 1 THEN 1
					WHEN 2 THEN EXISTS (SELECT 1 FROM users x WHERE x.account_id = ?5)
					WHEN 3 THEN EXISTS (SELECT 1 FROM follows x WHERE x.follower_id = ?5 AND x.target_id = p.account_id AND x.pending = 0)
					ELSE 0
				END)
		ORDER BY p.id DESC
		LIMIT ?4`)

// Scrobbles returns the scrobbles of an account that are visible to the viewer, newest first.
func (r reader) Scrobbles(ctx context.Context, viewer, of AccountID, p Page) ([]*Scrobble, error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	query, below, above, ascending := accountScrobbles.query(p)
	rows, err := list[*Scrobble](ctx, r, "scrobbles", query, of, below, above, p.Limit, viewer, l)
	return newestFirst(rows, ascending), err
}

// Scrobble returns a scrobble without a check of visibility, and errs.ErrRecordNotFound if there is none.
func (r reader) Scrobble(ctx context.Context, id ScrobbleID) (*Scrobble, error) {
	return get[Scrobble](ctx, r, "scrobble", `SELECT * FROM scrobbles WHERE id = ?`, id)
}

// AddScrobble inserts a scrobble with a new id, and deletes the oldest ones over the limit. If its activity is known, it is not inserted
// and its ID is 0.
func (tx *Tx) AddScrobble(ctx context.Context, s *Scrobble) error {
	s.ID = ScrobbleID(tx.newID())
	if s.CreatedAt == 0 {
		s.CreatedAt = At(tx.db.now())
	}
	n, err := tx.execRows(ctx, "add scrobble", insertScrobble.text, insertScrobble.args(s)...)
	if err != nil {
		return err
	}
	if n == 0 {
		s.ID = 0
		return nil
	}
	return tx.exec(ctx, "drop old scrobbles", `
		DELETE FROM scrobbles
		WHERE account_id = ?1 AND id <= (
			SELECT id
			FROM scrobbles INDEXED BY scrobbles_account
			WHERE account_id = ?1
			ORDER BY id DESC
			LIMIT 1 OFFSET ?2)`, s.AccountID, MaxScrobbles)
}
