package store

import (
	"context"
	"time"
)

// AccountBackupID is a flake in the API.
type AccountBackupID int64

func (id AccountBackupID) MarshalText() ([]byte, error) { return appendFlake(nil, int64(id)), nil }

func (id AccountBackupID) String() string { return string(appendFlake(nil, int64(id))) }

// UnmarshalText reads a flake; any other text becomes 0.
func (id *AccountBackupID) UnmarshalText(b []byte) error {
	*id = AccountBackupID(parseLocalFlake(string(b)))
	return nil
}

// Time returns when the backup was requested.
func (id AccountBackupID) Time() time.Time { return idTime(int64(id)) }

// BackupState is the state of a backup of an account.
type BackupState string

const (
	BackupPending  BackupState = "pending"
	BackupComplete BackupState = "complete"
	BackupFailed   BackupState = "failed"
)

// AccountBackup is a backup of one account, which its user downloads.
type AccountBackup struct {
	ID        AccountBackupID
	AccountID AccountID
	File      string // anyone with the name can download it
	State     BackupState
	Size      int64 // bytes, once it is complete
	Attempts  int
	LastError string
}

// MakeBackup is the job that makes a backup of an account. An interrupted one starts over.
type MakeBackup struct {
	BackupID AccountBackupID `json:"backup_id"`
}

func (MakeBackup) Kind() JobKind {
	return JobKind{Name: "make_backup", Timeout: NoTimeout, Parallel: 1}
}

// BackupKey is the unique key of the job of a backup.
func BackupKey(id AccountBackupID) string { return "backup:" + id.String() }

// ExpireBackups is the recurring job that removes old backups of accounts, and files that belong to none.
type ExpireBackups struct{}

func (ExpireBackups) Kind() JobKind {
	return JobKind{Name: "expire_backups", Every: 6 * time.Hour, Timeout: 10 * time.Minute, Deletes: true}
}

// AccountBackups returns the backups of an account, newest first.
func (r reader) AccountBackups(ctx context.Context, account AccountID, limit int) ([]*AccountBackup, error) {
	return list[*AccountBackup](ctx, r, "account backups", `
		SELECT *
		FROM account_backups INDEXED BY account_backups_account
		WHERE account_id = ?
		ORDER BY id DESC
		LIMIT ?`, account, limit)
}

// AccountBackup returns a backup, and errs.ErrRecordNotFound if there is none.
func (r reader) AccountBackup(ctx context.Context, id AccountBackupID) (*AccountBackup, error) {
	b, err := one[AccountBackup](ctx, r, "account backup", `SELECT * FROM account_backups WHERE id = ?`, id)
	if b == nil && err == nil {
		err = notFound
	}
	return b, err
}

// AccountBackupByFile returns the backup with a file name, nil if there is none.
func (r reader) AccountBackupByFile(ctx context.Context, file string) (*AccountBackup, error) {
	return one[AccountBackup](ctx, r, "account backup by file", `SELECT * FROM account_backups WHERE file = ?`, file)
}

// AccountBackupsBefore returns backups that were requested before a time, oldest first.
func (r reader) AccountBackupsBefore(ctx context.Context, before time.Time, limit int) ([]*AccountBackup, error) {
	return list[*AccountBackup](ctx, r, "old account backups", `
		SELECT *
		FROM account_backups
		WHERE id < ?
		ORDER BY id
		LIMIT ?`, before.UnixMilli()<<sequenceBits, limit)
}

// AccountBackupsSize returns the bytes of all backups of accounts.
func (r reader) AccountBackupsSize(ctx context.Context) (int64, error) {
	size, err := one[int64](ctx, r, "size of account backups", `SELECT ifnull(sum(size), 0) FROM account_backups`)
	if err != nil {
		return 0, err
	}
	return *size, nil
}

// AddAccountBackup inserts a backup with a new id.
func (tx *Tx) AddAccountBackup(ctx context.Context, b *AccountBackup) error {
	b.ID, b.State = AccountBackupID(tx.newID()), BackupPending
	err := tx.exec(ctx, "add account backup", `
		INSERT INTO account_backups (id, account_id, file)
		VALUES (?, ?, ?)`, b.ID, b.AccountID, b.File)
	return err
}

// SaveAccountBackup writes the state of a backup.
func (tx *Tx) SaveAccountBackup(ctx context.Context, b *AccountBackup) error {
	err := tx.exec(ctx, "save account backup", `
		UPDATE account_backups
		SET state = ?, size = ?, attempts = ?, last_error = ?
		WHERE id = ?`, b.State, b.Size, b.Attempts, truncate(b.LastError, maxErrorBytes), b.ID)
	return err
}

// RemoveAccountBackup deletes the row of a backup. The caller removes its file.
func (tx *Tx) RemoveAccountBackup(ctx context.Context, id AccountBackupID) error {
	err := tx.exec(ctx, "remove account backup", `DELETE FROM account_backups WHERE id = ?`, id)
	return err
}
