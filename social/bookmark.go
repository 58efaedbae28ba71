package social

import (
	"context"

	"svc/store"
)

// Bookmark bookmarks a status that actor can see. Doing it twice is no error; nobody is told.
func (s *Service) Bookmark(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	return s.onOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		return tx.AddBookmark(ctx, actor.ID, st.ID)
	})
}

// Unbookmark takes a bookmark away.
func (s *Service) Unbookmark(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	return s.undoOnOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		return tx.RemoveBookmark(ctx, actor.ID, st.ID)
	})
}
