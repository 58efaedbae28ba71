package social

import (
	"context"
	"fmt"
	"slices"

	"svc/media"
	"svc/store"
)

// PrunedMedia is what a removal of unused media removed, or would remove.
type PrunedMedia struct {
	Uploads int64 `json:"uploads"` // rows that were attached to nothing for a day
	Files   int64 `json:"files"`
	Bytes   int64 `json:"bytes"` // of the files
}

// PruneMedia removes uploads that are attached to nothing for a day, and then files that nothing refers to. With dryRun it only counts them;
// the files of such uploads count, too.
func (s *Service) PruneMedia(ctx context.Context, dryRun bool) (*PrunedMedia, error) {
	p := new(PrunedMedia)
	if dryRun {
		return p, s.countUnused(ctx, p)
	}
	if err := s.inBatches(ctx, sweepBatch, func(tx *store.Tx) (int64, error) { return tx.MarkDetachedMedia(ctx, sweepBatch) }); err != nil {
		return nil, err
	}
	err := s.inBatches(ctx, sweepBatch, func(tx *store.Tx) (int64, error) {
		n, err := tx.DropDetachedMedia(ctx, unattachedTTL, sweepBatch)
		p.Uploads += n
		return n, err
	})
	if err != nil {
		return nil, err
	}
	if err := s.sweepFiles(ctx, p); err != nil {
		return nil, err
	}
	if p.Files > 0 {
		s.log.Info("removed unused files", "files", p.Files, "bytes", p.Bytes)
	}
	return p, nil
}

// countUnused counts what PruneMedia would remove.
func (s *Service) countUnused(ctx context.Context, p *PrunedMedia) (err error) {
	before := s.db.Now().Add(-unattachedTTL)
	if p.Uploads, err = s.db.CountDetachedMedia(ctx, before); err != nil {
		return err
	}
	pictures, err := s.db.ProfilePictures(ctx)
	if err != nil {
		return err
	}
	return s.eachOldBatch(ctx, func(batch []media.Entry) error {
		used, err := s.db.FilesInUse(ctx, names(batch), before)
		if err != nil {
			return err
		}
		for _, e := range batch {
			if !slices.Contains(used, e.Name) && !slices.Contains(pictures, e.Name) {
				p.Files++
				p.Bytes += e.Size
			}
		}
		return nil
	})
}

// sweepFiles removes files that no row uses.
func (s *Service) sweepFiles(ctx context.Context, p *PrunedMedia) error {
	before := s.db.Now().Add(-unattachedTTL)
	return s.eachOldBatch(ctx, func(batch []media.Entry) error {
		unused, err := unusedFiles(ctx, s.db, names(batch))
		if err != nil || len(unused) == 0 {
			return err
		}
		removed, err := s.removeUnusedFiles(ctx, unused, before)
		p.Files += int64(len(removed))
		for _, e := range batch {
			if slices.Contains(removed, e.Name) {
				p.Bytes += e.Size
			}
		}
		return err
	})
}

// eachOldBatch calls fn for the files that were not stored for a day, some at a time.
func (s *Service) eachOldBatch(ctx context.Context, fn func([]media.Entry) error) error {
	before := s.db.Now().Add(-unattachedTTL)
	var batch []media.Entry
	err := s.files.Walk(ctx, func(e media.Entry) error {
		if e.ModTime.After(before) {
			return nil
		}
		if batch = append(batch, e); len(batch) < sweepBatch {
			return nil
		}
		err := fn(batch)
		batch = batch[:0]
		return err
	})
	if err == nil && len(batch) > 0 {
		err = fn(batch)
	}
	if err != nil {
		return fmt.Errorf("unused files: %w", err)
	}
	return nil
}

func names(entries []media.Entry) []string {
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = e.Name
	}
	return list
}
