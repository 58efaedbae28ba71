package store

import "context"

// rebloggedBy reads the boosts of a status that the viewer may see. It names the boost's columns with the alias s, as visible
// has them.
var rebloggedBy = newEntries(`s.account_id`, `statuses s INDEXED BY statuses_reblogged_by`, `s.id`,
	`s.reblog_of_id = ?6 AND `+visible("s")+` AND `+notBlocked("s.account_id"))

// RebloggedBy returns who boosted a status, as far as the viewer may see the boost and come across the account.
func (r reader) RebloggedBy(ctx context.Context, viewer AccountID, id StatusID, p Page) ([]AccountEntry, error) {
	return readEntries[AccountEntry](ctx, r, rebloggedBy, viewer, p, id)
}

// Reblog returns an account's boost of a status, nil if there is none.
func (r reader) Reblog(ctx context.Context, account AccountID, of StatusID) (*Status, error) {
	return one[Status](ctx, r, "boost", `SELECT * FROM statuses WHERE reblog_of_id = ? AND account_id = ?`, of, account)
}
