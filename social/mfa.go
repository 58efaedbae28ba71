package social

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/store"
)

// ErrSecondFactor is returned for a code that is wrong, used or too old.
var ErrSecondFactor = errs.Invalid("invalid_token")

// SecondFactor is a kind of proof beside the password.
type SecondFactor string

const (
	TOTP     SecondFactor = "totp"     // a code of an authenticator app (RFC 6238)
	Recovery SecondFactor = "recovery" // a backup code
)

const (
	totpPeriod      = 30 * time.Second
	totpSkew        = 1 // steps of clock skew
	totpSecretBytes = 10
	backupCodeCount = 10
)

// SetUpTOTP generates a secret for an authenticator app. It counts after ConfirmTOTP.
func (s *Service) SetUpTOTP(ctx context.Context, id store.AccountID) (secret string, err error) {
	b := make([]byte, totpSecretBytes)
	rand.Read(b)
	secret = base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b)
	return secret, s.changeTOTP(ctx, id, func(_ *store.Tx, u *store.User) error {
		u.TOTPPending = secret
		return nil
	})
}

// ConfirmTOTP enables the secret of SetUpTOTP if code matches. It revokes all tokens but kept (0: all), because they were issued without
// a second factor.
func (s *Service) ConfirmTOTP(ctx context.Context, id store.AccountID, code string, kept store.TokenID) error {
	return s.changeTOTP(ctx, id, func(tx *store.Tx, u *store.User) error {
		step, ok := s.totpStep(u.TOTPPending, code)
		if !ok {
			return ErrSecondFactor
		}
		u.TOTPSecret, u.TOTPPending, u.TOTPStep = u.TOTPPending, "", step
		return tx.RevokeOtherTokens(ctx, id, kept)
	})
}

// DisableMFA disables the second factor and removes backup codes. If there was one, it revokes all tokens but kept (0: all).
func (s *Service) DisableMFA(ctx context.Context, id store.AccountID, kept store.TokenID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		_, err := s.DisableMFAIn(ctx, tx, id, kept)
		return err
	})
}

// DisableMFAIn is DisableMFA in a transaction. It returns false if there was no second factor.
func (s *Service) DisableMFAIn(ctx context.Context, tx *store.Tx, id store.AccountID, kept store.TokenID) (had bool, err error) {
	u, err := tx.User(ctx, id)
	if err != nil {
		return false, err
	}
	had = u.HasMFA()
	u.TOTPSecret, u.TOTPPending = "", ""
	if err := tx.SetBackupCodes(ctx, id, nil); err != nil {
		return false, err
	}
	if had {
		if err := tx.RevokeOtherTokens(ctx, id, kept); err != nil {
			return false, err
		}
	}
	return had, tx.SetTOTP(ctx, u)
}

func (s *Service) changeTOTP(ctx context.Context, id store.AccountID, change func(*store.Tx, *store.User) error) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		u, err := tx.User(ctx, id)
		if err != nil {
			return err
		}
		if err := change(tx, u); err != nil {
			return err
		}
		return tx.SetTOTP(ctx, u)
	})
}

// NewBackupCodes replaces the backup codes of an account and returns the new ones.
func (s *Service) NewBackupCodes(ctx context.Context, id store.AccountID) ([]string, error) {
	codes := make([]string, backupCodeCount)
	hashes := make([][]byte, backupCodeCount)
	for i := range codes {
		codes[i] = strings.ToLower(rand.Text()[:12]) // 60 bits
		hashes[i] = keys.HashToken(codes[i])
	}
	return codes, s.db.Update(ctx, func(tx *store.Tx) error { return tx.SetBackupCodes(ctx, id, hashes) })
}

// VerifyMFAChallenge consumes the challenge with this SHA-256 hash and returns its user if code is right. A wrong code is counted. A
// missing challenge is ErrSecondFactor, too. Challenges and codes work once.
func (s *Service) VerifyMFAChallenge(ctx context.Context, hash []byte, kind SecondFactor, code string) (*store.User, error) {
	var user *store.User
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		c, err := tx.MFAChallenge(ctx, hash)
		if c == nil || err != nil {
			return err
		}
		u, err := tx.User(ctx, c.AccountID)
		if err != nil {
			return err
		}
		ok, err := s.consumeSecondFactor(ctx, tx, u, kind, code)
		if err != nil {
			return err
		}
		if !ok {
			return tx.CountMFAFailure(ctx, hash)
		}
		user = u
		return tx.RemoveMFAChallenge(ctx, hash)
	})
	if err == nil && user == nil {
		err = ErrSecondFactor
	}
	return user, err
}

// consumeSecondFactor returns true if a code is right, and invalidates it.
func (s *Service) consumeSecondFactor(ctx context.Context, tx *store.Tx, u *store.User, kind SecondFactor, code string) (bool, error) {
	switch kind {
	case TOTP:
		step, ok := s.totpStep(u.TOTPSecret, code)
		if !ok || step <= u.TOTPStep {
			return false, nil
		}
		u.TOTPStep = step
		return true, tx.SetTOTP(ctx, u)
	case Recovery:
		return tx.UseBackupCode(ctx, u.AccountID, keys.HashToken(strings.ToLower(strings.TrimSpace(code))))
	}
	return false, nil
}

// totpStep returns the time step of a code, if it is within the clock skew.
func (s *Service) totpStep(secret, code string) (step int64, ok bool) {
	if secret == "" {
		return 0, false
	}
	code = strings.ReplaceAll(code, " ", "")
	now := s.db.Now().Unix() / int64(totpPeriod.Seconds())
	for at := now - totpSkew; at <= now+totpSkew; at++ {
		want, err := hotp.GenerateCodeCustom(secret, uint64(at), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			step, ok = at, true
		}
	}
	return step, ok
}
