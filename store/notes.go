package store

import "context"

// SetNote writes account's private note on target; an empty one is removed.
func (tx *Tx) SetNote(ctx context.Context, account, target AccountID, comment string) error {
	if comment == "" {
		_, err := tx.exec(ctx, "remove note", `DELETE FROM account_notes WHERE account_id = ? AND target_id = ?`, account, target)
		return err
	}
	tx.invalidateRelations(account)
	_, err := tx.exec(ctx, "set note", `
		INSERT OR REPLACE INTO account_notes (account_id, target_id, comment)
		VALUES (?, ?, ?)`, account, target, comment)
	return err
}
