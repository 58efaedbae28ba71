package store

import (
	"context"
	"strings"

	"svc/internal/enum"
)

// List is a named list of accounts.
type List struct {
	ID            ListID
	AccountID     AccountID
	Title         string
	RepliesPolicy RepliesPolicy
	Exclusive     bool // posts of members are not in the owner's home
}

// RepliesPolicy says which replies a list has. Replies of members to themselves and to the owner are always included.
type RepliesPolicy string

const (
	RepliesToFollowed RepliesPolicy = "followed" // to accounts that the owner follows
	RepliesToMembers  RepliesPolicy = "list"
	NoReplies         RepliesPolicy = "none"
)

// UnmarshalText reads a policy.
func (p *RepliesPolicy) UnmarshalText(b []byte) error {
	return enum.Read(p, b, RepliesToFollowed, RepliesToMembers, NoReplies)
}

// OwnList returns a list of the owner, and errs.ErrRecordNotFound if there is none.
func (r reader) OwnList(ctx context.Context, owner AccountID, id ListID) (*List, error) {
	return get[List](ctx, r, "list", `SELECT * FROM lists WHERE id = ? AND account_id = ?`, id, owner)
}

// Lists returns an account's lists, oldest first.
func (r reader) Lists(ctx context.Context, owner AccountID) ([]*List, error) {
	return list[*List](ctx, r, "lists", `SELECT * FROM lists INDEXED BY lists_account WHERE account_id = ? ORDER BY id`, owner)
}

// ListsWith returns the owner's lists that have a member, oldest first.
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

var listMembers = newAccountList(`m.account_id`, `list_members m`, `m.list_id = ?1`)

// ListMembers returns the members of a list, paged by account id.
func (r reader) ListMembers(ctx context.Context, id ListID, p Page) (Part[AccountID], error) {
	return readAccounts(ctx, r, listMembers, id, p)
}

// AddList inserts a list. Its ID is set.
func (tx *Tx) AddList(ctx context.Context, l *List) error {
	l.ID = ListID(tx.newID())
	return tx.exec(ctx, "add list", insertList.text, insertList.args(l)...)
}

// SaveList writes the title and policies of a list.
func (tx *Tx) SaveList(ctx context.Context, l *List) error {
	return tx.exec(ctx, "save list", updateList.text, updateList.args(l)...)
}

// RemoveList deletes a list with its timeline.
func (tx *Tx) RemoveList(ctx context.Context, id ListID) error {
	return tx.exec(ctx, "remove list", `DELETE FROM lists WHERE id = ?`, id)
}

// AddListMember adds a member to a list, and returns false if it was one.
func (tx *Tx) AddListMember(ctx context.Context, id ListID, member AccountID) (added bool, err error) {
	n, err := tx.execRows(ctx, "add list member", `INSERT OR IGNORE INTO list_members (list_id, account_id) VALUES (?, ?)`, id, member)
	return n > 0, err
}

// RemoveListMember removes a member from a list, and returns false if it was none.
func (tx *Tx) RemoveListMember(ctx context.Context, id ListID, member AccountID) (removed bool, err error) {
	n, err := tx.execRows(ctx, "remove list member", `DELETE FROM list_members WHERE list_id = ? AND account_id = ?`, id, member)
	return n > 0, err
}

// inList is the condition that the list l has a post of author in reply to replyTo, NULL if it is no reply.
func inList(author, replyTo string) string {
	return strings.NewReplacer("AUTHOR", author, "REPLY_TO", replyTo).Replace(`(REPLY_TO IS NULL OR REPLY_TO = AUTHOR OR REPLY_TO = l.account_id
				OR l.replies_policy = 'list' AND EXISTS (SELECT 1 FROM list_members x WHERE x.list_id = l.id AND x.account_id = REPLY_TO)
				OR l.replies_policy = 'followed' AND EXISTS (
					SELECT 1 FROM follows x WHERE x.follower_id = l.account_id AND x.target_id = REPLY_TO AND x.pending = 0))`)
}

// BackfillList adds up to limit of a member's newest posts and boosts to a list.
func (tx *Tx) BackfillList(ctx context.Context, id ListID, member AccountID, limit int) error {
	return tx.exec(ctx, "backfill list", `
		INSERT OR IGNORE INTO list_timeline (list_id, status_id)
		SELECT l.id, s.id
		FROM lists l
		CROSS JOIN (
			SELECT id, account_id, in_reply_to_account_id
			FROM statuses INDEXED BY statuses_account
			WHERE account_id = ?2
			ORDER BY id DESC
			LIMIT ?3) s
		WHERE l.id = ?1 AND `+inList("s.account_id", "s.in_reply_to_account_id"), id, member, limit)
}

// PruneList removes posts from a list that its members and policy no longer include.
func (tx *Tx) PruneList(ctx context.Context, id ListID) error {
	return tx.exec(ctx, "prune list", `
		DELETE FROM list_timeline
		WHERE list_id = ?1 AND NOT EXISTS (
			SELECT 1
			FROM lists l
			CROSS JOIN statuses s ON s.id = list_timeline.status_id
			CROSS JOIN list_members m ON m.list_id = l.id AND m.account_id = s.account_id
			WHERE l.id = ?1 AND `+inList("s.account_id", "s.in_reply_to_account_id")+`)`, id)
}
