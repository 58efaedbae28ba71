package store

import "context"

// Favourite is that somebody likes a status.
type Favourite struct {
	ID        FavouriteID
	AccountID AccountID
	StatusID  StatusID
	URI       *string // of the Like activity, where there is one
}

// StatusEntry is an entry in a list of statuses that has an order of its own: that of Cursor.
type StatusEntry struct {
	Cursor   int64
	StatusID StatusID
}

// AccountEntry is an entry in a list of accounts, in the order of Cursor.
type AccountEntry struct {
	Cursor    int64
	AccountID AccountID
}

// entries is the text of the two queries of a list of entries. In it, ?1 is the viewer and ?2 the viewer's hints, and the cursor
// is between ?3 and ?4.
type entries struct{ descending, ascending string }

func newEntries(columns, from, cursor, where string) entries {
	text := func(order string) string {
		return `
		SELECT ` + cursor + ` AS cursor, ` + columns + `
		FROM ` + from + `
		WHERE ` + cursor + ` < ?3 AND ` + cursor + ` > ?4
			AND ` + where + `
		ORDER BY ` + cursor + ` ` + order + `
		LIMIT ?5`
	}
	return entries{text("DESC"), text("ASC")}
}

// readEntries reads a page, newest first.
func readEntries[E any](ctx context.Context, r reader, e entries, viewer AccountID, p Page, more ...any) ([]E, error) {
	h, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	below, above, ascending := p.bounds()
	query := e.descending
	if ascending {
		query = e.ascending
	}
	rows, err := list[E](ctx, r, "entries", query, append([]any{viewer, h, below, above, p.Limit}, more...)...)
	return newestFirst(rows, ascending), err
}

var (
	favouriteStatuses = newEntries(`f.status_id`,
		`favourites f INDEXED BY favourites_account CROSS JOIN statuses s ON s.id = f.status_id`, `f.id`,
		`f.account_id = ?1 AND `+visible("s"))
	accountFavourites = newEntries(`f.status_id`,
		`favourites f INDEXED BY favourites_account CROSS JOIN statuses s ON s.id = f.status_id`, `f.id`,
		`f.account_id = ?6 AND `+visible("s")+`
			AND `+notBlocked("s.account_id")+`
			AND (`+unset("?2", lookupDomainBlocks)+` OR `+notFromBlockedDomain("s")+`)`)
	favouritedBy = newEntries(`f.account_id`,
		`favourites f INDEXED BY favourites_status CROSS JOIN accounts a ON a.id = f.account_id`, `f.id`,
		`f.status_id = ?6 AND `+accountVisible("a"))
)

// accountVisible is the condition that the viewer may come across the account in table alias a: it is not withheld, and neither blocks the
// other.
func accountVisible(a string) string {
	return `(` + a + `.id = ?1 OR ` + a + `.unavailable = 0
		AND ` + notBlocked(a+".id") + ` AND ` + notBlockedBy(a+".id") + `)`
}

// FavouriteStatuses returns the viewer's favourites that the viewer may still see, in the order in which they became so.
func (r reader) FavouriteStatuses(ctx context.Context, viewer AccountID, p Page) ([]StatusEntry, error) {
	return readEntries[StatusEntry](ctx, r, favouriteStatuses, viewer, p)
}

// AccountFavourites returns an account's favourites that the viewer may see and wants to, in the order in which they became so.
func (r reader) AccountFavourites(ctx context.Context, viewer, id AccountID, p Page) ([]StatusEntry, error) {
	return readEntries[StatusEntry](ctx, r, accountFavourites, viewer, p, id)
}

// FavouritedBy returns whose favourite a status is, as far as the viewer may come across them.
func (r reader) FavouritedBy(ctx context.Context, viewer AccountID, id StatusID, p Page) ([]AccountEntry, error) {
	return readEntries[AccountEntry](ctx, r, favouritedBy, viewer, p, id)
}

// AddFavourite makes a status a favourite of an account, by a Like activity with this id if there is one. It returns 0 if it was one
// before.
func (tx *Tx) AddFavourite(ctx context.Context, account AccountID, status StatusID, uri *string) (FavouriteID, error) {
	id := FavouriteID(tx.newID())
	n, err := tx.exec(ctx, "add favourite", `
		INSERT OR IGNORE INTO favourites (id, account_id, status_id, uri)
		VALUES (?, ?, ?, ?)`, id, account, status, uri)
	if err != nil || n == 0 {
		return 0, err
	}
	tx.invalidateFlags(account)
	return id, tx.countFavourite(ctx, status, 1)
}

// RemoveFavourite takes a favourite back. It returns 0 if it was none.
func (tx *Tx) RemoveFavourite(ctx context.Context, account AccountID, status StatusID) (FavouriteID, error) {
	found, err := ids[FavouriteID](ctx, tx.reader, "remove favourite", `
		DELETE FROM favourites
		WHERE account_id = ? AND status_id = ?
		RETURNING id`, account, status)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	tx.invalidateFlags(account)
	return found[0], tx.countFavourite(ctx, status, -1)
}

// FavouriteByURI returns whose favourite what is, by the id of the Like activity; nil if there is none.
func (r reader) FavouriteByURI(ctx context.Context, uri string) (*Favourite, error) {
	return one[Favourite](ctx, r, "favourite by uri", `SELECT * FROM favourites WHERE uri = ?`, uri)
}

// FavouriteOf returns that a status is a favourite of an account, nil if it is none.
func (r reader) FavouriteOf(ctx context.Context, account AccountID, status StatusID) (*Favourite, error) {
	return one[Favourite](ctx, r, "favourite", `SELECT * FROM favourites WHERE account_id = ? AND status_id = ?`, account, status)
}

// Favourite returns whose favourite what is, by its id; nil if there is none.
func (r reader) Favourite(ctx context.Context, id FavouriteID) (*Favourite, error) {
	return one[Favourite](ctx, r, "favourite", `SELECT * FROM favourites WHERE id = ?`, id)
}

func (tx *Tx) countFavourite(ctx context.Context, status StatusID, n int) error {
	_, err := tx.exec(ctx, "count favourite", `UPDATE statuses SET favourites_count = favourites_count + ? WHERE id = ?`, n, status)
	tx.invalidateStatus(status)
	return err
}
