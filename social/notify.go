package social

import (
	"context"

	"svc/store"
)

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
