package social

import (
	"context"

	"svc/internal/text"

	"svc/internal/errs"
	"svc/store"
)

// maxReadNotifications is how many notifications are told to have been read at most (spec 8).
const maxReadNotifications = 80

// notificationClearBatch is how many notifications go in one transaction, so that others can write in between.
const notificationClearBatch = 1000

// ReadNotification marks one notification as read.
func (s *Service) ReadNotification(ctx context.Context, reader *store.Account, id store.NotificationID) (*store.Notification, error) {
	var n *store.Notification
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		var err error
		if n, err = tx.Notification(ctx, reader.ID, id); err != nil {
			return err
		}
		n.Read = true
		return tx.ReadNotification(ctx, reader.ID, id)
	})
	return n, err
}

// ReadNotificationsUpTo marks all notifications up to one as read and moves the marker there. It returns the newest of those
// that had not been read, 80 at most.
func (s *Service) ReadNotificationsUpTo(ctx context.Context, reader *store.Account, id store.NotificationID) ([]*store.Notification, error) {
	var list []*store.Notification
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		ids, err := tx.ReadNotifications(ctx, reader.ID, id, maxReadNotifications)
		if err != nil {
			return err
		}
		if len(ids) > 0 {
			if _, err := tx.MoveMarker(ctx, reader.ID, "notifications", int64(ids[0])); err != nil {
				return err
			}
		}
		list, err = tx.NotificationsByID(ctx, reader.ID, ids)
		return err
	})
	return list, err
}

// DismissNotifications removes the reader's notifications of these ids; others are left alone. It tells how many there were.
func (s *Service) DismissNotifications(ctx context.Context, reader *store.Account, ids []store.NotificationID) (int64, error) {
	var n int64
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		n, err = tx.DismissNotifications(ctx, reader.ID, ids)
		return err
	})
	return n, err
}

// ClearNotifications removes all of the reader's notifications.
func (s *Service) ClearNotifications(ctx context.Context, reader *store.Account) error {
	return s.inBatches(ctx, notificationClearBatch, func(tx *store.Tx) (int64, error) {
		return tx.ClearNotifications(ctx, reader.ID, notificationClearBatch)
	})
}

// MoveMarker notes how far somebody has read a timeline: "home" or "notifications". A marker never moves back. Notifications up to
// theirs count as read.
func (s *Service) MoveMarker(ctx context.Context, reader *store.Account, timeline string, to int64) (*store.Marker, error) {
	if to < 0 || timeline != "home" && timeline != "notifications" {
		return nil, errs.Invalid("Validation failed: Timeline is not included in the list")
	}
	var m *store.Marker
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		if timeline == "notifications" {
			if _, err := tx.ReadNotifications(ctx, reader.ID, store.NotificationID(to), 1); err != nil {
				return err
			}
		}
		var err error
		m, err = tx.MoveMarker(ctx, reader.ID, timeline, to)
		return err
	})
	return m, err
}

// notify tells somebody local of a deed, unless they would not want to know. A deed by an account that the person mutes, or
// in a thread they mute, is kept, but as read and muted: no stream and no push hears of it.
// The rules are those of the extension API's reference, 21.3 and 21.4.
func notify(ctx context.Context, tx *store.Tx, n store.Notification, about *store.Status) error {
	if n.AccountID == n.FromID && n.Type != store.NotifyPoll {
		return nil
	}
	var in store.ConversationID
	if about != nil {
		n.StatusID, in = &about.ID, about.ConversationID
	}
	stance, err := tx.NotificationRelation(ctx, n.AccountID, n.FromID, in)
	if err != nil {
		return ignoreNotFound(err) // lives elsewhere
	}
	asked := n.Type == store.NotifyPoll || n.Type == store.NotifyStatus // they voted or subscribed: no stranger's doing
	if stance.Blocks || stance.BlockedBy || stance.Unavailable || !stance.Follows && (stance.BlocksDomain || stance.OnlyFromFollowed && !asked) {
		return nil
	}
	if stance.HasHideFilters && about != nil {
		if hidden, err := hidesNotification(ctx, tx, n.AccountID, about); hidden || err != nil {
			return err
		}
	}
	n.Muted = stance.MutesNotifications || stance.MutesThread
	n.Read = n.Muted
	added, err := tx.AddNotification(ctx, &n)
	if err != nil || !added || n.Muted {
		return err
	}
	tx.Emit(store.NotificationAdded{Notification: &n})
	if !stance.HasPushSubscriptions {
		return nil
	}
	return enqueuePush(ctx, tx, &n, stance.Follows)
}

// hidesNotification tells whether a filter keeps notifications about a status from somebody. What has no status, such as a follow or a move,
// is never kept from anybody (extension API 21.3).
func hidesNotification(ctx context.Context, tx *store.Tx, reader store.AccountID, about *store.Status) (bool, error) {
	if about.ReblogOfID != nil {
		original, err := tx.Status(ctx, *about.ReblogOfID)
		if err != nil {
			return false, ignoreNotFound(err)
		}
		about = original
	}
	set, err := tx.FilterSet(ctx, reader)
	if err != nil {
		return false, err
	}
	more, err := extraTexts(ctx, tx, about)
	if err != nil {
		return false, err
	}
	words := func() *text.Folded { return about.FilterText(text.HTMLToText(about.Content), more) }
	return store.HiddenIn(set.Match(about.ID, about.AccountID, words), store.FilterNotifications), nil
}

// extraTexts returns what is to be read in a status beside its text: what is said of its attachments, and the options of its poll.
func extraTexts(ctx context.Context, tx *store.Tx, st *store.Status) ([]string, error) {
	var words []string
	if st.HasMedia {
		media, err := tx.MediaOf(ctx, []store.StatusID{st.ID})
		if err != nil {
			return nil, err
		}
		for _, m := range media {
			words = append(words, m.Description)
		}
	}
	if st.HasPoll {
		poll, err := tx.PollOf(ctx, st.ID)
		if poll == nil || err != nil {
			return words, err
		}
		words = append(words, poll.Titles()...)
	}
	return words, nil
}
