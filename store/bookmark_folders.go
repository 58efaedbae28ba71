package store

import "context"

// BookmarkFolderID is a flake outside.
type BookmarkFolderID int64

func (id BookmarkFolderID) MarshalText() ([]byte, error) { return appendFlake(nil, int64(id)), nil }
func (id BookmarkFolderID) String() string               { return string(appendFlake(nil, int64(id))) }

// UnmarshalText reads a flake; anything else becomes 0, the id of nothing.
func (id *BookmarkFolderID) UnmarshalText(b []byte) error {
	*id = BookmarkFolderID(parseLocalFlake(string(b)))
	return nil
}

// BookmarkFolder is what somebody sorts bookmarks into.
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

// OwnBookmarkFolder returns a folder of the owner's, and errs.ErrRecordNotFound if there is none.
func (r reader) OwnBookmarkFolder(ctx context.Context, owner AccountID, id BookmarkFolderID) (*BookmarkFolder, error) {
	f, err := one[BookmarkFolder](ctx, r, "bookmark folder", `SELECT * FROM bookmark_folders WHERE id = ? AND account_id = ?`, id, owner)
	if f == nil && err == nil {
		err = notFound
	}
	return f, err
}

// AddBookmarkFolder inserts a folder. Its ID is set.
func (tx *Tx) AddBookmarkFolder(ctx context.Context, f *BookmarkFolder) error {
	f.ID = BookmarkFolderID(tx.newID())
	_, err := tx.exec(ctx, "add bookmark folder", `
		INSERT INTO bookmark_folders (id, account_id, name, emoji)
		VALUES (?, ?, ?, ?)`, f.ID, f.AccountID, f.Name, f.Emoji)
	return err
}

// SaveBookmarkFolder writes name and emoji of a folder.
func (tx *Tx) SaveBookmarkFolder(ctx context.Context, f *BookmarkFolder) error {
	_, err := tx.exec(ctx, "save bookmark folder", `UPDATE bookmark_folders SET name = ?, emoji = ? WHERE id = ?`, f.Name, f.Emoji, f.ID)
	return err
}

// RemoveBookmarkFolder deletes a folder. Its bookmarks stay, in no folder.
func (tx *Tx) RemoveBookmarkFolder(ctx context.Context, f *BookmarkFolder) error {
	_, err := tx.exec(ctx, "remove bookmark folder", `DELETE FROM bookmark_folders WHERE id = ?`, f.ID)
	tx.invalidateFlags(f.AccountID)
	return err
}
