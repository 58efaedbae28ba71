package social

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"svc/internal/errs"
	"svc/media"
	"svc/store"
)

// MediaCheck is a part of the check of all uploads and files.
type MediaCheck struct {
	From   string `json:"from"`   // where the part before ended; "" starts
	Repair bool   `json:"repair"` // what can be repaired
	All    bool   `json:"all"`    // read the content of all files of a bucket, too, instead of a sample
}

// MediaChecked is the result of a part.
type MediaChecked struct {
	Next     string          `json:"next"` // where the next part starts; "" after the last one
	Done     int64           `json:"done"`
	Total    int64           `json:"total"`
	Problems []*MediaProblem `json:"problems"`
}

// MediaProblem is a row or a file that is wrong. The id is text, because only the process of the server can read a store.MediaID from JSON.
type MediaProblem struct {
	Kind     string `json:"kind"`
	File     string `json:"file"`
	MediaID  string `json:"media_id,omitempty"` // "": no row has the file
	Bytes    int64  `json:"bytes,omitempty"`
	Repaired bool   `json:"repaired"`
}

// Kinds of problems.
const (
	MissingFile      = "missing_file"      // an upload has no file; repaired if it is attached to nothing, by deleting it
	MissingThumbnail = "missing_thumbnail" // repaired: the upload is shown without one
	MissingPicture   = "missing_picture"   // a profile has no file; not repaired
	WrongSize        = "wrong_size"        // the row has another size than the file; repaired
	DamagedFile      = "damaged_file"      // the content does not have the hash that is its name; not repaired
	UnreadableFile   = "unreadable_file"   // a file or a folder that the disk cannot read; not repaired
	UnusedFile       = "unused_file"       // nothing refers to the file; repaired by removing it
)

const (
	checkBatch   = 500 // uploads at a time
	checkFolders = "folder:"
	checkTime    = 5 * time.Second // of a part
	sampleOf     = 50              // of so many files of a bucket in a folder the content of one is read, and of one at least
	checkStats   = 16              // questions to a bucket at a time
	maxProblems  = 5000            // in a part; the folder or batch being checked is finished
)

// MediaRows are the rows that a check reads: of the database, or of a copy.
type MediaRows interface {
	fileUses
	StoredSum(ctx context.Context, name string) (string, error)
	UploadsAfter(ctx context.Context, after store.MediaID, n int) ([]*store.Media, error)
}

// MediaFiles are the files that a check reads: of the media folder, or of a backup.
type MediaFiles interface {
	Stat(ctx context.Context, name string) (*media.Entry, error)
	WalkFolder(ctx context.Context, folder int, fn func(media.Entry) error) error
	Intact(ctx context.Context, name, sum string) (bool, error)
}

// MediaChecker compares rows with files.
type MediaChecker struct {
	rows   MediaRows
	files  MediaFiles
	before time.Time // younger files may get a row soon
	social *Service  // repairs; nil: nothing is repaired
}

// UsesFile returns true if an upload or a profile uses a file.
func UsesFile(ctx context.Context, rows MediaRows, name string) (bool, error) {
	unused, err := unusedFiles(ctx, rows, []string{name})
	return err == nil && len(unused) == 0, err
}

// NewMediaChecker returns a checker of rows and files as they were at a time. It repairs nothing.
func NewMediaChecker(rows MediaRows, files MediaFiles, at time.Time) *MediaChecker {
	return &MediaChecker{rows: rows, files: files, before: at.Add(-unattachedTTL)}
}

// CheckMedia checks a part of the uploads, of the pictures of profiles, and of the files.
func (s *Service) CheckMedia(ctx context.Context, c MediaCheck) (*MediaChecked, error) {
	checker := NewMediaChecker(s.db, s.files, s.db.Now())
	checker.social = s
	return checker.Check(ctx, c)
}

