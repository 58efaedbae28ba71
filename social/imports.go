package social

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"svc/internal/errs"
	"svc/store"
)

const (
	maxUnfinishedImports = 5 // of one account
	maxImportsPerDay     = 20
	importRetryDelay     = 10 * time.Minute // before the first retry of entries whose server did not answer; four times as long before each further one
	importPause          = time.Second      // between two runs of the job, for other imports
)

// MaxImportRetries is how often an import retries entries whose server did not answer: after 10 minutes, 40 minutes and 160 minutes.
const MaxImportRetries = 3

// StartImport queues the import of a list. A user may start maxImportsPerDay a day; staff are not limited.
func (s *Service) StartImport(ctx context.Context, actor *store.Account, kind store.ImportKind, list string, byStaff bool) (*store.Import, error) {
	if !slices.Contains(store.ImportKinds, kind) {
		return nil, errs.BadRequest("Unknown kind of import: %s", kind)
	}
	entries, err := parseImport(kind, list)
	if err != nil {
		return nil, err
	}
	i := &store.Import{AccountID: actor.ID, Kind: kind}
	return i, s.db.Update(ctx, func(tx *store.Tx) error {
		if err := s.checkImports(ctx, tx, actor.ID, byStaff); err != nil {
			return err
		}
		if err := tx.AddImport(ctx, i, entries); err != nil {
			return err
		}
		return tx.EnqueueUnique(ctx, s.db.Now(), store.ImportKey(i.ID), store.RunImport{ImportID: i.ID})
	})
}

// checkImports returns an error if an account may not start an import now.
func (s *Service) checkImports(ctx context.Context, tx *store.Tx, id store.AccountID, byStaff bool) error {
	if byStaff {
		return nil
	}
	recent, err := tx.Imports(ctx, id, maxImportsPerDay)
	if err != nil {
		return err
	}
	unfinished := 0
	for _, i := range recent {
		if i.FinishedAt == nil {
			unfinished++
		}
	}
	if unfinished >= maxUnfinishedImports {
		return &errs.Error{Status: http.StatusTooManyRequests, Message: "Too many imports are running", RetryAfter: importRetryDelay}
	}
	if len(recent) == maxImportsPerDay {
		if age := store.At(recent[len(recent)-1].ID.Time()).Age(s.db.Now()); age < 24*time.Hour {
			return &errs.Error{Status: http.StatusTooManyRequests, Message: "Too many imports today", RetryAfter: 24*time.Hour - age}
		}
	}
	return nil
}

// ImportResult is what became of a batch of entries.
type ImportResult struct {
	Imported []int64 // positions
	Failed   []*store.ImportEntry
}

// RecordImport stores the result of a batch of entries.
func (s *Service) RecordImport(ctx context.Context, id store.ImportID, result ImportResult) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if err := tx.RecordImported(ctx, id, result.Imported); err != nil {
			return err
		}
		for _, e := range result.Failed {
			if err := tx.RecordNotImported(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// ContinueImport queues the next run of the job of an import: soon if entries are left for this run, later if only those are left whose
// server did not answer. Without any, the import is finished.
func (s *Service) ContinueImport(ctx context.Context, run store.RunImport) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		at := s.db.Now().Add(importPause)
		next, err := nextImportRun(ctx, tx, run)
		switch {
		case err != nil:
			return err
		case next == nil:
			return tx.FinishImport(ctx, run.ImportID)
		case next.Retries > run.Retries:
			at = s.db.Now().Add(importRetryDelay << (2 * run.Retries))
		}
		return tx.EnqueueUnique(ctx, at, store.ImportKey(run.ImportID), *next)
	})
}

// nextImportRun returns the job that continues an import, nil if no entries are left.
func nextImportRun(ctx context.Context, tx *store.Tx, run store.RunImport) (*store.RunImport, error) {
	for _, next := range []struct {
		store.RunImport
		state store.ImportState
	}{
		{store.RunImport{ImportID: run.ImportID}, store.ImportNew},
		{run, store.ImportRetry},
		{store.RunImport{ImportID: run.ImportID, Retries: run.Retries + 1}, store.ImportRetry},
	} {
		if next.state == store.ImportRetry && next.Retries == 0 {
			continue // the first run does not retry
		}
		left, err := tx.ImportEntries(ctx, run.ImportID, next.state, next.After, 1)
		if err != nil || len(left) > 0 {
			return &next.RunImport, err
		}
	}
	return nil, nil
}

// StopImport skips the entries that are left of an import, for one reason.
func (s *Service) StopImport(ctx context.Context, id store.ImportID, reason string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SkipRestOfImport(ctx, id, reason); err != nil {
			return err
		}
		return tx.FinishImport(ctx, id)
	})
}

// AddToNamedList adds an account to the owner's list of a title, which is created if there is none. It need not be followed.
func (s *Service) AddToNamedList(ctx context.Context, owner *store.Account, title string, account store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if _, err := availableAccount(ctx, tx, account); err != nil {
			return err
		}
		if blocked, err := tx.BlockBetween(ctx, owner.ID, account); err != nil || blocked {
			return cmp.Or(err, error(errNotAllowed))
		}
		lists, err := tx.Lists(ctx, owner.ID)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(lists, func(l *store.List) bool { return l.Title == title })
		if at < 0 {
			lists, at = []*store.List{{Title: title}}, 0
			if err := createList(ctx, tx, owner, lists[0]); err != nil {
				return err
			}
		}
		return s.addMembers(ctx, tx, lists[at], []store.AccountID{account})
	})
}
