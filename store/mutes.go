package store

import "context"

// Mute is one account not wanting to see another's posts.
type Mute struct {
	AccountID         AccountID
	TargetID          AccountID
	HideNotifications bool
	ExpiresAt         *Time // nil: for good
}

var muteList = newKeyset(`
		SELECT m.*
		FROM mutes m
		WHERE m.account_id = ?1 AND m.target_id < ?2 AND m.target_id > ?3 AND ` + accountAvailable("m.target_id") + `
		ORDER BY m.target_id DESC
		LIMIT ?4`)

// Mutes returns whom an account mutes, paged by account id.
func (r reader) Mutes(ctx context.Context, id AccountID, p Page) ([]*Mute, error) {
	return rowPage[*Mute](ctx, r, "mutes", muteList, id, p)
}

// MuteOf returns how account mutes target, nil if it does not.
func (r reader) MuteOf(ctx context.Context, account, target AccountID) (*Mute, error) {
	return one[Mute](ctx, r, "mute", `SELECT * FROM mutes WHERE account_id = ? AND target_id = ?`, account, target)
}

// SetMute mutes an account, in place of an earlier mute.
func (tx *Tx) SetMute(ctx context.Context, m *Mute) error {
	_, err := tx.exec(ctx, "mute", `
		INSERT OR REPLACE INTO mutes (account_id, target_id, hide_notifications, expires_at)
		VALUES (?, ?, ?, ?)`, m.AccountID, m.TargetID, m.HideNotifications, m.ExpiresAt)
	tx.invalidateRelations(m.AccountID)
	return err
}

// RemoveMute ends a mute. One that is not there is no error.
func (tx *Tx) RemoveMute(ctx context.Context, account, target AccountID) error {
	_, err := tx.exec(ctx, "unmute", `DELETE FROM mutes WHERE account_id = ? AND target_id = ?`, account, target)
	tx.invalidateRelations(account)
	return err
}
