package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// DismissAnnouncement marks an announcement as read. Dismissing twice is not an error. One that has not started is not found.
func (s *Service) DismissAnnouncement(ctx context.Context, actor *store.Account, id store.AnnouncementID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		a, err := tx.Announcement(ctx, id)
		if err == nil && !a.Started(s.db.Now()) {
			err = errs.ErrRecordNotFound
		}
		if err != nil {
			return err
		}
		return tx.MarkAnnouncementRead(ctx, actor.ID, a.ID)
	})
}
