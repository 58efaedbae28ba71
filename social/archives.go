package social

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/store"
)

const (
	maxListedArchives  = 40
	maxArchivesPerDay  = 10
	uploadTTL          = 2 * 24 * time.Hour // of an upload of an archive that does not end
	undoneArchiveBatch = 50                 // posts in a transaction
)

// NewArchive is an archive to import into an account.
type NewArchive struct {
	File     string // name in the folder imports, or a path that an operator named
	Uploaded bool   // the file is removed when it is no longer needed
	Size     int64  // bytes of an upload that follows; 0: the file is there
	ByStaff  bool   // its origin need not be an alias of the account, and archives are not limited
	Public   bool   // public posts stay public; otherwise they become unlisted
	Emoji    bool   // custom emoji are copied into a pack; only by staff
	Origin   string // handle
	ActorURI string
}

// ImportedArchives returns the archives of an account, newest first.
func (s *Service) ImportedArchives(ctx context.Context, account store.AccountID) ([]*store.Archive, error) {
	return s.db.Archives(ctx, account, maxListedArchives)
}

// AddArchive stores an archive of an account and queues its import, or waits for its upload. An account may import one at a time, and
// maxArchivesPerDay a day; staff are not limited by the latter.
func (s *Service) AddArchive(ctx context.Context, account *store.Account, n NewArchive) (*store.Archive, error) {
	a := &store.Archive{
		AccountID: account.ID, File: n.File, Uploaded: n.Uploaded, ByStaff: n.ByStaff, Public: n.Public, Origin: n.Origin, ActorURI: n.ActorURI,
		Emoji: n.Emoji && n.ByStaff,
		State: store.ArchiveQueued, Size: n.Size,
	}
	if n.Size > 0 {
		a.State = store.ArchiveUploading
	}
	return a, s.db.Update(ctx, func(tx *store.Tx) error {
		if err := s.checkArchives(ctx, tx, account.ID, n.ByStaff); err != nil {
			return err
		}
		if err := tx.AddArchive(ctx, a); err != nil || a.State == store.ArchiveUploading {
			return err
		}
		return s.enqueueArchive(ctx, tx, a.ID)
	})
}

func (s *Service) enqueueArchive(ctx context.Context, tx *store.Tx, id store.ArchiveID) error {
	return tx.EnqueueUnique(ctx, s.db.Now(), store.ArchiveKey(id), store.RunArchive{ArchiveID: id})
}

// checkArchives returns an error if an account may not import an archive now.
func (s *Service) checkArchives(ctx context.Context, tx *store.Tx, id store.AccountID, byStaff bool) error {
	recent, err := tx.Archives(ctx, id, maxListedArchives)
	if err != nil {
		return err
	}
	today := 0
	for _, a := range recent {
		switch a.State {
		case store.ArchiveUploading, store.ArchiveQueued, store.ArchiveUndoing:
			return errs.Conflict("Another archive is being imported or undone: wait until that is finished, or undo it")
		}
		if store.At(a.ID.Time()).Age(s.db.Now()) < 24*time.Hour {
			today++
		}
	}
	if today >= maxArchivesPerDay && !byStaff {
		return &errs.Error{Status: http.StatusTooManyRequests, Message: "Too many archives today", RetryAfter: 24 * time.Hour}
	}
	if len(recent) >= maxListedArchives {
		return removeEmptyArchive(ctx, tx, recent)
	}
	return nil
}

// removeEmptyArchive removes the oldest of the archives of an account from which no post is left, or returns an error if there is none.
func removeEmptyArchive(ctx context.Context, tx *store.Tx, newestFirst []*store.Archive) error {
	for _, a := range slices.Backward(newestFirst) {
		posts, err := tx.StatusesOfArchive(ctx, a.ID, 1)
		if err != nil {
			return err
		}
		if len(posts) == 0 {
			return tx.RemoveArchive(ctx, a.ID)
		}
	}
	return errs.Conflict("The account has too many archives: undo one of them")
}

// RecordUpload stores how much of an upload has arrived.
func (s *Service) RecordUpload(ctx context.Context, id store.ArchiveID, received int64) (*store.Archive, error) {
	return s.changeArchive(ctx, id, func(_ *store.Tx, a *store.Archive) error {
		if a.State != store.ArchiveUploading {
			return errs.Conflict("The upload has ended")
		}
		a.Received = received
		return nil
	})
}

