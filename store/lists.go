package store

import "context"

// List is a named selection of accounts, somebody's own.
type List struct {
	ID            ListID
	AccountID     AccountID
	Title         string
	RepliesPolicy RepliesPolicy
	Exclusive     bool // members are left out of home
}

// RepliesPolicy says which replies to others a list shows. Members' replies to themselves and to the owner are always there.
type RepliesPolicy string

const (
	RepliesToFollowed RepliesPolicy = "followed" // to those whom the owner follows
	RepliesToMembers  RepliesPolicy = "list"
	NoReplies         RepliesPolicy = "none"
)

// OwnList returns a list of the owner's, and errs.ErrRecordNotFound if there is none.
func (r reader) OwnList(ctx context.Context, owner AccountID, id ListID) (*List, error) {
	l, err := one[List](ctx, r, "list", `SELECT * FROM lists WHERE id = ? AND account_id = ?`, id, owner)
	if l == nil && err == nil {
		err = notFound
	}
	return l, err
}

// Lists returns an account's lists, oldest first.
func (r reader) Lists(ctx context.Context, owner AccountID) ([]*List, error) {
	return list[*List](ctx, r, "lists", `SELECT * FROM lists INDEXED BY lists_account WHERE account_id = ? ORDER BY id`, owner)
}

// ListsWith returns those of the owner's lists that have a member, oldest first.
func (r reader) ListsWith(ctx context.Context, owner, member AccountID) ([]*List, error) {
	return list[*List](ctx, r, "lists with an account", `
		SELECT l.*
		FROM lists l INDEXED BY lists_account
		CROSS JOIN list_members m ON m.list_id = l.id AND m.account_id = ?2
		WHERE l.account_id = ?1
		ORDER BY l.id`, owner, member)
}

// ListMemberIDs returns all members of a list.
func (r reader) ListMemberIDs(ctx context.Context, id ListID) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "list members", `SELECT account_id FROM list_members WHERE list_id = ?`, id)
}

var listMembers = newKeyset(`
		SELECT m.account_id
		FROM list_members m
		WHERE m.list_id = ?1 AND m.account_id < ?2 AND m.account_id > ?3 AND ` + accountAvailable("m.account_id") + `
		ORDER BY m.account_id DESC
		LIMIT ?4`)

// ListMembers returns the members of a list, paged by account id.
func (r reader) ListMembers(ctx context.Context, id ListID, p Page) ([]AccountID, error) {
	return idPage[AccountID](ctx, r, "list members", listMembers, id, p)
}

// AddList inserts a list. Its ID is set.
func (tx *Tx) AddList(ctx context.Context, l *List) error {
	l.ID = ListID(tx.newID())
	_, err := tx.exec(ctx, "add list", `
		INSERT INTO lists (id, account_id, title, replies_policy, exclusive)
		VALUES (?, ?, ?, ?, ?)`, l.ID, l.AccountID, l.Title, l.RepliesPolicy, l.Exclusive)
	return err
}

// SaveList writes title and policies of a list.
func (tx *Tx) SaveList(ctx context.Context, l *List) error {
	_, err := tx.exec(ctx, "save list", `
		UPDATE lists
		SET title = ?, replies_policy = ?, exclusive = ?
		WHERE id = ?`, l.Title, l.RepliesPolicy, l.Exclusive, l.ID)
	return err
}

// RemoveList deletes a list with its timeline.
func (tx *Tx) RemoveList(ctx context.Context, id ListID) error {
	_, err := tx.exec(ctx, "remove list", `DELETE FROM lists WHERE id = ?`, id)
	return err
}

// AddListMember makes an account a member of a list, and tells whether it was none.
func (tx *Tx) AddListMember(ctx context.Context, id ListID, member AccountID) (added bool, err error) {
	n, err := tx.exec(ctx, "add list member", `INSERT OR IGNORE INTO list_members (list_id, account_id) VALUES (?, ?)`, id, member)
	return n > 0, err
}

// RemoveListMember ends a membership, and tells whether there was one.
func (tx *Tx) RemoveListMember(ctx context.Context, id ListID, member AccountID) (removed bool, err error) {
	n, err := tx.exec(ctx, "remove list member", `DELETE FROM list_members WHERE list_id = ? AND account_id = ?`, id, member)
	return n > 0, err
}
