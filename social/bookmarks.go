package social

import (
	"context"

	"svc/emoji"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// Bookmark bookmarks a status that actor can see. Bookmarking twice is not an error.
func (s *Service) Bookmark(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	return s.updateOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		return tx.AddBookmark(ctx, actor.ID, st.ID)
	})
}

// BookmarkInFolder bookmarks a status in a folder of actor's, or moves an existing bookmark there. A nil folder is none.
func (s *Service) BookmarkInFolder(ctx context.Context, actor *store.Account, id store.StatusID, folder *store.BookmarkFolderID) (*store.Status, error) {
	return s.updateOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		if folder != nil {
			if _, err := tx.OwnBookmarkFolder(ctx, actor.ID, *folder); err != nil {
				return err
			}
		}
		if err := tx.AddBookmark(ctx, actor.ID, st.ID); err != nil {
			return err
		}
		return tx.FileBookmark(ctx, actor.ID, st.ID, folder)
	})
}

// Unbookmark removes a bookmark.
func (s *Service) Unbookmark(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	return s.undoOnOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		return tx.RemoveBookmark(ctx, actor.ID, st.ID)
	})
}

const (
	maxFolders    = 100 // of one account
	maxFolderName = 256 // characters
)

// CreateBookmarkFolder creates a folder. Names need not be unique.
func (s *Service) CreateBookmarkFolder(ctx context.Context, owner *store.Account, f *store.BookmarkFolder) error {
	f.AccountID = owner.ID
	if err := checkFolder(f); err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		folders, err := tx.BookmarkFolders(ctx, owner.ID)
		if err != nil {
			return err
		}
		if len(folders) >= maxFolders {
			return errs.Invalid("Validation failed: You cannot have more than %d folders", maxFolders)
		}
		return tx.AddBookmarkFolder(ctx, f)
	})
}

// checkFolder validates name and emoji of a folder. The caller checks that a custom emoji exists.
func checkFolder(f *store.BookmarkFolder) error {
	f.Name = text.OneLine(f.Name)
	if full, ok := emoji.Canonical(f.Emoji); ok {
		f.Emoji = full
	} else if f.Emoji != "" && f.Emoji[0] != ':' {
		return ErrInvalidEmoji
	}
	switch {
	case f.Name == "":
		return errs.Invalid("Validation failed: Name can't be blank")
	case text.Length(f.Name, "") > maxFolderName:
		return errs.Invalid("Validation failed: Name is too long (maximum is %d characters)", maxFolderName)
	}
	return nil
}

// ErrInvalidEmoji is returned for a text that is neither a unicode emoji nor the name of a custom emoji.
var ErrInvalidEmoji = errs.Invalid("Invalid emoji")

// UpdateBookmarkFolder applies change to the owner's folder. change may set name and emoji.
func (s *Service) UpdateBookmarkFolder(ctx context.Context, owner *store.Account, id store.BookmarkFolderID, change func(*store.BookmarkFolder)) (*store.BookmarkFolder, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.BookmarkFolder, error) {
		f, err := tx.OwnBookmarkFolder(ctx, owner.ID, id)
		if err != nil {
			return nil, err
		}
		change(f)
		if err := checkFolder(f); err != nil {
			return nil, err
		}
		return f, tx.SaveBookmarkFolder(ctx, f)
	})
}

// DeleteBookmarkFolder removes the owner's folder and returns it. The bookmarks in it stay.
func (s *Service) DeleteBookmarkFolder(ctx context.Context, owner *store.Account, id store.BookmarkFolderID) (*store.BookmarkFolder, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.BookmarkFolder, error) {
		f, err := tx.OwnBookmarkFolder(ctx, owner.ID, id)
		if err != nil {
			return nil, err
		}
		return f, tx.RemoveBookmarkFolder(ctx, f)
	})
}