// Check checks a part. A part is small, so that it does not take long.
func (k *MediaChecker) Check(ctx context.Context, c MediaCheck) (*MediaChecked, error) {
	until := time.Now().Add(checkTime)
	problems := []*MediaProblem{}
	c.Repair = c.Repair && k.social != nil
	for {
		r, err := k.checkStep(ctx, c)
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
func (k *MediaChecker) checkStep(ctx context.Context, c MediaCheck) (*MediaChecked, error) {
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
		return r, k.checkFolder(ctx, n, c, r)
	}
	var after store.MediaID
	if c.From != "" {
		n, err := strconv.ParseInt(c.From, 10, 64)
		if err != nil {
			return nil, errs.Invalid("There is no upload %q", c.From)
		}
		after = store.MediaID(n)
	}
	rows, err := k.rows.UploadsAfter(ctx, after, checkBatch)
	if err != nil {
		return nil, err
	}
	stats, err := k.stats(ctx, rows)
	if err != nil {
		return nil, err
	}
	for i, m := range rows {
		if err := k.checkUpload(ctx, m, stats[i], c.Repair, r); err != nil {
			return nil, err
		}
	}
	if len(rows) == checkBatch {
		r.Next = strconv.FormatInt(int64(rows[len(rows)-1].ID), 10)
		return r, nil
	}
	r.Next, r.Done = checkFolders+"0", 1
	return r, k.checkPictures(ctx, r)
}

// uploadStats are the files of an upload.
type uploadStats struct {
	file, thumbnail       *media.Entry // nil: none
	fileErr, thumbnailErr error        // of the disk
}

// stats returns the entries of the files of uploads, in their order. It asks a bucket about several at a time.
func (k *MediaChecker) stats(ctx context.Context, rows []*store.Media) ([]uploadStats, error) {
	list := make([]uploadStats, len(rows))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(1)
	if k.hasBucket() {
		group.SetLimit(checkStats)
	}
	for i, m := range rows {
		group.Go(func() error {
			s := &list[i]
			if s.file, s.fileErr = k.files.Stat(ctx, m.File); m.Thumbnail != "" {
				s.thumbnail, s.thumbnailErr = k.files.Stat(ctx, m.Thumbnail)
			}
			return cmp.Or(ctx.Err(), ofBucket(s.fileErr), ofBucket(s.thumbnailErr))
		})
	}
	return list, group.Wait()
}

// hasBucket returns whether the content of some files is expensive to read.
func (k *MediaChecker) hasBucket() bool {
	files, ok := k.files.(*media.Files)
	return ok && files.HasBucket()
}

// ofBucket returns an error because of which the check cannot go on: without its bucket, all files would be missing. Others are findings.
func ofBucket(err error) error {
	if errors.Is(err, media.ErrBucket) {
		return err
	}
	return nil
}

// checkUpload checks that the files of an upload exist and have the right size.
func (k *MediaChecker) checkUpload(ctx context.Context, m *store.Media, stats uploadStats, repair bool, r *MediaChecked) error {
	entry := stats.file
	if stats.fileErr != nil {
		return ctx.Err() // of the disk: the check of its folder reports it
	}
	switch {
	case entry == nil:
		p := r.add(MissingFile, m.File, &m.ID, m.Size)
		if repair && m.Detached() {
			p.Repaired = true
			return k.social.db.Update(ctx, func(tx *store.Tx) error { return tx.DeleteDetachedMedia(ctx, m.ID) })
		}
		return nil
	case entry.Size != m.Size:
		sum, err := k.rows.StoredSum(ctx, m.File)
		if err != nil {
			return err
		}
		if intact, err := k.files.Intact(ctx, m.File, sum); err != nil || !intact {
			return cmp.Or(ctx.Err(), ofBucket(err)) // the check of its folder reports it
		}
		p := r.add(WrongSize, m.File, &m.ID, m.Size)
		if p.Repaired = repair; repair {
			if err := k.social.db.Update(ctx, func(tx *store.Tx) error { return tx.SetMediaSize(ctx, m.ID, entry.Size) }); err != nil {
				return err
			}
		}
	}
	if m.Thumbnail == "" {
		return nil
	}
	if stats.thumbnailErr != nil || stats.thumbnail != nil {
		return ctx.Err()
	}
	p := r.add(MissingThumbnail, m.Thumbnail, &m.ID, 0)
	if p.Repaired = repair; !repair {
		return nil
	}
	return k.social.db.Update(ctx, func(tx *store.Tx) error {
		current, err := tx.OwnMedia(ctx, m.AccountID, m.ID)
		if err != nil || current.Thumbnail != m.Thumbnail {
			return errs.IgnoreNotFound(err) // changed meanwhile
		}
		current.Thumbnail, current.PreviewWidth, current.PreviewHeight = "", 0, 0
		return tx.DescribeMedia(ctx, current)
	})
}

// checkPictures checks that the pictures of local profiles exist.
func (k *MediaChecker) checkPictures(ctx context.Context, r *MediaChecked) error {
	pictures, err := k.rows.ProfilePictures(ctx)
	if err != nil {
		return err
	}
	for _, name := range pictures {
		entry, err := k.files.Stat(ctx, name)
		if err == nil && entry == nil {
			r.add(MissingPicture, name, nil, 0)
		}
		if err := ofBucket(err); err != nil {
			return err
		}
	}
	return nil
}

// checkFolder checks the content of the files in a folder, and that something refers to them. Recent files may get a row soon. Of files in a bucket it
// checks the content of a sample.
func (k *MediaChecker) checkFolder(ctx context.Context, folder int, c MediaCheck, r *MediaChecked) error {
	repair := c.Repair
	var old []string
	var far []media.Entry // whose content has not been checked
	sizes := make(map[string]int64)
	err := k.files.WalkFolder(ctx, folder, func(e media.Entry) error {
		if e.ModTime.Before(k.before) {
			old = append(old, e.Name)
			sizes[e.Name] = e.Size
		}
		if e.InBucket && !c.All {
			far = append(far, e)
			return nil
		}
		return k.checkContent(ctx, e, r)
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case ofBucket(err) != nil:
		return err
	case err != nil: // the other folders are checked nevertheless
		r.add(UnreadableFile, fmt.Sprintf("%02x/", folder), nil, 0)
	}
	rand.Shuffle(len(far), func(i, j int) { far[i], far[j] = far[j], far[i] })
	for _, e := range far[:(len(far)+sampleOf-1)/sampleOf] {
		if err := k.checkContent(ctx, e, r); err != nil {
			return err
		}
	}
	unused, err := unusedFiles(ctx, k.rows, old)
	if err != nil {
		return err
	}
	for _, name := range unused {
		p := r.add(UnusedFile, name, nil, sizes[name])
		if !repair {
			continue
		}
		removed, err := k.social.removeUnusedFiles(ctx, []string{name}, k.before)
		if _, isDisk := errors.AsType[*fs.PathError](err); err != nil && !isDisk {
			return err
		}
		p.Repaired = len(removed) == 1
	}
	return nil
}

// checkContent checks the content of a file. A file of the disk that cannot be read is a problem, so that the others are checked nevertheless.
func (k *MediaChecker) checkContent(ctx context.Context, e media.Entry, r *MediaChecked) error {
	sum, err := k.rows.StoredSum(ctx, e.Name)
	if err != nil {
		return err
	}
	intact, err := k.files.Intact(ctx, e.Name, sum)
	switch {
	case err != nil && ctx.Err() != nil, ofBucket(err) != nil:
		return err
	case err != nil:
		r.add(UnreadableFile, e.Name, nil, e.Size)
	case !intact:
		r.add(DamagedFile, e.Name, nil, e.Size)
	}
	return nil
}

func (r *MediaChecked) add(kind, file string, id *store.MediaID, bytes int64) *MediaProblem {
	p := &MediaProblem{Kind: kind, File: file, Bytes: bytes}
	if id != nil {
		p.MediaID = id.String()
	}
	r.Problems = append(r.Problems, p)
	return p
}
