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

// ErrSecondFactor is the answer to a code that is wrong, was used before, or comes too late.
var ErrSecondFactor = errs.Invalid("invalid_token")

// SecondFactor is what proves who somebody is, beside the password.
type SecondFactor string

const (
	TOTP     SecondFactor = "totp"     // a code of an authenticator app (RFC 6238)
	Recovery SecondFactor = "recovery" // a backup code
)

const (
	totpPeriod      = 30 * time.Second
	totpSkew        = 1 // steps that clocks may differ by
	totpSecretBytes = 10
	backupCodeCount = 10
)

// SetUpTOTP draws a secret for somebody's authenticator app. It counts once ConfirmTOTP was given a code made with it; until then
// all is as it was.
func (s *Service) SetUpTOTP(ctx context.Context, id store.AccountID) (secret string, err error) {
	b := make([]byte, totpSecretBytes)
	rand.Read(b)
	secret = base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b)
	return secret, s.changeTOTP(ctx, id, func(_ *store.Tx, u *store.User) error {
		u.TOTPPending = secret
		return nil
	})
}

// ConfirmTOTP makes the secret of SetUpTOTP count, if code was made with it just now. All that was signed in by less is signed out,
// but for the token kept, by which it is asked for; 0 is none.
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

// DisableMFA lets somebody sign in with the password alone again. Their backup codes are void. If there was a second factor, they
// are signed out of all but the token kept; 0 is none.
func (s *Service) DisableMFA(ctx context.Context, id store.AccountID, kept store.TokenID) error {
	return s.changeTOTP(ctx, id, func(tx *store.Tx, u *store.User) error {
		had := u.HasMFA()
		u.TOTPSecret, u.TOTPPending = "", ""
		if err := tx.SetBackupCodes(ctx, id, nil); err != nil || !had {
			return err
		}
		return tx.RevokeOtherTokens(ctx, id, kept)
	})
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

// NewBackupCodes draws codes for the day when somebody's authenticator app is lost. Earlier ones are void.
func (s *Service) NewBackupCodes(ctx context.Context, id store.AccountID) ([]string, error) {
	codes := make([]string, backupCodeCount)
	hashes := make([][]byte, backupCodeCount)
	for i := range codes {
		codes[i] = strings.ToLower(rand.Text()[:12]) // 60 bits
		hashes[i] = keys.HashToken(codes[i])
	}
	return codes, s.db.Update(ctx, func(tx *store.Tx) error { return tx.SetBackupCodes(ctx, id, hashes) })
}

// VerifyMFAChallenge spends the challenge whose SHA-256 is hash, and returns whose it was, if code is right. A wrong one is counted, and
// its error is ErrSecondFactor, like that of a challenge that is not there. Neither challenges nor codes work twice.
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

// consumeSecondFactor tells whether a code is right, and has it count no more.
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

// totpStep returns the step in time for which an app with the secret shows the code, if that is about now.
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
