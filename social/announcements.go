package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// DismissAnnouncement puts an announcement away, for actor. Doing it twice is no error. One that is not to be seen yet is not there.
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
