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
	user, err := tx.User(ctx, n.AccountID)
	if err != nil {
		return ignoreMissing(err) // lives elsewhere
	}
	stance, err := tx.StanceOn(ctx, n.AccountID, n.FromID)
	if err != nil {
		return err
	}
	asked := n.Type == store.NotifyPoll || n.Type == store.NotifyStatus // they voted or subscribed: no stranger's doing
	if stance.Blocks || stance.BlockedBy || stance.Withheld || !stance.Follows && (stance.BlocksDomain || user.BlockFromStrangers && !asked) {
		return nil
	}
	n.Muted = stance.MutesNotifications
	if about != nil {
		n.StatusID = &about.ID
		muted, err := tx.MutesThread(ctx, n.AccountID, about.ConversationID)
		if err != nil {
			return err
		}
		n.Muted = n.Muted || muted
	}
	n.Read = n.Muted
	added, err := tx.AddNotification(ctx, &n)
	if err != nil || !added || n.Muted {
		return err
	}
	tx.Emit(store.Notified{Notification: &n})
	return nil
}
