package admin

import (
	"context"
	"time"

	"svc/social"
	"svc/store"
)

// Import is an import of an account.
type Import struct {
	ID         int64            `json:"id"`
	Kind       store.ImportKind `json:"kind"`
	Total      int              `json:"total"`    // entries
	Imported   int              `json:"imported"` // of these
	Skipped    int              `json:"skipped"`  // of these
	StartedAt  time.Time        `json:"started_at"`
	FinishedAt *time.Time       `json:"finished_at"` // nil: not yet
}

// NewImport returns an import as commands show it.
func NewImport(row *store.Import) *Import {
	i := &Import{ID: int64(row.ID), Kind: row.Kind, Total: row.Total, Imported: row.Imported, Skipped: row.Skipped, StartedAt: row.ID.Time()}
	if row.FinishedAt != nil {
		at := row.FinishedAt.Time()
		i.FinishedAt = &at
	}
	return i
}

// ImportList is a list to import for an account.
type ImportList struct {
	Name string           `json:"name"`
	Kind store.ImportKind `json:"kind"`
	List string           `json:"list"`
}

// StartImport queues the import of a list. There is no limit of imports a day.
func (s *Service) StartImport(ctx context.Context, l ImportList) (*Import, error) {
	account, _, err := s.findUser(ctx, s.db, l.Name)
	if err != nil {
		return nil, err
	}
	i, err := s.social.StartImport(ctx, account, l.Kind, l.List, true)
	if err != nil {
		return nil, err
	}
	if err := s.db.Update(ctx, func(tx *store.Tx) error {
		return s.recordUsers(ctx, tx, "import", "started an import of "+string(l.Kind)+" for users", account)
	}); err != nil {
		return nil, err
	}
	s.log.Info("import started", "account", account.ID, "kind", l.Kind, "entries", i.Total)
	return NewImport(i), nil
}

// maxListedImports bounds the list of imports of an account.
const maxListedImports = 50

// Imports returns the imports of an account, newest first.
func (s *Service) Imports(ctx context.Context, name string) ([]*Import, error) {
	account, _, err := s.findUser(ctx, s.db, name)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.Imports(ctx, account.ID, maxListedImports)
	list := make([]*Import, 0, len(rows))
	for _, row := range rows {
		list = append(list, NewImport(row))
	}
	return list, err
}

// SkippedPage selects a page of the entries that an import skipped.
type SkippedPage struct {
	ImportID int64 `json:"import_id"`
	After    int   `json:"after"` // position of the last entry of the page before
}

// SkippedEntry is an entry that an import skipped, and why.
type SkippedEntry struct {
	Position int    `json:"position"` // in the file, from 1 on
	Entry    string `json:"entry"`
	Reason   string `json:"reason"`
}

const skippedPageSize = 1000

// SkippedEntries returns a page of the entries that an import skipped, in the order of the file.
func (s *Service) SkippedEntries(ctx context.Context, p SkippedPage) ([]SkippedEntry, error) {
	rows, err := s.db.ImportEntries(ctx, store.ImportID(p.ImportID), store.ImportSkipped, p.After, skippedPageSize)
	list := make([]SkippedEntry, 0, len(rows))
	for _, row := range rows {
		list = append(list, SkippedEntry{row.Position, row.Target, row.Reason})
	}
	return list, err
}

// ExportPage selects a page of an export of an account.
type ExportPage struct {
	Name string              `json:"name"`
	Kind store.ImportKind    `json:"kind"`
	From social.ExportCursor `json:"from"`
}

// ExportedPage is a page of an export.
type ExportedPage struct {
	Rows [][]string           `json:"rows"`
	Next *social.ExportCursor `json:"next"` // nil: this is the last one
}

// Export returns a page of an export, as social.Export does.
func (s *Service) Export(ctx context.Context, p ExportPage) (*ExportedPage, error) {
	account, _, err := s.findUser(ctx, s.db, p.Name)
	if err != nil {
		return nil, err
	}
	rows, next, err := s.social.Export(ctx, account.ID, p.Kind, p.From)
	return &ExportedPage{rows, next}, err
}

// AccountBackup is a backup of an account.
type AccountBackup struct {
	ID    int64             `json:"id"`
	State store.BackupState `json:"state"`
	Size  int64             `json:"size"`
	URL   string            `json:"url"`
	Error string            `json:"error"` // of the last attempt
}

// NewAccountBackup returns a backup that can be downloaded from a URL, as commands show it.
func NewAccountBackup(row *store.AccountBackup, url string) *AccountBackup {
	return &AccountBackup{ID: int64(row.ID), State: row.State, Size: row.Size, URL: url, Error: row.LastError}
}

// BackupAccount queues a backup of an account, however old the last one is.
func (s *Service) BackupAccount(ctx context.Context, name string) (*AccountBackup, error) {
	account, _, err := s.findUser(ctx, s.db, name)
	if err != nil {
		return nil, err
	}
	b, err := s.social.RequestBackup(ctx, account.ID, true)
	if err != nil {
		return nil, err
	}
	if err := s.db.Update(ctx, func(tx *store.Tx) error {
		return s.record(ctx, tx, "create_backup", "requested account backup for @"+account.Acct(), subjects([]*store.Account{account}))
	}); err != nil {
		return nil, err
	}
	s.log.Info("backup of an account requested", "account", account.ID)
	return NewAccountBackup(b, s.social.BackupURL(b)), nil
}
