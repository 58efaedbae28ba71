package social

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"svc/internal/errs"
	"svc/store"
)

const (
	maxAccountBackups   = 20 // of one account that are listed
	maxBackupAttempts   = 5
	expireBackupsBatch  = 100
	backupNameTime      = "20060102T150405"
	orphanedBackupGrace = time.Hour // before a file without a row is removed
)

// BackupURL returns the address from which a backup can be downloaded.
func (s *Service) BackupURL(b *store.AccountBackup) string {
	return s.Settings.BaseURL + "/media/backups/" + b.File
}

// AccountBackups returns the backups of an account, newest first.
func (s *Service) AccountBackups(ctx context.Context, id store.AccountID) ([]*store.AccountBackup, error) {
	return s.db.AccountBackups(ctx, id, maxAccountBackups)
}

// DownloadableBackup returns the complete backup with a file name.
func (s *Service) DownloadableBackup(ctx context.Context, file string) (*store.AccountBackup, error) {
	b, err := s.db.AccountBackupByFile(ctx, file)
	if err != nil {
		return nil, err
	}
	if b == nil || b.State != store.BackupComplete || s.db.Now().Sub(b.ID.Time()) > s.Settings.Load().Accounts.BackupLifetime {
		return nil, errs.ErrRecordNotFound
	}
	account, err := s.db.Account(ctx, b.AccountID)
	if err == nil && account.DeletedAt != nil {
		err = errs.ErrRecordNotFound
	}
	return b, err
}

// RequestBackup queues a backup of an account. A user may request one in accounts.backup_interval; staff are not limited. While one is pending,
// staff get that one.
func (s *Service) RequestBackup(ctx context.Context, id store.AccountID, byStaff bool) (*store.AccountBackup, error) {
	if err := s.Archives.CheckSpace(ctx); err != nil {
		return nil, err
	}
	missing, err := s.missingBackups(ctx, id)
	if err != nil {
		return nil, err
	}
	var b *store.AccountBackup
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		account, err := tx.Account(ctx, id)
		if err != nil {
			return err
		}
		pending, err := s.checkBackups(ctx, tx, id, missing, byStaff)
		if err != nil || pending != nil {
			b = pending
			return err
		}
		size, err := tx.AccountBackupsSize(ctx)
		if err != nil {
			return err
		}
		if size >= s.Settings.Load().Accounts.BackupStorageLimit {
			return errs.New(http.StatusInsufficientStorage, "Not enough storage for backups")
		}
		b = &store.AccountBackup{AccountID: id, File: s.newBackupName(account)}
		if err := tx.AddAccountBackup(ctx, b); err != nil {
			return err
		}
		return tx.EnqueueUnique(ctx, s.db.Now(), store.BackupKey(b.ID), store.MakeBackup{BackupID: b.ID})
	})
	return b, err
}

// checkBackups returns an error if an account may not have another backup now. For staff it returns the pending one. It removes failed
// backups and those whose file is missing, because the database was restored without it; they do not count.
func (s *Service) checkBackups(ctx context.Context, tx *store.Tx, id store.AccountID, missing map[store.AccountBackupID]bool, byStaff bool) (pending *store.AccountBackup, err error) {
	backups, err := tx.AccountBackups(ctx, id, maxAccountBackups)
	if err != nil {
		return nil, err
	}
	interval := s.Settings.Load().Accounts.BackupInterval
	for _, b := range backups {
		switch {
		case b.State == store.BackupFailed, missing[b.ID]:
			if err := tx.RemoveAccountBackup(ctx, b.ID); err != nil {
				return nil, err
			}
		case byStaff && b.State == store.BackupPending:
			return b, nil
		case !byStaff && store.At(b.ID.Time()).Age(s.db.Now()) < interval:
			return nil, errs.BadRequest("Last export was less than %s ago", dayCount(interval))
		}
	}
	return nil, nil
}

// dayCount returns a duration as the error of backups says it.
func dayCount(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == day:
		return "a day"
	case d%day == 0:
		return errs.New(0, "%d days", d/day).Message
	}
	return d.String()
}

// newBackupName returns the name of a file. Its random part is what protects it.
func (s *Service) newBackupName(a *store.Account) string {
	secret := make([]byte, 32)
	rand.Read(secret)
	return "archive-" + a.Nickname + "-" + s.db.Now().UTC().Format(backupNameTime) + "-" + base64.RawURLEncoding.EncodeToString(secret) + ".zip"
}

