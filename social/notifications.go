package social

import (
	"context"
	"errors"

	"svc/internal/text"

	"svc/internal/errs"
	"svc/store"
)

// maxReadNotifications is how many notifications ReadNotificationsUpTo returns (spec 8).
const maxReadNotifications = 80

// notificationClearBatch is how many notifications are removed in one transaction.
const notificationClearBatch = 1000

// ReadNotification marks a notification as read.
func (s *Service) ReadNotification(ctx context.Context, viewer *store.Account, id store.NotificationID) (*store.Notification, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.Notification, error) {
		n, err := tx.Notification(ctx, viewer.ID, id)
		if err != nil {
			return nil, err
		}
		n.Read = true
		return n, tx.ReadNotification(ctx, viewer.ID, id)
	})
}

// ReadNotificationsUpTo marks all notifications up to one as read and moves the marker there. It returns the newest 80 that were unread.
func (s *Service) ReadNotificationsUpTo(ctx context.Context, viewer *store.Account, id store.NotificationID) ([]*store.Notification, error) {
	return update(ctx, s.db, func(tx *store.Tx) ([]*store.Notification, error) {
		ids, err := tx.ReadNotifications(ctx, viewer.ID, id, maxReadNotifications)
		if err != nil {
			return nil, err
		}
		if len(ids) > 0 {
			if _, err := tx.MoveMarker(ctx, viewer.ID, "notifications", int64(ids[0])); err != nil {
				return nil, err
			}
		}
		return tx.NotificationsByID(ctx, viewer.ID, ids)
	})
}

// DismissNotifications removes the notifications with these ids and returns their number.
func (s *Service) DismissNotifications(ctx context.Context, viewer *store.Account, ids []store.NotificationID) (int64, error) {
	return update(ctx, s.db, func(tx *store.Tx) (int64, error) { return tx.DismissNotifications(ctx, viewer.ID, ids) })
}

// ClearNotifications removes all notifications.
func (s *Service) ClearNotifications(ctx context.Context, viewer *store.Account) error {
	return s.inBatches(ctx, notificationClearBatch, func(tx *store.Tx) (int64, error) {
		return tx.ClearNotifications(ctx, viewer.ID, notificationClearBatch)
	})
}

// MoveMarker moves the marker of a timeline ("home" or "notifications") forward. Notifications up to it become read.
func (s *Service) MoveMarker(ctx context.Context, viewer *store.Account, timeline string, to int64) (*store.Marker, error) {
	if to < 0 || timeline != "home" && timeline != "notifications" {
		return nil, errs.Invalid("Validation failed: Timeline is not included thread the list")
	}
	return update(ctx, s.db, func(tx *store.Tx) (*store.Marker, error) {
		if timeline == "notifications" {
			if _, err := tx.ReadNotifications(ctx, viewer.ID, store.NotificationID(to), 1); err != nil {
				return nil, err
			}
		}
		return tx.MoveMarker(ctx, viewer.ID, timeline, to)
	})
}

// DismissGroup removes the notifications of a group and returns their number.
func (s *Service) DismissGroup(ctx context.Context, viewer *store.Account, g store.NotificationGroup) (int64, error) {
	var total int64
	err := s.inBatches(ctx, notificationClearBatch, func(tx *store.Tx) (int64, error) {
		n, err := tx.DismissGroup(ctx, viewer.ID, g, notificationClearBatch)
		total += n
		return n, err
	})
	return total, err
}

// notify adds a notification for a local account, unless the account excludes it (extension API 21.3, 21.4). If the account mutes the
// sender or the thread, or its policy filters the notification, it is stored as read and marked so, without events and push.
func notify(ctx context.Context, tx *store.Tx, n store.Notification, about *store.Status) error {
	if n.AccountID == n.FromID && n.Type != store.NotifyPoll {
		return nil
	}
	var thread store.ConversationID
	if about != nil {
		n.StatusID, thread = &about.ID, about.ConversationID
	}
	relation, err := tx.NotificationRelation(ctx, n.AccountID, n.FromID, thread)
	if err != nil {
		return errs.IgnoreNotFound(err) // remote account
	}
	requested := n.Type.Kind().Rule == store.Requested
	if relation.Blocks || relation.BlockedBy || relation.Unavailable || !relation.Follows && (relation.BlocksDomain || relation.OnlyFromFollowed && !requested) {
		return nil
	}
	if relation.HasHideFilters && about != nil {
		if hidden, err := hidesNotification(ctx, tx, n.AccountID, about); hidden || err != nil {
			return err
		}
	}
	if relation.HasPolicy {
		action, err := notificationAction(ctx, tx, &n, about, relation.Follows)
		if err != nil || action == store.PolicyDrop {
			return err
		}
		n.Filtered = action == store.PolicyFilter
	}
	n.Muted = relation.MutesNotifications || relation.MutesThread
	n.Read = n.Muted || n.Filtered
	added, err := tx.AddNotification(ctx, &n)
	if err != nil || !added || n.Muted {
		return err
	}
	if n.Filtered {
		return tx.AddNotificationRequest(ctx, n.AccountID, n.FromID)
	}
	tx.Emit(store.NotificationAdded{Notification: &n})
	if !relation.HasPushSubscriptions {
		return nil
	}
	return enqueuePush(ctx, tx, &n, relation.Follows)
}

// hidesNotification returns true if a filter hides notifications about a status. Notifications without a status are never filtered
// (extension API 21.3).
func hidesNotification(ctx context.Context, tx *store.Tx, viewer store.AccountID, about *store.Status) (bool, error) {
	if about.ReblogOfID != nil {
		original, err := tx.Status(ctx, *about.ReblogOfID)
		if err != nil {
			return false, errs.IgnoreNotFound(err)
		}
		about = original
	}
	set, err := tx.FilterSet(ctx, viewer)
	if err != nil {
		return false, err
	}
	more, err := extraTexts(ctx, tx, about)
	if err != nil {
		return false, err
	}
	words := func() *text.Folded { return about.FilterText(text.HTMLToText(about.Content), more) }
	matches, err := set.Match(store.FilteredStatus{ID: about.ID, Author: about.AccountID, Words: words})
	if errors.Is(err, store.ErrFilterTime) {
		return false, nil // lists of notifications hide it
	}
	return store.HiddenIn(matches, store.FilterNotifications), err
}

// extraTexts returns the descriptions of attachments and the poll options of a status.
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
