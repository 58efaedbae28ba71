package store

import "context"

// Favourite is an account's favourite.
type Favourite struct {
	ID        FavouriteID
	AccountID AccountID
	StatusID  StatusID
	URI       *string // of the Like activity, where there is one
	Pending   bool    // it waits for the approval of the author
	Approval  string  // id of the authorization by the remote author; "": none
}

var (
	favouriteStatuses = newEntries(`f.status_id`,
		`favourites f INDEXED BY favourites_account CROSS JOIN statuses s ON s.id = f.status_id`, `f.id`,
		`f.account_id = ?1`, visible("s"))
	accountFavourites = newEntries(`f.status_id`,
		`favourites f INDEXED BY favourites_account CROSS JOIN statuses s ON s.id = f.status_id`, `f.id`,
		`f.account_id = ?6 AND f.pending = 0`, visible("s")+`
			AND `+notBlocked("s.account_id")+`
			AND (`+unset("?2", lookupDomainBlocks)+` OR `+notFromBlockedDomain("s")+`)`)
	favouritedBy = newEntries(`f.account_id`,
		`favourites f INDEXED BY favourites_status CROSS JOIN accounts a ON a.id = f.account_id`, `f.id`,
		`f.status_id = ?6 AND f.pending = 0`, accountVisible("a"))
)

// FavouriteStatuses returns the viewer's favourites that are visible to the viewer, latest first.
func (r reader) FavouriteStatuses(ctx context.Context, viewer AccountID, p Page) (Part[StatusEntry], error) {
	return readEntries(ctx, r, favouriteStatuses, viewer, p, newStatusEntry)
}

// AccountFavourites returns an account's favourites that are visible to the viewer and not blocked, latest first.
func (r reader) AccountFavourites(ctx context.Context, viewer, id AccountID, p Page) (Part[StatusEntry], error) {
	return readEntries(ctx, r, accountFavourites, viewer, p, newStatusEntry, id)
}

// FavouritedBy returns the accounts that favourited a status and are visible to the viewer.
func (r reader) FavouritedBy(ctx context.Context, viewer AccountID, id StatusID, p Page) (Part[AccountEntry], error) {
	return readEntries(ctx, r, favouritedBy, viewer, p, newAccountEntry, id)
}

// AddFavourite adds a favourite, with the id of the Like activity if there is one. It returns 0 if there was one already.
func (tx *Tx) AddFavourite(ctx context.Context, account AccountID, status StatusID, uri *string) (FavouriteID, error) {
	id := FavouriteID(tx.newID())
	n, err := tx.execRows(ctx, "add favourite", `
		INSERT OR IGNORE INTO favourites (id, account_id, status_id, uri)
		VALUES (?, ?, ?, ?)`, id, account, status, uri)
	if err != nil || n == 0 {
		return 0, err
	}
	tx.invalidateFlags(account)
	return id, tx.addToCounter(ctx, "favourites_count", &status, 1)
}

// RemoveFavourite removes a favourite. It returns 0 if there was none.
func (tx *Tx) RemoveFavourite(ctx context.Context, account AccountID, status StatusID) (FavouriteID, error) {
	removed, err := one[Favourite](ctx, tx.reader, "remove favourite", `
		DELETE FROM favourites
		WHERE account_id = ? AND status_id = ?
		RETURNING *`, account, status)
	if err != nil || removed == nil {
		return 0, err
	}
	tx.invalidateFlags(account)
	if removed.Pending {
		return removed.ID, nil
	}
	return removed.ID, tx.addToCounter(ctx, "favourites_count", &status, -1)
}

// SetFavouritePending stores whether a favourite waits for the approval of the author of the status. A pending one is not counted.
func (tx *Tx) SetFavouritePending(ctx context.Context, f *Favourite, pending bool) error {
	if f.Pending == pending {
		return nil
	}
	f.Pending = pending
	if err := tx.exec(ctx, "set favourite pending", `UPDATE favourites SET pending = ? WHERE id = ?`, pending, f.ID); err != nil {
		return err
	}
	tx.invalidateFlags(f.AccountID)
	n := 1
	if pending {
		n = -1
	}
	return tx.addToCounter(ctx, "favourites_count", &f.StatusID, n)
}

