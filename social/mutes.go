package social

import (
	"context"
	"fmt"
	"time"

	"svc/store"
)

// maxMuteDuration is the longest duration of a mute or a filter that has an end.
const maxMuteDuration = 100 * 365 * 24 * time.Hour

// Mute hides target's posts from actor, and its notifications if asked, for a duration (0: without end). Muting again replaces the mute.
func (s *Service) Mute(ctx context.Context, actor *store.Account, target store.AccountID, notifications bool, lasts time.Duration) error {
	return s.updateOther(ctx, actor, target, func(tx *store.Tx, to *store.Account) error {
		m := &store.Mute{AccountID: actor.ID, TargetID: to.ID, HideNotifications: notifications}
		at := s.db.Now().Add(lasts)
		if lasts > 0 && lasts <= maxMuteDuration {
			m.ExpiresAt = new(store.At(at))
		}
		if err := tx.SetMute(ctx, m); err != nil {
			return err
		}
		if m.ExpiresAt == nil {
			return tx.DropJob(ctx, muteKey(m.AccountID, m.TargetID))
		}
		return tx.EnqueueUnique(ctx, at, muteKey(m.AccountID, m.TargetID), store.ExpireMute{AccountID: m.AccountID, TargetID: m.TargetID})
	})
}

// Unmute removes a mute. A missing mute is not an error.
func (s *Service) Unmute(ctx context.Context, actor *store.Account, target store.AccountID) error {
	return s.updateOther(ctx, actor, target, func(tx *store.Tx, to *store.Account) error {
		if err := tx.RemoveMute(ctx, actor.ID, to.ID); err != nil {
			return err
		}
		return tx.DropJob(ctx, muteKey(actor.ID, to.ID))
	})
}

// expireMute is the job that removes a mute at its end.
func (s *Service) expireMute(ctx context.Context, w store.ExpireMute) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		m, err := tx.MuteOf(ctx, w.AccountID, w.TargetID)
		if m == nil || err != nil {
			return err
		}
		if m.ExpiresAt == nil || m.ExpiresAt.Time().After(s.db.Now()) {
			return nil
		}
		return tx.RemoveMute(ctx, w.AccountID, w.TargetID)
	})
}

func muteKey(account, target store.AccountID) string {
	return "mute:" + account.String() + ":" + target.String()
}

// MuteThread mutes notifications from the thread of a status for a duration (0: without end), and marks existing ones as read. Muting
// again replaces the duration.
func (s *Service) MuteThread(ctx context.Context, actor *store.Account, id store.StatusID, d time.Duration) (*store.Status, error) {
	return s.updateOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		key := threadMuteKey(actor.ID, st.ConversationID)
		var until *store.Time
		if d > 0 {
			end := s.db.Now().Add(d)
			until = new(store.At(end))
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

// UnmuteThread removes the mute of the thread of a status.
func (s *Service) UnmuteThread(ctx context.Context, actor *store.Account, id store.StatusID) (*store.Status, error) {
	return s.undoOnOriginal(ctx, actor, id, func(tx *store.Tx, st *store.Status) error {
		if err := tx.UnmuteThread(ctx, actor.ID, st.ConversationID); err != nil {
			return err
		}
		return tx.DropJob(ctx, threadMuteKey(actor.ID, st.ConversationID))
	})
}

// expireThreadMute is the job that removes a thread mute at its end.
func (s *Service) expireThreadMute(ctx context.Context, w store.ExpireThreadMute) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return tx.ExpireThreadMute(ctx, w.AccountID, w.ConversationID)
	})
}

func threadMuteKey(account store.AccountID, id store.ConversationID) string {
	return fmt.Sprintf("thread-mute:%s:%d", account, id)
}
