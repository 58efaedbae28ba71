package store

import "context"

// AccountIDByURI returns the id of the account with an ActivityPub id, 0 if there is none. It reads one column instead of a wide row, for
// callers that mostly ask for unknown accounts.
func (r reader) AccountIDByURI(ctx context.Context, uri string) (AccountID, error) {
	found, err := ids[AccountID](ctx, r, "account id by URI", `SELECT id FROM accounts WHERE uri = ?`, uri)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}

// KnownAccountURIs returns those of the ActivityPub ids that accounts have.
func (r reader) KnownAccountURIs(ctx context.Context, uris []string) (map[string]bool, error) {
	found, err := ids[int64](ctx, r, "known account URIs", `
		SELECT j.key
		FROM json_each(?) j
		CROSS JOIN accounts a ON a.uri = j.value`, JSON[[]string]{uris})
	known := make(map[string]bool, len(found))
	for _, i := range found {
		known[uris[i]] = true
	}
	return known, err
}

// FollowersURI returns the URI of the followers of a remote account, "" if it is unknown.
func (r reader) FollowersURI(ctx context.Context, id AccountID) (string, error) {
	uri, err := one[string](ctx, r, "followers URI", `SELECT followers FROM actors WHERE account_id = ?`, id)
	if uri == nil {
		return "", err
	}
	return *uri, nil
}

// AccountURIs returns the ActivityPub ids of accounts, in the order of the ids.
func (r reader) AccountURIs(ctx context.Context, of []AccountID) ([]string, error) {
	return list[string](ctx, r, "account URIs", `
		SELECT a.uri
		FROM json_each(?) j
		CROSS JOIN accounts a ON a.id = j.value
		ORDER BY j.key`, jsonArray(of))
}

// StatusURIs returns the ActivityPub ids of statuses, in the order of the ids.
func (r reader) StatusURIs(ctx context.Context, of []StatusID) ([]string, error) {
	return list[string](ctx, r, "status URIs", `
		SELECT s.uri
		FROM json_each(?) j
		CROSS JOIN statuses s ON s.id = j.value
		ORDER BY j.key`, jsonArray(of))
}