// CompleteBackup records that the file of a backup is complete. It removes the older backups of the account and sends a mail.
func (s *Service) CompleteBackup(ctx context.Context, id store.AccountBackupID, size int64) error {
	var old []*store.AccountBackup
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		b, err := tx.AccountBackup(ctx, id)
		if err != nil || b.State == store.BackupComplete {
			return err
		}
		b.State, b.Size, b.LastError = store.BackupComplete, size, ""
		if err := tx.SaveAccountBackup(ctx, b); err != nil {
			return err
		}
		backups, err := tx.AccountBackups(ctx, b.AccountID, maxAccountBackups)
		if err != nil {
			return err
		}
		for _, other := range backups {
			if other.ID < b.ID {
				old = append(old, other)
				if err := tx.RemoveAccountBackup(ctx, other.ID); err != nil {
					return err
				}
			}
		}
		return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailBackupReady, AccountID: b.AccountID, Values: map[string]string{"link": s.BackupURL(b)}})
	})
	if err != nil {
		return err
	}
	return s.removeBackupFiles(ctx, old)
}

// BackupAttemptFailed counts a failed attempt to make a backup. It returns true if there is another one.
func (s *Service) BackupAttemptFailed(ctx context.Context, id store.AccountBackupID, failure error) (again bool, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		b, err := tx.AccountBackup(ctx, id)
		if err != nil {
			return errs.IgnoreNotFound(err)
		}
		b.Attempts++
		b.LastError = failure.Error()
		if again = b.Attempts < maxBackupAttempts; !again {
			b.State = store.BackupFailed
		}
		return tx.SaveAccountBackup(ctx, b)
	})
	return again, err
}

// RemainingBackupStorage returns how many bytes a new backup may have.
func (s *Service) RemainingBackupStorage(ctx context.Context) (int64, error) {
	size, err := s.db.AccountBackupsSize(ctx)
	limits := s.Settings.Load().Accounts
	return max(0, min(limits.BackupSizeLimit, limits.BackupStorageLimit-size)), err
}

// expireBackups is the recurring job that removes backups after accounts.backup_lifetime, and files without a row.
func (s *Service) expireBackups(ctx context.Context, _ store.ExpireBackups) error {
	for {
		expired, err := s.db.AccountBackupsBefore(ctx, s.db.Now().Add(-s.Settings.Load().Accounts.BackupLifetime), expireBackupsBatch)
		if err != nil {
			return err
		}
		if err := s.removeBackups(ctx, expired); err != nil || len(expired) < expireBackupsBatch {
			return errors.Join(err, s.removeOrphanedBackups(ctx))
		}
	}
}

// removeOrphanedBackups removes files without a row, as an interruption leaves them.
func (s *Service) removeOrphanedBackups(ctx context.Context) error {
	return s.Archives.Walk(ctx, time.Now().Add(-orphanedBackupGrace), func(name string) error {
		b, err := s.db.AccountBackupByFile(ctx, name)
		if b != nil || err != nil {
			return err
		}
		return s.Archives.Remove(ctx, name)
	})
}

// removeBackups removes rows of backups, then their files. A file that stays by an interruption is removed as one without a row.
func (s *Service) removeBackups(ctx context.Context, backups []*store.AccountBackup) error {
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		for _, b := range backups {
			if err := tx.RemoveAccountBackup(ctx, b.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.removeBackupFiles(ctx, backups)
}

func (s *Service) removeBackupFiles(ctx context.Context, backups []*store.AccountBackup) error {
	for _, b := range backups {
		if err := s.Archives.Remove(ctx, b.File); err != nil {
			return err
		}
	}
	return nil
}

// purgeBackups removes the backups of a deleted account.
func (s *Service) purgeBackups(ctx context.Context, id store.AccountID) error {
	backups, err := s.db.AccountBackups(ctx, id, expireBackupsBatch)
	if err != nil || len(backups) == 0 {
		return err
	}
	return s.removeBackups(ctx, backups)
}

// missingBackups returns the complete backups of an account whose file is missing. They are looked for before a transaction, because a bucket may take
// its time.
func (s *Service) missingBackups(ctx context.Context, id store.AccountID) (map[store.AccountBackupID]bool, error) {
	backups, err := s.db.AccountBackups(ctx, id, maxAccountBackups)
	missing := make(map[store.AccountBackupID]bool)
	for _, b := range backups {
		if b.State == store.BackupComplete {
			there, err := s.Archives.Has(ctx, b.File)
			missing[b.ID] = !there && err == nil
		}
	}
	return missing, err
}
