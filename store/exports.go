package store

import "context"

// Reads for exports and backups: all rows of an account in the order of a key, a batch at a time.

// ExportedAccount is an account in an export, with the options of the relationship that the export has.
type ExportedAccount struct {
	ID                AccountID
	Nickname          string
	Domain            string
	ShowReblogs       bool
	Notify            bool
	Languages         JSON[[]string]
	HideNotifications bool
}

// ExportFollows returns the accounts that an account follows, after an id.
func (r reader) ExportFollows(ctx context.Context, account, after AccountID, limit int) ([]ExportedAccount, error) {
	return list[ExportedAccount](ctx, r, "export follows", `
		SELECT a.id, a.nickname, a.domain, f.show_reblogs, f.languages,
			EXISTS (SELECT 1 FROM subscriptions s WHERE s.account_id = f.follower_id AND s.target_id = f.target_id) AS notify
		FROM follows f INDEXED BY follows_following CROSS JOIN accounts a ON a.id = f.target_id
		WHERE f.follower_id = ? AND f.pending = 0 AND f.target_id > ? AND a.deleted_at IS NULL
		ORDER BY f.target_id
		LIMIT ?`, account, after, limit)
}

// ExportBlocks returns the accounts that an account blocks, after an id.
func (r reader) ExportBlocks(ctx context.Context, account, after AccountID, limit int) ([]ExportedAccount, error) {
	return list[ExportedAccount](ctx, r, "export blocks", `
		SELECT a.id, a.nickname, a.domain
		FROM blocks b CROSS JOIN accounts a ON a.id = b.target_id
		WHERE b.account_id = ? AND b.target_id > ? AND a.deleted_at IS NULL
		ORDER BY b.target_id
		LIMIT ?`, account, after, limit)
}

// ExportMutes returns the accounts that an account mutes, after an id.
func (r reader) ExportMutes(ctx context.Context, account, after AccountID, limit int) ([]ExportedAccount, error) {
	return list[ExportedAccount](ctx, r, "export mutes", `
		SELECT a.id, a.nickname, a.domain, m.hide_notifications
		FROM mutes m CROSS JOIN accounts a ON a.id = m.target_id
		WHERE m.account_id = ? AND m.target_id > ? AND a.deleted_at IS NULL
		ORDER BY m.target_id
		LIMIT ?`, account, after, limit)
}

// ExportListMembers returns the members of a list, after an id.
func (r reader) ExportListMembers(ctx context.Context, id ListID, after AccountID, limit int) ([]ExportedAccount, error) {
	return list[ExportedAccount](ctx, r, "export list members", `
		SELECT a.id, a.nickname, a.domain
		FROM list_members m CROSS JOIN accounts a ON a.id = m.account_id
		WHERE m.list_id = ? AND m.account_id > ? AND a.deleted_at IS NULL
		ORDER BY m.account_id
		LIMIT ?`, id, after, limit)
}

// ExportedURI is the URI of an object or account in an export. Cursor orders the export.
type ExportedURI struct {
	Cursor int64
	URI    string
}

// ExportBookmarks returns the bookmarked statuses of an account, oldest bookmark first, after a cursor.
func (r reader) ExportBookmarks(ctx context.Context, account AccountID, after int64, limit int) ([]ExportedURI, error) {
	return list[ExportedURI](ctx, r, "export bookmarks", `
		SELECT b.id AS cursor, s.uri
		FROM bookmarks b INDEXED BY bookmarks_account CROSS JOIN statuses s ON s.id = b.status_id
		WHERE b.account_id = ? AND b.id > ?
		ORDER BY b.id
		LIMIT ?`, account, after, limit)
}

// ExportFavourites returns the favourited statuses of an account, oldest favourite first, after a cursor.
func (r reader) ExportFavourites(ctx context.Context, account AccountID, after int64, limit int) ([]ExportedURI, error) {
	return list[ExportedURI](ctx, r, "export favourites", `
		SELECT f.id AS cursor, s.uri
		FROM favourites f INDEXED BY favourites_account CROSS JOIN statuses s ON s.id = f.status_id
		WHERE f.account_id = ? AND f.id > ?
		ORDER BY f.id
		LIMIT ?`, account, after, limit)
}

// ExportFollowers returns the URIs of the followers of an account, after a cursor.
func (r reader) ExportFollowers(ctx context.Context, account AccountID, after int64, limit int) ([]ExportedURI, error) {
	return list[ExportedURI](ctx, r, "export followers", `
		SELECT a.id AS cursor, a.uri
		FROM follows f INDEXED BY follows_followers CROSS JOIN accounts a ON a.id = f.follower_id
		WHERE f.target_id = ? AND f.pending = 0 AND f.follower_id > ? AND a.deleted_at IS NULL
		ORDER BY f.follower_id
		LIMIT ?`, account, after, limit)
}

// ExportFollowing returns the URIs of the accounts that an account follows, after a cursor.
func (r reader) ExportFollowing(ctx context.Context, account AccountID, after int64, limit int) ([]ExportedURI, error) {
	return list[ExportedURI](ctx, r, "export following", `
		SELECT a.id AS cursor, a.uri
		FROM follows f INDEXED BY follows_following CROSS JOIN accounts a ON a.id = f.target_id
		WHERE f.follower_id = ? AND f.pending = 0 AND f.target_id > ? AND a.deleted_at IS NULL
		ORDER BY f.target_id
		LIMIT ?`, account, after, limit)
}

// ExportStatuses returns the statuses and reblogs of an account, oldest first, after an id.
func (r reader) ExportStatuses(ctx context.Context, account AccountID, after StatusID, limit int) ([]*Status, error) {
	return list[*Status](ctx, r, "export statuses", `
		SELECT *
		FROM statuses INDEXED BY statuses_account
		WHERE account_id = ? AND id > ?
		ORDER BY id
		LIMIT ?`, account, after, limit)
}

// ExportedFile is a stored file of an account.
type ExportedFile struct {
	ID   MediaID // of the first upload with this content
	File string
}

// ExportFiles returns the uploaded files of an account, oldest first, after an id. Equal files are returned once.
func (r reader) ExportFiles(ctx context.Context, account AccountID, after MediaID, limit int) ([]ExportedFile, error) {
	return list[ExportedFile](ctx, r, "export files", `
		SELECT m.id, m.file
		FROM media m INDEXED BY media_account
		WHERE m.account_id = ? AND m.id > ? AND m.file <> ''
			AND NOT EXISTS (SELECT 1 FROM media o INDEXED BY media_file WHERE o.file = m.file AND o.file <> '' AND o.account_id = m.account_id AND o.id < m.id)
		ORDER BY m.id
		LIMIT ?`, account, after, limit)
}
