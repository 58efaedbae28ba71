package store

import "context"

// SearchTags returns hashtags that begin like name, in alphabetical order. name itself is the first, whether or not it was ever
// used.
func (r reader) SearchTags(ctx context.Context, name string, limit int) ([]string, error) {
	names, err := list[string](ctx, r, "search tags", `
		SELECT name
		FROM tags
		WHERE name > ?1 AND name < ?1 || char(1114111)
		ORDER BY name
		LIMIT ?2`, name, limit-1)
	return append([]string{name}, names...), err
}

// StatusByURI returns the status of an ActivityPub id, nil if there is none.
func (r reader) StatusByURI(ctx context.Context, uri string) (*Status, error) {
	return one[Status](ctx, r, "status by URI", `SELECT * FROM statuses WHERE uri = ?`, uri)
}
