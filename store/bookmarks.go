package store

import "context"

var (
	bookmarkedStatuses = newEntries(`b.status_id`,
		`bookmarks b INDEXED BY bookmarks_account CROSS JOIN statuses s ON s.id = b.status_id`, `b.id`,
		`b.account_id = ?1`, visible("s"))
	bookmarksInFolder = newEntries(`b.status_id`,
		`bookmarks b INDEXED BY bookmarks_folder CROSS JOIN statuses s ON s.id = b.status_id`, `b.id`,
		`b.folder_id = ?6 AND b.account_id = ?1`, visible("s"))
)

// Bookmarks returns the bookmarked statuses that are visible to the viewer, latest bookmark first; a folder other than 0 limits them to it.
func (r reader) Bookmarks(ctx context.Context, viewer AccountID, folder BookmarkFolderID, p Page) (Part[StatusEntry], error) {
	if folder == 0 {
		return readEntries(ctx, r, bookmarkedStatuses, viewer, p, newStatusEntry)
	}
	return readEntries(ctx, r, bookmarksInFolder, viewer, p, newStatusEntry, folder)
}

// AddBookmark bookmarks a status. An existing bookmark keeps its position.
func (tx *Tx) AddBookmark(ctx context.Context, account AccountID, status StatusID) error {
	tx.invalidateFlags(account)
	return tx.exec(ctx, "add bookmark", `
		INSERT OR IGNORE INTO bookmarks (id, account_id, status_id)
		VALUES (?, ?, ?)`, tx.newID(), account, status)
}

// FileBookmark moves a bookmark to a folder; nil: to none.
func (tx *Tx) FileBookmark(ctx context.Context, account AccountID, status StatusID, folder *BookmarkFolderID) error {
	tx.invalidateFlags(account)
	return tx.exec(ctx, "file bookmark", `UPDATE bookmarks SET folder_id = ? WHERE account_id = ? AND status_id = ?`, folder, account, status)
}

// RemoveBookmark removes a bookmark, if there is one.
func (tx *Tx) RemoveBookmark(ctx context.Context, account AccountID, status StatusID) error {
	tx.invalidateFlags(account)
	return tx.exec(ctx, "remove bookmark", `DELETE FROM bookmarks WHERE account_id = ? AND status_id = ?`, account, status)
}

// BookmarkFolderID is a flake in the API.
type BookmarkFolderID int64

func (id BookmarkFolderID) MarshalText() ([]byte, error) { return appendFlake(nil, int64(id)), nil }

func (id BookmarkFolderID) String() string { return string(appendFlake(nil, int64(id))) }

// UnmarshalText reads a flake; any other text becomes 0.
func (id *BookmarkFolderID) UnmarshalText(b []byte) error { return readFlake(id, b) }

// BookmarkFolder is a folder of an account's bookmarks.
type BookmarkFolder struct {
	ID        BookmarkFolderID
	AccountID AccountID
	Name      string
	Emoji     string // a character, or a custom one as :shortcode:; "": none
}

// BookmarkFolders returns an account's folders, oldest first.
func (r reader) BookmarkFolders(ctx context.Context, owner AccountID) ([]*BookmarkFolder, error) {
	return list[*BookmarkFolder](ctx, r, "bookmark folders", `
		SELECT *
		FROM bookmark_folders INDEXED BY bookmark_folders_account
		WHERE account_id = ?
		ORDER BY id`, owner)
}

// OwnBookmarkFolder returns a folder of the owner, and errs.ErrRecordNotFound if there is none.
func (r reader) OwnBookmarkFolder(ctx context.Context, owner AccountID, id BookmarkFolderID) (*BookmarkFolder, error) {
	return get[BookmarkFolder](ctx, r, "bookmark folder", `SELECT * FROM bookmark_folders WHERE id = ? AND account_id = ?`, id, owner)
}

// AddBookmarkFolder inserts a folder. Its ID is set.
func (tx *Tx) AddBookmarkFolder(ctx context.Context, f *BookmarkFolder) error {
	f.ID = BookmarkFolderID(tx.newID())
	return tx.exec(ctx, "add bookmark folder", insertBookmarkFolder.text, insertBookmarkFolder.args(f)...)
}

// SaveBookmarkFolder writes name and emoji of a folder.
func (tx *Tx) SaveBookmarkFolder(ctx context.Context, f *BookmarkFolder) error {
	return tx.exec(ctx, "save bookmark folder", `UPDATE bookmark_folders SET name = ?, emoji = ? WHERE id = ?`, f.Name, f.Emoji, f.ID)
}

// RemoveBookmarkFolder deletes a folder. Its bookmarks stay, without a folder.
func (tx *Tx) RemoveBookmarkFolder(ctx context.Context, f *BookmarkFolder) error {
	tx.invalidateFlags(f.AccountID)
	return tx.exec(ctx, "remove bookmark folder", `DELETE FROM bookmark_folders WHERE id = ?`, f.ID)
}
