package social

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/media"
	"svc/store"
)

// MediaCheck is a part of the check of all uploads and files.
type MediaCheck struct {
	From   string `json:"from"`   // where the part before ended; "" starts
	Repair bool   `json:"repair"` // what can be repaired
}

// MediaChecked is the result of a part.
type MediaChecked struct {
	Next     string          `json:"next"` // where the next part starts; "" after the last one
	Done     int64           `json:"done"`
	Total    int64           `json:"total"`
	Problems []*MediaProblem `json:"problems"`
}

// MediaProblem is a row or a file that is not as it should be.
type MediaProblem struct {
	Kind     string         `json:"kind"`
	File     string         `json:"file"`
	Media    *store.MediaID `json:"media_id,omitempty"`
	Bytes    int64          `json:"bytes,omitempty"`
	Repaired bool           `json:"repaired"`
}

// Kinds of problems.
const (
	MissingFile      = "missing_file"      // an upload has no file; repaired if it is attached to nothing, by deleting it
	MissingThumbnail = "missing_thumbnail" // repaired: the upload is shown without one
	MissingPicture   = "missing_picture"   // a profile has no file; not repaired
	WrongSize        = "wrong_size"        // the row has another size than the file; repaired
	DamagedFile      = "damaged_file"      // the content does not have the hash that is its name; not repaired
	UnusedFile       = "unused_file"       // nothing refers to the file; repaired by removing it
)

const (
	checkBatch   = 500 // uploads at a time
	checkFolders = "folder:"
	checkTime    = 5 * time.Second // of a part
	maxProblems  = 5000            // in a part; the folder or batch being checked is finished
)

// CheckMedia checks a part of the uploads, of the pictures of profiles, and of the files. A part is small, so that it does not take long.
func (s *Service) CheckMedia(ctx context.Context, c MediaCheck) (*MediaChecked, error) {
	until := time.Now().Add(checkTime)
	problems := []*MediaProblem{}
	for {
		r, err := s.checkStep(ctx, c)
		if err != nil {
			return nil, err
		}
		problems = append(problems, r.Problems...)
		if r.Next == "" || time.Now().After(until) || len(problems) > maxProblems {
			r.Problems = problems
			return r, nil
		}
		c.From = r.Next
	}
}

// checkStep checks some uploads or one folder.
func (s *Service) checkStep(ctx context.Context, c MediaCheck) (*MediaChecked, error) {
	r := &MediaChecked{Total: media.Folders + 1}
	if folder, ok := strings.CutPrefix(c.From, checkFolders); ok {
		n, err := strconv.Atoi(folder)
		if err != nil || n < 0 || n >= media.Folders {
			return nil, errs.Invalid("There is no folder %q", folder)
		}
		r.Done = int64(n) + 2
		if n+1 < media.Folders {
			r.Next = checkFolders + strconv.Itoa(n+1)
		}
		return r, s.checkFolder(ctx, n, c.Repair, r)
	}
	var after store.MediaID
	if c.From != "" {
		n, err := strconv.ParseInt(c.From, 10, 64)
		if err != nil {
			return nil, errs.Invalid("There is no upload %q", c.From)
		}
		after = store.MediaID(n)
	}
	rows, err := s.db.UploadsAfter(ctx, after, checkBatch)
	if err != nil {
		return nil, err
	}
	for _, m := range rows {
		if err := s.checkUpload(ctx, m, c.Repair, r); err != nil {
			return nil, err
		}
	}
	if len(rows) == checkBatch {
		r.Next = strconv.FormatInt(int64(rows[len(rows)-1].ID), 10)
		return r, nil
	}
	r.Next, r.Done = checkFolders+"0", 1
	return r, s.checkPictures(ctx, r)
}

// checkUpload checks that the files of an upload exist and have the right size.
func (s *Service) checkUpload(ctx context.Context, m *store.Media, repair bool, r *MediaChecked) error {
	entry, err := s.files.Stat(m.File)
	if err != nil {
		return err
	}
	switch {
	case entry == nil:
		p := r.add(MissingFile, m.File, &m.ID, m.Size)
		if repair && m.Detached() {
			p.Repaired = true
			return s.db.Update(ctx, func(tx *store.Tx) error { return tx.DeleteDetachedMedia(ctx, m.ID) })
		}
		return nil
	case entry.Size != m.Size:
		if intact, err := s.files.Intact(ctx, m.File); err != nil || !intact {
			return err // the check of its folder reports it
		}
		p := r.add(WrongSize, m.File, &m.ID, m.Size)
		if p.Repaired = repair; repair {
			if err := s.db.Update(ctx, func(tx *store.Tx) error { return tx.SetMediaSize(ctx, m.ID, entry.Size) }); err != nil {
				return err
			}
		}
	}
	if m.Thumbnail == "" {
		return nil
	}
	if entry, err = s.files.Stat(m.Thumbnail); err != nil || entry != nil {
		return err
	}
	p := r.add(MissingThumbnail, m.Thumbnail, &m.ID, 0)
	if p.Repaired = repair; !repair {
		return nil
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		current, err := tx.OwnMedia(ctx, m.AccountID, m.ID)
		if err != nil || current.Thumbnail != m.Thumbnail {
			return errs.IgnoreNotFound(err) // changed meanwhile
		}
		current.Thumbnail, current.PreviewWidth, current.PreviewHeight = "", 0, 0
		return tx.DescribeMedia(ctx, current)
	})
}

// checkPictures checks that the pictures of local profiles exist.
func (s *Service) checkPictures(ctx context.Context, r *MediaChecked) error {
	pictures, err := s.db.ProfilePictures(ctx)
	if err != nil {
		return err
	}
	for _, name := range pictures {
		entry, err := s.files.Stat(name)
		if err != nil {
			return err
		}
		if entry == nil {
			r.add(MissingPicture, name, nil, 0)
		}
	}
	return nil
}

// checkFolder checks the hashes of the files in a folder, and that something refers to them. Recent files may get a row soon.
func (s *Service) checkFolder(ctx context.Context, folder int, repair bool, r *MediaChecked) error {
	before := s.db.Now().Add(-unattachedTTL)
	var old []string
	sizes := make(map[string]int64)
	err := s.files.WalkFolder(ctx, folder, func(e media.Entry) error {
		if e.ModTime.Before(before) {
			old = append(old, e.Name)
			sizes[e.Name] = e.Size
		}
		intact, err := s.files.Intact(ctx, e.Name)
		if err == nil && !intact {
			r.add(DamagedFile, e.Name, nil, e.Size)
		}
		return err
	})
	if err != nil {
		return err
	}
	unused, err := s.unusedFiles(ctx, s.db, old)
	if err != nil {
		return err
	}
	for _, name := range unused {
		p := r.add(UnusedFile, name, nil, sizes[name])
		if !repair {
			continue
		}
		n, err := s.removeUnusedFiles(ctx, []string{name}, before)
		if err != nil {
			return err
		}
		p.Repaired = n == 1
	}
	return nil
}

func (r *MediaChecked) add(kind, file string, id *store.MediaID, bytes int64) *MediaProblem {
	p := &MediaProblem{Kind: kind, File: file, Media: id, Bytes: bytes}
	r.Problems = append(r.Problems, p)
	return p
}

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
		unused, err := s.unusedFiles(ctx, s.db, names(batch))
		if err != nil || len(unused) == 0 {
			return err
		}
		n, err := s.removeUnusedFiles(ctx, unused, before)
		p.Files += int64(n)
		for _, e := range batch {
			if gone, _ := s.files.Stat(e.Name); gone == nil {
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
