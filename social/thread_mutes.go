package social

import (
	"context"
	"fmt"
	"time"

	"svc/store"
)

// MuteThread has actor told no more of the thread that a status belongs to, for some time or (0) for good; what they were told is
// marked as read. Muting again sets the time anew.
func (s *Service) MuteThread(ctx context.Context, actor *store.Account, id store.StatusID, d time.Duration) (*store.Status, error) {
	return s.updateOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		key := threadMuteKey(actor.ID, st.ConversationID)
		var until *store.Time
		if d > 0 {
			end := s.db.Now().Add(d)
			at := store.At(end)
			until = &at
			w := store.ExpireThreadMute{AccountID: actor.ID, ConversationID: st.ConversationID}
			if err := tx.EnqueueUnique(ctx, end, key, w); err != nil {
				return err
			}
		} else if err := tx.DropJob(ctx, key); err != nil {
			return err
		}
		if err := tx.MuteThread(ctx, actor.ID, st.ConversationID, until); err != nil {
			return err
		}
		return tx.ReadThread(ctx, actor.ID, st.ConversationID)
	})
}

// UnmuteThread ends the mute of the thread that a status belongs to.
func (s *Service) UnmuteThread(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	return s.undoOnOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		if err := tx.UnmuteThread(ctx, actor.ID, st.ConversationID); err != nil {
			return err
		}
		return tx.DropJob(ctx, threadMuteKey(actor.ID, st.ConversationID))
	})
}

// expireThreadMute is the job that ends a mute at its time.
func (s *Service) expireThreadMute(ctx context.Context, w store.ExpireThreadMute) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return tx.ExpireThreadMute(ctx, w.AccountID, w.ConversationID)
	})
}

func threadMuteKey(account store.AccountID, id store.ConversationID) string {
	return fmt.Sprintf("thread-mute:%s:%d", account, id)
}
