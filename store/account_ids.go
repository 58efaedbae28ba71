package store

import "context"

// AccountIDByURI returns the id of the account with an ActivityPub id, 0 if there is none. It reads one column instead of a wide row, for
// callers to whom the account is unknown most of the time.
func (r reader) AccountIDByURI(ctx context.Context, uri string) (AccountID, error) {
	found, err := ids[AccountID](ctx, r, "account id by URI", `SELECT id FROM accounts WHERE uri = ?`, uri)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}
