package store

import "context"

var (
	bookmarkedStatuses = newEntries(`b.status_id`,
		`bookmarks b INDEXED BY bookmarks_account CROSS JOIN statuses s ON s.id = b.status_id`, `b.id`,
		`b.account_id = ?1 AND `+visible("s"))
	bookmarksInFolder = newEntries(`b.status_id`,
		`bookmarks b INDEXED BY bookmarks_folder CROSS JOIN statuses s ON s.id = b.status_id`, `b.id`,
		`b.folder_id = ?6 AND b.account_id = ?1 AND `+visible("s"))
)

// Bookmarks returns what the viewer bookmarked and may still see, the latest bookmark first.
func (r reader) Bookmarks(ctx context.Context, viewer AccountID, p Page) ([]StatusEntry, error) {
	return readEntries[StatusEntry](ctx, r, bookmarkedStatuses, viewer, p)
}

// BookmarksIn returns those of the viewer's bookmarks that are in a folder, likewise.
func (r reader) BookmarksIn(ctx context.Context, viewer AccountID, folder BookmarkFolderID, p Page) ([]StatusEntry, error) {
	return readEntries[StatusEntry](ctx, r, bookmarksInFolder, viewer, p, folder)
}

// AddBookmark bookmarks a status for an account; one that is bookmarked keeps its place.
func (tx *Tx) AddBookmark(ctx context.Context, account AccountID, status StatusID) error {
	_, err := tx.exec(ctx, "add bookmark", `
		INSERT OR IGNORE INTO bookmarks (id, account_id, status_id)
		VALUES (?, ?, ?)`, tx.newID(), account, status)
	tx.invalidateFlags(account)
	return err
}

// FileBookmark puts a bookmark into a folder, or (nil) into none.
func (tx *Tx) FileBookmark(ctx context.Context, account AccountID, status StatusID, folder *BookmarkFolderID) error {
	_, err := tx.exec(ctx, "file bookmark", `UPDATE bookmarks SET folder_id = ? WHERE account_id = ? AND status_id = ?`, folder, account, status)
	tx.invalidateFlags(account)
	return err
}

// RemoveBookmark takes a bookmark away, if there is one.
func (tx *Tx) RemoveBookmark(ctx context.Context, account AccountID, status StatusID) error {
	_, err := tx.exec(ctx, "remove bookmark", `DELETE FROM bookmarks WHERE account_id = ? AND status_id = ?`, account, status)
	tx.invalidateFlags(account)
	return err
}