// QueueArchive queues the import of a complete upload, whose origin is known now.
func (s *Service) QueueArchive(ctx context.Context, id store.ArchiveID, origin, actorURI string) (*store.Archive, error) {
	return s.changeArchive(ctx, id, func(tx *store.Tx, a *store.Archive) error {
		if a.State != store.ArchiveUploading {
			return errs.Conflict("The upload has ended")
		}
		a.State, a.Origin, a.ActorURI = store.ArchiveQueued, origin, actorURI
		return s.enqueueArchive(ctx, tx, a.ID)
	})
}

// SetArchiveOrigin stores the account that an archive is of, and how many entries its outbox has.
func (s *Service) SetArchiveOrigin(ctx context.Context, id store.ArchiveID, origin, actorURI string, total int) error {
	_, err := s.changeArchive(ctx, id, func(_ *store.Tx, a *store.Archive) error {
		a.Origin, a.ActorURI, a.Total = origin, actorURI, total
		return nil
	})
	return err
}

// FinishArchive records the end of an import: failure is "", or says what happened and what to do.
func (s *Service) FinishArchive(ctx context.Context, id store.ArchiveID, failure string) error {
	_, err := s.changeArchive(ctx, id, func(_ *store.Tx, a *store.Archive) error {
		if a.State != store.ArchiveQueued && a.State != store.ArchiveUploading {
			return nil
		}
		a.State, a.Error, a.FinishedAt = store.ArchiveComplete, failure, new(store.At(s.db.Now()))
		if failure != "" {
			a.State = store.ArchiveFailed
		}
		return nil
	})
	return errs.IgnoreNotFound(err)
}

func (s *Service) changeArchive(ctx context.Context, id store.ArchiveID, change func(*store.Tx, *store.Archive) error) (*store.Archive, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.Archive, error) {
		a, err := tx.Archive(ctx, id)
		if err != nil {
			return nil, err
		}
		if err := change(tx, a); err != nil {
			return nil, err
		}
		return a, tx.SaveArchive(ctx, a)
	})
}

// UndoArchive stops the import of an archive and queues the removal of all posts that came from it. Undoing twice is not an error.
func (s *Service) UndoArchive(ctx context.Context, account store.AccountID, id store.ArchiveID) (*store.Archive, error) {
	return s.changeArchive(ctx, id, func(tx *store.Tx, a *store.Archive) error {
		if a.AccountID != account {
			return errs.ErrRecordNotFound
		}
		if a.State == store.ArchiveUndone {
			return nil
		}
		a.State, a.FinishedAt = store.ArchiveUndoing, nil
		return s.enqueueArchive(ctx, tx, id)
	})
}

// RemoveImportedPosts deletes a batch of the posts of an archive that is undone, with their media, and returns false when none is left: then the
// archive is recorded as undone. Nothing is federated.
func (s *Service) RemoveImportedPosts(ctx context.Context, id store.ArchiveID) (more bool, err error) {
	return update(ctx, s.db, func(tx *store.Tx) (bool, error) {
		a, err := tx.Archive(ctx, id)
		if err != nil || a.State != store.ArchiveUndoing {
			return false, errs.IgnoreNotFound(err)
		}
		posts, err := tx.StatusesOfArchive(ctx, id, undoneArchiveBatch)
		if err != nil {
			return false, err
		}
		if len(posts) == 0 {
			a.State, a.Position, a.Imported, a.Files, a.Skipped, a.FinishedAt = store.ArchiveUndone, 0, 0, 0, 0, new(store.At(s.db.Now()))
			if err := errors.Join(tx.ClearArchiveSkips(ctx, id), tx.ForgetRemovedOriginals(ctx, id)); err != nil {
				return false, err
			}
			return false, tx.SaveArchive(ctx, a)
		}
		return true, s.removeImported(ctx, tx, posts)
	})
}

// removeImported deletes imported posts, and the files of their media.
func (s *Service) removeImported(ctx context.Context, tx *store.Tx, posts []*store.Status) error {
	var files []string
	for _, st := range posts {
		media, err := tx.MediaOf(ctx, []store.StatusID{st.ID})
		if err != nil {
			return err
		}
		for _, m := range media {
			files = append(files, m.Files()...)
		}
		if err := tx.DeleteMediaOf(ctx, st.ID); err != nil {
			return err
		}
		if err := removeStatus(ctx, tx, st); err != nil {
			return err
		}
	}
	return s.enqueueRemoveFiles(ctx, tx, files)
}

// StaleUploads returns uploads of archives that began uploadTTL ago and have not ended.
func (s *Service) StaleUploads(ctx context.Context) ([]*store.Archive, error) {
	return s.db.UnfinishedUploads(ctx, s.db.Now().Add(-uploadTTL), maxListedArchives)
}
