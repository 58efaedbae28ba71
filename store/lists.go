package store

import "context"

// List is a named selection of accounts, somebody's own.
type List struct {
	ID            ListID
	AccountID     AccountID
	Title         string
	RepliesPolicy string // followed, list, none
	Exclusive     bool   // members are left out of home
}

// OwnList returns a list of the owner's, and errs.ErrRecordNotFound if there is none.
func (r reader) OwnList(ctx context.Context, owner AccountID, id ListID) (*List, error) {
	l, err := one[List](ctx, r, "list", `SELECT * FROM lists WHERE id = ? AND account_id = ?`, id, owner)
	if l == nil && err == nil {
		err = notFound
	}
	return l, err
}

// ListMemberIDs returns all members of a list.
func (r reader) ListMemberIDs(ctx context.Context, id ListID) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "list members", `SELECT account_id FROM list_members WHERE list_id = ?`, id)
}
