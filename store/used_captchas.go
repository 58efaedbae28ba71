package store

import (
	"context"
	"time"
)

// CaptchaUsed returns true if an account was registered with the captcha of a token, given as its SHA-256 hash.
func (r reader) CaptchaUsed(ctx context.Context, hash []byte) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM used_captchas WHERE hash = ?`, hash)
}

// UseCaptcha stores that a captcha is used. The row is kept until expiry, when the captcha is no longer valid.
func (tx *Tx) UseCaptcha(ctx context.Context, hash []byte, expiry time.Time) error {
	return tx.exec(ctx, "use captcha", `INSERT INTO used_captchas (hash, expires_at) VALUES (?, ?)`, hash, At(expiry))
}
