package store

import "context"

// Notification tells somebody what another did.
type Notification struct {
	ID        NotificationID
	AccountID AccountID // who is told
	Type      NotificationType
	FromID    AccountID // who did it
	StatusID  *StatusID
	Detail    string // the emoji of a reaction
	Read      bool
	Muted     bool // by a mute that was in force
}

// NotificationType is what a notification tells of.
type NotificationType string

const (
	NotifyMention       NotificationType = "mention"
	NotifyFollow        NotificationType = "follow"
	NotifyFollowRequest NotificationType = "follow_request"
	NotifyReblog        NotificationType = "reblog"
	NotifyFavourite     NotificationType = "favourite"
	NotifyPoll          NotificationType = "poll"
	NotifyMove          NotificationType = "move"
	NotifyStatus        NotificationType = "status"
	NotifyUpdate        NotificationType = "update"
	NotifyEmojiReaction NotificationType = "emoji_reaction"
	NotifyChatMention   NotificationType = "chat_mention"
	NotifyReport        NotificationType = "report"
)

// AddNotification inserts a notification, with a fresh id. It tells whether there was none of the same deed yet.
func (tx *Tx) AddNotification(ctx context.Context, n *Notification) (added bool, err error) {
	n.ID = NotificationID(tx.newID())
	rows, err := tx.exec(ctx, "add notification", `
		INSERT OR IGNORE INTO notifications (id, account_id, type, from_id, status_id, detail, read, muted)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		n.ID, n.AccountID, n.Type, n.FromID, n.StatusID, n.Detail, n.Read, n.Muted)
	return rows > 0, err
}

// WithdrawNotification takes back what was told of a deed that was undone.
func (tx *Tx) WithdrawNotification(ctx context.Context, account AccountID, t NotificationType, from AccountID, status *StatusID) error {
	_, err := tx.exec(ctx, "withdraw notification", `
		DELETE FROM notifications
		WHERE account_id = ? AND type = ? AND from_id = ? AND ifnull(status_id, 0) = ifnull(?, 0)`, account, t, from, status)
	return err
}
