package store

import (
	"context"
	"time"
)

// OneTimeKind is what a link that works once is for.
type OneTimeKind string

const (
	ResetToken   OneTimeKind = "reset"   // setting a new password
	ConfirmToken OneTimeKind = "confirm" // confirming an e-mail address
)

// AddOneTimeToken inserts the SHA-256 of a token that somebody can use once within a time. Earlier ones of the kind stop working.
func (tx *Tx) AddOneTimeToken(ctx context.Context, kind OneTimeKind, id AccountID, hash []byte, lifetime time.Duration) error {
	if _, err := tx.exec(ctx, "drop one-time tokens", `DELETE FROM one_time_tokens WHERE account_id = ? AND kind = ?`, id, kind); err != nil {
		return err
	}
	_, err := tx.exec(ctx, "add one-time token", `
		INSERT INTO one_time_tokens (hash, kind, account_id, expires_at)
		VALUES (?, ?, ?, ?)`, hash, kind, id, At(tx.db.now().Add(lifetime)))
	return err
}

// DropOneTimeTokens makes all links of an account stop working.
func (tx *Tx) DropOneTimeTokens(ctx context.Context, id AccountID) error {
	_, err := tx.exec(ctx, "drop one-time tokens", `DELETE FROM one_time_tokens WHERE account_id = ?`, id)
	return err
}
