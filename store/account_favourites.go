package store

import "context"

// Favourite is a status that an account likes.
type Favourite struct {
	ID       FavouriteID
	StatusID StatusID
}

var accountFavourites = newKeyset(`
		SELECT f.id, f.status_id
		FROM favourites f INDEXED BY favourites_account
		CROSS JOIN statuses s ON s.id = f.status_id
		LEFT JOIN statuses o ON o.id = s.reblog_of_id
		WHERE f.account_id = ?4 AND f.id < ?5 AND f.id > ?6
			AND ` + visibleWhole + `
			AND ` + wanted + `
		ORDER BY f.id DESC
		LIMIT ?7`)

// AccountFavourites returns those of an account's favourites that the viewer may see and does not block, the latest first, paged by
// the favourite's id.
func (r reader) AccountFavourites(ctx context.Context, viewer, id AccountID, p Page) ([]Favourite, error) {
	h, err := r.hints(ctx, viewer)
	if err != nil {
		return nil, err
	}
	query, below, above, ascending := accountFavourites.query(p)
	const withMuted = true
	rows, err := list[Favourite](ctx, r, "favourites of an account", query, viewer, h, withMuted, id, below, above, p.Limit)
	return newestFirst(rows, ascending), err
}