// SetFavouriteApproval stores the id of the authorization of a favourite by the remote author.
func (tx *Tx) SetFavouriteApproval(ctx context.Context, id FavouriteID, authorization string) error {
	return tx.exec(ctx, "set favourite approval", `UPDATE favourites SET approval = ? WHERE id = ?`, authorization, id)
}

// FavouriteByURI returns the favourite of a Like activity, nil if there is none.
func (r reader) FavouriteByURI(ctx context.Context, uri string) (*Favourite, error) {
	return one[Favourite](ctx, r, "favourite by uri", `SELECT * FROM favourites WHERE uri = ?`, uri)
}

// FavouriteOf returns an account's favourite of a status, nil if there is none.
func (r reader) FavouriteOf(ctx context.Context, account AccountID, status StatusID) (*Favourite, error) {
	return one[Favourite](ctx, r, "favourite", `SELECT * FROM favourites WHERE account_id = ? AND status_id = ?`, account, status)
}

// Favourite returns the favourite with an id, nil if there is none.
func (r reader) Favourite(ctx context.Context, id FavouriteID) (*Favourite, error) {
	return one[Favourite](ctx, r, "favourite", `SELECT * FROM favourites WHERE id = ?`, id)
}

// BoostsOf returns the oldest boosts of a status.
func (r reader) BoostsOf(ctx context.Context, id StatusID, limit int) ([]*Status, error) {
	return list[*Status](ctx, r, "boosts", `
		SELECT *
		FROM statuses INDEXED BY statuses_reblogged_by
		WHERE reblog_of_id = ?
		ORDER BY id
		LIMIT ?`, id, limit)
}

// DeleteFavourites deletes a batch of favourites of a status that will be deleted. The counter is not updated.
func (tx *Tx) DeleteFavourites(ctx context.Context, id StatusID, limit int) (n int64, err error) {
	return tx.execRows(ctx, "delete favourites", `
		DELETE FROM favourites
		WHERE id IN (
			SELECT id
			FROM favourites
			WHERE status_id = ?
			ORDER BY id
			LIMIT ?)`, id, limit)
}

// FavouritesBy returns the oldest favourites of an account.
func (r reader) FavouritesBy(ctx context.Context, id AccountID, limit int) ([]StatusID, error) {
	return list[StatusID](ctx, r, "favourites", `
		SELECT status_id
		FROM favourites
		WHERE account_id = ?
		ORDER BY id
		LIMIT ?`, id, limit)
}

// LocalRebloggers returns the local accounts that boosted a status.
func (r reader) LocalRebloggers(ctx context.Context, id StatusID) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "local boosters", `
		SELECT account_id
		FROM statuses INDEXED BY statuses_reblogged_by
		WHERE reblog_of_id = ? AND domain = ''`, id)
}

// rebloggedBy reads the boosts of a status that are visible to the viewer, with the alias s for the boost.
var rebloggedBy = newEntries(`s.account_id`, `statuses s INDEXED BY statuses_reblogged_by`, `s.id`,
	`s.reblog_of_id = ?6`, visible("s")+` AND `+notBlocked("s.account_id"))

// RebloggedBy returns the accounts that boosted a status, as far as the boosts are visible to the viewer and the accounts not blocked.
func (r reader) RebloggedBy(ctx context.Context, viewer AccountID, id StatusID, p Page) (Part[AccountEntry], error) {
	return readEntries(ctx, r, rebloggedBy, viewer, p, newAccountEntry, id)
}

// Reblog returns an account's boost of a status, nil if there is none.
func (r reader) Reblog(ctx context.Context, account AccountID, of StatusID) (*Status, error) {
	return one[Status](ctx, r, "boost", `SELECT * FROM statuses WHERE reblog_of_id = ? AND account_id = ?`, of, account)
}
