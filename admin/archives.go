package admin

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/moving"
	"svc/store"
)

// Archives imports archives of persons into local accounts.
type Archives struct {
	staff    *Service
	importer *moving.Importer
}

// NewArchives returns Archives that records in the moderation log of s.
func NewArchives(s *Service, importer *moving.Importer) *Archives { return &Archives{s, importer} }

// Archive is the import of an archive, as commands show it.
type Archive struct {
	ID         string             `json:"id"`
	Origin     string             `json:"origin"` // handle of the account that it is of; "": not known yet
	State      store.ArchiveState `json:"state"`
	Total      int                `json:"total"`    // entries of its outbox
	Position   int                `json:"position"` // how many of these are processed
	Imported   int                `json:"imported"` // posts
	Files      int                `json:"files"`
	Skipped    int                `json:"skipped"`
	Error      string             `json:"error"`
	StartedAt  time.Time          `json:"started_at"`
	FinishedAt *time.Time         `json:"finished_at"` // nil: not yet
}

// NewArchive returns an archive as commands show it.
func NewArchive(row *store.Archive) *Archive {
	a := &Archive{
		ID: row.ID.String(), Origin: row.Origin, State: row.State, Total: row.Total, Position: row.Position, Imported: row.Imported, Files: row.Files,
		Skipped: row.Skipped, Error: row.Error, StartedAt: row.ID.Time(),
	}
	if row.FinishedAt != nil {
		a.FinishedAt = new(row.FinishedAt.Time())
	}
	return a
}

// ArchiveImport is an archive to import for an account.
type ArchiveImport struct {
	Name   string `json:"name"`
	File   string `json:"file"` // name in the folder imports, or a path from a command
	Public bool   `json:"public"`
	Emoji  bool   `json:"emoji"`  // custom emoji are copied into a pack
	Origin string `json:"origin"` // handle or actor id, for an archive that does not name its account
}

// As is Service.As.
func (s *Archives) As(actor *store.Account) *Archives {
	return &Archives{s.staff.As(actor), s.importer}
}

// Start queues the import of an archive, of whatever account it is.
func (s *Archives) Start(ctx context.Context, i ArchiveImport) (*Archive, error) {
	a, err := s.start(ctx, i)
	if err != nil {
		return nil, err
	}
	return NewArchive(a), nil
}

// StartFromFolder is Start for a file or folder in the folder imports, the only one from which the API reads files.
func (s *Archives) StartFromFolder(ctx context.Context, i ArchiveImport) (*store.Archive, error) {
	if !filepath.IsLocal(i.File) || filepath.Base(i.File) != i.File || strings.HasPrefix(i.File, ".") {
		return nil, errs.BadRequest("%q is not the name of a file in imports/", i.File)
	}
	if info, err := os.Lstat(filepath.Join(s.importer.Dir, i.File)); err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return nil, errs.BadRequest("There is no file %q in imports/", i.File)
	}
	return s.start(ctx, i)
}

func (s *Archives) start(ctx context.Context, i ArchiveImport) (*store.Archive, error) {
	account, _, err := s.staff.findUser(ctx, s.staff.db, i.Name)
	if err != nil {
		return nil, err
	}
	a, err := s.importer.Start(ctx, account, moving.NewImport{File: i.File, ByStaff: true, Public: i.Public, Emoji: i.Emoji, Origin: i.Origin})
	if err != nil {
		return nil, err
	}
	if err := s.staff.db.Update(ctx, func(tx *store.Tx) error {
		return s.staff.recordUsers(ctx, tx, "import_archive", "imported the archive of @"+a.Origin+" for users", account)
	}); err != nil {
		return nil, err
	}
	s.staff.log.Info("import of an archive started", "account", account.ID, "archive", a.ID)
	return a, nil
}

// List returns the archives of an account, newest first.
func (s *Archives) List(ctx context.Context, name string) ([]*Archive, error) {
	account, _, err := s.staff.findUser(ctx, s.staff.db, name)
	if err != nil {
		return nil, err
	}
	rows, err := s.staff.social.ImportedArchives(ctx, account.ID)
	list := make([]*Archive, 0, len(rows))
	for _, row := range rows {
		list = append(list, NewArchive(row))
	}
	return list, err
}

// Undo queues the removal of everything that came from an archive.
func (s *Archives) Undo(ctx context.Context, id string) (*Archive, error) {
	row, err := s.staff.db.Archive(ctx, store.ParseID[store.ArchiveID](id))
	if err != nil {
		return nil, missingArchive(err, id)
	}
	account, err := s.staff.db.Account(ctx, row.AccountID)
	if err != nil {
		return nil, err
	}
	a, err := s.staff.social.UndoArchive(ctx, account.ID, row.ID)
	if err != nil {
		return nil, err
	}
	if err := s.staff.db.Update(ctx, func(tx *store.Tx) error {
		return s.staff.recordUsers(ctx, tx, "undo_archive", "undid the import of the archive of @"+a.Origin+" for users", account)
	}); err != nil {
		return nil, err
	}
	s.staff.log.Info("import of an archive undone", "account", account.ID, "archive", a.ID)
	return NewArchive(a), nil
}

// Wait waits up to d for the end of an import or of its undoing, and returns the archive.
func (s *Archives) Wait(ctx context.Context, id string, d time.Duration) (*Archive, error) {
	a, err := s.importer.Wait(ctx, store.ParseID[store.ArchiveID](id), d)
	if err != nil {
		return nil, missingArchive(err, id)
	}
	return NewArchive(a), nil
}

// ArchiveSkipPage selects a page of what an archive has skipped.
type ArchiveSkipPage struct {
	ID    string `json:"id"`
	After int64  `json:"after"` // the last one of the page before
}

// ArchiveSkip is a post or file of an archive that was not imported, and why.
type ArchiveSkip struct {
	ID     int64  `json:"id"`
	Item   string `json:"item"`
	Reason string `json:"reason"`
}

// Skipped returns a page of what an archive has skipped, in its order.
func (s *Archives) Skipped(ctx context.Context, p ArchiveSkipPage) ([]ArchiveSkip, error) {
	rows, err := s.staff.db.ArchiveSkips(ctx, store.ParseID[store.ArchiveID](p.ID), p.After, skippedPageSize)
	list := make([]ArchiveSkip, 0, len(rows))
	for _, row := range rows {
		list = append(list, ArchiveSkip{row.ID, row.Item, row.Reason})
	}
	return list, err
}

// missingArchive says which archive there is not.
func missingArchive(err error, id string) error {
	if errs.IsNotFound(err) {
		return errs.NotFound("there is no archive %s: svc user import NICK --list shows them", id)
	}
	return err
}
