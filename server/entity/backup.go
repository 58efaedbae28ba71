package entity

import "svc/store"

// Backup is a backup of the viewer's account (spec 2.5).
type Backup struct {
	ID          store.AccountBackupID `json:"id"`
	ContentType string                `json:"content_type"`
	FileSize    int64                 `json:"file_size"` // 0 until it is processed
	InsertedAt  store.Time            `json:"inserted_at"`
	Processed   bool                  `json:"processed"`
	State       store.BackupState     `json:"state"`
	URL         string                `json:"url"`
}

// NewBackup renders a backup that can be downloaded from a URL.
func NewBackup(row *store.AccountBackup, url string) Backup {
	return Backup{
		ID: row.ID, ContentType: "application/zip", FileSize: row.Size, InsertedAt: store.At(row.ID.Time()),
		Processed: row.State == store.BackupComplete, State: row.State, URL: url,
	}
}
